import type { Expr } from "./types.js";

/**
 * constant + sum of coefficient * atom. Atoms are named `index:0` (a policy index), `local:k` (a loop variable, member index, or a local
 * assigned once from a linear form is seen through), `param:n` (an i32 scalar parameter), `extent:x:0` (an extent of a view).
 */
export interface Affine {
  constant: number;
  terms: Record<string, number>;
}

export declare function affineOf(expr: Expr, definitions?: ReadonlyMap<string, Expr>): Affine | undefined;
