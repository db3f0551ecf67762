import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "../../../src/domain/grid/grid.js";
import { deviceGraph, type DeviceGraph } from "../../../src/skeleton/plan/device-graph.js";
import type { OccLevel } from "../../../src/skeleton/plan/occ.js";
import { schedule } from "../../../src/skeleton/plan/schedule.js";
import { noise } from "../../domain/sets.js";
import { container, field, figure4, scalar } from "../fakes.js";

const edges = ({ graph }: DeviceGraph) => graph.edges.map((e) => `${e.from.name} -> ${e.to.name}`).sort();
const names = ({ graph }: DeviceGraph) => graph.nodes.map((n) => n.name);
const hints = (plan: DeviceGraph) => plan.hints.map((h) => `${h.from.name} -> ${h.to.name}`);
const onTwo = (containers: Container[], level: OccLevel) => deviceGraph(containers, 2, level, new Set());
const order = (plan: DeviceGraph) => schedule(plan.graph, plan.hints).tasks.map((t) => `${t.node.name} @${t.stream}`);

test("figure 4b: the dependencies of axpy, laplace and dot", () => {
  const { base } = onTwo(figure4().containers, "none");
  assert.deepEqual(
    base.edges.map((e) => [e.from.name, e.to.name, e.reasons.map((r) => `${r.hazard} ${r.datum.name}`)]),
    [
      ["axpy", "laplace", ["read after write x", "write after read y"]],
      ["laplace", "dot", ["read after write y"]],
    ],
  );
  assert.deepEqual(
    base.redundant.map((e) => `${e.from.name} -> ${e.to.name}`),
    ["axpy -> dot"],
  );
});

test("figure 4c: no OCC", () => {
  const plan = onTwo(figure4().containers, "none");
  assert.deepEqual(names(plan), ["axpy", "halo x", "laplace", "dot", "collect d"]);
  assert.deepEqual(edges(plan), ["axpy -> halo x", "dot -> collect d", "halo x -> laplace", "laplace -> dot"]);
  assert.deepEqual(order(plan), ["axpy @0", "halo x @0", "laplace @0", "dot @0", "collect d @0"]);
  assert.equal(schedule(plan.graph, plan.hints).events, 0);
});

test("standard OCC splits the stencil alone", () => {
  const plan = onTwo(figure4().containers, "standard");
  assert.deepEqual(names(plan), ["axpy", "halo x", "laplace.internal", "laplace.boundary", "dot", "collect d"]);
  assert.deepEqual(edges(plan), [
    "axpy -> halo x",
    "axpy -> laplace.internal",
    "dot -> collect d",
    "halo x -> laplace.boundary",
    "laplace.boundary -> dot",
    "laplace.internal -> dot",
  ]);
  assert.deepEqual(hints(plan), ["laplace.internal -> halo x"]);
  assert.deepEqual(order(plan), ["axpy @0", "laplace.internal @1", "halo x @0", "laplace.boundary @0", "dot @0", "collect d @0"]);
});

test("extended OCC splits the map before the stencil too", () => {
  const plan = onTwo(figure4().containers, "extended");
  assert.deepEqual(names(plan), ["axpy.internal", "axpy.boundary", "halo x", "laplace.internal", "laplace.boundary", "dot", "collect d"]);
  assert.deepEqual(hints(plan), ["axpy.boundary -> axpy.internal", "laplace.internal -> halo x"]);
});

test("figure 4d: two-way extended OCC, with its levels (figures 5 and 6), streams and order", () => {
  const plan = onTwo(figure4().containers, "two-way");
  assert.deepEqual(edges(plan), [
    "axpy.boundary -> halo x",
    "axpy.boundary -> laplace.internal",
    "axpy.internal -> laplace.boundary",
    "axpy.internal -> laplace.internal",
    "dot.boundary -> collect d",
    "dot.internal -> collect d",
    "halo x -> laplace.boundary",
    "laplace.boundary -> dot.boundary",
    "laplace.internal -> dot.internal",
  ]);
  assert.deepEqual(hints(plan), ["axpy.boundary -> axpy.internal", "laplace.internal -> halo x", "dot.internal -> halo x"]);
  const { levels, streams, tasks } = schedule(plan.graph, plan.hints);
  assert.deepEqual(
    levels.map((level) => level.map((n) => n.name)),
    [
      ["axpy.internal", "axpy.boundary"],
      ["halo x", "laplace.internal"],
      ["laplace.boundary", "dot.internal"],
      ["dot.boundary"],
      ["collect d"],
    ],
  );
  assert.equal(streams, 2);
  assert.deepEqual(
    tasks.map((t) => [t.node.name, t.stream, t.waits.map((w) => w.node.name).join()]),
    [
      ["axpy.boundary", 1, ""],
      ["axpy.internal", 0, ""],
      ["laplace.internal", 0, "axpy.boundary"],
      ["dot.internal", 0, ""],
      ["halo x", 1, ""],
      ["laplace.boundary", 1, "axpy.internal"],
      ["dot.boundary", 1, ""],
      ["collect d", 1, "dot.internal"],
    ],
  );
});

test("on one member there are no halos, splits or collected reductions", () => {
  const plan = deviceGraph(figure4().containers, 1, "two-way", new Set());
  assert.deepEqual(names(plan), ["axpy", "laplace", "dot"]);
});

test("a halo is updated once for all stencils until its field is written", () => {
  const [x, y, z] = [field("x"), field("y"), field("z")];
  const containers = [
    container("one", { around: [x], writes: [y] }),
    container("two", { around: [x], writes: [z] }),
    container("set", { writes: [x] }),
    container("three", { around: [x], writes: [y] }),
  ];
  const first = onTwo(containers, "none");
  assert.deepEqual(names(first), ["halo x", "one", "two", "set", "halo x", "three"]);
  assert.deepEqual([...first.fresh], [x]);
  assert.deepEqual(names(deviceGraph(containers, 2, "none", first.fresh)), ["one", "two", "set", "halo x", "three"], "steady state");
});

