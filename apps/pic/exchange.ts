import type { Launch, Precision, Queue, View } from "isoform";
import { f64, kernel, range, view } from "isoform";
import { copyBetween, type LocalMember } from "isoform/set";

/** total_i := the sum of each part's share of it, in the order of the parts. */
const addParts = kernel("addParts", { parts: view(f64, 2), total: view(f64) }, ({ parts, total }, i) => {
  let sum = parts[0][i];
  for (let k = 1; k < parts.length; k++) sum += parts[k][i];
  total[i] = sum;
});

/** An array of equal shape on some members of a set, and room next to each for the arrays of all others. */
interface Part {
  readonly member: LocalMember;
  readonly own: View<"f64">;
  readonly parts: View<"f64", 2>;
  readonly add: Launch;
}

/**
 * Adds up arrays over the members of a set: each gives its own to all others, and adds up in the order of the members, so that all have the same
 * bits afterwards where their arithmetic is the same.
 */
export class Exchange {
  private readonly arrays: readonly Part[];

  /** @param arrays one of each member, contiguous */
  constructor(members: readonly LocalMember[], arrays: readonly View<"f64">[], precision: Precision) {
    this.arrays = members.map((member, n) => {
      const own = arrays[n];
      const parts = member.device.array(f64, [members.length, own.size]);
      const total = own.reshape(own.size);
      return { member, own, parts, add: member.device.prepare(addParts, { parts, total }, range(own.size), { precision }) };
    });
  }

  /** Enqueues the sum in the members' first streams, after the work that made the arrays. */
  submit(): void {
    const queues = this.arrays.map(({ member }) => member.queue(0));
    for (const [from, { own }] of this.arrays.entries())
      for (const [to, { parts }] of this.arrays.entries()) copyBetween(own.reshape(own.size), parts.at(0, from), queues[from], queues[to]);
    synchronise(queues);
    for (const [n, { add }] of this.arrays.entries()) queues[n].submit(add);
    // The next exchange must not give before all have added up.
    synchronise(queues);
  }

  free(): void {
    for (const { add, parts } of this.arrays) {
      add.free();
      parts.free();
    }
  }
}

/** Each queue goes on when all have come here. */
export function synchronise(queues: readonly Queue[]): void {
  if (queues.length === 1) return;
  const events = queues.map((queue) => queue.record());
  for (const [n, queue] of queues.entries()) for (const [m, event] of events.entries()) if (m !== n) queue.wait(event);
}
