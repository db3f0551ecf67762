import { lives } from "#engine";
import { MAIN_SLEEPS, PENDING, type Control, type Patience } from "./pool-control.js";

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

/** Returns when no worker has work left; `look` is called now and then, and may throw. */
export function untilEnded({ words }: Control, patience: Patience, look: () => void): void {
  const sleep = (): void => {
    Atomics.store(words, MAIN_SLEEPS, 1);
    const left = Atomics.load(words, PENDING);
    if (left !== 0 && Atomics.wait(words, PENDING, left, LOOK_MS) !== "not-equal") look();
    Atomics.store(words, MAIN_SLEEPS, 0);
  };
  patience.wait(() => Atomics.load(words, PENDING) === 0, mayWait ? sleep : undefined);
}

/** True for a worker that has not finished the epoch and never will. It marks its own end, unless it was torn down; Linux shows each thread of the process too. */
export function isLost(control: Control, rank: number, epoch: number): boolean {
  const { words } = control;
  if (Atomics.load(words, control.done(rank)) === epoch) return false;
  return Atomics.load(words, control.dead(rank)) !== 0 || !lives(Atomics.load(words, control.thread(rank)));
}
