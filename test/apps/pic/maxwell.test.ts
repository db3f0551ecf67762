import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { View } from "isoform";
import { open } from "isoform";
import { Maxwell } from "../../../apps/pic/fields/maxwell.js";
import { cellSize, dofs, eigenvalues, inverse, massRow, meshOf, product, type Axis, type Mesh } from "../../../apps/pic/mesh/mesh.js";
import { projectionMoments } from "../../../apps/pic/mesh/projection.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";
import { requireStep } from "../../../apps/pic/simulation/step-limit.js";
import { Workspace } from "../../../apps/pic/fields/workspace.js";
import { electricField, indexOf, magneticField, spline } from "./reference.js";

const device = await open("js");
const work = new Workspace(device, "strict");
after(() => device.close());

const MESH = meshOf([9, 8, 7], [2, 3, 5], 3, 3);

const numbers = (length: number, seed: number): Float64Array =>
  Float64Array.from({ length }, (_, n) => (((n + 1) * (seed + 0.6180339887498949)) % 1) - 0.5);
const read = async (view: View<"f64">): Promise<number[]> => Array.from(await device.queue.read(view));
const largest = (values: Iterable<number>): number => Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const distance = (a: ArrayLike<number>, b: ArrayLike<number>): number => largest(Array.from(a, (value, n) => value - b[n]));

/** (D u)_i = (u_i - u_(i-1)) / h along an axis, or its transpose. */
function difference(mesh: Mesh, axis: number, u: ArrayLike<number>, transposed = false): number[] {
  const result: number[] = [];
  const n = mesh.axes.map(({ cells }) => cells);
  for (let k = 0; k < n[2]; k++)
    for (let j = 0; j < n[1]; j++)
      for (let i = 0; i < n[0]; i++) {
        const other = [i, j, k];
        other[axis] = (other[axis] + (transposed ? 1 : n[axis] - 1)) % n[axis];
        result[indexOf(mesh, [i, j, k])] = (u[indexOf(mesh, [i, j, k])] - u[indexOf(mesh, other)]) / cellSize(mesh.axes[axis]);
      }
  return result;
}

test("mass matrices hold the integrals of products of splines", () => {
  for (const degree of [1, 2, 3]) {
    const axis: Axis = { cells: 8, length: 4, degree };
    const row = massRow(axis, degree);
    const steps = 4000;
    for (const [k, value] of row.entries()) {
      let integral = 0;
      for (let n = 0; n < steps; n++) {
        const t = ((n + 0.5) * (degree + 1)) / steps;
        integral += spline(degree, t) * (spline(degree, t - k) + spline(degree, t - k + 8));
      }
      assert.ok(Math.abs((integral * (degree + 1)) / steps / 2 - value) < 1e-7, `degree ${degree}, ${k}`);
    }
    const identity = product(row, inverse(row));
    assert.ok(
      distance(
        identity,
        identity.map((_, k) => (k === 0 ? 1 : 0)),
      ) < 1e-15,
    );
    assert.ok(Math.abs(eigenvalues(row)[0] - 0.5) < 1e-15);
  }
});

test("curl of a gradient and divergence of a curl are 0", async () => {
  const maxwell = new Maxwell(work, MESH);
  const n = dofs(MESH);
  const rho = work.array([7, 8, 9]);
  device.queue.write(rho, numbers(n, 0));
  work.do([...maxwell.poisson(rho), ...maxwell.faraday(1)]);
  const most = largest(await read(maxwell.e));
  assert.ok(most > 100 && largest(await read(maxwell.b)) < 1e-14 * most);
  device.queue.write(maxwell.e, numbers(3 * n, 1));
  device.queue.clear(maxwell.b);
  work.do(maxwell.faraday(-1));
  const parts = await Promise.all([0, 1, 2].map(async (a) => difference(MESH, a, await read(maxwell.b.at(0, a)))));
  assert.ok(largest(parts[0]) > 1);
  assert.ok(largest(parts[0].map((value, id) => value + parts[1][id] + parts[2][id])) < 1e-13);
});

test("Poisson's equation holds in the weak form", async () => {
  const maxwell = new Maxwell(work, MESH);
  const given = numbers(dofs(MESH), 2);
  const mean = given.reduce((a, b) => a + b) / given.length;
  const rho = work.array([7, 8, 9]);
  device.queue.write(rho, given);
  work.do(maxwell.poisson(rho));
  const flux = work.array([7, 8, 9]);
  const outflow = new Float64Array(given.length);
  for (const a of [0, 1, 2]) {
    work.do(maxwell.mass("e", a, maxwell.e.at(0, a), flux));
    difference(MESH, a, await read(flux), true).forEach((value, id) => (outflow[id] -= value));
  }
  assert.ok(
    distance(
      outflow,
      given.map((value) => value - mean),
    ) < 1e-13,
  );
});

