/*
 * The preprocessor's lines, as `gfortran -cpp` has them, with nvfortran's `##` and `#x`: `#if` to `#endif`, `#define`, `#undef`, `#include`; and
 * Fortran's own `include`.
 */

import type { Location } from "../../ir/types.js";
import type { Problems } from "../errors.js";
import { cutOff, freeLine, isFixedForm, joinedLines } from "./fixed-form.js";
import type { SourceLine } from "./source-line.js";
import { conditionValue } from "./condition.js";

export interface SourceOptions {
  /** The name that messages tell. */
  readonly file: string;
  /** Names that are defined from the start; `true` is 1. */
  readonly define?: Readonly<Record<string, string | boolean>>;
  /** The text of an included file; `undefined` where there is none. */
  readonly include?: (name: string) => string | undefined;
}

const DEEPEST = 20;
/** Macros in macros grow without bounds. */
const MOST_EXPANDED = 100_000;
const DIRECTIVE = /^\s*#\s*(\w*)\s*(.*?)\s*$/;
const INCLUDE = /^\s*include\s+(?:'([^']+)'|"([^"]+)")\s*(?:!.*)?$/i;
/** Macros stand in directives, not in comments. */
const STRINGS_AND_NAMES = /'[^']*'|"[^"]*"|!(?!\$).*$|[A-Za-z_]\w*/g;
const OF_MACRO = /\s*##\s*|#\s*([A-Za-z_]\w*)|'[^']*'|"[^"]*"|[A-Za-z_]\w*/g;

