import assert from "node:assert/strict";
import { test } from "node:test";
import { IsoformError, LaunchError } from "isoform";
import { Elasticity, type Settings } from "../../../apps/elasticity/elasticity.js";
import { PRECONDITIONERS } from "../../../apps/elasticity/kernels.js";
import { forceOn } from "../../../apps/elasticity/reference.js";
import { cube, patch, tension, type Solid } from "../../../apps/elasticity/solid.js";
import { GRID_KINDS } from "isoform/grid";
import { jsSet, noise } from "../../domain/sets.js";
import { nodesOf, RAGGED } from "./solids.js";

const [one, three] = [1, 3].map(jsSet);
const MATERIAL = { young: 2, poisson: 0.3 };

async function solved(solid: Solid, settings: Partial<Settings> = {}, tolerance = 1e-14) {
  const elasticity = await Elasticity.create(one, solid, { precision: "strict", ...settings });
  const solution = await elasticity.solve({ tolerance });
  assert.ok(solution.converged, `residual ${solution.residual} after ${solution.iterations} iterations`);
  return elasticity;
}

test("forces are those of the elements, summed up in plain JavaScript", async () => {
  const elasticity = await Elasticity.create(three, RAGGED, { precision: "strict" });
  const { displacement, product, elements } = elasticity.fields;
  displacement.fill((x, y, z, axis) => noise(x, y, z, axis));
  await elasticity.drift();
  const counts = new Set<number>();
  for (const node of nodesOf(RAGGED)) {
    counts.add(await elements.get(node));
    const expected = await forceOn(RAGGED, displacement, node);
    for (const [axis, force] of expected.entries()) assert.ok(Math.abs((await product.get(node, axis)) - force) < 1e-13, `node ${node}`);
  }
  assert.ok(counts.has(255) && counts.has(0) && counts.size > 40, `${counts.size} kinds of surroundings`);
  elasticity.free();
});

test("patch test: a solid whose surface is displaced linearly is displaced linearly", async () => {
  for (const preconditioner of PRECONDITIONERS) {
    const elasticity = await solved(patch({ size: 9, material: MATERIAL }), { preconditioner });
    assert.ok((await elasticity.deviation())! < 1e-14);
    elasticity.free();
  }
});

test("the deviation is that of nodes with elements: the exact displacement is not asked for of others", async () => {
  const inCube = (...at: number[]): boolean => at.every((n) => n < 5);
  const whole = patch({ size: 5, material: MATERIAL });
  const isLone = (x: number, y: number, z: number): boolean => x === 7 && y === 7 && z === 7;
  const solid: Solid = {
    ...whole,
    extents: [9, 9, 9],
    active: (x, y, z) => inCube(x, y, z) || isLone(x, y, z),
    fixed: (x, y, z) => (isLone(x, y, z) ? 0 : whole.fixed(x, y, z)),
    exact: (x, y, z, axis) => (isLone(x, y, z) ? 1e6 : whole.exact!(x, y, z, axis)),
  };
  const elasticity = await solved(solid);
  assert.ok((await elasticity.deviation())! < 1e-14);
  elasticity.free();
});

test("patch test on a ragged solid", async () => {
  const exact = (x: number, y: number, z: number, axis: number): number =>
    [0.1 * x - 0.2 * y, 0.3 * z + 0.1, 0.2 * x + 0.1 * y - 0.3 * z][axis];
  const inside = (x: number, y: number, z: number) =>
    [x, y, z].every((n, axis) => n >= 0 && n < RAGGED.extents[axis]) && RAGGED.active!(x, y, z);
  const around = [-1, 0, 1];
  const isSurface = (x: number, y: number, z: number) =>
    around.some((dx) => around.some((dy) => around.some((dz) => !inside(x + dx, y + dy, z + dz))));
  const solid = {
    ...RAGGED,
    load: undefined,
    fixed: (x: number, y: number, z: number) => (isSurface(x, y, z) ? 7 : 0),
    displacement: exact,
    exact,
  };
  const elasticity = await solved(solid, { grid: "sparse" });
  assert.ok((await elasticity.deviation())! < 1e-14);
  elasticity.free();
});

