import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { bricks, dense, face, parity, sparse, type Field, type Grid } from "../../src/domain/index.js";
import { open } from "../../src/device/open.js";
import { range } from "../../src/device/launch/policy.js";
import { tape } from "../../src/gradient/tape.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { gradient } from "../../src/gradient/skeleton-gradient.js";
import { assign, f32, f64, max, sum, view } from "../../src/kernel/declare/params.js";
import { f16 } from "../../src/kernel/declare/storage.js";
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

/** Two dimensions, constants along an axis, regions, active neighbours, an extreme, scalars that change places, f32 beside f64. */
async function plane(names: string) {
  const set = await devices(names);
  const grid = dense(set, [9, 12], { active: (x, y) => x + y > 2 });
  const [p, q, coefficient] = ["p", "q", "coefficient"].map((name) => grid.field(name, f64));
  const [most, last, sharp, loss] = ["most", "last", "sharp", "loss"].map((name) => grid.scalar(name, f64));
  const weight = grid.axis("x", f64, (x: number) => 1 + 0.1 * x);
  const spread = grid.container(
    "spread",
    { p, q, coefficient, weight, last, rate: 0.05 },
    ({ p, q, coefficient, weight, last, rate }, c) => {
      let total = 0;
      for (let d = -1; d < 2; d += 2) {
        if (p.isActive(c, d, 0)) total += coefficient.at(c, d, 0) * (p.at(c, d, 0) - p[c]);
        if (p.isActive(c, 0, d)) total += coefficient.at(c, 0, d) * (p.at(c, 0, d) - p[c]);
      }
      q[c] = p[c] + (rate * total * weight[c]) / (1 + 0.1 * last * last);
    },
  );
  const left = grid.container(
    "left",
    { q, sharp },
    ({ q, sharp }, c) => {
      q[c] = sharp * q[c] * q[c];
    },
    undefined,
    { on: face("xmin") },
  );
  const even = grid.container(
    "even",
    { p, q },
    ({ p, q }, c) => {
      q[c] = q[c] + 0.1 * p.at(c, 1, 0) * q[c];
    },
    undefined,
    { on: parity(0) },
  );
  const greatest = grid.container("greatest", { q, most: max(most) }, ({ q, most }, c) => most.max(q[c] * q[c]));
  const sums = grid.container("sums", { p, most, loss: sum(loss) }, ({ p, most, loss }, c) => loss.add(p[c] * p[c] * most));
  const flow = skeleton(set, "plane", [spread, left, even, greatest, swap(p, q), swap(most, last), sums], { precision: "strict" });
  return { set, flow, p, coefficient, sharp, most, last, loss };
}

