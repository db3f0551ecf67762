import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Device, LaunchOptions, View } from "isoform";
import { doctor, f64, open, range } from "isoform";
import { along, cellSize, cyclic, dofs, meshOf, type Mesh } from "../../../apps/pic/mesh.js";
import { depositKernel, kickKernel, pushKernel } from "../../../apps/pic/particles.js";
import { density, electricField, push, type Particle } from "./reference.js";

const reports = await doctor();
const L = (2 * Math.PI) / 1.25;
const MESH = meshOf([16, 8, 8], [L, L, L], 3, 3);
const CHARGE = -0.7;
const RATIO = -1.3;
const DT = 0.05;

/** Numbers in [0, 1) that are the same every time. */
function* numbers(): Generator<number, never> {
  for (let n = 1; ; n++) yield (n * 0.6180339887498949) % 1;
}

/** Particles everywhere; the first ones go far, end on a cell's edge, or cross the ends of the box. */
function particles(mesh: Mesh, axis: number, count = 200): Particle[] {
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

function upload(device: Device, list: readonly Particle[]): OnDevice {
  const column = (value: (p: Particle) => number): View<"f64", 1> => device.from(f64, list.map(value));
  return {
    x: [0, 1, 2].map((k) => column(({ x }) => x[k])),
    v: [0, 1, 2].map((k) => column(({ v }) => v[k])),
    w: column(({ w }) => w),
  };
}

/** Coefficients of B, three blocks. */
const fieldOf = (mesh: Mesh): Float64Array[] => {
  const next = numbers();
  return [0, 1, 2].map(() => Float64Array.from({ length: dofs(mesh) }, () => next.next().value - 0.5));
};

const blockOn = (device: Device, mesh: Mesh, data: ArrayLike<number>): View<"f64"> =>
  device.from(f64, data, mesh.axes.map(({ cells }) => cells).reverse());

async function pushOn(
  device: Device,
  mesh: Mesh,
  axis: number,
  list: readonly Particle[],
  dt: number,
  b: Float64Array[],
  options: LaunchOptions = { precision: "strict" },
) {
  const { x, v, w } = upload(device, list);
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
  await device.run(pushKernel(mesh, axis), args, range(list.length), options);
  const read = (view: View<"f64">) => device.queue.read(view);
  return { x: await Promise.all(x.map(read)), v: await Promise.all(v.map(read)), j: await read(j) };
}

const largest = (values: Iterable<number>): number => Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

function close(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number, what: string): void {
  const off = largest(Array.from(expected, (value, n) => actual[n] - value));
  assert.ok(actual.length === expected.length && off <= tolerance, `${what}: off by ${off}`);
}

describe("the flow along an axis, on js", () => {
  let device: Device;
  before(async () => void (device = await open("js")));
  after(() => device.close());

  for (const [name, mesh] of [
    ["cubic 3D3V", MESH],
    ["quadratic 3D3V", meshOf([9, 8, 7], [L, 1, 2], 2, 3)],
    ["quintic 3D3V", meshOf([12, 11, 13], [L, 1, 2], 5, 3)],
    ["cubic 1D3V", meshOf([16], [L], 3, 3)],
  ] as const)
    for (const axis of [0, 1, 2])
      test(`${name} along ${axis + 1} is that of the definitions`, async () => {
        const [list, b] = [particles(mesh, axis, name.startsWith("quintic") ? 20 : 60), fieldOf(mesh)];
        const found = await pushOn(device, mesh, axis, list, DT, b);
        const j = new Float64Array(dofs(mesh));
        for (const particle of list) push(mesh, axis, DT, particle, b, j, CHARGE, RATIO);
        close(found.j, j, 1e-14 * list.length, "current");
        for (const k of [0, 1, 2]) {
          close(
            found.v[k],
            list.map(({ v }) => v[k]),
            2e-14,
            `v${k + 1}`,
          );
          // 0 and the length of the box are one place.
          const { length } = mesh.axes[k];
          const apart = list.map(({ x }, n) => (found.x[k][n] - x[k]) / length);
          assert.ok(largest(apart.map((share) => share - Math.round(share))) < 1e-14);
          assert.ok(found.x[k].every((place) => place >= 0 && (place < length || mesh.axes[k].degree === 0)));
        }
      });

  test("what the flow does not move keeps its bits, and the current's sum is that of the velocities", async () => {
    const list = particles(MESH, 0);
    const { x, v, j } = await pushOn(device, MESH, 0, list, DT, fieldOf(MESH));
    assert.deepEqual(
      [...v[0]],
      list.map((p) => p.v[0]),
    );
    for (const k of [1, 2])
      assert.deepEqual(
        [...x[k]],
        list.map((p) => p.x[k]),
      );
    const expected = list.reduce((sum, p) => sum + CHARGE * p.w * DT * p.v[0], 0);
    const passed = list.reduce((sum, p) => sum + Math.abs(CHARGE * p.w * DT * p.v[0]), 0);
    assert.ok(Math.abs(j.reduce((a, b) => a + b) - expected) < 1e-15 * passed);
  });

  test("a constant field turns velocities as the formula says", async () => {
    const list = particles(MESH, 0);
    const [gamma, beta] = [0.3, -0.4];
    const constant = (value: number) => new Float64Array(dofs(MESH)).fill(value);
    const { v } = await pushOn(device, MESH, 0, list, DT, [constant(7), constant(gamma), constant(beta)]);
    close(
      v[1],
      list.map((p) => p.v[1] - RATIO * beta * DT * p.v[0]),
      1e-14,
      "v2",
    );
    close(
      v[2],
      list.map((p) => p.v[2] + RATIO * gamma * DT * p.v[0]),
      1e-14,
      "v3",
    );
  });

  for (const axis of [0, 1, 2])
    test(`charge is conserved along ${axis + 1}: the density changes by the divergence of the current`, async () => {
      const list = particles(MESH, axis);
      const { x, j } = await pushOn(device, MESH, axis, list, DT, fieldOf(MESH));
      const moved = list.map((p, n) => ({ ...p, x: p.x.map((_, k) => x[k][n]) }));
      const [old, now] = [density(MESH, list, CHARGE), density(MESH, moved, CHARGE)];
      const stride = [1, 16, 128][axis];
      const { cells } = MESH.axes[axis];
      const h = cellSize(MESH.axes[axis]);
      const divergence = Float64Array.from(j, (value, id) => {
        const next = Math.floor(id / stride) % cells === cells - 1 ? id - (cells - 1) * stride : id + stride;
        return (value - j[next]) / h;
      });
      close(
        Float64Array.from(now, (value, id) => value - old[id]),
        divergence,
        1e-13,
        "change of density",
      );
    });

  test("the flow is exact: two short steps are a long one, and a step back undoes it", async () => {
    const [list, b] = [particles(MESH, 0), fieldOf(MESH)];
    const step = async (from: readonly Particle[], dt: number) => {
      const { x, v, j } = await pushOn(device, MESH, 0, from, dt, b);
      return { j, list: from.map(({ w }, n) => ({ x: x.map((column) => column[n]), v: v.map((column) => column[n]), w })) };
    };
    const [first, whole] = [await step(list, 0.02), await step(list, 0.05)];
    const second = await step(first.list, 0.03);
    close(
      second.list.flatMap(({ v }) => v),
      whole.list.flatMap(({ v }) => v),
      1e-13,
      "velocities",
    );
    close(
      second.j.map((value, id) => value + first.j[id]),
      whole.j,
      1e-12,
      "current",
    );
    const back = await step(whole.list, -0.05);
    close(
      back.list.flatMap(({ v }) => v),
      list.flatMap(({ v }) => v),
      1e-13,
      "velocities",
    );
    close(
      back.j.map((value) => -value),
      whole.j,
      1e-12,
      "current",
    );
  });

  test("a particle that is lost keeps nobody waiting", { timeout: 20_000 }, async () => {
    const [first, ...rest] = particles(MESH, 0);
    const { v } = await pushOn(device, MESH, 0, [{ ...first, v: [1e300, 0, 0] }, ...rest], DT, fieldOf(MESH));
    assert.equal(v[0][0], 1e300);
  });

  test("charge density and electric field are those of the definitions", async () => {
    const list = particles(MESH, 0, 40);
    const { x, v, w } = upload(device, list);
    const e = fieldOf(MESH);
    const [ha, hb, hc] = MESH.axes.map(cellSize);
    const place = { ha, hb, hc, xa: x[0], xb: x[1], xc: x[2] };
    const rho = device.array(f64, [8, 8, 16]);
    const [na, nb, nc] = MESH.axes.map(({ cells }) => cells);
    await device.run(depositKernel(MESH), { ...place, charge: CHARGE, w, rho: along(rho, 0), na, nb, nc }, range(list.length));
    close(await device.queue.read(rho), density(MESH, list, CHARGE), 1e-14, "density");
    const [e1, e2, e3] = e.map((data) => along(blockOn(device, MESH, data), 0));
    const [v1, v2, v3] = v;
    await device.run(kickKernel(MESH), { ...place, factor: 2, e1, e2, e3, v1, v2, v3, velocities: 3 }, range(list.length));
    for (const k of [0, 1, 2])
      close(
        await device.queue.read(v[k]),
        list.map((p) => p.v[k] + 2 * electricField(MESH, p.x, e)[k]),
        1e-14,
        `v${k + 1}`,
      );
  });
});

for (const name of ["js-debug", "wasm", "native"]) {
  const missing = reports.find((report) => report.backend === name)?.missing;
  test(`strict bits on ${name} are those of js`, { skip: missing && `${name}: ${missing.reason}` }, async () => {
    const bits = async (backend: string) => {
      const device = await open(backend);
      try {
        return await Promise.all([0, 1, 2].map((axis) => pushOn(device, MESH, axis, particles(MESH, axis, 2500), DT, fieldOf(MESH))));
      } finally {
        await device.close();
      }
    };
    assert.deepEqual(await bits(name), await bits("js"));
  });
}

for (const name of ["js", "wasm", "native"])
  for (const strategy of ["atomic", "duplicated"] as const) {
    const missing = reports.find((report) => report.backend === name)?.missing;
    test(
      `fast ${strategy} currents on ${name} are the strict ones but for rounding`,
      { skip: missing && `${name}: ${missing.reason}` },
      async () => {
        const device = await open(name);
        try {
          const [list, b] = [particles(MESH, 0, 5000), fieldOf(MESH)];
          const strict = await pushOn(device, MESH, 0, list, DT, b);
          const fast = await pushOn(device, MESH, 0, list, DT, b, { precision: "fast", scatter: strategy });
          close(fast.j, strict.j, 1e-12 * largest(strict.j), "current");
          for (const k of [0, 1, 2]) close(fast.v[k], strict.v[k], 2e-15, `v${k + 1}`);
        } finally {
          await device.close();
        }
      },
    );
  }
