import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Launch } from "../../../src/device/device.js";
import type { View } from "../../../src/device/memory/view.js";
import type { HaloCopy } from "../../../src/domain/grid/parts.js";
import { deviceGraph } from "../../../src/skeleton/plan/device-graph.js";
import { OCC_LEVELS, type OccLevel } from "../../../src/skeleton/plan/occ.js";
import type { Op } from "../../../src/skeleton/run/op.js";
import { replay, type PlannedSpan } from "../../../src/skeleton/run/replay.js";
import { schedule } from "../../../src/skeleton/plan/schedule.js";
import { overlapOf } from "../../../src/skeleton/run/timeline.js";
import { figure4 } from "../fakes.js";

const LINK = { bandwidth: 8, latency: 1 };
const copy = (from: number, to: number, elements: number): HaloCopy => {
  const view = { size: elements, type: "f64" } as View;
  return { from, to, source: view, target: view };
};
const launches = [{} as Launch];

/** The operations of figure 4 on one member whose halo comes from another. */
function ops(level: OccLevel, halo: number): Op[] {
  const plan = deviceGraph(figure4().containers, 2, level, new Set());
  const made = new Map<object, Op>();
  for (const task of schedule(plan.graph, plan.hints).tasks)
    made.set(task, {
      node: task.node,
      member: 0,
      stream: task.stream,
      launches: task.node.kind === "halo" ? [] : launches,
      copies: task.node.kind === "halo" ? [copy(0, 1, halo)] : [],
      waits: task.waits.map((wait) => made.get(wait)!),
      exchangesWith: [],
    });
  return [...made.values()];
}

/** 20 seconds for all cells, 4 of them for the boundary; collecting takes 1. */
const seconds = ({ node }: Op) =>
  node.kind === "collect" ? 1 : node.kind !== "compute" ? 0 : { standard: 20, internal: 16, boundary: 4 }[node.view];
const endOf = (spans: readonly PlannedSpan[]) => Math.max(...spans.map((span) => span.end));

test("each OCC level hides more of a long halo update behind computation", () => {
  const ends = OCC_LEVELS.map((level) => endOf(replay(ops(level, 49), LINK, seconds)));
  // 61 seconds of computation, 50 of copies: hidden behind nothing, laplace, axpy and laplace, all three, and laplace where nothing can be stored in passing.
  assert.deepEqual(ends, [61 + 50, 61 + 50 - 16, 61 + 50 - 32, 61 + 50 - 48, 61 + 50 - 16]);
});

test("a short halo update is hidden whole by every level but none", () => {
  const ends = OCC_LEVELS.map((level) => endOf(replay(ops(level, 9), LINK, seconds)));
  assert.deepEqual(ends, [71, 61, 61, 61, 61]);
  const { copies, hidden } = overlapOf({ spans: replay(ops("two-way", 9), LINK, seconds), seconds: 61, source: "" }, 1);
  assert.deepEqual([copies, hidden], [10, 10]);
});

const op = (work: Partial<Op>): Op => ({
  node: {} as Op["node"],
  member: 0,
  stream: 0,
  launches: [],
  copies: [],
  waits: [],
  exchangesWith: [],
  ...work,
});

test("a part of no cells takes no time, and holds up what waits for it until its turn only", () => {
  const [first, empty] = [op({ launches }), op({})];
  const spans = replay([first, empty, op({ launches, stream: 1, waits: [empty] })], LINK, () => 3);
  assert.deepEqual(
    spans.map(({ begin, end }) => [begin, end]),
    [
      [0, 3],
      [3, 3],
      [3, 6],
    ],
  );
});

test("copies over one link queue up, those over two do not; a member computes one thing at a time", () => {
  const both = op({ copies: [copy(0, 1, 4), copy(0, 1, 4), copy(0, 2, 4)] });
  assert.equal(endOf(replay([both], LINK, () => 0)), 10);
  const [a, b] = [op({ launches }), op({ launches, stream: 1 })];
  assert.deepEqual(
    replay([a, b, op({ launches, member: 1 })], LINK, () => 3).map(({ begin, end }) => [begin, end]),
    [
      [0, 3],
      [3, 6],
      [0, 3],
    ],
  );
});

