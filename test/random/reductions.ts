import type { RangePolicy } from "../../src/device/launch/policy.js";
import { strictFold } from "../../src/testing/strict-fold.js";

/** A value of one reduction; of a joint one, its parts. */
export type Folded = number | { readonly parts: readonly number[] };
export type Fold = (a: Folded, b: Folded) => Folded;

/** Numbers of a value by the names of the parts. */
export const namedParts = (names: readonly string[], value: Folded): [string, number][] =>
  typeof value === "number" ? [[names[0], value]] : names.map((name, n) => [name, value.parts[n]]);

/** What the elements of a range fold into one reduction, sorted for the strict order. */
export class Contributions {
  private readonly lines: Folded[][][];

  constructor(policy: RangePolicy) {
    const inner = policy.extents[policy.extents.length - 1];
    const lines = inner === 0 ? 0 : policy.extents.reduce((a, b) => a * b, 1) / inner;
    this.lines = Array.from({ length: lines }, () => Array.from({ length: inner }, () => []));
  }

  /** A value of the element at a place in its line. */
  add(line: number, place: number, value: Folded): void {
    this.lines[line][place].push(value);
  }

  fold(fold: Fold, identity: Folded): Folded {
    return strictFold(this.lines, fold, identity);
  }
}

/** One value from the partial results of teams. */
export const foldPartials = (partials: readonly Folded[], fold: Fold, identity: Folded): Folded =>
  partials.length === 1 ? partials[0] : strictFold([partials], fold, identity);
