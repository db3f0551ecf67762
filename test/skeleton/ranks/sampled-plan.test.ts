import assert from "node:assert/strict";
import { test } from "node:test";
import { makeSkeleton as heat } from "../../../apps/heat/heat.js";
import { makeSkeleton as lbm } from "../../../apps/lbm/cavity.js";
import { makeSkeleton as poisson } from "../../../apps/poisson/poisson.js";
import { dense, parity } from "../../../src/domain/index.js";
import { f64 } from "../../../src/kernel/declare/params.js";
import { devices } from "../../../src/set/index.js";
import { skeleton, type SkeletonModule } from "../../../src/skeleton/index.js";
import { cellsIn } from "../../../src/skeleton/ranks/rank-plan.js";
import { sampledPlan } from "../../../src/skeleton/sampled-plan.js";
import { patternOn, SETTINGS } from "./patterns.js";

const PLACES = ["first", "inner", "last"] as const;

/** Gauss-Seidel over cells of one parity after the other. */
const redBlack: SkeletonModule["makeSkeleton"] = async (set, { size = 16, planes = size, occ, precision }) => {
  const grid = dense(set, [size, size, planes]);
  const u = grid.field("u", f64);
  u.fill(1);
  const steps = ([0, 1] as const).map((of) =>
    grid.container(
      `relax ${of}`,
      { u },
      ({ u }, c) => void (u[c] = 0.25 * (u.at(c, 1, 0, 0) + u.at(c, 0, 1, 0) + u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1))),
      undefined,
      { on: parity(of) },
    ),
  );
  return skeleton(set, "red-black", steps, { occ, precision });
};

test("containers over every second cell grow with all axes of a box", async () => {
  const plan = await sampledPlan({ makeSkeleton: redBlack }, "js", SETTINGS);
  const tasks = plan.shared.z!.filter(({ kind }) => kind === "compute");
  assert.ok(tasks.length >= 2);
  // Internal and boundary cells are tasks of their own.
  for (const of of [0, 1]) {
    const own = tasks.filter(({ name }) => name.startsWith(`relax ${of}`)).map((task) => task.at({ y: "first", z: "inner" }).cells);
    const cells = (extents: readonly number[]): number => own.reduce((sum, count) => sum + count(extents), 0);
    assert.equal(cells([100, 80, 60]), 100 * 80 * 60);
  }
});

test("a plan from small cubes has the cells and the messages of a larger box", async () => {
  const plan = await sampledPlan({ makeSkeleton: heat }, "js", SETTINGS);
  const set = await devices("js*3");
  try {
    const extents = [100, 90];
    const pattern = await patternOn(heat, set, { ...SETTINGS, size: extents[0], planes: extents[1] });
    assert.deepEqual(pattern.planes, [30, 30, 30]);
    for (const [n, z] of PLACES.entries())
      for (const task of plan.shared.z!) {
        const { boxes, sends } = pattern.tasks.find(({ name }) => name === task.name)!.parts[n];
        const cells = boxes.reduce((sum, [x, y]) => sum + x * y, 0);
        const { sends: planned, cells: count } = task.at({ y: "first", z });
        assert.equal(count([100, 30]), cells, `${task.name} of the ${z}`);
        assert.deepEqual(
          planned.map(({ step: [y, up], bytes }) => [y, n + up, bytes([100, 30])]),
          sends.map(({ to, bytes }) => [0, to, bytes]),
        );
      }
  } finally {
    await set.close();
  }
});

for (const [name, makeSkeleton, layout] of [
  ["lbm", lbm, "aos"],
  ["poisson", poisson, "soa"],
] as const)
  test(`a plan of ${name} (${layout}) for cuts along y and z has the cells and the messages of a larger box`, async () => {
    const settings = { ...SETTINGS, layout, dimension: 3 as const };
    const plan = await sampledPlan({ makeSkeleton }, "js", { ...settings, split: "yz" });
    for (const [division, split] of [
      [{ y: 1, z: 3 }, "z"],
      [{ y: 3, z: 1 }, "y"],
      [{ y: 3, z: 3 }, "yz"],
    ] as const) {
      const set = await devices(`js*${division.y * division.z}`);
      try {
        const [walls] = plan.margins;
        const pattern = await patternOn(makeSkeleton, set, { ...settings, split, size: 64, planes: 51 });
        assert.deepEqual(pattern.division, division);
        assert.equal(pattern.tasks.length, plan.shared[split]!.length);
        for (const [k, z] of PLACES.entries())
          for (const [j, y] of PLACES.entries()) {
            if ((division.y === 1 && j > 0) || (division.z === 1 && k > 0)) continue;
            const member = j + division.y * k;
            const own = [64 + walls, pattern.rows[member] ?? 64 + walls, pattern.planes[member]];
            for (const [n, task] of plan.shared[split]!.entries()) {
              const { name: title, parts } = pattern.tasks[n];
              const where = `${title} at ${y} along y, ${z} along z, ${split}`;
              const { sends, cells } = task.at({ y, z });
              assert.equal(task.name, title);
              if (task.kind !== "collect") assert.equal(cells(own), cellsIn(parts[member].boxes), where);
              assert.deepEqual(
                sends.map(({ step: [dy, dz], bytes }) => [member + dy + division.y * dz, bytes(own)]),
                parts[member].sends.map(({ to, bytes }) => [to, bytes]),
                where,
              );
            }
          }
      } finally {
        await set.close();
      }
    }
  });