describe("gradients of a skeleton in a plane", () => {
  it("central differences by a field, by coefficients and by scalars", async () => {
    const digests = new Set<string>();
    for (const names of ["js", "wasm*2", "wasm*3"]) {
      const f = await plane(names);
      const values = (x: number, y: number): number => 0.6 + 0.3 * Math.sin(x + 0.7 * y);
      const wave = (x: number, y: number): number => 1 + 0.2 * Math.cos(x * y);
      const at = async (e: { p?: number; coefficient?: number; sharp?: number; last?: number }): Promise<number> => {
        f.p.fill((x, y) => values(x, y) + (e.p ?? 0) * Math.cos(2 * x - y));
        f.coefficient.fill((x, y) => wave(x, y) + (e.coefficient ?? 0) * Math.sin(x + y));
        f.sharp.set(0.9 + (e.sharp ?? 0));
        f.last.set(0.5 + (e.last ?? 0));
        f.flow.iteration = 0;
        await f.flow.run(4);
        return f.loss.get();
      };
      const reached = await at({});
      const grad = gradient(f.flow, { of: f.loss, wrt: [f.p, f.coefficient, f.sharp, f.last], snapshots: 2 });
      await at({});
      const start = { p: values, coefficient: wave };
      f.p.fill(start.p);
      f.sharp.set(0.9);
      f.last.set(0.5);
      const { value } = await grad.run(4);
      assert.equal(value, reached);
      const [gp, gc] = [await grad.of(f.p).download(), await grad.of(f.coefficient).download()];
      const [gs, gl] = [await grad.of(f.sharp).get(), await grad.of(f.last).get()];
      digests.add(digest([...gp, ...gc, gs, gl]));
      if (names !== "js") {
        await f.set.close();
        continue;
      }
      let [dp, dc, n] = [0, 0, 0];
      for (let y = 0; y < 12; y++)
        for (let x = 0; x < 9; x++, n++) {
          if (x + y <= 2) continue;
          dp += gp[n] * Math.cos(2 * x - y);
          dc += gc[n] * Math.sin(x + y);
        }
      for (const [name, found] of Object.entries({ p: dp, coefficient: dc, sharp: gs, last: gl })) {
        const e = 1e-5;
        const difference = ((await at({ [name]: e })) - (await at({ [name]: -e }))) / (2 * e);
        assert.ok(Math.abs(difference - found) < 1e-7 * Math.max(1, Math.abs(found)), `by ${name}: ${found} for ${difference}`);
      }
      await f.set.close();
    }
    assert.equal(digests.size, 1);
  });

  it("seeds of fields, and the transpose of a linear flow", async () => {
    const set = await devices("wasm*2");
    const grid = dense(set, [6, 7, 8]);
    const [u, v] = ["u", "v"].map((name) => grid.field(name, f32));
    const step = grid.container("step", { u, v }, ({ u, v }, c) => {
      v[c] = 0.5 * u[c] + 0.25 * u.at(c, 1, 0, 0) - 0.125 * u.at(c, 0, -1, 2);
    });
    const still = grid.field("still", f64);
    const profile = grid.field("profile", f64, { axes: ["x"] });
    const sampled = grid.container("sampled", { still, profile: sum(profile, { accumulate: true }) }, ({ still, profile }, c) =>
      profile.add(still[c]),
    );
    const flow = skeleton(set, "linear", [step, swap(u, v), sampled], { precision: "strict" });
    still.fill(1);
    const grad = gradient(flow, { of: [[u, (x, y, z) => Math.sin(x + 2 * y + 3 * z)]], wrt: [u], snapshots: { bytes: 1e6 } });
    const start = (x: number, y: number, z: number): number => Math.cos(x * y - z);
    u.fill(start);
    await grad.run(3);
    const g = await grad.of(u).download();
    // Iterations that ran again have left no trace.
    assert.ok((await profile.download()).every((value) => value === 0));
    await flow.run(3);
    const end = await u.download();
    let [ahead, back, n] = [0, 0, 0];
    for (let z = 0; z < 8; z++)
      for (let y = 0; y < 7; y++)
        for (let x = 0; x < 6; x++, n++) {
          ahead += end[n] * Math.sin(x + 2 * y + 3 * z);
          back += g[n] * start(x, y, z);
        }
    assert.ok(Math.abs(ahead - back) < 1e-5 * Math.abs(ahead), `${ahead} and ${back}`);
    assert.equal(grad.skeletons.length, 2);
    assert.match(await grad.skeletons[0].explain(), /step sums of u_bar/);
    await set.close();
  });
});

describe("100 steps of heat", () => {
  it("a tape and a skeleton give one gradient, by the field and by the conductivity", async () => {
    const [n, steps] = [12, 100];
    const temperature = (x: number, y: number): number => Math.sin(0.5 * x) + 0.1 * y;
    const conductivity = (x: number, y: number): number => 1 + 0.5 * Math.cos(x + y);
    const set = await devices("wasm*2");
    const grid = dense(set, [n, n]);
    const [u, v, k] = ["u", "v", "k"].map((name) => grid.field(name, f64));
    const loss = grid.scalar("loss", f64);
    const step = grid.container("step", { u, v, k }, ({ u, v, k }, c) => {
      v[c] = u[c] + 0.1 * k[c] * (u.at(c, 1, 0) + u.at(c, -1, 0) + u.at(c, 0, 1) + u.at(c, 0, -1) - 4 * u[c]);
    });
    const lossOf = grid.container("loss", { u, loss: sum(loss) }, ({ u, loss }, c) => loss.add(u[c] * u[c]));
    const grad = gradient(skeleton(set, "heat", [step, swap(u, v), lossOf], { precision: "strict" }), {
      of: loss,
      wrt: [u, k],
      snapshots: 10,
    });
    u.fill(temperature);
    k.fill(conductivity);
    const { value, extra } = await grad.run(steps);
    assert.equal(extra, 222);

    // The same over an array with a rim of zeros.
    const device = await open("native").catch(() => open("wasm"));
    device.precision = "strict";
    const padded = (of: (x: number, y: number) => number) =>
      device.from(
        f64,
        Float64Array.from({ length: (n + 2) ** 2 }, (_, q) => {
          const [y, x] = [Math.floor(q / (n + 2)) - 1, (q % (n + 2)) - 1];
          return x < 0 || y < 0 || x >= n || y >= n ? 0 : of(x, y);
        }),
        [n + 2, n + 2],
      );
    const heat = kernel("heat", { k: view(f64, 2), u: view(f64, 2), v: view(f64, 2) }, ({ k, u, v }, i, j) => {
      v[i][j] = u[i][j] + 0.1 * k[i][j] * (u[i][j + 1] + u[i][j - 1] + u[i + 1][j] + u[i - 1][j] - 4 * u[i][j]);
    });
    const squares = kernel("squares", { u: view(f64, 2), s: sum(f64) }, ({ u, s }, i, j) => s.add(u[i][j] * u[i][j]));
    const [a, b, by] = [padded(temperature), padded(() => 0), padded(conductivity)];
    const t = tape(device);
    const inner = range([1, n + 1], [1, n + 1]);
    for (let s = 0; s < steps; s++) await t.run(heat, { k: by, u: s % 2 ? b : a, v: s % 2 ? a : b }, inner);
    const { s } = await t.run(squares, { u: a }, inner);
    assert.ok(Math.abs(s.value - value!) < 1e-12 * Math.abs(value!));
    const g = await t.backward(s);
    for (const [mine, theirs] of [
      [g.of(a), grad.of(u)],
      [g.of(by), grad.of(k)],
    ] as const) {
      const [x, y] = [await device.queue.read(mine), await theirs.download()];
      const most = Math.max(...y.map(Math.abs));
      for (let q = 0; q < n * n; q++) {
        const place = (Math.floor(q / n) + 1) * (n + 2) + (q % n) + 1;
        assert.ok(Math.abs(x[place] - y[q]) < 1e-12 * most, `${q}: ${x[place]} for ${y[q]}`);
      }
    }
    t.free();
    await device.close();
    await set.close();
  });
});

