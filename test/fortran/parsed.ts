import { FortranError, Problems, problemText } from "../../src/fortran/errors.js";
import { parse, type SourceOptions } from "../../src/fortran/parse/index.js";
import type { Procedure, SourceFile, Stmt } from "../../src/fortran/tree/index.js";

/** The tree of a text without problems. @throws FortranError */
export function parsed(text: string, options: Partial<SourceOptions> = {}): SourceFile {
  const problems = new Problems();
  const tree = parse(text, { file: "a.F90", ...options }, problems);
  problems.throwIfAny();
  return tree;
}

/** The messages about a text, in the order of their places. */
export function problemsOf(text: string, options: Partial<SourceOptions> = {}): string[] {
  try {
    parsed(text, options);
    return [];
  } catch (error) {
    if (!(error instanceof FortranError)) throw error;
    return error.message === "" ? [] : error.message.split("\n");
  }
}

/** The only procedure of a text, at the top or in a module. */
export function procedure(text: string, options: Partial<SourceOptions> = {}): Procedure {
  const [unit] = parsed(text, options).units;
  return unit.kind === "procedure" ? unit : unit.procedures[0];
}

/** The statements of a subroutine with these lines. */
export const statements = (lines: string): readonly Stmt[] => procedure(`subroutine s\n${lines}\nend subroutine`).body;

/** A tree without places, comments and blank lines. */
export function bare(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(bare).filter((item) => (item as { kind?: string } | undefined)?.kind !== "comment");
  if (tree === null || typeof tree !== "object") return tree;
  const left = Object.entries(tree).filter(([key]) => !AROUND.includes(key));
  return Object.fromEntries(left.map(([key, value]) => [key, bare(value)]));
}
const AROUND: readonly string[] = [
  "at",
  "end",
  "file",
  "before",
  "behind",
  "behindEnd",
  "behindElse",
  "beforeContains",
  "beforeEnd",
  "after",
];

export { problemText };
