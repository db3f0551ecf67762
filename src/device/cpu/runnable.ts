import type { Aside, WorkSteps } from "./backlog.js";
import { limit, pieceCount } from "./lasted.js";
import { WHOLE, type Slice } from "./pool-control.js";

/** Code with its arguments in place, for one run. */
export interface Runnable {
  /** Runs to the end, on all workers. */
  now(): void;
  /** Starts the same, or a slice of it, on other threads than the calling one; undefined where there are none for it. */
  aside?(slice: Slice): Aside | undefined;
  /** Slices, at most, that can run one after the other, as nothing is kept from one element to the next; else 1. Not always a whole number. */
  readonly mostSlices?: number;
  /**
   * After the run: puts the reduce parameters' values, or their partials, into the outputs, and returns the values: none where there are
   * partials.
   */
  end(): Record<string, number>;
}

/** Slices of a run at most. */
const MOST = 1000;

/**
 * A run in steps, on other threads if it may take long. A signal ends it between two slices, or before it begins where it cannot be cut; throws the
 * signal's reason then.
 * @param milliseconds that it may take
 */
export function* stepsOf(runnable: Runnable, milliseconds: number, signal?: AbortSignal): WorkSteps<Record<string, number>> {
  const count = signal ? Math.max(1, Math.floor(Math.min(MOST, pieceCount(milliseconds), runnable.mostSlices ?? 1))) : 1;
  for (let number = 0; number < count; number++) {
    signal?.throwIfAborted();
    const aside = milliseconds > limit.long ? runnable.aside?.(count === 1 ? WHOLE : { number, count }) : undefined;
    if (!aside) {
      runnable.now();
      break;
    }
    yield aside;
    aside.check();
  }
  return runnable.end();
}