describe("gradients of skeletons refuse", () => {
  it("containers whose gradient is not known, with their places", async () => {
    const set = await devices("js");
    const open = dense(set, [6, 6, 6], { ghosts: { xmin: 1 } });
    const g = open.field("g", f64);
    const loss = open.scalar("loss", f64);
    const ghosts = open.container("squares", { g, loss: sum(loss) }, ({ g, loss }, c) => loss.add(g[c] * g[c]));
    assert.throws(() => gradient(skeleton(set, "s", [ghosts]), { of: loss, wrt: [g] }), {
      name: "GradientError",
      message: /"squares", .*skeletons\.test\.ts:\d+:\d+: its grid has ghosts, and gradients over these are not known/,
    });
    const grid = dense(set, [6, 6, 6]);
    const [u, half] = [grid.field("u", f64), grid.field("half", f32, { storage: f16 })];
    const mean = grid.field("mean", f64, { axes: ["x"] });
    const along = grid.container("profile", { u, mean: sum(mean) }, ({ u, mean }, c) => mean.add(u[c]));
    const total = grid.scalar("total", f64);
    const squares = grid.container("squares", { u, total: sum(total) }, ({ u, total }, c) => total.add(u[c] * u[c]));
    assert.throws(
      () => gradient(skeleton(set, "s", [along, squares]), { of: total, wrt: [u] }),
      /"profile".*: it reduces along axes, and gradients of that are not known/,
    );
    const stored = grid.container("stored", { half, total: sum(total) }, ({ half, total }, c) => total.add(half[c]));
    assert.throws(
      () => gradient(skeleton(set, "s", [stored]), { of: total, wrt: [half] }),
      /"half" stores f16, and gradients are of f64 and f32/,
    );
    const pushed = grid.container("pushed", { u, half }, ({ u, half }, c) => u.put(c, 1, 0, 0, half[c]));
    assert.throws(() => gradient(skeleton(set, "s", [pushed, squares]), { of: total, wrt: [u] }), /it writes "u" in other cells/);
    await set.close();
  });

  it("options of another kind, data that nothing reaches, snapshots that do not fit", async () => {
    const f = await made("js", "dense");
    const other = f.u.grid.scalar("other", f64);
    assert.throws(() => gradient(f.flow, { of: f.loss, wrt: [] }), /gradient, for wrt, is given .*; give a list of fields and scalars/);
    assert.throws(
      () => gradient(f.flow, { of: 3 as never, wrt: [f.u] }),
      /gradient, for of, is given 3; give a scalar, or fields with seeds/,
    );
    assert.throws(() => gradient(f.flow, { of: f.loss, wrt: [f.u], snapshots: 0 }), /snapshots, is given 0; give a number of at least 1/);
    assert.throws(
      () => gradient(f.flow, { of: f.loss, wrt: [f.u], store: "host" } as never),
      /gradient has no option "store"; it has of, wrt, snapshots/,
    );
    assert.throws(() => gradient(f.flow, { of: other, wrt: [f.u] }), /the gradient of skeleton "flow": "other" does not depend on "u"/);
    const grad = gradient(f.flow, { of: f.loss, wrt: [f.u], snapshots: 1e9 });
    f.u.fill(1);
    await assert.rejects(grad.run(0), /0 iterations; give a whole number, at least 1/);
    await assert.rejects(
      grad.run(1e9),
      /1000000000 iterations with 1000000000 snapshots of .* GB need .* GB, and the devices have .* GB: give snapshots: \d+/,
    );
    assert.throws(() => grad.of(f.nu), /the gradient by "nu" is asked for; give it for wrt/);
    await f.set.close();
  });
});
