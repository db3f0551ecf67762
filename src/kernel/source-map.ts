import type { Location } from "../ir/types.js";
import { showLines } from "../ir/errors.js";
import { align } from "./align.js";
import { codeFrame } from "./code-frame.js";

showLines(codeFrame);

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
export function originalPosition(location: Location): Location {
  if (!maps.has(location.file)) maps.set(location.file, loadMap(location.file));
  const map = maps.get(location.file);
  const segments = map?.lines[location.line - 1];
  if (!map || !segments?.length) return location;
  let best = segments[0];
  for (const s of segments) if (s.column <= location.column - 1) best = s;
  return { file: resolve(location.file, map.sources[best.source]), line: best.line + 1, column: best.originalColumn + 1 };
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

/** Where a text begins. */
export interface TextLocation extends Location {
  /** It stands in the file itself; else the place is where it was declared. */
  readonly found: boolean;
  /** Of an offset in the text, where the file has it in other lines. */
  readonly placeOf?: (offset: number) => Location;
}

/** Where a function's text stands in the file that declares it. */
export function findInFile(text: string, declared: Location): TextLocation {
  const file = readText(declared.file);
  if (file === undefined) return { ...declared, found: false };
  let start = 0;
  for (let line = 1; line < declared.line; line++) start = file.indexOf("\n", start) + 1;
  const place = (at: number): Location => {
    const before = file.slice(0, at).split("\n");
    return { file: declared.file, line: before.length, column: before.at(-1)!.length + 1 };
  };
  const at = [file.indexOf(text, start), file.indexOf(text)].find((n) => n >= 0);
  if (at !== undefined) return { ...place(at), found: true };
  const aligned = align(text, file, start);
  return aligned ? { ...place(aligned(0)), found: true, placeOf: (offset) => place(aligned(offset)) } : { ...declared, found: false };
}

const texts = new Map<string, string | undefined>();

/** A file's text; undefined where there is no file system, or it cannot be read. */
function readText(path: string): string | undefined {
  if (!texts.has(path)) {
    let text: string | undefined;
    try {
      const fs = (globalThis as { process?: NodeJS.Process }).process?.getBuiltinModule?.("fs");
      text = fs?.readFileSync(path, "utf8");
    } catch {
      text = undefined;
    }
    texts.set(path, text);
  }
  return texts.get(path);
}
