import type { Location } from "../ir/types.js";
import { readText } from "./source.js";

interface Segment {
  column: number;
  source: number;
  line: number;
  originalColumn: number;
}
interface SourceMap {
  sources: string[];
  lines: Segment[][];
}

const maps = new Map<string, SourceMap | undefined>();

/** The place in the author's file that a place in a compiled file came from; the same place where there is no source map. */
export function originalPosition(place: Location): Location {
  if (!maps.has(place.file)) maps.set(place.file, loadMap(place.file));
  const map = maps.get(place.file);
  const segments = map?.lines[place.line - 1];
  if (!map || !segments?.length) return place;
  let best = segments[0];
  for (const s of segments) if (s.column <= place.column - 1) best = s;
  return { file: resolve(place.file, map.sources[best.source]), line: best.line + 1, column: best.originalColumn + 1 };
}

function loadMap(file: string): SourceMap | undefined {
  const comment = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(readText(file) ?? "")?.[1];
  if (!comment) return undefined;
  const inline = /^data:application\/json[^,]*;base64,(.*)$/.exec(comment)?.[1];
  const json = inline ? atob(inline) : readText(resolve(file, comment));
  if (!json) return undefined;
  try {
    const { sources, sourceRoot = "", mappings } = JSON.parse(json) as { sources: string[]; sourceRoot?: string; mappings: string };
    return { sources: sources.map((s) => sourceRoot + s), lines: decode(mappings) };
  } catch {
    return undefined;
  }
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Decodes the base-64 variable-length deltas of a source map, version 3. */
function decode(mappings: string): Segment[][] {
  let source = 0,
    line = 0,
    originalColumn = 0;
  return mappings.split(";").map((group) => {
    let column = 0;
    const segments: Segment[] = [];
    for (const text of group ? group.split(",") : []) {
      const deltas: number[] = [];
      let value = 0,
        shift = 0;
      for (const c of text) {
        const digit = DIGITS.indexOf(c);
        value |= (digit & 31) << shift;
        shift += 5;
        if (digit & 32) continue;
        deltas.push(value & 1 ? -(value >>> 1) : value >>> 1);
        value = shift = 0;
      }
      column += deltas[0];
      if (deltas.length < 4) continue;
      source += deltas[1];
      line += deltas[2];
      originalColumn += deltas[3];
      segments.push({ column, source, line, originalColumn });
    }
    return segments;
  });
}

function resolve(from: string, path: string): string {
  if (/^([a-z]+:|\/)/i.test(path)) return path;
  const parts = from.split("/").slice(0, -1);
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}