test("neighbours along other axes need no halo", () => {
  const [x, y] = [field("x"), field("y")];
  assert.deepEqual(names(onTwo([container("shift", { beside: [x], writes: [y] })], "two-way")), ["shift"]);
});

test("the fine cells of a cell need no halo, their neighbours do", () => {
  const [fine, coarse] = [field("fine"), field("coarse")];
  const restrict = (offsets: number[][]): Container => {
    const made = container("restrict", { reads: [fine], writes: [coarse], level: "fine" });
    return { ...made, uses: made.uses.map((use) => (use.field === fine ? { ...use, offsets } : { ...use, level: "own" })) };
  };
  assert.deepEqual(
    names(
      onTwo(
        [
          restrict([
            [0, 0, 0],
            [1, 1, 1],
          ]),
        ],
        "two-way",
      ),
    ),
    ["restrict"],
  );
  assert.deepEqual(
    names(
      onTwo(
        [
          restrict([
            [0, 0, -1],
            [0, 0, 2],
          ]),
        ],
        "two-way",
      ),
    ),
    ["halo fine", "restrict"],
  );
});

test("what reads another grid is not split: internal cells of two grids do not lie upon each other", () => {
  const [u, v, r] = ["u", "v", "r"].map(field);
  const smooth = container("smooth", { around: [u], writes: [v] });
  const restrict = container("restrict", { reads: [v], writes: [r], level: "fine" });
  assert.deepEqual([...onTwo([smooth, restrict], "two-way").splits.keys()], [0]);
  const copy = container("copy", { reads: [v], writes: [r] });
  assert.deepEqual([...onTwo([smooth, copy], "two-way").splits.keys()], [0, 1]);
});

test("a reduction between a map and the stencil stops the split, for every cell must be known", () => {
  const [x, y, r, s] = [field("x"), field("y"), field("r"), scalar("s")];
  const containers = [
    container("residual", { reads: [r], writes: [r] }),
    container("dot", { reads: [r], reduces: [s] }),
    container("direction", { reads: [r], scalars: [s], writes: [x] }),
    container("laplace", { around: [x], writes: [y] }),
    container("norm", { reads: [y], reduces: [s] }),
    container("scale", { reads: [y], scalars: [s], writes: [y] }),
  ];
  const plan = onTwo(containers, "two-way");
  assert.deepEqual([...plan.splits].map(([stage, { side }]) => [containers[stage].name, side]).sort(), [
    ["direction", "before"],
    ["laplace", "stencil"],
    ["norm", "after"],
  ]);
});

test("a chain of maps before a stencil is split from its start", () => {
  const [a, b, c, y] = ["a", "b", "c", "y"].map(field);
  const containers = [
    container("first", { reads: [a], writes: [b] }),
    container("second", { reads: [b], writes: [c] }),
    container("laplace", { around: [c], writes: [y] }),
    container("other", { reads: [a], writes: [a] }),
  ];
  assert.deepEqual([...onTwo(containers, "extended").splits.keys()].sort(), [0, 1, 2]);
  assert.deepEqual([...onTwo(containers, "standard").splits.keys()], [2]);
});

test("two independent branches take two streams, joined by one event", () => {
  const [a, b, c] = ["a", "b", "c"].map(field);
  const plan = onTwo(
    [container("left", { writes: [a] }), container("right", { writes: [b] }), container("join", { reads: [a, b], writes: [c] })],
    "none",
  );
  const { streams, events, tasks } = schedule(plan.graph, plan.hints);
  assert.deepEqual([streams, events], [2, 1]);
  assert.deepEqual(
    tasks.map((t) => [t.node.name, t.stream, t.waits.map((w) => w.node.name)]),
    [
      ["left", 0, []],
      ["right", 1, []],
      ["join", 1, ["left"]],
    ],
  );
});

test("in one stream, each task depends on the one before, so that no stream holds up what could run", () => {
  const fields = Array.from({ length: 5 }, (_, n) => field(`f${n}`));
  const total = scalar("total");
  for (let seed = 0; seed < 60; seed++) {
    const random = sequenceOfNumbers(seed);
    const pick = () => fields[random(fields.length)];
    const containers = Array.from({ length: 6 }, (_, n) => {
      const [from, to] = [pick(), pick()];
      if (random(4) === 0) return container(`sum ${n}`, { reads: [from], reduces: [total] });
      return container(`c${n}`, from !== to && random(2) ? { around: [from], writes: [to] } : { reads: [from], writes: [to] });
    });
    const plan = onTwo(containers, "two-way");
    const { tasks, streams } = schedule(plan.graph, plan.hints);
    for (const [n, { node, stream, waits }] of tasks.entries()) {
      const before = tasks.slice(0, n).findLast((t) => t.stream === stream);
      if (before) assert.ok(plan.graph.reaches(before.node, node), `${before.node.name} before ${node.name}, seed ${seed}`);
      for (const wait of waits) assert.ok(tasks.indexOf(wait) < n, "events are recorded before they are waited for");
    }
    assert.equal(new Set(tasks.map((t) => t.stream)).size, streams);
  }
});

/** Whole numbers below a bound that look random. */
function sequenceOfNumbers(seed: number): (bound: number) => number {
  let n = 0;
  return (bound) => Math.min(bound - 1, Math.floor(((noise(seed, n++) + 1) / 2) * bound));
}
