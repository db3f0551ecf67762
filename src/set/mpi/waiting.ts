/** Tests made without a turn of the event loop: most short messages arrive meanwhile. */
const BURST = 64;
/** Milliseconds of testing without a pause, then the length of a pause. */
const SPIN = 1;
const SLEEP = 0.05;

const asleep = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits for a test to become true, giving the event loop a turn between tests. It spins for a millisecond, then sleeps between tests, so
 * that processes that share a core get on.
 * @param patience seconds
 * @returns false once the patience is over
 */
export async function waitUntil(test: () => boolean, patience: number): Promise<boolean> {
  const begin = performance.now();
  for (;;) {
    for (let n = 0; n < BURST; n++) if (test()) return true;
    await new Promise((resolve) => setImmediate(resolve));
    const waited = performance.now() - begin;
    if (waited > 1e3 * patience) return test();
    if (waited > SPIN) Atomics.wait(asleep, 0, 0, SLEEP);
  }
}

/**
 * Waits for a test to become true, without a turn of the event loop.
 * @param patience seconds
 * @returns false once the patience is over
 */
export function waitNow(test: () => boolean, patience: number): boolean {
  const begin = performance.now();
  for (;;) {
    for (let n = 0; n < BURST; n++) if (test()) return true;
    const waited = performance.now() - begin;
    if (waited > 1e3 * patience) return test();
    if (waited > SPIN) Atomics.wait(asleep, 0, 0, SLEEP);
  }
}
