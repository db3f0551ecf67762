import assert from "node:assert/strict";
import { test } from "node:test";
import { timelineIn } from "../../../src/skeleton/explain/timeline-views.js";
import type { Op } from "../../../src/skeleton/run/op.js";
import type { Timeline, Timelines } from "../../../src/skeleton/run/timeline.js";

/** A unit of time that is exact in binary, about a microsecond: 0.95 µs. */
const UNIT = 2 ** -20;

const map = { kind: "compute", name: "axpy", reason: "as written", container: {} };
const halo = { kind: "halo", name: "halo x", reason: "x was written" };
const dot = { kind: "compute", name: "dot", reason: "its own", container: { reduces: true } };

/** An operation that computes, or that copies to another member. */
const op = (node: object, member: number, stream: number, to?: number) =>
  ({
    node,
    member,
    stream,
    launches: to === undefined ? [{}] : [],
    copies: to === undefined ? [] : [{ from: member, to }],
  }) as unknown as Op;

const ops = [op(map, 0, 0), op(map, 1, 0), op(halo, 0, 1, 1), op(dot, 0, 0), op(dot, 1, 0)];
const timeline = (source: string, seconds: number, ...times: readonly (readonly [number, number])[]): Timeline => ({
  source,
  seconds: seconds * UNIT,
  spans: times.map(([begin, end], n) => ({ op: ops[n], begin: begin * UNIT, end: end * UNIT })),
});

const timelines = (measured?: Timeline) =>
  ({
    name: "example",
    set: {
      name: "js*2",
      members: [
        { index: 0, name: "js:0" },
        { index: 1, name: "js:1" },
      ],
    },
    planned: timeline("a model", 48, [0, 10], [0, 20], [10, 34], [10, 20], [34, 48]),
    measured,
  }) as unknown as Timelines;

test("the text has a row for each stream, 96 characters long, and the mean time of each task", () => {
  const dots = (count: number) => ".".repeat(count);
  const row = (...parts: readonly (readonly [string, number])[]) => parts.map(([letter, count]) => letter.repeat(count)).join("");
  const text = timelineIn("text", timelines(timeline("clocks", 96, [0, 1], [1, 3], [4, 4], [8, 16], [95, 96])));
  assert.equal(
    text,
    `skeleton "example" on js*2

planned: 45.8 µs (a model); copies take 22.9 µs a member, and computation hides 9.5 µs
  js:0 stream 0  ${row(["a", 20], ["c", 20], [".", 56])}
  js:0 stream 1  ${row([".", 20], ["b", 48], [".", 28])}
  js:1 stream 0  ${row(["a", 40], [".", 28], ["c", 28])}

measured: 91.6 µs (clocks)
  js:0 stream 0  a${dots(7)}${"c".repeat(8)}${dots(80)}
  js:0 stream 1  ${dots(4)}b${dots(91)}
  js:1 stream 0  .aa${dots(92)}c

mean of the members
     task    planned  measured
  a  axpy    14.3 µs  1.4 µs
  b  halo x  22.9 µs  0.0 µs
  c  dot     11.4 µs  4.3 µs`,
  );
});

test("without a measurement the plan is shown alone", () => {
  assert.doesNotMatch(timelineIn("text", timelines()), /measured/);
  assert.equal(timelineIn("svg", timelines()).match(/class="lane"/g)!.length, 3);
});

test("the trace has microseconds, a process for each member of each timeline and a thread for each stream", () => {
  const { traceEvents, displayTimeUnit } = JSON.parse(timelineIn("trace", timelines(timeline("clocks", 4, [0, 1], [1, 3])))) as {
    traceEvents: Record<string, unknown>[];
    displayTimeUnit: string;
  };
  assert.equal(displayTimeUnit, "ns");
  assert.deepEqual(
    traceEvents.filter(({ ph }) => ph === "M").map(({ pid, args }) => [pid, (args as { name: string }).name]),
    [
      [0, "planned: js:0"],
      [1, "planned: js:1"],
      [2, "measured: js:0"],
      [3, "measured: js:1"],
    ],
  );
  const us = UNIT * 1e6;
  assert.deepEqual(
    traceEvents.filter(({ ph }) => ph === "X").map(({ name, cat, pid, tid, ts, dur }) => [name, cat, pid, tid, ts, dur]),
    [
      ["axpy", "compute", 0, 0, 0, 10 * us],
      ["axpy", "compute", 1, 0, 0, 20 * us],
      ["halo x", "halo", 0, 1, 10 * us, 24 * us],
      ["dot", "compute", 0, 0, 10 * us, 10 * us],
      ["dot", "compute", 1, 0, 34 * us, 14 * us],
      ["axpy", "compute", 2, 0, 0, us],
      ["axpy", "compute", 3, 0, us, 2 * us],
    ],
  );
});

test("the picture has one scale for plan and measurement, a row for each stream, and names where they fit", () => {
  const svg = timelineIn("svg", timelines(timeline("clocks", 82, [0, 4], [1, 3], [4, 4], [8, 16], [41, 82])));
  assert.match(svg, /viewBox="0 0 1010 328" width="1010" height="328"/);
  assert.match(svg, /aria-label="Timeline of skeleton example on js\*2. planned 45.8 µs, measured 78.2 µs"/);
  const all = (pattern: RegExp) => [...svg.matchAll(pattern)].map(([, ...groups]) => groups.join(" "));
  // 82 units are 820 pixels, from 150 on.
  assert.deepEqual(all(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="(\d+)" class="(\w+)"/g), [
    "150 66 100 18 map",
    "250 66 100 18 reduce",
    "250 88 240 18 halo",
    "150 110 200 18 map",
    "490 110 140 18 reduce",
    "150 198 40 18 map",
    "230 198 80 18 reduce",
    "190 220 1 18 halo",
    "160 242 20 18 map",
    "560 242 410 18 reduce",
  ]);
  assert.deepEqual(all(/<text x="([\d.]+)" y="([\d.]+)" class="on">(.*?)<\/text>/g), [
    "154 79 axpy",
    "254 79 dot",
    "254 101 halo x",
    "154 123 axpy",
    "494 123 dot",
    "154 211 axpy",
    "234 211 dot",
    "564 255 dot",
  ]);
  assert.deepEqual(all(/<text x="([\d.]+)" y="([\d.]+)" class="lane">(.*?)<\/text>/g), [
    "142 79 js:0 stream 0",
    "142 101 js:0 stream 1",
    "142 123 js:1 stream 0",
    "142 211 js:0 stream 0",
    "142 233 js:0 stream 1",
    "142 255 js:1 stream 0",
  ]);
  assert.deepEqual(
    all(/<text x="([\d.]+)" y="144" class="tick">(.*?)<\/text>/g),
    [0, 20, 40, 60].map((t) => `${Number((150 + (t * 10) / (UNIT * 1e6)).toFixed(2))} ${t} µs`),
  );
  // Lines of the grid, of both panels, are above the numbers.
  const places = [0, 20, 40, 60].map((t) => Number((150 + (t * 10) / (UNIT * 1e6)).toFixed(2)));
  assert.deepEqual(
    all(/<line x1="([\d.]+)" y1="\d+" x2="([\d.]+)" y2="\d+" class="grid"/g),
    [...places, ...places].map((x) => `${x} ${x}`),
  );
  assert.ok(svg.includes("<title>dot: 39.1 µs to 78.2 µs</title>"));
  assert.ok(svg.includes('<text x="150" y="56">planned: 45.8 µs (a model)</text>'));
  assert.ok(svg.includes('<text x="150" y="188">measured: 78.2 µs (clocks)</text>'));
});
