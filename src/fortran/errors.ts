import { IsoformError } from "../base/errors.js";
import type { Location } from "../ir/types.js";

/** One thing that is wrong with a Fortran file, at its place in the original. */
export interface Problem {
  readonly at: Location;
  /** Text of the construct: `goto`, `complex :: z`. */
  readonly construct: string;
  /** Why it is refused. */
  readonly why: string;
  /** Advice on what to write instead. */
  readonly remedy?: string;
}

/** `FILE:line:column: construct: why (what to write instead)`. */
export const problemText = ({ at, construct, why, remedy }: Problem): string =>
  `${at.file}:${at.line}:${at.column}: ${construct}: ${why}${remedy ? ` (${remedy})` : ""}`;

/** Fortran that is wrong or outside the language: all problems of one run, in the order of their places. */
export class FortranError extends IsoformError {
  override name = "FortranError";
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(problemText).join("\n"));
  }
}

/** Collects problems, so that one run tells them all. */
export class Problems {
  readonly found: Problem[] = [];

  add(at: Location, construct: string, why: string, remedy?: string): void {
    this.found.push({ at, construct, why, ...(remedy === undefined ? {} : { remedy }) });
  }

  /** Returns the result of `make`; undefined if it found problems, which are kept. */
  collect<T>(make: () => T): T | undefined {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof FortranError)) throw error;
      this.found.push(...error.problems);
      return undefined;
    }
  }

  /** @throws FortranError if anything was found */
  throwIfAny(): void {
    if (this.found.length === 0) return;
    const byPlace = (a: Problem, b: Problem): number =>
      a.at.file === b.at.file ? a.at.line - b.at.line || a.at.column - b.at.column : a.at.file < b.at.file ? -1 : 1;
    // A file that is read for several purposes has its problems once.
    const once = new Map(this.found.map((problem) => [problemText(problem), problem]));
    throw new FortranError([...once.values()].sort(byPlace));
  }
}
