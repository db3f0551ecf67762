import type { Launch, Precision, Queue, View } from "isoform";
import { f64, kernel, range, view } from "isoform";
import { byLocal, copyLocally, Exchange as Messages, spansProcesses, type DeviceSet, type MemberCopy } from "isoform/set";

/** total_i := the sum of each member's share of it, in the order of the members. */
const addParts = kernel("addParts", { parts: view(f64, 2), total: view(f64) }, ({ parts, total }, i) => {
  let sum = parts[0][i];
  for (let k = 1; k < parts.length; k++) sum += parts[k][i];
  total[i] = sum;
});

/** One thing to do in a step. */
export interface ExchangeStep {
  /** Whether it waits for messages of other processes, so that a graph cannot have it. */
  readonly waits?: boolean;
  do(): void;
}

/** An array of equal shape on a member, and room next to it for what all members have of the places that this one adds up. */
interface Part {
  readonly own: View<"f64", 1>;
  readonly parts: View<"f64", 2>;
  readonly add: Launch;
}

/**
 * Adds up arrays over the members of a set: each member is given its share of the places from all others, adds up in the order of the members, and
 * sends the sums to all. So a member sends and receives about two arrays, however many members there are, and all have the same bits afterwards.
 */
export class SumExchange {
  /** Steps of a sum, to be done in this order after the work that made the arrays. */
  readonly steps: readonly ExchangeStep[];
  /** By member; holes where a member is of another process. */
  private readonly arrays: readonly Part[];
  /** Shares of the arrays to the members that add them up, and sums to all others. */
  private readonly shares: readonly MemberCopy[];
  private readonly sums: readonly MemberCopy[];
  /** Both, between processes. */
  private messages: readonly Messages[] = [];

  /** @param arrays one of each member of this process, contiguous, at the member's number */
  constructor(
    private readonly set: DeviceSet,
    arrays: readonly View<"f64">[],
    precision: Precision,
  ) {
    const count = set.members.length;
    const [{ size }] = Object.values(arrays);
    const begin = (member: number): number => Math.floor(size * (member / count));
    this.arrays = byLocal(set, ({ device }, m) => {
      const own = arrays[m].reshape(size);
      const places = begin(m + 1) - begin(m);
      const parts = device.array(f64, [count, places]);
      const add = device.prepare(addParts, { parts, total: own.slice([begin(m), begin(m + 1)]) }, range(places), { precision });
      return { own, parts, add };
    });
    const adding = set.members.filter(({ index }) => begin(index + 1) > begin(index));
    const piece = (of: number, from: number): View<"f64"> | undefined => this.arrays[of]?.own.slice([begin(from), begin(from + 1)]);
    this.shares = set.members.flatMap(({ index: from }) =>
      adding.map(({ index: to }) => ({ from, to, source: piece(from, to), target: this.arrays[to]?.parts.at(0, from) })),
    );
    this.sums = adding.flatMap(({ index: from }) =>
      set.members
        .filter(({ index: to }) => to !== from)
        .map(({ index: to }) => ({ from, to, source: piece(from, from), target: piece(to, from) })),
    );
    this.steps = spansProcesses(set) ? this.betweenProcesses() : [{ do: () => this.submit() }];
  }

  free(): void {
    for (const messages of this.messages) messages.free();
    this.arrays.forEach(({ add, parts }) => {
      add.free();
      parts.free();
    });
  }

  /** Enqueues the sum in the members' first streams. */
  private submit(): void {
    const queues = this.set.locals.map((member) => member.queue(0));
    copyLocally(this.set, this.shares, 0);
    synchronise(queues);
    this.add();
    copyLocally(this.set, this.sums, 0);
    // The next exchange must not give before all have added up.
    synchronise(queues);
  }

  private betweenProcesses(): ExchangeStep[] {
    this.messages = [this.shares, this.sums].map((copies) => new Messages(this.set, copies, "current", "the sum of the currents of pic"));
    const [shares, sums] = this.messages.map((messages): ExchangeStep => ({ waits: true, do: () => messages.run() }));
    return [shares, { do: () => this.add() }, sums];
  }

  private add(): void {
    for (const member of this.set.locals) member.queue(0).submit(this.arrays[member.index].add);
  }
}

/** Each queue goes on when all have come here. */
export function synchronise(queues: readonly Queue[]): void {
  if (queues.length === 1) return;
  const events = queues.map((queue) => queue.record());
  for (const [n, queue] of queues.entries()) for (const [m, event] of events.entries()) if (m !== n) queue.wait(event);
}