test("uniaxial tension has the analytic displacement", async () => {
  for (const fill of [0.4, 1]) {
    const elasticity = await solved(tension({ size: 10, fill, material: MATERIAL, pressure: 0.5 }));
    assert.ok((await elasticity.deviation())! < 1e-13);
    assert.ok((await elasticity.drift()) < 1e-13);
    elasticity.free();
  }
});

test("the foot of the cube holds what draws at its top", async () => {
  const elasticity = await solved(cube({ size: 9, material: MATERIAL, pressure: 0.5 }));
  const { held, loads } = await elasticity.forceBalance();
  for (const axis of [0, 1, 2]) {
    assert.ok(Math.abs(loads[axis] - [0, 0, 0.5][axis]) < 1e-14);
    assert.ok(Math.abs(held[axis] + loads[axis]) < 1e-13);
  }
  // It is symmetric, drawn out, and thinner in the middle.
  const { displacement } = elasticity.fields;
  assert.ok((await displacement.get([4, 4, 8], 2)) > 0.2);
  const [left, right] = await Promise.all([displacement.get([0, 4, 4], 0), displacement.get([8, 4, 4], 0)]);
  assert.ok(left > 0.01 && Math.abs(left + right) < 1e-14);
  elasticity.free();
});

test("a cube is the same on each kind of grid, whatever part of it the cube fills", async () => {
  for (const fill of [0.2, 0.6, 1]) {
    const results = await Promise.all(
      GRID_KINDS.map(async (grid) => {
        const elasticity = await solved(cube({ size: 11, fill, material: MATERIAL, pressure: 0.5 }), { grid }, 1e-8);
        const values = await elasticity.fields.displacement.download();
        elasticity.free();
        return values;
      }),
    );
    for (const values of results.slice(1)) assert.deepEqual(values, results[0]);
  }
});

test("Jacobi's preconditioner finds the same solution", async () => {
  const [plain, jacobi] = await Promise.all(PRECONDITIONERS.map((preconditioner) => solved(RAGGED, { preconditioner })));
  const [a, b] = await Promise.all([plain, jacobi].map(({ fields }) => fields.displacement.download()));
  const largest = Math.max(...a.map(Math.abs));
  for (const [n, value] of a.entries()) assert.ok(Math.abs(value - b[n]) < 1e-12 * largest);
  for (const each of [plain, jacobi]) each.free();
});

test("what is solved already takes no iteration, and none too many is harmful", async () => {
  const still = await Elasticity.create(one, cube({ size: 4, material: MATERIAL, pressure: 0 }));
  const { iterations, converged, residual } = await still.solve();
  assert.deepEqual({ iterations, converged, residual }, { iterations: 0, converged: true, residual: 0 });
  await still.skeleton.run(5);
  assert.ok((await still.fields.displacement.download()).every((value) => value === 0));
  still.free();
});

test("a NaN stops the solver, and is reported with its field", async () => {
  const broken = await Elasticity.create(one, { ...cube({ size: 4, material: MATERIAL, pressure: 1 }) });
  broken.fields.residual.set([1, 1, 1], NaN, 2);
  await assert.rejects(
    broken.solve({ every: 1 }),
    (error: Error) => error instanceof IsoformError && /iteration 1.*field "/.test(error.message),
  );
  broken.free();
});

test("sizes that make no solid are refused", () => {
  for (const options of [{ size: 1 }, { size: 8, fill: 0 }, { size: 8, fill: 1.1 }, { size: 8, fill: 0.001 }])
    assert.throws(() => cube({ material: MATERIAL, pressure: 1, ...options }), LaunchError);
});
