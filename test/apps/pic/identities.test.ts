import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Device, LayoutName, LaunchOptions } from "isoform";
import { doctor, open } from "isoform";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { Push, type Layout, type PushInputs } from "../../../apps/pic/push/push.js";
import { cellSize, dofs, type Mesh } from "../../../apps/pic/mesh/mesh.js";
import { fakeHip } from "../../device/hip/fake.js";
import { CHARGE, close, DT, fieldOf, largest, MESH, particles, pushOn, RATIO } from "./flow.js";
import { density, type Particle } from "./reference.js";

/*
 * What the flow H_p fulfils exactly, whatever the field and the particles: on every backend, with every way to add up currents, in both
 * layouts, for particles that stop on edges, cross the ends of the box and many cells.
 */

const fake = await fakeHip();
const reports = await doctor();

type Strategy = NonNullable<LaunchOptions["scatter"]>;
const BACKENDS: readonly (readonly [name: string, ...strategies: Strategy[]])[] = [
  ["js", "atomic", "duplicated", "cached", "sorted"],
  ["wasm", "atomic", "duplicated", "cached", "sorted"],
  ["native", "atomic", "duplicated", "cached", "sorted"],
  ["opencl", "atomic", "duplicated", "cached", "sorted"],
  ["webgpu", "atomic"],
  ["hip", "atomic", "duplicated", "cached", "sorted"],
  ["cuda", "atomic", "duplicated", "cached", "sorted"],
];

/** Layouts of particles sorted by cell; the whole simulation takes long to compile elsewhere. */
const SORTED: Readonly<Record<string, readonly Layout[]>> = {
  js: ["soa", "aos"],
  wasm: ["soa", "aos"],
  native: ["soa", "aos"],
  opencl: ["aos"],
  cuda: ["soa", "aos"],
};

const missingReason = (name: string): string | undefined =>
  name === "hip" && typeof fake === "string" ? fake : reports.find(({ backend }) => backend === name)?.missing?.reason;

/** G^T j along an axis: what the density changes by where j flows. */
function divergence({ axes }: Mesh, axis: number, j: ArrayLike<number>): Float64Array {
  const stride = axes.slice(0, axis).reduce((n, { cells }) => n * cells, 1);
  const { cells } = axes[axis];
  return Float64Array.from(j, (value, id) => {
    const next = Math.floor(id / stride) % cells === cells - 1 ? id - (cells - 1) * stride : id + stride;
    return (value - j[next]) / cellSize(axes[axis]);
  });
}

const constant = (value: number): Float64Array => new Float64Array(dofs(MESH)).fill(value);
const minus = (a: ArrayLike<number>, b: ArrayLike<number>): Float64Array => Float64Array.from(a, (value, n) => value - b[n]);

const { problem, defaults } = CASES.find(({ name }) => name === "3d3v-hot")!;
const BOX = problem(defaults).mesh;

function particlesOf({ particles: values }: PushInputs, layout: Layout): Particle[] {
  const count = values.length / 7;
  const at = (n: number, k: number): number => values[layout === "aos" ? 7 * n + k : k * count + n];
  const three = (n: number, from: number): number[] => [0, 1, 2].map((k) => at(n, from + k));
  return Array.from({ length: count }, (_, n) => ({ x: three(n, 0), v: three(n, 3), w: at(n, 6) }));
}

