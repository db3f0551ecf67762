import type { Location } from "../../ir/types.js";
import { showLines } from "../../base/errors.js";
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
  contents: readonly (string | null | undefined)[];
  lines: Segment[][];
}

const maps = new Map<string, SourceMap | undefined>();

/** The last segment that begins at or before a place in a compiled file; undefined if there is no source map. */
function segmentAt({ file, line, column }: Location): { readonly map: SourceMap; readonly best: Segment } | undefined {
  if (!maps.has(file)) maps.set(file, loadMap(file));
  const map = maps.get(file);
  const segments = map?.lines[line - 1];
  if (!map || !segments?.length) return undefined;
  let best = segments[0];
  for (const s of segments) if (s.column <= column - 1) best = s;
  return { map, best };
}

/**
 * Text of the author's file before the place that a place in a compiled file came from; undefined if no source map leads to exactly that place,
 * or the author's file is not available.
 */
export function authorsTextBefore(location: Location): string | undefined {
  const found = segmentAt(location);
  if (!found || found.best.column !== location.column - 1) return undefined;
  const { map, best } = found;
  const text = map.contents[best.source] ?? readText(resolve(location.file, map.sources[best.source]));
  const lines = text?.split("\n", best.line + 1);
  return lines?.length === best.line + 1 ? [...lines.slice(0, -1), lines[best.line].slice(0, best.originalColumn)].join("\n") : undefined;
}

/** The place in the author's file that a place in a compiled file came from; the same place where there is no source map. */
export function originalPosition(location: Location): Location {
  const found = segmentAt(location);
  if (!found) return location;
  const { map, best } = found;
  return { file: resolve(location.file, map.sources[best.source]), line: best.line + 1, column: best.originalColumn + 1 };
}

interface WrittenMap {
  readonly sources: string[];
  readonly sourceRoot?: string;
  readonly mappings: string;
  readonly sourcesContent?: (string | null)[];
}

function loadMap(file: string): SourceMap | undefined {
  const comment = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(readText(file) ?? "")?.[1];
  if (!comment) return undefined;
  const inline = /^data:application\/json[^,]*;base64,(.*)$/.exec(comment)?.[1];
  const json = inline ? atob(inline) : readText(resolve(file, comment));
  if (!json) return undefined;
  try {
    const { sources, sourceRoot = "", mappings, sourcesContent = [] } = JSON.parse(json) as WrittenMap;
    return { sources: sources.map((s) => sourceRoot + s), contents: sourcesContent, lines: decode(mappings) };
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

/** Start of a text. */
export interface TextLocation extends Location {
  /** It stands in the file itself; else the place is where it was declared. */
  readonly found: boolean;
  /** Place of an offset in the text, if the file has the text in other lines. */
  readonly placeOf?: (offset: number) => Location;
  /** The file's text in its place then. */
  readonly fileText?: string;
}

/** Finds a function's text in the file that declares it. */
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
  if (!aligned) return { ...declared, found: false };
  const fileText = file.slice(aligned(0), aligned(text.length));
  return { ...place(aligned(0)), found: true, placeOf: (offset) => place(aligned(offset)), fileText };
}

const texts = new Map<string, string | undefined>();

/** A file's text; undefined if there is no file system, or it cannot be read. */
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