/** The rule itself: of all that can start, the first in the order of launches among those that can start first. */
function searched(ops: readonly Op[], seconds: (op: Op) => number): [begin: number, end: number][] {
  const ends = new Map<Op, readonly [begin: number, end: number]>();
  const free = new Map<string, number>();
  const before = (op: Op) => [
    ...op.waits,
    ...ops.slice(0, ops.indexOf(op)).filter(({ member, stream }) => member === op.member && stream === op.stream),
  ];
  const needs = (op: Op) => [...op.copies.map(({ from, to }) => `${from} ${to}`), ...(op.launches.length > 0 ? [`${op.member}`] : [])];
  while (ends.size < ops.length) {
    const able = ops.filter((op) => !ends.has(op) && before(op).every((other) => ends.has(other)));
    const starts = able.map((op) => {
      const ready = Math.max(0, ...before(op).map((other) => ends.get(other)![1]));
      const needed = needs(op).map((name) => free.get(name) ?? 0);
      return needed.length > 0 ? Math.max(ready, Math.min(...needed)) : ready;
    });
    const begin = Math.min(...starts);
    const op = able[starts.indexOf(begin)];
    const done = op.copies.map(({ from, to, source }) => {
      const end = Math.max(begin, free.get(`${from} ${to}`) ?? 0) + LINK.latency + (8 * source!.size) / LINK.bandwidth;
      free.set(`${from} ${to}`, end);
      return end;
    });
    const end = Math.max(begin, ...done, op.launches.length > 0 ? begin + seconds(op) : begin);
    if (op.launches.length > 0) free.set(`${op.member}`, end);
    ends.set(op, [begin, end]);
  }
  return ops.map((each) => [...ends.get(each)!]);
}

test("random programs run as a search through all operations for the next one tells", () => {
  const member = fc.integer({ min: 0, max: 2 });
  const drawn = fc.record({
    member,
    stream: fc.integer({ min: 0, max: 1 }),
    computes: fc.boolean(),
    targets: fc.array(fc.tuple(member, fc.integer({ min: 0, max: 3 })), { maxLength: 2 }),
    waits: fc.array(fc.nat(), { maxLength: 3 }),
    seconds: fc.integer({ min: 0, max: 4 }),
  });
  const check = (list: readonly (typeof drawn extends fc.Arbitrary<infer T> ? T : never)[]): void => {
    const times = new Map<Op, number>();
    const made: Op[] = [];
    for (const { member, stream, computes, targets, waits, seconds } of list) {
      const on = made.length > 0 ? waits.map((n) => made[n % made.length]) : [];
      const copies = targets.map(([to, size]) => copy(member, to, size));
      const next = op({ member, stream, launches: computes ? launches : [], copies, waits: [...new Set(on)] });
      times.set(next, seconds);
      made.push(next);
    }
    const secondsOf = (each: Op) => times.get(each)!;
    assert.deepEqual(
      replay(made, LINK, secondsOf).map(({ begin, end }) => [begin, end]),
      searched(made, secondsOf),
    );
  };
  fc.assert(fc.property(fc.array(drawn, { maxLength: 24 }), check), { numRuns: 300, seed: 1 });
});

test("4,096 members with copies to their neighbours and two collectives are replayed operation by operation, not by searches", () => {
  const members = Array.from({ length: 4096 }, (_, m) => m);
  const all: Op[] = [];
  let before: Op | undefined;
  for (let round = 0; round < 2; round++) {
    const halos = members.map((m) => op({ member: m, copies: [copy(m, (m + 1) % 4096, 4)], waits: before ? [before] : [] }));
    const work = members.map((m) => op({ member: m, launches, waits: [halos[(m + 4095) % 4096]] }));
    before = op({ waits: work });
    all.push(...halos, ...work, before);
  }
  let asked = 0;
  const end = endOf(replay(all, LINK, () => (asked++, 3)));
  assert.equal(end, 2 * (1 + 4 + 3));
  assert.equal(asked, 2 * 4096);
});
