/*
 * Work on CPUs is done before its promise is there, so that a loop that awaits one launch after the other never leaves the engine's queue of
 * microtasks: timers, input and signals wait until it ends. So what waits for such work gives others their turn now and then.
 */

/** Milliseconds for which a loop may hold the event loop. */
const HELD = 20;

/** Calls once the event loop has had its turn. Browsers have no setImmediate, and their timers wait for 4 milliseconds once they nest. */
export const later: (call: () => void) => void =
  globalThis.setImmediate ??
  ((call) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      call();
    };
    port2.postMessage(undefined);
  });

let last = performance.now();
let next: Promise<void> | undefined;

/** How often the event loop had waited for too long, so far: some work may take longer than it was seen to. */
export const delays = { count: 0 };

/** A promise that is resolved once the event loop has had its turn; undefined where that is not long ago. */
export function eventLoopTurn(): Promise<void> | undefined {
  if (performance.now() - last < HELD) return undefined;
  delays.count++;
  return (next ??= new Promise((resolve) =>
    later(() => {
      last = performance.now();
      next = undefined;
      resolve();
    }),
  ));
}
