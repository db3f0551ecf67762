import assert from "node:assert/strict";
import test from "node:test";
import { f64 } from "isoform";
import { dense } from "isoform/grid";
import { deposit, particles } from "isoform/particles";
import { devices } from "isoform/set";
import { skeleton } from "isoform/skeleton";
import { fakeHip, type FakeHip } from "./fake.js";

const made = await fakeHip();
const skip = typeof made === "string" && made;

/** Charges and positions after some steps of so many particles a cell, and what the containers are launched as. */
async function run(spec: string, each: number, precision: "strict" | "fast") {
  const set = await devices(spec);
  try {
    const grid = dense(set, [6, 4, 5], { periodic: [true, false, true] });
    const charge = grid.field("charge", f64);
    const force = grid.field("force", f64, { cardinality: 2 });
    force.fill((x, y, z, k) => Math.sin(x + 2 * y + 3 * z + k));
    const count = 120 * each;
    const ions = particles(grid, "ions", { v: [f64, 3], w: f64 }, { leaving: "absorb" });
    const noise = (n: number): number => (((n * 7919) % 1009) + 0.5) / 1009;
    const extents = [6, 4, 5];
    ions.load({
      x: Float64Array.from({ length: 3 * count }, (_, n) => extents[n % 3] * noise(n)),
      v: Float64Array.from({ length: 3 * count }, (_, n) => noise(n + 17) - 0.5),
      w: Float64Array.from({ length: count }, (_, n) => noise(3 * n)),
    });
    const { x, v, w } = ions.columns;
    const push = ions.container("push", { x, v, force }, ({ x, v, force }, p, c) => {
      for (let k = 0; k < 2; k++) v[p][k] += 0.1 * (force[c][k] + force.at(c, 1, 0, 0)[k] * (x[p][0] - c.x));
      for (let k = 0; k < 3; k++) x[p][k] += 0.4 * v[p][k];
    });
    const clear = grid.container("clear", { charge }, ({ charge }, c) => {
      charge[c] = 0;
    });
    const gather = ions.container("deposit", { x, w, charge: deposit(charge) }, ({ x, w, charge }, p, c) => {
      const a = x[p][0] - c.x;
      charge.add(c, 0, 0, 0, w[p] * (1 - a));
      charge.add(c, 1, 0, 0, w[p] * a);
    });
    const step = skeleton(set, "step", [push, clear, gather], { precision });
    await step.run(3);
    step.free();
    const launches = grid.prepare(gather[0], 0, "standard", { precision });
    return { charge: await charge.download(), x: (await ions.download()).x, policies: launches.map(({ kernel }) => kernel.policy) };
  } finally {
    await set.close();
  }
}

for (const [each, policy] of [
  [3, "range"],
  [9, "team"],
  [40, "team"],
] as const)
  test(`${each} particles a cell: ${policy === "team" ? "lanes share them out" : "a thread takes them all"}`, { skip }, async () => {
    const [one, many] = [await run("js", each, "strict"), await run("hip:0", each, "fast")];
    assert.deepEqual(many.policies, [policy]);
    assert.equal(many.x.length, one.x.length);
    const apart = (a: ArrayLike<number>, b: ArrayLike<number>) => Math.max(...Array.from(a, (value, n) => Math.abs(value - b[n])));
    assert.ok(apart(one.charge, many.charge) < 1e-12 * each);
    assert.ok(Math.max(...one.charge) > 0.1 * each);
    // Those of one cell may stand in another order where a rounding has taken one of them over an edge.
    const sorted = (x: ArrayLike<number>) => Float64Array.from(x).sort();
    assert.ok(apart(sorted(one.x), sorted(many.x)) < 1e-12);
    assert.equal((made as FakeHip).complaints(), "");
  });
