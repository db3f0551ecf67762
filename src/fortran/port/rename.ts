/* Names of a port: `[port.rename] cpu = { _gpu = "_cpu" }` turns the ends of names. */

import type { SourceFile } from "../tree/index.js";

/** Properties of nodes that are names, or lists of them. */
const NAMES: readonly string[] = [
  "name",
  "names",
  "variable",
  "module",
  "original",
  "result",
  "derived",
  "dummies",
  "keyword",
  "local",
  "localInit",
  "shared",
];
/** Keys whose text is kept as it is written, and still contains names. */
const TEXTS: readonly string[] = ["text", "procedures"];

/** The new name: by its ending, or by the ending before a number. */
export function renamer(ends: Readonly<Record<string, string>>): (name: string) => string {
  const rules = Object.entries(ends).sort(([a], [b]) => b.length - a.length);
  return (name) => {
    const number = /_\d+$/.exec(name)?.[0] ?? "";
    for (const tail of number ? ["", number] : [""]) {
      const stem = name.slice(0, name.length - tail.length);
      const rule = rules.find(([end]) => stem.toLowerCase().endsWith(end.toLowerCase()) && stem.length > end.length);
      if (rule) return stem.slice(0, stem.length - rule[0].length) + rule[1] + tail;
    }
    return name;
  };
}

/** A tree in which all names are new. */
export function renamed(file: SourceFile, rename: (name: string) => string): SourceFile {
  const change = (tree: unknown, literal: boolean): unknown => {
    if (Array.isArray(tree)) return tree.map((item) => change(item, literal));
    if (tree === null || typeof tree !== "object") return tree;
    const isLiteral = (tree as { kind?: string }).kind === "literal";
    return Object.fromEntries(
      Object.entries(tree).map(([key, value]) => {
        if (key === "at" || key === "end") return [key, value];
        if (NAMES.includes(key) && typeof value === "string") return [key, rename(value)];
        if (NAMES.includes(key) && Array.isArray(value))
          return [key, value.map((item) => (typeof item === "string" ? rename(item) : change(item, false)))];
        if (TEXTS.includes(key) && !isLiteral && typeof value === "string") return [key, words(value)];
        if (TEXTS.includes(key) && Array.isArray(value) && typeof value[0] === "string")
          return [key, value.map((line) => words(line as string))];
        if (key === "suffix" && typeof value === "string") return [key, rename(value)];
        return [key, change(value, isLiteral)];
      }),
    );
  };
  /** Words of a text outside of its strings. */
  const words = (text: string): string => text.replace(/'[^']*'|"[^"]*"|\w+/g, (word) => (/^['"]/.test(word) ? word : rename(word)));
  return change(file, false) as SourceFile;
}
