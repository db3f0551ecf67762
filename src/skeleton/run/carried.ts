import type { DeviceEvent, Queue } from "../../device/device.js";
import { copyLocally, isLocal, localOf, type CarriedEnd, type Carrier, type DeviceSet } from "../../set/index.js";
import { carriedEnd, partnersOf } from "../../set/exchange.js";
import type { Op } from "./op.js";

/** Members of the processes that a program's messages go to or come from. */
export const partnersIn = (set: DeviceSet, ops: readonly Op[]): number[] => [
  ...new Set(ops.flatMap(({ copies }) => partnersOf(set, copies))),
];

/** The operations in groups: an exchange, or one alone. */
export function exchangesIn(ops: readonly Op[]): Op[][] {
  const groups: Op[][] = [];
  for (const op of ops) {
    const last = groups.at(-1);
    if (op.exchange !== undefined && last?.[0].exchange === op.exchange) last.push(op);
    else groups.push([op]);
  }
  return groups;
}

/** Messages that go at once, and the operations that they belong to. */
interface Exchange {
  readonly ops: readonly Op[];
  readonly ends: readonly CarriedEnd[];
}

/** The messages of an exchange, of or to this process; undefined where there are none. */
export function exchangeOf(set: DeviceSet, ops: readonly Op[]): Exchange | undefined {
  const ends = ops.flatMap((op) => op.copies.flatMap((copy) => carriedEnd(set, copy, op.node.name) ?? []));
  return ends.length > 0 ? { ops, ends } : undefined;
}

/**
 * Enqueues copies of an exchange between members of this process, in their streams, and its messages, in the stream of messages, after everything that each of
 * its operations waits for. What comes later in the streams of operations that send comes after the messages.
 * @param events the ends of operations so far; the exchange adds its own
 */
export function enqueueExchange(set: DeviceSet, carrier: Carrier, { ops, ends }: Exchange, events: Map<Op, DeviceEvent>): void {
  const { members } = set;
  const way = carrier.queue;
  const local = ops.filter(({ member }) => isLocal(members[member]));
  const queueOf = ({ member, stream }: Op): Queue => localOf(set, member).queue(stream);
  for (const op of ops) {
    const queue = isLocal(members[op.member]) ? queueOf(op) : way;
    for (const other of op.waits) {
      const event = events.get(other);
      if (event) queue.wait(event);
    }
    copyLocally(set, op.copies, op.stream);
  }
  for (const op of local) way.wait(queueOf(op).record());
  carrier.enqueue(ends, way);
  const end = way.record();
  for (const op of local) queueOf(op).wait(end);
  for (const op of ops) events.set(op, end);
}
