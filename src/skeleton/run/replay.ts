import { BYTES } from "../../device/memory/view.js";
import type { HaloCopy } from "../../domain/grid/parts.js";
import type { Link } from "../../set/index.js";
import type { Op } from "./program.js";

/** When something ran, in seconds from the start of the plan. */
export interface Span {
  readonly op: Op;
  readonly begin: number;
  readonly end: number;
}

/**
 * When the operations of a program would run if each member computed one at a time, each pair of members had a link of its own for each
 * direction, and streams and events were respected. `seconds` tells how long an operation computes.
 */
export function replay(ops: readonly Op[], link: Link, seconds: (op: Op) => number): Span[] {
  const spans = new Map<Op, Span>();
  const free = new Map<string, number>();
  const left = new Set(ops);
  const previous = previousInStream(ops);
  while (left.size > 0) {
    let next: { op: Op; begin: number } | undefined;
    for (const op of left) {
      const before = [...op.waits, ...op.exchangesWith, ...previous.get(op)!];
      if (!before.every((other) => spans.has(other))) continue;
      const ready = Math.max(0, ...before.map((other) => spans.get(other)!.end));
      const needed = resourcesOf(op).map((name) => free.get(name) ?? 0);
      // A part of no cells needs nothing.
      const begin = needed.length > 0 ? Math.max(ready, Math.min(...needed)) : ready;
      // The first in the order of launches, among those that can start first.
      if (!next || begin < next.begin) next = { op, begin };
    }
    const { op, begin } = next!;
    spans.set(op, { op, begin, end: run(op, begin, link, seconds, free) });
    left.delete(op);
  }
  return ops.map((op) => spans.get(op)!);
}

/** Occupies what the operation needs; returns when it ends. */
function run(op: Op, begin: number, link: Link, seconds: (op: Op) => number, free: Map<string, number>): number {
  let end = begin;
  for (const copy of op.copies) {
    const name = linkOf(copy);
    const done = Math.max(begin, free.get(name) ?? 0) + link.latency + bytesOf(copy) / link.bandwidth;
    free.set(name, done);
    end = Math.max(end, done);
  }
  if (op.launches.length > 0) {
    end = Math.max(end, begin + seconds(op));
    free.set(processorOf(op), end);
  }
  return end;
}

export const bytesOf = ({ source }: HaloCopy): number => source.size * BYTES[source.type];

const processorOf = (op: Op): string => `processor ${op.member}`;
const linkOf = ({ from, to }: HaloCopy): string => `link ${from} ${to}`;

const resourcesOf = (op: Op): string[] => [...op.copies.map(linkOf), ...(op.launches.length > 0 ? [processorOf(op)] : [])];

function previousInStream(ops: readonly Op[]): Map<Op, Op[]> {
  const last = new Map<string, Op>();
  return new Map(
    ops.map((op) => {
      const key = `${op.member} ${op.stream}`;
      const before = last.get(key);
      last.set(key, op);
      return [op, before ? [before] : []];
    }),
  );
}
