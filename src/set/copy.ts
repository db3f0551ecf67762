import type { Queue } from "../device/device.js";
import type { View } from "../device/memory/view.js";

/**
 * Enqueues a copy between views of one shape and type on any two members. It is ordered in `queue`, one of the source's member; what is
 * submitted elsewhere waits for an event of `queue`. `targetQueue`, one of the target's member, helps where a CPU gives to a GPU.
 *
 * In one memory it is a plain copy. GPUs copy to each other directly where they can. Between a CPU and a GPU the calling thread waits.
 */
export function copyBetween(source: View, target: View, queue: Queue, targetQueue: Queue): void {
  const gives = source.buffer.host !== undefined && target.buffer.host === undefined;
  if (!gives) return queue.copy(source, target);
  targetQueue.copy(source, target);
  queue.wait(targetQueue.record());
}
