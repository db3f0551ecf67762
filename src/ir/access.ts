import type { Affine } from "./affine.js";
import type { Expr, KernelIR, Location } from "./types.js";

/** One place in the kernel where a view or scatter array is touched. */
export interface Access {
  view: string;
  kind: "read" | "write" | "scatter";
  indices: Expr[];
  /** Each index as a linear form of policy indices, loop variables and scalar parameters; undefined where it is not one (a gather). */
  affine: (Affine | undefined)[];
  /** Loops around it, outermost first, with the range of their variable where its bounds are linear forms. */
  loops: { name: string; first?: Affine; last?: Affine }[];
  /** True if it may not happen for some element (it stands under `if`, `?:`, `&&`, a while loop, or after a `break`). */
  conditional: boolean;
  location: Location;
}

export interface ViewUse {
  read: boolean;
  written: boolean;
  /** Some index is not a linear form. */
  gathered: boolean;
  scattered: boolean;
}

/** What a kernel reads, writes, gathers, scatters and reduces, from its code. */
export interface AccessAnalysis {
  accesses: Access[];
  views: Record<string, ViewUse>;
  /** Names of the reduce parameters. */
  reduced: string[];
}

export declare function analyseAccess(ir: KernelIR): AccessAnalysis;
