import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "../../../src/domain/grid/grid.js";
import { planOf, stagesOf } from "../../../src/skeleton/plan/plan.js";
import { explainText } from "../../../src/skeleton/explain/explain.js";
import { explainDot } from "../../../src/skeleton/explain/dot.js";
import { explainSvg, linesOf } from "../../../src/skeleton/explain/graph-drawing.js";
import { swap } from "../../../src/skeleton/fusion/sequence.js";
import { container, field, figure4 } from "../fakes.js";

function explained(containers: Container[], fresh = new Set<never>()) {
  const stages = stagesOf(containers, 1, false, []);
  const steady = planOf(stages, 2, "two-way", fresh);
  return { name: "example", set: "js*2", precision: "strict", first: steady, steady, remarks: [] } as const;
}

test("the text lists dependencies, halos, splits, hints, streams and events with their reasons", () => {
  assert.equal(
    explainText(explained(figure4().containers)),
    `skeleton "example" on js*2: OCC two-way, strict, one iteration per plan

Containers as written
  axpy     map      reads x, y                writes x  sequence.ts:7
  laplace  stencil  reads x and 2 neighbours  writes y  sequence.ts:7
  dot      reduce   reads x, y                writes d  sequence.ts:7

Dependencies
  axpy -> laplace  read after write of x, write after read of y
  laplace -> dot   read after write of y
  axpy -> dot follows from the others

Fusion
  not asked for

Halo updates
  laplace reads neighbours of x, whose halos are stale since it was written

Splits
  axpy     its boundary cells travel, or lead to those that do, before laplace
  laplace  internal cells of laplace need no halo of x
  dot      its internal cells follow the internal cells of laplace while halos travel

Dependencies on the devices
  axpy.boundary -> halo x            read after write of x
  axpy.internal -> laplace.internal  read after write of x, write after read of y
  axpy.boundary -> laplace.internal  read after write of x
  axpy.internal -> laplace.boundary  read after write of x
  halo x -> laplace.boundary         read after write of x
  laplace.internal -> dot.internal   read after write of y
  laplace.boundary -> dot.boundary   read after write of y
  dot.internal -> collect d          read after write of partials of d
  dot.boundary -> collect d          read after write of partials of d

Hints for the order
  axpy.boundary -> axpy.internal  what travels is computed first
  laplace.internal -> halo x      the device gets work before the host starts the copies
  dot.internal -> halo x          the device gets work before the host starts the copies

Tasks in the order of launches: 2 streams, 3 events
  1  stream 1  axpy.boundary                              a stream of its own
  2  stream 0  axpy.internal                              a stream of its own
  3  stream 0  laplace.internal  waits for axpy.boundary  the stream of axpy.internal, on which it depends
  4  stream 0  dot.internal                               the stream of laplace.internal, on which it depends
  5  stream 1  halo x                                     the stream of axpy.boundary, on which it depends
  6  stream 1  laplace.boundary  waits for axpy.internal  the stream of halo x, on which it depends
  7  stream 1  dot.boundary                               the stream of laplace.boundary, on which it depends
  8  stream 1  collect d         waits for dot.internal   the stream of dot.boundary, on which it depends`,
  );
});

test("Graphviz and SVG show all nodes, edges and hints", () => {
  const all = explained(figure4().containers);
  const { graph, hints, stages } = all.steady;
  const dot = explainDot(all);
  assert.equal(dot.match(/ -> /g)!.length, graph.edges.length + stages.written.edges.length + hints.length);
  assert.equal(dot.match(/\[label=/g)!.length, graph.nodes.length + stages.written.nodes.length);
  assert.equal(dot.match(/style=dashed/g)!.length, hints.length);
  const svg = explainSvg(all);
  assert.equal(svg.match(/<rect /g)!.length, graph.nodes.length + stages.written.nodes.length);
  for (const node of graph.nodes)
    for (const line of linesOf(node.kind === "compute" ? node.name.replace(`.${node.view}`, "") : node.name))
      assert.ok(svg.includes(`>${line}<`), line);
  assert.equal(svg.match(/class="event"/g)!.length, all.steady.schedule.events);
});

test("what is updated at the start only is listed apart", () => {
  const [a, b, c] = ["a", "b", "c"].map(field);
  const containers = [container("use", { around: [a, b], writes: [c] }), container("set", { reads: [c], writes: [b] })];
  const all = explained(containers);
  const steady = planOf(all.steady.stages, 2, "none", all.steady.fresh);
  assert.match(
    explainText({ ...all, steady }),
    /Halo updates\n {2}use reads neighbours of b, .*\n {2}at the start only: use reads neighbours of a, /,
  );
});

test("swaps in the middle of a plan put later containers on the other field", () => {
  const [a, b] = ["a", "b"].map(field);
  const step = container("step", { around: [a], writes: [b] });
  const { containers, swaps } = stagesOf([step, swap(a, b)], 3, false, []);
  assert.deepEqual(
    containers.map(({ uses }) => uses.map((use) => use.field.name).join()),
    ["a,b", "b,a", "a,b"],
  );
  assert.equal(swaps.length, 3);
  assert.deepEqual(stagesOf([step, swap(a, b)], 2, false, []).swaps, [], "two exchanges are none");
});

test("names are broken into lines, and nothing of them is cut", () => {
  assert.deepEqual(linesOf("halo r"), ["halo r"]);
  assert.deepEqual(linesOf("direction + laplace + curvature"), ["direction + laplace +", "curvature"]);
  const long = "x".repeat(60);
  assert.equal(linesOf(`${long} + y`).join("").replaceAll(" ", ""), `${long}+y`);
  assert.ok(linesOf(`${long} + y`).every((line) => line.length <= 25));
});
