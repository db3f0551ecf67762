/* Messages between the page and its workers: all of them can be cloned. */

export const LANGUAGES = { typescript: "TypeScript", fortran: "Fortran" } as const;
export type Language = keyof typeof LANGUAGES;

/** Meaning of `rkind` in Fortran: as the program declares it, or a type that takes its place. */
export type Reals = "declared" | "f32";

/** Program of the visitor. */
export interface VisitorProgram {
  readonly language: Language;
  readonly text: string;
  readonly reals: Reals;
}

/** A problem of a program, and its place. */
export interface ProgramProblem {
  readonly message: string;
  readonly remedy?: string;
  /** From 1; undefined if the engine gives none. */
  readonly line?: number;
  readonly column?: number;
}

/** A program in all forms. */
export interface Forms {
  /** Text of the IR, and of what each target is given; where a target cannot have it, the reason. */
  readonly texts: Readonly<Record<string, string>>;
  /** Work of a launch, or of one launch of each of a program's kernels; undefined if its sizes are unknown. */
  readonly work?: { readonly flops: number; readonly bytes: number };
}

/** Result of a run. */
export interface Ran {
  /** Where, in words. */
  readonly device: string;
  /** Whether a launch or a call was measured. */
  readonly of: "launch" | "call";
  /** The median of one. */
  readonly seconds: number;
  /** Values of reductions, or of scalars that are results, by name. */
  readonly results: Readonly<Record<string, number | boolean>>;
  /** The first elements of arrays by name. */
  readonly samples: Readonly<Record<string, readonly number[]>>;
  readonly remarks: readonly string[];
}

/** To compile a program; with `device`, to run it there. */
export interface Request extends VisitorProgram {
  readonly device?: string;
}

export type Reply = { readonly forms: Forms; readonly ran?: Ran } | { readonly problems: readonly ProgramProblem[] };

/** A problem in words, with its place; the short form leaves the place away. */
export function problemText({ message, remedy, line, column }: ProgramProblem, form: "long" | "short" = "long"): string {
  const place = form === "short" || line === undefined ? "" : `Line ${line}${column === undefined ? "" : `, column ${column}`}: `;
  return `${place}${message}${remedy ? ` (${remedy})` : ""}`;
}
