import assert from "node:assert/strict";
import { test } from "node:test";
import { f64, max, sum } from "../../src/index.js";
import { dense } from "../../src/domain/index.js";
import type { DeviceSet } from "../../src/set/index.js";
import { skeleton, swap, type OccLevel } from "../../src/skeleton/index.js";
import { jsSet, noise } from "../domain/sets.js";
import { poisson } from "./poisson.js";

test("two grids take part in one sequence, whatever the members, the overlap and the fusion", async () => {
  const results: unknown[] = [];
  for (const set of [1, 2, 3].map(jsSet))
    for (const options of [
      { occ: "none", fuse: false },
      { occ: "two-way", fuse: true },
      { occ: "extended", fuse: true, unroll: 2 },
    ] as const) {
      const fine = dense(set, [8, 6, 32], { levels: 1 });
      const coarse = fine.coarsen();
      const [u, v] = ["u", "v"].map((name) => fine.field(name, f64));
      const [r, e] = ["r", "e"].map((name) => coarse.field(name, f64));
      const norm = coarse.scalar("norm", f64);
      const steps = [
        fine.container("smooth", { u, v }, ({ u, v }, c) => {
          v[c] = 0.25 * (u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1) + u.at(c, 1, 0, 0)) + 0.125 * u[c];
        }),
        coarse.container("restrict", { v, r, norm: sum(norm) }, ({ v, r, norm }, c) => {
          let all = 0;
          for (let dz = -1; dz <= 2; dz++) all += v.fine(c, 0, 1, dz);
          r[c] = 0.25 * all;
          norm.add(r[c] * r[c]);
        }),
        coarse.container("correct", { r, e, norm }, ({ r, e, norm }, c) => {
          e[c] = 0.5 * (r.at(c, 0, 0, 1) - r.at(c, 0, 1, -1)) + norm / 4096;
        }),
        fine.container("prolong", { u, v, e }, ({ u, v, e }, c) => {
          u[c] = v[c] + 0.5 * e.coarse(c, 0, 0, 0) + 0.25 * e.coarse(c, 0, 0, -1) + 0.125 * e.coarse(c, 1, 0, 1);
        }),
      ];
      u.fill((x, y, z) => noise(x, y, z));
      await skeleton(set, "two grids", steps, { ...options, precision: "strict" }).run(4);
      results.push([...(await u.download()), ...(await e.download()), await norm.get()]);
      assert.deepEqual(results.at(-1), results[0], `${set.name} ${JSON.stringify(options)}`);
      for (const grid of [fine, coarse]) grid.free();
    }
});

/** A step from one field to another, and their exchange. */
function smoothing(set: DeviceSet) {
  const grid = dense(set, [6, 8]);
  const [a, b] = ["a", "b"].map((name) => grid.field(name, f64));
  const peak = grid.scalar("peak", f64);
  const smooth = grid.container("smooth", { a, b }, ({ a, b }, c) => {
    b[c] = 0.25 * (a.at(c, 1, 0) + a.at(c, -1, 0) + a.at(c, 0, 1) + a.at(c, 0, -1));
  });
  const highest = grid.container("highest", { a, peak: max(peak) }, ({ a, peak }, c) => peak.max(a[c]));
  a.fill((x, y) => x + 10 * y);
  b.fill(0);
  return { grid, a, b, peak, steps: [smooth, swap(a, b), highest] };
}

test("swaps exchange fields without copies, whatever the number of iterations and of those unrolled", async () => {
  const expected: number[][] = [];
  for (let n = 0; n < 6; n++) {
    const { a, b, grid, steps } = smoothing(jsSet(1));
    for (let k = 0; k < n; k++) {
      await grid.run(steps[0] as never);
      a.swap(b);
    }
    expected.push([...(await a.download())]);
  }
  for (const set of [1, 2, 3].map(jsSet))
    for (const unroll of [1, 2, 3])
      for (const fuse of [false, true]) {
        const { a, peak, steps } = smoothing(set);
        const all = skeleton(set, "smoothing", steps, { unroll, fuse, occ: "extended" });
        for (const [n, more] of [
          [1, 1],
          [3, 2],
          [5, 2],
        ]) {
          await all.run(more);
          assert.deepEqual([...(await a.download())], expected[n], `${set.name}, ${n} iterations, unroll ${unroll}, fuse ${fuse}`);
          assert.equal(await peak.get(), Math.max(...expected[n]));
        }
      }
});

test("a long run lets others have their turn on the event loop", async () => {
  const { grid, steps } = smoothing(jsSet(1));
  const all = skeleton(grid.set, "smoothing", steps);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await all.run(2000);
  clearInterval(timer);
  assert.ok(turns > 0);
});

