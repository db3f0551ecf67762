import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { bricks, dense, sparse, type Field, type Grid } from "../../src/domain/index.js";
import { gradient } from "../../src/gradient/skeleton-gradient.js";
import { assign, f64, sum } from "../../src/kernel/declare/params.js";
import { devices, type DeviceSet, type Scalar } from "../../src/set/index.js";
import { every, skeleton, swap, type Skeleton } from "../../src/skeleton/index.js";

const ext = [10, 8, 16] as const;
const inside = (x: number, y: number, z: number): boolean => (x - 5) ** 2 + (y - 4) ** 2 + (z - 8) ** 2 < 34;

const GRIDS: Record<string, (set: DeviceSet) => Grid> = {
  dense: (set) => dense(set, [...ext]) as unknown as Grid,
  periodic: (set) => dense(set, [...ext], { periodic: [true, false, true] }) as unknown as Grid,
  masked: (set) => dense(set, [...ext], { active: inside }) as unknown as Grid,
  sparse: (set) => sparse(set, [...ext], inside) as unknown as Grid,
  bricks: (set) => bricks(set, [...ext], inside, { brick: [4, 4, 4] }) as unknown as Grid,
};

interface Flow {
  readonly set: DeviceSet;
  readonly flow: Skeleton;
  readonly u: Field;
  readonly nu: Scalar;
  readonly loss: Scalar;
}

const start = (x: number, y: number, z: number, k: number): number => Math.sin(0.7 * x + k) * Math.cos(0.4 * y) + 0.2 * Math.sin(z) + 0.1;
const along = (x: number, y: number, z: number, k: number): number => Math.cos(1.3 * x - 0.2 * y * z + k);

/** Nonlinear diffusion of two components: a stencil, in place updates, a scalar step, a swap, a step of every third iteration. */
async function made(names: string, kind: string): Promise<Flow> {
  const set = await devices(names);
  const grid = GRIDS[kind](set);
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64, { cardinality: 2 }));
  const [nu, energy, dt, loss] = ["nu", "energy", "dt", "loss"].map((name) => grid.scalar(name, f64));
  const measure = grid.container("measure", { u, energy: sum(energy) }, ({ u, energy }, c) => {
    energy.add(u[c][0] * u[c][0] + 0.5 * u[c][1] * u[c][1]);
  });
  const choose = grid.scalarStep("choose", { dt: assign(dt), energy }, ({ dt, energy }) => dt.set(0.02 / (1 + 0.001 * energy)));
  const step = grid.container("step", { u, v, nu, dt }, ({ u, v, nu, dt }, c) => {
    const a = u[c][0];
    const b = u[c][1];
    let s = 0;
    let r = 0;
    for (let d = -1; d < 2; d += 2) {
      const x = u.at(c, d, 0, 0)[0];
      const y = u.at(c, 0, d, 0)[0];
      const z = u.at(c, 0, 0, d)[0];
      s += (nu + (a + x) * (a + x)) * (x - a) + (nu + (a + y) * (a + y)) * (y - a) + (nu + (a + z) * (a + z)) * (z - a);
      r += u.at(c, 0, 0, d)[1];
    }
    v[c][0] = a + dt * s;
    v[c][1] = b + (0.01 * r) / (1 + a * a);
  });
  const damp = grid.container("damp", { v }, ({ v }, c) => {
    v[c][1] = v[c][1] - 0.1 * v[c][0] * v[c][1] * v[c][1];
  });
  const lossOf = grid.container("loss", { u, loss: sum(loss) }, ({ u, loss }, c) => {
    loss.add(0.5 * (u[c][0] * u[c][0] + u[c][1] * u[c][0]));
  });
  const flow = skeleton(set, "flow", [measure, choose, step, every(3, [damp], { phase: 1 }), swap(u, v), lossOf], { precision: "strict" });
  return { set, flow, u: u as unknown as Field, nu, loss };
}

const N = 7;

async function lossAt(f: Flow, values: typeof start, nu: number): Promise<number> {
  f.u.fill(values);
  f.nu.set(nu);
  f.flow.iteration = 0;
  await f.flow.run(N);
  return f.loss.get();
}

const digest = (values: Iterable<number>): string =>
  createHash("sha256")
    .update(new Uint8Array(Float64Array.from(values).buffer))
    .digest("hex");

describe("gradients of skeletons", () => {
  for (const kind of Object.keys(GRIDS))
    it(`on ${kind} grids: central differences, one set of bits on 1 to 4 members, whatever the snapshots`, async () => {
      const digests = new Set<string>();
      for (const [names, snapshots] of [
        ["js", 3],
        ["js*2", 1],
        ["wasm*3", N],
        ["wasm*4", 2],
      ] as const) {
        const f = await made(names, kind);
        const grad = gradient(f.flow, { of: f.loss, wrt: [f.u, f.nu], snapshots });
        f.u.fill(start);
        f.nu.set(1);
        const before = Float64Array.from(await f.u.download());
        const { value } = await grad.run(N);
        const g = Float64Array.from(await grad.of(f.u).download());
        const byNu = await grad.of(f.nu).get();
        assert.deepEqual(Float64Array.from(await f.u.download()), before);
        digests.add(digest([...g, byNu, value!]));
        if (names === "js") {
          assert.equal(value, await lossAt(f, start, 1));
          const e = 1e-5;
          const du =
            ((await lossAt(f, (...q) => start(...q) + e * along(...q), 1)) -
              (await lossAt(f, (...q) => start(...q) - e * along(...q), 1))) /
            (2 * e);
          let derivative = 0;
          let n = 0;
          for (let z = 0; z < ext[2]; z++)
            for (let y = 0; y < ext[1]; y++)
              for (let x = 0; x < ext[0]; x++)
                for (let k = 0; k < 2; k++, n++)
                  if (kind === "dense" || kind === "periodic" || inside(x, y, z)) derivative += g[n] * along(x, y, z, k);
          assert.ok(Math.abs(du - derivative) < 1e-7 * Math.abs(derivative), `by u: ${derivative} for ${du}`);
          const dnu = ((await lossAt(f, start, 1 + e)) - (await lossAt(f, start, 1 - e))) / (2 * e);
          assert.ok(Math.abs(dnu - byNu) < 1e-7 * Math.abs(byNu), `by nu: ${byNu} for ${dnu}`);
        }
        grad.free();
        await f.set.close();
      }
      assert.equal(digests.size, 1);
    });
});
