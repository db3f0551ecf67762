import assert from "node:assert/strict";
import { it, test } from "node:test";
import { assign, f32, f64, i32, max, sum, table } from "../../src/index.js";
import { dense, sparse, type Grid } from "../../src/domain/index.js";
import { devices, type DeviceSet } from "../../src/set/index.js";
import { OCC_LEVELS, skeleton, swap } from "../../src/skeleton/index.js";
import { tested } from "../devices.js";
import { jsSet, noise, onEachBackend } from "../domain/sets.js";

const MEMBERS = [1, 2, 3, 4, 7];

/** A wave whose steps are as long as its largest value lets them be; time and steps are counted on the devices. */
function adaptive(grid: Grid<3>) {
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64));
  const [largest, dt, time] = ["largest", "dt", "time"].map((name) => grid.scalar(name, f64));
  const steps = grid.scalar("steps", i32);
  const half = (value: number) => 0.5 * value;
  const limits = grid.container("limits", { u, largest: max(largest) }, ({ u, largest }, c) => largest.max(Math.abs(u[c])));
  const choose = grid.scalarStep(
    "choose",
    { dt: assign(dt), time: assign(time), steps: assign(steps), largest, cfl: 0.3, half, weights: table(f64, [0.25, 0.75]) },
    ({ dt, time, steps, largest, cfl, half, weights }) => {
      let all = 0;
      for (let k = 0; k < 2; k++) all += weights[k];
      const before = dt.get();
      dt.set((all * cfl) / (1 + largest));
      if (steps.get() > 0) dt.set(half(dt.get() + before));
      time.set(time.get() + dt.get());
      steps.set(steps.get() + 1);
    },
  );
  const move = grid.container("move", { u, v, dt }, ({ u, v, dt }, c) => {
    v[c] = u[c] + dt * (u.at(c, 0, 0, 1) - 2 * u[c] + u.at(c, 0, 0, -1) + u.at(c, 1, 0, 0) - u.at(c, 0, -1, 0));
  });
  u.fill((x, y, z) => 4 * noise(x, y, z));
  v.fill(0);
  return { u, dt, time, steps, sequence: [limits, choose, move, swap(u, v)] };
}

/** The same on the host. */
function expectedTimes(largest: readonly number[]): { dt: number; time: number } {
  let [dt, time] = [0, 0];
  largest.forEach((value, n) => {
    const before = dt;
    dt = 0.3 / (1 + value);
    if (n > 0) dt = 0.5 * (dt + before);
    time += dt;
  });
  return { dt, time };
}

await onEachBackend("scalar steps", ({ backend, some, of }) => {
  const results: unknown[] = [];
  for (const members of some(backend === "native" ? [1, 3] : MEMBERS))
    it(`between reductions and readers on ${members}`, async () => {
      for (const occ of backend === "js" && members > 1 ? OCC_LEVELS : (["standard"] as const))
        for (const fuse of [true, false]) {
          const grid = dense(of(members), [5, 4, 15]);
          const { u, dt, time, steps, sequence } = adaptive(grid);
          const plan = skeleton(grid.set, "adaptive", sequence, { occ, fuse, precision: "strict" });
          const largest: number[] = [];
          for (let n = 0; n < 5; n++) {
            largest.push(Math.max(...(await u.download()).map(Math.abs)));
            await plan.run(1);
          }
          assert.equal(await steps.get(), 5);
          assert.deepEqual({ dt: await dt.get(), time: await time.get() }, expectedTimes(largest));
          results.push([...(await u.download())]);
          assert.deepEqual(results.at(-1), results[0], `${occ} ${fuse}`);
          for (const made of [plan, grid]) made.free();
        }
    });

  it("run alone, in f32 and i32, on sparse grids", async () => {
    const grid = sparse(of(3), [4, 4, 9], undefined);
    const [a, b] = [grid.scalar("a", f32), grid.scalar("b", i32)];
    a.set(0.1);
    b.set(7);
    const step = grid.scalarStep("both", { a: assign(a), b: assign(b), flag: true }, ({ a, b, flag }) => {
      a.set(Math.sqrt(a.get()) * 3);
      if (flag) b.set(b.get() * b.get() - 1);
    });
    await grid.run(step);
    assert.equal(await a.get(), Math.fround(Math.fround(Math.sqrt(Math.fround(0.1))) * 3));
    assert.equal(await b.get(), 48);
    grid.free();
  });
});

const webgpu = await devices("webgpu*2").catch((error: Error) => error.message);
const missing = !tested("webgpu") ? "not asked for" : typeof webgpu === "string" ? webgpu : false;
test("scalar steps on webgpu", { skip: missing }, async () => {
  const grid = dense(webgpu as DeviceSet, [6, 5, 8]);
  const u = grid.field("u", f32);
  const [total, mean, cells] = ["total", "mean", "cells"].map((name) => grid.scalar(name, f32));
  u.fill((x, y, z) => x + y + z);
  cells.set(grid.cells);
  const add = grid.container("add", { u, total: sum(total) }, ({ u, total }, c) => total.add(u[c]));
  const step = grid.scalarStep("mean", { total, mean: assign(mean), cells }, ({ total, mean, cells }) => mean.set(total / cells));
  const centre = grid.container("centre", { u, mean }, ({ u, mean }, c) => {
    u[c] -= mean;
  });
  await skeleton(grid.set, "centre", [add, step, centre]).run(1);
  assert.equal(await mean.get(), 8);
  assert.equal(await u.get([1, 2, 3]), -2);
  await (webgpu as DeviceSet).close();
});

