import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DeviceError, f64, sum } from "../../../src/index.js";
import { dense } from "../../../src/domain/index.js";
import { fastestLevel } from "../../../src/skeleton/tuning/auto.js";
import { fastest, OCC_LEVELS, skeleton, swap, type OccLevel } from "../../../src/skeleton/index.js";
import { jsSet, noise } from "../../domain/sets.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-auto-"));
process.env.XDG_CACHE_HOME = folder;
after(() => rmSync(folder, { recursive: true }));
const remembered = () => readdirSync(join(folder, "isoform")).filter((file) => file.endsWith(".occ"));

test("the least median wins, whatever the first measurement; it is remembered", async () => {
  const calls: OccLevel[] = [];
  const measure = async (level: OccLevel) => {
    calls.push(level);
    const first = calls.filter((other) => other === level).length === 1;
    const disturbed = calls.length % 13 === 0;
    return (
      { none: 4, standard: 3, extended: 1.9, "two-way": 2, "in-kernel": 2.5 }[level] +
      (disturbed ? 100 : 0) +
      (first && level === "extended" ? 50 : 0)
    );
  };
  const choice = await fastestLevel(["a plan"], measure);
  assert.equal(choice.best, "extended");
  assert.deepEqual(choice.seconds, { none: 4, standard: 3, extended: 1.9, "two-way": 2, "in-kernel": 2.5 });
  const before = calls.length;
  assert.deepEqual(await fastestLevel(["a plan"], measure), choice);
  assert.equal(calls.length, before);
  assert.equal((await fastestLevel(["another plan"], async (level) => (level === "two-way" ? 1 : 2))).best, "two-way");
});

test("choosing the level leaves fields, scalars, swaps and halos as they were", async () => {
  const results = [];
  for (const occ of ["none", "auto", "auto"] as const) {
    const grid = dense(jsSet(3), [6, 30]);
    const [a, b] = ["a", "b"].map((name) => grid.field(name, f64));
    const total = grid.scalar("total", f64);
    const smooth = grid.container("smooth", { a, b, total }, ({ a, b, total }, c) => {
      b[c] = 0.25 * (a.at(c, 0, 1) + a.at(c, 0, -1) + a[c]) + total / 1024;
    });
    const add = grid.container("add", { a, total: sum(total) }, ({ a, total }, c) => total.add(a[c]));
    a.fill((x, y) => noise(x, y));
    total.set(3);
    const steps = skeleton(grid.set, "smoothing", [smooth, swap(a, b), add], { occ, precision: "strict" });
    if (occ === "auto") assert.match(await steps.explain(), /the level of overlap will be chosen in the first run/);
    const before = remembered().length;
    await steps.run(3);
    if (occ === "auto") {
      assert.equal(remembered().length, results.length === 1 ? before + 1 : before);
      const [, level] = /OCC ([a-z-]+) was the fastest: none [\d.]+ us, standard /.exec(await steps.explain())!;
      assert.ok(OCC_LEVELS.includes(level as OccLevel));
    }
    results.push([...(await a.download()), await total.get()]);
  }
  assert.deepEqual(results[1], results[0]);
  assert.deepEqual(results[2], results[0]);
});

test("the fastest of several ways is found once, and all are freed", async () => {
  const log: string[] = [];
  const way = (name: string, seconds: number) => () => ({
    skeleton: { run: async (iterations: number) => ({ iterations, stopped: false, seconds }) },
    free: () => void log.push(name),
  });
  const none = () => {
    throw new DeviceError("js", "memory does not suffice");
  };
  const ways = { dense: way("dense", 2), sparse: way("sparse", 1), bricks: none };
  assert.equal(await fastest(["flow", "64"], ways), "sparse");
  assert.deepEqual(log, ["dense", "sparse"]);
  assert.equal(await fastest(["flow", "64"], { ...ways, sparse: way("sparse", 9) }), "sparse", "remembered");
  assert.equal(await fastest(["flow", "128"], { ...ways, sparse: way("sparse", 9) }), "dense");
  await assert.rejects(fastest(["flow"], { none }), /memory does not suffice/);
});

test("on one device there is nothing to choose", async () => {
  const grid = dense(jsSet(1), [4, 4]);
  const a = grid.field("a", f64);
  const set = grid.container("set", { a }, ({ a }, c) => {
    a[c] = 1;
  });
  const steps = skeleton(grid.set, "one", [set], { occ: "auto" });
  await steps.run(1);
  assert.match(await steps.explain(), /^skeleton "one" on js: OCC none,/);
});