interface Macro {
  readonly parameters: readonly string[];
  readonly text: string;
}

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
  /** Macros with arguments. In `macros`, their text is their name. */
  const calls = new Map<string, Macro>();
  const out: SourceLine[] = [];
  let count = 0;
  // Included files have the form of those that include them.
  const isFixed = isFixedForm(options.file);
  read(text.replace(/^\uFEFF/, ""), options.file, 0);
  return isFixed ? joinedLines(out, problems) : out;

  function read(source: string, file: string, depth: number): void {
    const regions: Region[] = [];
    const lines = source.split(/\r\n|\n|\r/);
    if (lines.at(-1) === "") lines.pop();
    for (let n = 0; n < lines.length; n++) {
      const at = { file, line: n + 1, column: 1 };
      const active = regions.at(-1)?.active ?? true;
      let line = isFixed ? freeLine(lines[n]) : lines[n];
      if (/^\s*#/.test(line)) {
        while (line.endsWith("\\") && n + 1 < lines.length) line = `${line.slice(0, -1)} ${lines[++n]}`;
        directive(line, at, regions, depth);
        continue;
      }
      if (!active) continue;
      const cut = isFixed ? cutOff(lines[n]) : undefined;
      if (cut !== undefined)
        problems.add(
          { ...at, column: 73 },
          cut.slice(0, 30),
          "it stands after column 72, where statements of fixed form end",
          "break the line",
        );
      const included = INCLUDE.exec(line);
      if (included && inserted(included[1] ?? included[2], at, depth)) continue;
      out.push({ text: macros.size > 0 || line.includes("__") ? expanded(line, at) : line, file, line: n + 1 });
    }
    for (const { at } of regions) problems.add(at, "#if", "is not closed", "add `#endif`");
  }

  function directive(line: string, at: Location, regions: Region[], depth: number): void {
    const [, written, rest] = DIRECTIVE.exec(line)!;
    const word = written.toLowerCase();
    const region = regions.at(-1);
    const active = region?.active ?? true;
    const holds = (): boolean => {
      try {
        return conditionValue(rest, macros) !== 0;
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
        // Without `##`, an empty comment joins words.
        const plain = rest.replace(/(?<=\w)\/\*.*?\*\/(?=\w)/g, "##").replace(/\/\*.*?\*\//g, " ");
        const [, name, parameters, text] = /^(\w+)(?:\(([\w\s,]*)\))?\s*(.*?)\s*$/.exec(plain) ?? [];
        if (name === undefined) return problems.add(at, `#define ${rest}`, "does not name a macro", "write `#define NAME VALUE`");
        if (parameters === undefined) calls.delete(name);
        else calls.set(name, { parameters: parameters.split(",").map((each) => each.trim()), text });
        return void macros.set(name, parameters === undefined ? text : name);
      }
      case "undef":
        calls.delete(rest);
        return void macros.delete(rest);
      case "include": {
        const [, name] = /^["<]([^">]+)[">]$/.exec(rest) ?? [];
        if (name === undefined) return problems.add(at, `#include ${rest}`, "does not name a file", 'write `#include "file"`');
        if (!inserted(name, at, depth))
          problems.add(at, `#include "${name}"`, "the file does not exist", "put it next to the file that includes it");
        return;
      }
      case "error":
        return problems.add(at, "#error", rest);
      // Ignores lines for the compiler alone.
      case "":
      case "line":
      case "pragma":
      case "warning":
        return;
      // Any other word is a mistake.
      default:
        return problems.add(at, `#${word}`, "is not a preprocessor directive");
    }
  }

  function inserted(name: string, at: Location, depth: number): boolean {
    const text = options.include?.(name);
    if (text === undefined) return false;
    if (depth >= DEEPEST) problems.add(at, `include "${name}"`, `files include each other more than ${DEEPEST} deep`);
    else read(text, name, depth + 1);
    return true;
  }

  /** Expands macros outside of strings and comments; columns after one refer to the expanded line. `within`: macros whose text this is. */
  function expanded(line: string, at: Location, within: readonly string[] = []): string {
    let from = 0;
    let out = "";
    for (const { 0: word, index } of line.matchAll(STRINGS_AND_NAMES)) {
      if (index < from) continue;
      const call = calls.get(word);
      const text = macros.get(word) ?? (word === "__LINE__" ? String(at.line) : word === "__FILE__" ? `"${at.file}"` : undefined);
      const open = call ? /^\s*\(/.exec(line.slice(index + word.length)) : undefined;
      if (text === undefined || within.includes(word) || (call && !open)) continue;
      if (count === MOST_EXPANDED) problems.add({ ...at, column: index + 1 }, word, "nests too deep");
      if (count++ >= MOST_EXPANDED) break;
      out += line.slice(from, index);
      from = index + word.length;
      let made = text;
      if (call) {
        const given = argumentsAt(line, from + open![0].length);
        if (!given || given.args.length !== call.parameters.length) {
          const why = given
            ? `it is called with ${given.args.length} arguments, and takes ${call.parameters.length}`
            : "the parenthesis is not closed";
          problems.add({ ...at, column: index + 1 }, word, why, "write its arguments on one line");
          out += word;
          continue;
        }
        from = given.end;
        made = filled(call, given.args, (arg) => expanded(arg, at, within));
      }
      out += expanded(made, at, [...within, word]);
    }
    return out + line.slice(from);
  }
}

/** The text of a macro with its arguments; `x##_gpu` joins, `#x` is a string. */
function filled({ parameters, text }: Macro, args: readonly string[], expand: (arg: string) => string): string {
  return text.replace(OF_MACRO, (word: string, quoted: string | undefined, at: number) => {
    if (word.trim() === "##") return "";
    const n = parameters.indexOf(quoted ?? word);
    if (n < 0) return word;
    if (quoted !== undefined) return `"${args[n]}"`;
    const joined = /##\s*$/.test(text.slice(0, at)) || /^\s*##/.test(text.slice(at + word.length));
    return joined ? args[n] : expand(args[n]);
  });
}

/** Arguments between commas up to the closing parenthesis; undefined if there is none. */
function argumentsAt(line: string, from: number): { args: string[]; end: number } | undefined {
  const args: string[] = [];
  let depth = 0;
  let start = from;
  for (const { 0: sign, index } of line.matchAll(/'[^']*'|"[^"]*"|[(),[\]]/g)) {
    if (index < from) continue;
    if (sign === "(" || sign === "[") depth++;
    const closes = sign === ")" && depth === 0;
    if (closes || (sign === "," && depth === 0)) {
      args.push(line.slice(start, index).trim());
      start = index + 1;
    }
    if (closes) return { args, end: index + 1 };
    if (sign === ")" || sign === "]") depth--;
  }
  return undefined;
}