for (const [name, ...strategies] of BACKENDS) {
  const missing = missingReason(name);
  describe(`the flow on ${name}`, { skip: missing !== undefined && `${name}: ${missing}` }, () => {
    let device: Device;
    /** Of what rounding leaves: more where f64 is the sum of two f32. */
    let coarser = 1;
    before(async () => {
      if (missing !== undefined) return;
      device = await open(name, name === "webgpu" ? { f64: "emulate" } : {});
      coarser = 2 ** (53 - (device.capabilities.f64Bits ?? 53));
    });
    after(() => device?.close());

    for (const [n, scatter] of strategies.entries()) {
      const layout: LayoutName = n % 2 === 0 ? "left" : "right";
      const options = { precision: scatter === "sorted" ? "strict" : "fast", scatter, layout } as const;
      const flow = (axis: number, list: readonly Particle[], dt: number, b: Float64Array[]) =>
        pushOn(device, MESH, axis, list, dt, b, options);

      test(`${scatter}: what does not move keeps its bits, currents add up to the velocities`, async () => {
        const list = particles(MESH, 0);
        const found = await flow(0, list, DT, fieldOf(MESH));
        assert.deepEqual(found.v[0], found.before.v[0]);
        for (const k of [1, 2]) assert.deepEqual(found.x[k], found.before.x[k]);
        const moved = list.map((p) => CHARGE * p.w * DT * p.v[0]);
        const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => a + b, 0);
        assert.ok(Math.abs(sum(found.j) - sum(moved)) < 1e-15 * coarser * sum(moved.map(Math.abs)));
      });

      test(`${scatter}: a constant field turns velocities as the formula says`, async () => {
        const list = particles(MESH, 0);
        const [gamma, beta] = [0.3, -0.4];
        const { v } = await flow(0, list, DT, [constant(7), constant(gamma), constant(beta)]);
        const second = list.map((p) => p.v[1] - RATIO * beta * DT * p.v[0]);
        const third = list.map((p) => p.v[2] + RATIO * gamma * DT * p.v[0]);
        close(v[1], second, 1e-14 * coarser, "v2");
        close(v[2], third, 1e-14 * coarser, "v3");
      });

      // Compiling takes long with emulated f64.
      for (const axis of n === 0 && name !== "webgpu" ? [0, 1, 2] : [0])
        test(`${scatter}: charge is conserved along ${axis + 1}`, async () => {
          const list = particles(MESH, axis);
          const { x, j, before: old } = await flow(axis, list, DT, fieldOf(MESH));
          const at = (places: readonly ArrayLike<number>[]) =>
            density(
              MESH,
              list.map((p, i) => ({ ...p, x: places.map((column) => column[i]) })),
              CHARGE,
            );
          close(minus(at(x), at(old.x)), divergence(MESH, axis, j), 1e-13 * coarser, "change of density");
        });

      test(`${scatter}: two short steps are a long one, and a step back undoes it`, async () => {
        const b = fieldOf(MESH);
        const step = async (from: readonly Particle[], dt: number) => {
          const { x, v, j } = await flow(0, from, dt, b);
          return { j, v, list: from.map(({ w }, i) => ({ x: x.map((column) => column[i]), v: v.map((column) => column[i]), w })) };
        };
        const list = particles(MESH, 0);
        const [first, whole] = [await step(list, 0.02), await step(list, 0.05)];
        const second = await step(first.list, 0.03);
        const back = await step(whole.list, -0.05);
        const scale = coarser * largest(whole.j);
        close(
          second.j.map((value, id) => value + first.j[id]),
          whole.j,
          1e-12 * scale,
          "current",
        );
        close(back.j, minus(constant(0), whole.j), 1e-12 * scale, "current back");
        for (const k of [1, 2]) {
          close(second.v[k], whole.v[k], 1e-13 * coarser, `v${k + 1}`);
          close(
            back.v[k],
            list.map(({ v }) => v[k]),
            1e-13 * coarser,
            `v${k + 1} back`,
          );
        }
        // Places at both ends of the box are one.
        const apart = minus(
          back.list.map(({ x }) => x[0]),
          list.map(({ x }) => x[0]),
        ).map((shift) => shift / MESH.axes[0].length);
        assert.ok(largest(apart.map((share) => share - Math.round(share))) < 1e-14 * coarser);
      });
    }

    for (const layout of SORTED[name] ?? [])
      test(`particles sorted by cell, ${layout}: charge is conserved, and a step back undoes it`, async () => {
        const push = await Push.create(device, { deposit: "cells", layout, precision: "fast", particles: 2000, hot: true });
        const old = await push.inputs();
        const { current } = await push.result();
        const back = await push.inputs();
        push.free();
        const [here, returned] = [particlesOf(old, layout), particlesOf(back, layout)];
        const moved = here.map((p) => ({ ...p, x: [p.x[0] + old.dt * p.v[0], p.x[1], p.x[2]] }));
        const change = minus(density(BOX, moved, old.charge), density(BOX, here, old.charge));
        const [nx, ny, nz] = BOX.axes.map(({ cells }) => cells);
        const j = Float64Array.from(
          change,
          (_, id) => current[((id % nx) * ny + (Math.floor(id / nx) % ny)) * nz + Math.floor(id / (nx * ny))],
        );
        close(change, divergence(BOX, 0, j), 1e-13 * coarser, "change of density");
        const charge = here.map((p) => old.charge * p.w * old.dt * p.v[0]);
        assert.ok(Math.abs(j.reduce((a, b) => a + b) - charge.reduce((a, b) => a + b)) < 1e-13 * coarser);
        for (const [n, p] of here.entries()) {
          const q = returned[n];
          assert.deepEqual([q.x[1], q.x[2], q.v[0], q.w], [p.x[1], p.x[2], p.v[0], p.w]);
          close([q.x[0], q.v[1], q.v[2]], [p.x[0], p.v[1], p.v[2]], 1e-14 * coarser, `particle ${n}`);
        }
      });
  });
}
