import type { FoldPart, Launch, Queue } from "../device/device.js";
import type { View } from "../device/memory/view.js";

/**
 * The carrier of messages between devices of different processes, and the reason for it: `MPI` copies them through the host, `NCCL` does not. Beside NCCL, GPUs
 * exchange the totals of reductions themselves, in fast mode, unless there is a reason against it.
 */
export type Carried =
  | { readonly by: "MPI"; readonly why: string }
  | {
      readonly by: "NCCL";
      readonly version: string;
      readonly totals: { readonly by: "IPC" } | { readonly by: "NCCL"; readonly why: string };
    };

/** One end, in the memory of a device of this process, of a message to or from another process. */
export interface CarriedEnd {
  readonly way: "send" | "receive";
  /** The other process. */
  readonly rank: number;
  /** Contiguous. */
  readonly view: View;
}

/**
 * Carries messages between memories of devices of different processes, in the order of queues and without the host. Every process gives it the same messages in
 * the same order.
 */
export interface Carrier {
  /** The queue in which messages of programs go, one exchange after the other. */
  readonly queue: Queue;
  /**
   * Makes connections, which cannot be made in a capture. Both ranks of a pair call it before their first messages.
   * @param ranks the other ends
   */
  connect(ranks: Iterable<number>): void;
  /** Enqueues, or captures, messages that go at once. Between two ranks they are matched by their order. */
  enqueue(ends: readonly CarriedEnd[], queue: Queue): void;
  /** To be called before messages are submitted, as a driver that takes no more blocks the thread: the system then ends this process, and the launcher all. */
  submitting(): void;
  /**
   * Notes that messages were submitted to a queue: whoever waits for the device longer than the set's patience, without one of them being done, ends all
   * processes, as does an error of a connection.
   * @param where end of the message then: `in the plan of "u"`
   * @param launches submitted with them: the thread waits where the GPU has too many before it
   */
  submitted(queue: Queue, where: string, launches: number): void;
  /**
   * Folds on this process's device what launches have left there of their reductions, and exchanges the results with other processes while it does so: all
   * submit theirs, each after everything that its device was given before. All processes call it alike. Undefined on all where it cannot be.
   */
  fold(part: FoldPart): Launch | undefined;
  /** Lets something be freed before connections are given up: captured messages refer to them. Returns a function that forgets it. */
  beforeClose(free: () => void): () => void;
  close(): void;
}