test("a field that nobody has written is refused with the container and its line", async () => {
  const grid = dense(jsSet(2), [4, 4]);
  const [a, b] = ["a", "b"].map((name) => grid.field(name, f64));
  const copy = grid.container("copy", { a, b }, ({ a, b }, c) => {
    b[c] = a[c];
  });
  const set = grid.container("set", { a }, ({ a }, c) => {
    a[c] = 1;
  });
  await assert.rejects(skeleton(grid.set, "s", [copy, set]).run(1), {
    name: "ContainerError",
    message: /container "copy", .*run\.test\.[jt]s:\d+:\d+: reads field "a", which nothing has written \(fill or upload it/,
  });
  await skeleton(grid.set, "s", [set, copy]).run(1);
  assert.deepEqual([...(await b.download())], Array(16).fill(1));
});

test("NaN stops the run, with the iterations, the field and the cell", async () => {
  const grid = dense(jsSet(3), [4, 6]);
  const a = grid.field("a", f64);
  const total = grid.scalar("total", f64);
  a.fill((x, y) => (x === 2 && y === 5 ? 6 : 1e9));
  const count = grid.container("count down", { a }, ({ a }, c) => {
    a[c] = Math.sqrt(a[c] - 1) * Math.sqrt(a[c] - 1);
  });
  const add = grid.container("add", { a, total: sum(total) }, ({ a, total }, c) => total.add(a[c]));
  const run = skeleton(grid.set, "counting", [count, add]);
  await assert.rejects(run.run(100, { nan: true, every: 5 }), {
    name: "IsoformError",
    message: /skeleton "counting", iterations 6 to 10: field "a" became NaN, first in cell \[2,5\];/,
  });
  a.fill((x, y) => (x === 1 && y === 0 ? 2.5 : 1e9));
  await assert.rejects(run.run(100, { scalar: total, until: (value) => value < 0, every: 1 }), {
    message: /skeleton "counting", iteration 3: field "a" became NaN, first in cell \[1,0\]$/,
  });
});

test("a traced run has a measured timeline beside the planned one, and the same results", async () => {
  const results = [];
  for (const trace of [false, true]) {
    const { start, steps, x, grid } = poisson(jsSet(3));
    await start();
    const cg = skeleton(grid.set, "cg", steps, { occ: "two-way", precision: "strict" });
    await cg.run(5, { trace });
    results.push([...(await x.download())]);
    const text = await cg.timeline();
    assert.match(
      text,
      /^skeleton "cg" on js\*3\n\nplanned: [\d.]+ µs \(bytes over [\d.]+ GB\/s(?: \(uncertain: [^)]*\))?, links of 25\.0 GB\/s and 5\.0 µs\)/,
    );
    assert.equal(/\nmeasured: [\d.]+ µs \(measured kernels/.test(text), trace);
    const { traceEvents } = JSON.parse(await cg.timeline("trace")) as { traceEvents: { name: string; ph: string; pid: number }[] };
    const halos = traceEvents.filter((event) => event.name === "halo p");
    assert.deepEqual(
      halos.map((event) => event.pid),
      trace ? [0, 1, 2, 3, 4, 5] : [0, 1, 2],
    );
    const svg = await cg.timeline("svg");
    assert.equal(svg.match(/<rect /g)!.length, traceEvents.filter((event) => event.ph === "X").length);
  }
  assert.deepEqual(results[0], results[1]);
});

test("options and runs that make no sense are refused", async () => {
  const { steps, peak, grid } = smoothing(jsSet(2));
  const make = (options: object) => () => skeleton(grid.set, "s", steps, options);
  assert.throws(make({ occ: "full" as OccLevel }), /skeleton "s": occ is "full"; use none, standard, extended, two-way/);
  assert.throws(make({ unroll: 0 }), /unroll is 0/);
  assert.throws(() => skeleton(grid.set, "s", []), /skeleton "s" has no containers/);
  assert.throws(() => skeleton(jsSet(1), "s", steps), /container "smooth" belongs to a grid on js\*2, not to this set of devices, js/);
  const made = skeleton(grid.set, "s", steps);
  await assert.rejects(made.run(-1), /-1 iterations/);
  await assert.rejects(made.run(1, { until: () => true }), /until has no scalar/);
  await assert.rejects(made.run(1, { scalar: peak, until: () => true, every: 0.5 }), /a check every 0.5 iterations/);
  assert.throws(() => swap(grid.field("a", f64), dense(jsSet(2), [4, 4]).field("b", f64)), /swap of fields "a" and "b" \(.*run\.test/);
});
