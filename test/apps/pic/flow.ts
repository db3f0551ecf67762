import assert from "node:assert/strict";
import type { Device, LayoutName, LaunchOptions, View } from "isoform";
import { f64, range } from "isoform";
import { along, cellSize, cyclic, dofs, meshOf, type Mesh } from "../../../apps/pic/mesh/mesh.js";
import { pushKernel } from "../../../apps/pic/particles/particles.js";
import type { Particle } from "./reference.js";

/* Particles, fields and the flow along an axis on a device, for tests of kernels. */

/** Of the box, in all directions. */
export const L = (2 * Math.PI) / 1.25;
export const MESH = meshOf([16, 8, 8], [L, L, L], 3, 3);
export const CHARGE = -0.7;
export const RATIO = -1.3;
export const DT = 0.05;

/** Numbers in [0, 1) that are the same every time. */
function* numbers(): Generator<number, never> {
  for (let n = 1; ; n++) yield (n * 0.6180339887498949) % 1;
}

/** Particles everywhere; the first ones go far, end on a cell's edge, or cross the ends of the box. */
export function particles(mesh: Mesh, axis: number, count = 200): Particle[] {
  const next = numbers();
  const draw = () => next.next().value;
  const list = Array.from({ length: count }, () => ({
    x: mesh.axes.map(({ length, degree }) => (degree > 0 ? length * draw() : 0)),
    v: [0, 1, 2].map((k) => (k < mesh.velocities ? 4 * draw() - 2 : 0)),
    w: 0.5 + draw(),
  }));
  const { length, degree } = mesh.axes[axis];
  if (degree === 0) return list;
  const h = cellSize(mesh.axes[axis]);
  const paths = [0.3, -0.3, 1.7, -1.7, 9.2, -9.2, 40.5, -40.5].map((cells) => [5.4 * h, cells * h]);
  const edges = [
    [2 * h, h],
    [3 * h, -h],
    [2.5 * h, 0.5 * h],
    [0, -0.25 * h],
    [0, 0],
    [length - 0.25 * h, 0.25 * h],
    [length - 0.1 * h, 0.7 * h],
    [0.1 * h, -0.7 * h],
  ];
  for (const [n, [from, shift]] of [...paths, ...edges].entries()) {
    list[n].x[axis] = from;
    list[n].v[axis] = shift / DT;
  }
  return list;
}

interface OnDevice {
  x: View<"f64", 1>[];
  v: View<"f64", 1>[];
  w: View<"f64", 1>;
}

export function upload(device: Device, list: readonly Particle[], layout: LayoutName = "left"): OnDevice {
  const storage = device.array(f64, [list.length, 7], { layout });
  device.queue.write(
    storage,
    list.flatMap(({ x, v, w }) => [...x, ...v, w]),
  );
  const column = (k: number): View<"f64", 1> => storage.at(1, k);
  return { x: [0, 1, 2].map(column), v: [3, 4, 5].map(column), w: column(6) };
}

/** Coefficients of B, three blocks. */
export const fieldOf = (mesh: Mesh): Float64Array[] => {
  const next = numbers();
  return [0, 1, 2].map(() => Float64Array.from({ length: dofs(mesh) }, () => next.next().value - 0.5));
};

/** Coefficients of a scalar as [z][y][x]. */
export const blockOn = (device: Device, mesh: Mesh, data: ArrayLike<number>): View<"f64"> =>
  device.from(f64, data, mesh.axes.map(({ cells }) => cells).reverse());

/** Particles and the current after the flow over `dt`, and the particles as the device had them before. */
export async function pushOn(
  device: Device,
  mesh: Mesh,
  axis: number,
  list: readonly Particle[],
  dt: number,
  b: Float64Array[],
  { layout, ...options }: LaunchOptions & { layout?: LayoutName } = { precision: "strict" },
) {
  const { x, v, w } = upload(device, list, layout);
  const [, second, third] = cyclic(axis);
  const order = cyclic(axis);
  const [ha, hb, hc] = order.map((k) => cellSize(mesh.axes[k]));
  const blocks = b.map((data) => along(blockOn(device, mesh, data), axis));
  const j = device.array(f64, mesh.axes.map(({ cells }) => cells).reverse());
  const args = {
    dt,
    charge: CHARGE,
    ratio: RATIO,
    ha,
    hb,
    hc,
    length: mesh.axes[axis].length,
    xa: x[axis],
    xb: x[second],
    xc: x[third],
    va: v[axis],
    vb: v[second],
    vc: v[third],
    w,
    fieldB: blocks[second],
    fieldC: blocks[third],
    turnsB: true,
    turnsC: true,
    j: along(j, axis),
  };
  const read = (columns: readonly View<"f64">[]) => Promise.all(columns.map((column) => device.queue.read(column)));
  const before = { x: await read(x), v: await read(v) };
  await device.run(pushKernel(mesh, axis), args, range(list.length), options);
  return { before, x: await read(x), v: await read(v), j: await device.queue.read(j) };
}

export const largest = (values: Iterable<number>): number => Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/** Fails where two lists differ by more than `tolerance`. */
export function close(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number, what: string): void {
  const off = largest(Array.from(expected, (value, n) => actual[n] - value));
  assert.ok(actual.length === expected.length && off <= tolerance, `${what}: off by ${off}`);
}
