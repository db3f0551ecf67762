/*
 * The preprocessor's lines, as `gfortran -cpp` has them: `#if` to `#endif`, `#define` of names without arguments, `#undef`, `#include`; and
 * Fortran's own `include`.
 */

import type { Location } from "../../ir/types.js";
import type { Problems } from "../errors.js";
import { valueOf } from "./condition.js";

export interface SourceOptions {
  /** The name that messages tell. */
  readonly file: string;
  /** Names that are defined from the start; `true` is 1. */
  readonly define?: Readonly<Record<string, string | boolean>>;
  /** The text of an included file; `undefined` where there is none. */
  readonly include?: (name: string) => string | undefined;
}

/** A line as it stands in its file, but for names of macros. */
export interface SourceLine {
  readonly text: string;
  readonly file: string;
  readonly line: number;
}

const DEEPEST = 20;
const DIRECTIVE = /^\s*#\s*(\w*)\s*(.*?)\s*$/;
const INCLUDE = /^\s*include\s+(?:'([^']+)'|"([^"]+)")\s*(?:!.*)?$/i;
const STRINGS_AND_NAMES = /'[^']*'|"[^"]*"|!.*$|[A-Za-z_]\w*/g;

interface Region {
  /** Whether its lines are read. */
  active: boolean;
  /** Whether a branch of it has been read. */
  taken: boolean;
  readonly outer: boolean;
  readonly at: Location;
}

/** All lines that are left. */
export function preprocess(text: string, options: SourceOptions, problems: Problems): SourceLine[] {
  const macros = new Map<string, string>();
  for (const [name, value] of Object.entries(options.define ?? {})) if (value !== false) macros.set(name, value === true ? "1" : value);
  /** Those with arguments, which are refused where they are used; their text is their name. */
  const calls = new Set<string>();
  const out: SourceLine[] = [];
  read(text.replace(/^\uFEFF/, ""), options.file, 0);
  return out;

  function read(source: string, file: string, depth: number): void {
    const regions: Region[] = [];
    const lines = source.split(/\r\n|\n|\r/);
    if (lines.at(-1) === "") lines.pop();
    for (let n = 0; n < lines.length; n++) {
      const at = { file, line: n + 1, column: 1 };
      const active = regions.at(-1)?.active ?? true;
      let line = lines[n];
      if (/^\s*#/.test(line)) {
        while (line.endsWith("\\") && n + 1 < lines.length) line = `${line.slice(0, -1)} ${lines[++n]}`;
        directive(line, at, regions, depth);
        continue;
      }
      if (!active) continue;
      const included = INCLUDE.exec(line);
      if (included && inserted(included[1] ?? included[2], at, depth)) continue;
      out.push({ text: macros.size > 0 ? expanded(line, at) : line, file, line: n + 1 });
    }
    for (const { at } of regions) problems.add(at, "#if", "is not closed", "add `#endif`");
  }

  function directive(line: string, at: Location, regions: Region[], depth: number): void {
    const [, word, rest] = DIRECTIVE.exec(line)!;
    const region = regions.at(-1);
    const active = region?.active ?? true;
    const holds = (): boolean => {
      try {
        return valueOf(rest, macros) !== 0;
      } catch (error) {
        problems.add(at, `#${word} ${rest}`, (error as Error).message);
        return false;
      }
    };
    const open = (condition: () => boolean): void => {
      const taken = active && condition();
      regions.push({ active: taken, taken, outer: active, at });
    };
    switch (word) {
      case "if":
        return open(holds);
      case "ifdef":
        return open(() => macros.has(rest));
      case "ifndef":
        return open(() => !macros.has(rest));
      case "elif":
      case "else":
        if (!region) return problems.add(at, `#${word}`, "belongs to no `#if`");
        region.active = region.outer && !region.taken && (word === "else" || holds());
        region.taken ||= region.active;
        return;
      case "endif":
        if (!regions.pop()) problems.add(at, "#endif", "closes no `#if`");
        return;
      // Any other directive counts where lines are read.
      default:
        if (active) act(word, rest, at, depth);
    }
  }

  function act(word: string, rest: string, at: Location, depth: number): void {
    switch (word) {
      case "define": {
        const [, name, args, value] = /^(\w+)(\()?\s*(.*)$/.exec(rest) ?? [];
        if (name === undefined) return problems.add(at, `#define ${rest}`, "names no macro", "write `#define NAME VALUE`");
        if (args) calls.add(name);
        else calls.delete(name);
        return void macros.set(name, args ? name : value);
      }
      case "undef":
        calls.delete(rest);
        return void macros.delete(rest);
      case "include": {
        const [, name] = /^["<]([^">]+)[">]$/.exec(rest) ?? [];
        if (name === undefined) return problems.add(at, `#include ${rest}`, "names no file", 'write `#include "file"`');
        if (!inserted(name, at, depth))
          problems.add(at, `#include "${name}"`, "the file is not there", "put it beside the file that includes it");
        return;
      }
      case "error":
        return problems.add(at, "#error", rest);
      // What speaks to the compiler alone
      case "":
      case "line":
      case "pragma":
      case "warning":
        return;
      // Any other word is a mistake.
      default:
        return problems.add(at, `#${word}`, "is no directive of the preprocessor");
    }
  }

  function inserted(name: string, at: Location, depth: number): boolean {
    const text = options.include?.(name);
    if (text === undefined) return false;
    if (depth >= DEEPEST) problems.add(at, `include "${name}"`, `files include each other more than ${DEEPEST} deep`);
    else read(text, name, depth + 1);
    return true;
  }

  /** Macros stand for their text outside of strings and comments; columns behind one are those of the expanded line. */
  function expanded(line: string, at: Location): string {
    return line.replace(STRINGS_AND_NAMES, (word, offset: number) => {
      if (calls.has(word)) problems.add({ ...at, column: offset + 1 }, word, "a macro with arguments is not expanded", "write a function");
      return macros.get(word) ?? word;
    });
  }
}
