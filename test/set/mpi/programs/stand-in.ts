import { hostArray } from "../../../../src/device/cpu/host-view.js";
import type { Queue } from "../../../../src/device/device.js";
import type { CarriedEnd, Carrier, DeviceSet } from "../../../../src/set/index.js";
import { BoundProgram } from "../../../../src/skeleton/run/bound-program.js";

/** Stands in for NCCL: messages between memories of CPUs go at once, where programs enqueue them, and in the order in which they do. */
class StandIn implements Carrier {
  readonly queue: Queue;
  exchanges = 0;

  constructor(private readonly set: DeviceSet) {
    this.queue = set.locals[0].queue(7);
  }

  connect(): void {}

  enqueue(ends: readonly CarriedEnd[], _queue: Queue): void {
    const { members, ranks, transport } = this.set;
    const first = (rank: number): number => members.findIndex((member) => member.rank === rank);
    // The number of a message among those that go the same way.
    const counts = new Map<string, number>();
    const messages = ends.map(({ way, rank, view }) => {
      const [from, to] = way === "send" ? [ranks!.rank, rank] : [rank, ranks!.rank];
      const number = counts.get(`${from} ${to}`) ?? 0;
      counts.set(`${from} ${to}`, number + 1);
      const memory = hostArray(view);
      const end = way === "send" ? { source: memory } : { target: memory };
      return { from: first(from), to: first(to), number, bytes: memory.byteLength, name: "a message", ...end };
    });
    transport!.post(messages);
    transport!.waitNow("the stand-in");
    this.exchanges++;
  }

  submitting(): void {}

  submitted(): void {}

  fold(): undefined {}

  beforeClose(): () => void {
    return () => {};
  }

  close(): void {}
}

/** Lets a stand-in carry the messages of a set, whose programs then run piece by piece, as it cannot be captured. */
export function carryByStandIn(set: DeviceSet): StandIn {
  const carrier = new StandIn(set);
  Object.assign(set, { carrier });
  BoundProgram.prototype.capture = () => undefined;
  return carrier;
}
