import type { DeviceSet } from "./device-set.js";
import { spansProcesses } from "./one-process.js";

/** The last work on sets that span several processes, while it is not done. */
let last: Promise<void> | undefined;

/**
 * Does work that sends messages after the work before it, on whichever set: in several processes, two that took turns by the clock would send theirs in
 * another order on each. In one process it begins at once.
 */
export function inTurn<T>(set: DeviceSet, work: () => Promise<T>): Promise<T> {
  if (!spansProcesses(set)) return work();
  const result = last ? last.then(work) : work();
  const done = (): void => {
    if (last === settled) last = undefined;
  };
  const settled: Promise<void> = result.then(done, done);
  last = settled;
  return result;
}

/** Whether work in turn is not done, which work on this set would come between. */
export const isAtWork = (set: DeviceSet): boolean => spansProcesses(set) && last !== undefined;
