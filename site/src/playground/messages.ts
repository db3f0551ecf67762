/* What the page and its workers tell each other: all of it can be cloned. */

/** What is wrong with a module, and where. */
export interface Problem {
  readonly message: string;
  readonly remedy?: string;
  /** From 1; absent where the engine tells none. */
  readonly line?: number;
  readonly column?: number;
}

/** A kernel in all forms. */
export interface Forms {
  /** Text of the IR, and of what each target is given; where a target cannot have it, the reason. */
  readonly texts: Readonly<Record<string, string>>;
  /** Of a launch. */
  readonly flops: number;
  readonly bytes: number;
}

/** What a run has found. */
export interface Ran {
  /** Where, in words. */
  readonly device: string;
  /** The median, of one launch. */
  readonly seconds: number;
  /** Values of reductions by name. */
  readonly results: Readonly<Record<string, number>>;
  /** The first elements of arrays that the kernel may have written, by name. */
  readonly samples: Readonly<Record<string, readonly number[]>>;
  readonly remarks: readonly string[];
}

/** To compile a module; with `device`, to run its kernel there. */
export interface Request {
  readonly text: string;
  readonly device?: string;
}

export type Reply = { readonly forms: Forms; readonly ran?: Ran } | { readonly problem: Problem };
