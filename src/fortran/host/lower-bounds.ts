import { View } from "../../device/memory/view.js";
import type { CallVariables, VariablePlace } from "./call-variables.js";
import { RunError } from "./kernels.js";

/* Lower bounds that arrays were allocated with, or that pointers give them, where declarations leave bounds open. */

const LOWERS = new WeakMap<View, readonly number[]>();

/** A new view with its lower bounds. */
export function beginningAt(view: View, lowers: readonly number[]): View {
  LOWERS.set(view, lowers);
  return view;
}

/** The view if it has these lower bounds, else another one of the same elements. */
export function withLowers(view: View, lowers: readonly number[]): View {
  if (LOWERS.get(view)?.join() === lowers.join()) return view;
  return beginningAt(new View(view.buffer, view.type, view.shape, view.strides, view.offset), lowers);
}

/**
 * Lower bounds of an array that the run has allocated, or that the arguments give.
 *
 * @throws RunError if it was made elsewhere, and no argument gives them
 */
export function askedLowers(name: string, rank: number, { home, key }: VariablePlace, own: CallVariables): readonly number[] {
  const view = home.arrays.get(key);
  const known = view && LOWERS.get(view);
  if (known) return known;
  const names = Array.from({ length: rank }, (_, axis) => `${name}_lower${axis + 1}`);
  const given = names.map((each) => own.around().flatMap(({ scalars }) => scalars.get(each) ?? [])[0]);
  if (given.some((value) => typeof value !== "number"))
    throw new RunError(`${own.scope.unit.name}: only the run that allocates ${name} knows where it begins: pass ${names.join(", ")}, too`);
  return given as number[];
}
