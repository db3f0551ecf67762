import { lives } from "#engine";
import { AWAITED, type Control, type Patience } from "./pool-control.js";

/* How a pool's calling thread waits until its workers are through. */

/** Milliseconds between two checks that the workers are alive. */
export const LOOK_MS = 100;

/** False in browsers, which forbid their main thread to sleep. */
export const mayWait = (() => {
  if (typeof SharedArrayBuffer === "undefined") return false;
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
})();

/** Returns when all workers have finished an epoch; `look` is called now and then, and may throw. */
export function untilEnded(control: Control, epoch: number, patience: Patience, look: () => void): void {
  const { words, workers } = control;
  let rank = 1;
  const sleep = (): void => {
    const done = control.done(rank);
    Atomics.store(words, AWAITED, rank);
    const finished = Atomics.load(words, done);
    if (finished !== epoch && Atomics.wait(words, done, finished, LOOK_MS) !== "not-equal") look();
    Atomics.store(words, AWAITED, 0);
  };
  patience.wait(() => (rank = control.firstBehind(epoch, rank)) > workers, mayWait ? sleep : undefined);
}

/** True for a worker that has not finished the epoch and never will. It marks its own end, unless it was torn down; Linux shows each thread of the process too. */
export function isLost(control: Control, rank: number, epoch: number): boolean {
  const { words } = control;
  if (Atomics.load(words, control.done(rank)) === epoch) return false;
  return Atomics.load(words, control.dead(rank)) !== 0 || !lives(Atomics.load(words, control.thread(rank)));
}