test("Ampere's law holds in the weak form: M1 de = dt C^T M2 b", async () => {
  const maxwell = new Maxwell(work, MESH);
  device.queue.write(maxwell.b, numbers(3 * dofs(MESH), 3));
  work.do(maxwell.ampere(0.5));
  const product = work.array([7, 8, 9]);
  const m: number[][] = [];
  for (const a of [0, 1, 2]) {
    work.do(maxwell.mass("b", a, maxwell.b.at(0, a), product));
    m.push(await read(product));
  }
  for (const a of [0, 1, 2]) {
    const [b, c] = [(a + 1) % 3, (a + 2) % 3];
    work.do(maxwell.mass("e", a, maxwell.e.at(0, a), product));
    const [second, third] = [difference(MESH, c, m[b], true), difference(MESH, b, m[c], true)];
    assert.ok(
      distance(
        await read(product),
        second.map((value, id) => 0.5 * (value - third[id])),
      ) < 1e-14,
    );
  }
});

test("integrals of E x B are those of the fields", async () => {
  const mesh = meshOf([9, 8], [2, 3], 3, 3);
  const maxwell = new Maxwell(work, mesh);
  const n = dofs(mesh);
  device.queue.write(maxwell.e, numbers(3 * n, 4));
  device.queue.write(maxwell.b, numbers(3 * n, 5));
  const blocks = async (view: View<"f64">) => Promise.all([0, 1, 2].map((k) => read(view.at(0, k))));
  const [e, b] = [await blocks(maxwell.e), await blocks(maxwell.b)];
  const product = work.array([1, 8, 9]);
  // Of splines of degree up to 6 on cells, the midpoint rule with 12 points a cell errs by less than 1e-3 of the terms.
  const points = 12;
  for (const [a, k, l] of [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [2, 0, 1],
  ]) {
    work.do(maxwell.cross(a, k, maxwell.b.at(0, l), product));
    const found = (await read(product)).reduce((sum, value, id) => sum + e[k][id] * value, 0);
    let expected = 0;
    for (let i = 0; i < 9 * points; i++)
      for (let j = 0; j < 8 * points; j++) {
        const x = [((i + 0.5) * 2) / (9 * points), ((j + 0.5) * 3) / (8 * points), 0];
        expected += electricField(mesh, x, e)[k] * magneticField(mesh, x, b)[l];
      }
    expected *= 6 / (72 * points * points);
    assert.ok(Math.abs(found - expected) < 1e-3, `${a}: ${found}, ${expected}`);
  }
});

test("a projected field is the field, to the splines' order", async () => {
  const mesh = meshOf([24], [2], 3, 2);
  const maxwell = new Maxwell(work, mesh);
  const wave = (x: readonly number[]) => [Math.sin(Math.PI * x[0]), Math.cos(Math.PI * x[0]), 0] as const;
  for (const k of [0, 1]) {
    device.queue.write(maxwell.current, projectionMoments(mesh, "e", k, wave));
    work.do(maxwell.mass("e", k, maxwell.current, maxwell.e.at(0, k), true));
  }
  const blocks = await Promise.all([0, 1].map((k) => read(maxwell.e.at(0, k))));
  for (const x of [0, 0.3, 1.13, 1.999]) {
    const e = electricField(mesh, [x, 0, 0], blocks);
    assert.ok(Math.abs(e[0] - wave([x])[0]) < 5e-4 && Math.abs(e[1] - wave([x])[1]) < 5e-5);
  }
});

test("light waves have the frequency of the discrete equations", async () => {
  const mesh = meshOf([16], [2 * Math.PI], 3, 2);
  const [axis] = mesh.axes;
  const h = cellSize(axis);
  const dt = 0.05;
  const lambda = (m: number) =>
    ((2 * (1 - Math.cos((2 * Math.PI * m) / 16))) / h ** 2) * (eigenvalues(massRow(axis, 2))[m] / eigenvalues(massRow(axis, 3))[m]);
  for (const m of [1, 3, 8]) {
    const problem = { mesh, species: [], magnetic: { field: (x: readonly number[]) => [0, 0, Math.cos(m * x[0] + 0.3)] as const } };
    const settings = { count: 0, dt, composition: "strang", loading: "sobol", layout: "left", precision: "strict", sort: 0 } as const;
    const simulation = await Simulation.create(device, problem, settings);
    const start = await read(simulation.maxwell.b.at(0, 2));
    await simulation.run(30);
    const angle = 30 * Math.acos(1 - (dt ** 2 * lambda(m)) / 2);
    const end = await read(simulation.maxwell.b.at(0, 2));
    assert.ok(
      distance(
        end,
        start.map((value) => value * Math.cos(angle)),
      ) < 1e-13,
    );
    simulation.free();
  }
});

test("the longest step is that of the finest light wave, or of the plasma", () => {
  const mesh = meshOf([16, 8, 8], [1, 1, 1], 3, 3);
  const expected = 2 / Math.sqrt(9.88 * mesh.axes.reduce((sum, axis) => sum + 1 / cellSize(axis) ** 2, 0));
  requireStep({ mesh, species: [] }, 0.999 * expected);
  assert.throws(() => requireStep({ mesh, species: [] }, 1.001 * expected), /makes waves grow without bounds/);
  const ions = { name: "ions", charge: 2, mass: 16, beams: [] };
  const plasma = { mesh: meshOf([16], [1], 3, 1), species: [ions] };
  requireStep(plasma, 3.9999999);
  assert.throws(() => requireStep(plasma, 4), /it must be less than 4\.000/);
});
