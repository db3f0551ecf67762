import type { NumericType } from "../../ir/types.js";
import type { ArrayType, Helper, ScalarToken, TableToken } from "./params.js";

/*
 * A function does not tell what it captures: its text has names, but not their values. So the author lists them in a second function. Its
 * text has the same names, however bundlers and minifiers change them, since both stand in one scope; calling it gives their values.
 */

/** Values that may be listed: a constant, a table, a function (inlined), a type of private arrays or of scratch. */
export type Capture = number | bigint | boolean | TableToken | Helper | ArrayType | ScalarToken<NumericType>;

/** Names that a body takes from around it: `() => [wave, C, lattice.weights]`. Called once, when the kernel is first compiled. */
export type Captures = () => readonly Capture[];

/** The list of what captures nothing. */
export const nothing: Captures = () => [];

const helpers = new WeakMap<Function, Captures>();

/**
 * A function for kernels with a list of its own: who lists the function need not list what it captures. So a module may offer functions that
 * use constants and functions of its own, under names that nobody else knows. Gives the function itself.
 *
 * @param captures Default: it captures nothing
 */
export function helper<F extends Helper>(fn: F, captures: Captures = nothing): F {
  helpers.set(fn, captures);
  return fn;
}

/** The list that a function has of its own. */
export const captured = (fn: Function): Captures | undefined => helpers.get(fn);