test("every member has the same bits, on devices of several kinds and in fast mode, too", async () => {
  const set = await devices("js,wasm");
  const grid = dense(set, [4, 4, 6]);
  const [a, b] = ["a", "b"].map((name) => grid.scalar(name, f64));
  a.set(0.7);
  const step = grid.scalarStep("functions", { a, b: assign(b) }, ({ a, b }) => b.set(b.get() * 0.3 + Math.sin(a) * Math.exp(a) + a ** 1.7));
  await skeleton(set, "functions", [step], { precision: "fast" }).run(9);
  const copies = await Promise.all(set.locals.map((member, m) => member.queue(0).read(b.views[m])));
  assert.equal(copies[0][0], copies[1][0]);
  await set.close();
});

test("containers around a step fuse where its scalars are none of theirs", async () => {
  const grid = dense(jsSet(1), [8, 8, 8]);
  const [u, v, w] = ["u", "v", "w"].map((name) => grid.field(name, f64));
  const [s, t] = ["s", "t"].map((name) => grid.scalar(name, f64));
  u.fill(1);
  const first = grid.container("first", { u, v }, ({ u, v }, c) => {
    v[c] = 2 * u[c];
  });
  const second = grid.container("second", { v, w }, ({ v, w }, c) => {
    w[c] = v[c] + 1;
  });
  const reading = grid.container("reading", { v, w, t }, ({ v, w, t }, c) => {
    w[c] = v[c] + t;
  });
  const writing = grid.container("writing", { u, v, s: sum(s) }, ({ u, v, s }, c) => {
    v[c] = 2 * u[c];
    s.add(u[c]);
  });
  const step = grid.scalarStep("step", { s, t: assign(t) }, ({ s, t }) => t.set(s + 1));
  const apart = await skeleton(grid.set, "apart", [first, step, second]).explain();
  assert.match(apart, /first \+ second: one kernel/);
  assert.match(apart, /^ {2}step +scalars +reads s +writes t/m);
  const between = skeleton(grid.set, "between", [writing, step, reading]);
  assert.match(await between.explain(), /"writing" and "step" stay apart: "step" runs once, not for each cell/);
  await between.run(1);
  assert.equal(await w.get([1, 1, 1]), 2 + 512 + 1);
  assert.match(await between.explain("svg"), /class="scalars"/);
  assert.match(await between.explain("dot"), /label="step/);
  // A reader before, and a writer behind, keep their places.
  const later = skeleton(grid.set, "later", [reading, step, writing]);
  t.set(5);
  await later.run(1);
  assert.equal(await w.get([1, 1, 1]), 7);
  assert.equal(await t.get(), 513);
});

test("what a step cannot do is refused with its line", () => {
  const grid = dense(jsSet(1), [4, 4]);
  const u = grid.field("u", f64);
  const [s, t] = ["s", "t"].map((name) => grid.scalar(name, f64));
  const refused = (make: () => unknown, message: RegExp) =>
    assert.throws(make, {
      name: "ContainerError",
      message: new RegExp(`"step", .*scalar-steps\\.test\\.[jt]s:\\d+:\\d+: .*${message.source}`),
    });
  refused(() => grid.scalarStep("step", { s }, () => {}), /it sets nothing \(declare a scalar that takes a result: assign\(scalar\)/);
  refused(() => grid.scalarStep("step", { s, t: assign(s) }, () => {}), /"s" is given as a number and to be assigned/);
  refused(() => grid.scalarStep("step", { t: assign(s), s }, () => {}), /"s" is given as a number and to be assigned/);
  refused(() => grid.scalarStep("step", { s: assign(s), t: assign(s) }, () => {}), /"s" is assigned twice/);
  refused(() => grid.scalarStep("step", { s: assign(s), u: u as never }, () => {}), /"u" has values for cells/);
  refused(() => grid.scalarStep("step", { s: assign(s), t: sum(t) as never }, () => {}), /"t" is a reduction/);
  refused(
    () => grid.scalarStep("step", { s: assign(s) }, (({ s }: { s: { add(v: number): void } }) => s.add(1)) as never),
    /s has no method "add" \(write s\.set\(value\)/,
  );
  refused(() => grid.scalarStep("step", { s: assign(s), t }, ({ s, t }) => s.set((s as never) * t)), /used as a number \(write s\.get\(\)/);
  refused(
    () => grid.scalarStep("step", { s: assign(s) }, (({ s }: { s: { set(v: number): void } }, c: number) => s.set(c)) as never),
    /takes the parameters alone/,
  );
  refused(
    () =>
      grid.container("step", { u, s: assign(s) as never }, ({ u }, c) => {
        u[c] = 1;
      }),
    /"s" is an assignment, which runs once/,
  );
});
