import { BYTES } from "../../device/memory/view.js";
import type { HaloCopy } from "../../domain/grid/parts.js";
import type { Link } from "../../set/index.js";
import type { Op } from "./op.js";
import { getOrMake } from "../entry.js";
import { Heap } from "./heap.js";

/** When something ran, in seconds from the start of the plan. */
export interface PlannedSpan<O = Op> {
  readonly op: O;
  readonly begin: number;
  readonly end: number;
}

/** The order that an operation keeps: after the one before it in its stream, and after those that it waits for. */
export interface Ordered<O> extends Pick<Op, "member" | "stream"> {
  readonly waits: readonly O[];
  readonly exchangesWith: readonly O[];
}

/** Processors and links, as operations occupy them one after the other. */
export interface Resources<O> {
  /** The first time from `ready` on at which something that the operation needs is free. */
  earliest(op: O, ready: number): number;
  /** Occupies what the operation needs; returns when it ends. */
  run(op: O, begin: number): number;
}

/** An operation that has not run yet. */
interface Waiting<O> {
  readonly op: O;
  /** Place in the order of launches. */
  readonly place: number;
  readonly followers: Waiting<O>[];
  /** Operations that it waits for and that have not run. */
  missing: number;
  /** The end of the last one that it waited for. */
  ready: number;
  /** When it can start, as far as known: what others occupy meanwhile may put it off. */
  begin: number;
}

/**
 * When the operations of a program would run if each member computed one at a time, each pair of members had a link of its own for each
 * direction, and streams and events were respected. `seconds` tells how long an operation computes.
 */
export function replay(ops: readonly Op[], link: Link, seconds: (op: Op) => number): PlannedSpan[] {
  return replayOn(ops, new PairLinks(link, seconds));
}

/** When operations would run on the given resources, streams and events respected. */
export function replayOn<O extends Ordered<O>>(ops: readonly O[], resources: Resources<O>): PlannedSpan<O>[] {
  const spans = Array<PlannedSpan<O>>(ops.length);
  // The first in the order of launches, among those that can start first.
  const able = new Heap<Waiting<O>>((a, b) => a.begin < b.begin || (a.begin === b.begin && a.place < b.place));
  const enter = (waiting: Waiting<O>): void => {
    waiting.begin = resources.earliest(waiting.op, waiting.ready);
    able.push(waiting);
  };
  let left = ops.length;
  for (const waiting of waitingOf(ops)) if (waiting.missing === 0) enter(waiting);
  for (let next = able.pop(); next !== undefined; next = able.pop()) {
    const { op, place, begin } = next;
    // Others may have taken its processor or links since it entered; times only rise, so the heap is still in order.
    if (resources.earliest(op, next.ready) > begin) {
      enter(next);
      continue;
    }
    const end = resources.run(op, begin);
    spans[place] = { op, begin, end };
    left--;
    for (const follower of next.followers) {
      follower.ready = Math.max(follower.ready, end);
      if (--follower.missing === 0) enter(follower);
    }
  }
  if (left > 0) throw new Error(`${left} of ${ops.length} operations wait for each other`);
  return spans;
}

/** All operations with those that wait for them: by events, exchanges, or as the next in a stream. */
function waitingOf<O extends Ordered<O>>(ops: readonly O[]): Waiting<O>[] {
  const waiting = ops.map((op, place): Waiting<O> => ({ op, place, followers: [], missing: 0, ready: 0, begin: 0 }));
  const byOp = new Map(waiting.map((each) => [each.op, each]));
  const lastInStream = new Map<string, Waiting<O>>();
  for (const each of waiting) {
    const stream = `${each.op.member} ${each.op.stream}`;
    const previous = lastInStream.get(stream);
    lastInStream.set(stream, each);
    const before = [...each.op.waits, ...each.op.exchangesWith].map((other) => byOp.get(other)!);
    for (const other of previous ? [...before, previous] : before) {
      other.followers.push(each);
      each.missing++;
    }
  }
  return waiting;
}

/** A processor for each member, and a link for each direction of each pair of members. */
class PairLinks implements Resources<Op> {
  /** By member. */
  private readonly processors = new Map<number, number>();
  /** By the member that sends, then by the one that receives. */
  private readonly links = new Map<number, Map<number, number>>();

  constructor(
    private readonly link: Link,
    private readonly seconds: (op: Op) => number,
  ) {}

  /** The first time from `ready` on at which something that the operation needs is free; one of no cells needs nothing. */
  earliest(op: Op, ready: number): number {
    let first = Infinity;
    for (const { from, to } of op.copies) first = Math.min(first, this.links.get(from)?.get(to) ?? 0);
    if (op.launches.length > 0) first = Math.min(first, this.processors.get(op.member) ?? 0);
    return first < Infinity ? Math.max(ready, first) : ready;
  }

  /** Occupies what the operation needs; returns when it ends. */
  run(op: Op, begin: number): number {
    let end = begin;
    for (const copy of op.copies) {
      const free = getOrMake(this.links, copy.from, () => new Map<number, number>());
      const done = Math.max(begin, free.get(copy.to) ?? 0) + this.link.latency + bytesOf(copy) / this.link.bandwidth;
      free.set(copy.to, done);
      end = Math.max(end, done);
    }
    if (op.launches.length > 0) {
      end = Math.max(end, begin + this.seconds(op));
      this.processors.set(op.member, end);
    }
    return end;
  }
}

/** Bytes of a copy. Plans are replayed in one process, where copies have both ends. */
export const bytesOf = ({ source }: HaloCopy): number => source!.size * BYTES[source!.type];
