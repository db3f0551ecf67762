import type { RangePolicy } from "../../src/device/launch/policy.js";
import { strictFold } from "../../src/testing/strict-fold.js";

type Fold = (a: number, b: number) => number;

/** What the elements of a range fold into one reduction, sorted for the strict order. */
export class Contributions {
  private readonly lines: number[][][];

  constructor(policy: RangePolicy) {
    const inner = policy.extents[policy.extents.length - 1];
    const lines = inner === 0 ? 0 : policy.extents.reduce((a, b) => a * b, 1) / inner;
    this.lines = Array.from({ length: lines }, () => Array.from({ length: inner }, () => []));
  }

  /** A value of the element at a place in its line. */
  add(line: number, place: number, value: number): void {
    this.lines[line][place].push(value);
  }

  fold(fold: Fold, identity: number): number {
    return strictFold(this.lines, fold, identity);
  }
}

/** One value from the partial results of teams. */
export const foldPartials = (partials: readonly number[], fold: Fold, identity: number): number =>
  partials.length === 1 ? partials[0] : strictFold([partials], fold, identity);
