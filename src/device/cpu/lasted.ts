import { delays } from "./turns.js";
import type { WorkCost } from "../../ir/analysis/cost.js";

/** Milliseconds for which work may hold the event loop; tests set others. */
export const limit = { long: 20 };
/** Milliseconds below which work is timed only where the event loop had to wait since it was timed last: a clock takes as long as a small launch. */
const SHORT = 0.5;

/** How long some work takes, by its last run that was timed; for work of several sizes, in proportion to them. */
export class Lasted {
  private milliseconds: number | undefined;
  private timedAt = -1;

  /** @param guess gives milliseconds for size 1 before the first run */
  constructor(private readonly guess: () => number) {}

  /** Milliseconds. */
  expected(size = 1): number {
    return (this.milliseconds ??= this.guess()) * size;
  }

  isLong(size = 1): boolean {
    return this.expected(size) > limit.long;
  }

  /** Whether to time a run. */
  isDue(size = 1): boolean {
    return this.timedAt !== delays.count || this.expected(size) >= SHORT;
  }

  note(milliseconds: number, size = 1): void {
    this.milliseconds = milliseconds / Math.max(1, size);
    this.timedAt = delays.count;
  }
}

/** Bytes and operations of a millisecond, on a slow machine and with code that runs for the first time. */
const SLOW = { bytes: 3e6, flops: 4e5 };
/** Times that loops over data may turn more often than the cost assumes. */
const UNKNOWN = 100;

/** Number of pieces into which work is cut, each of half that time at most. */
export const pieceCount = (milliseconds: number): number => Math.ceil((2 * milliseconds) / limit.long);

/** Milliseconds that a launch may take, from its cost. */
export const guessOf = ({ bytes, flops, estimate }: WorkCost): number =>
  Math.max(bytes / SLOW.bytes, ((estimate ? UNKNOWN : 1) * flops) / SLOW.flops);
