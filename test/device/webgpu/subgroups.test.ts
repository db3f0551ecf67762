import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { range, teams } from "../../../src/device/policy.js";
import { kernel, teamKernel } from "../../../src/kernel/kernel.js";
import { f32, i32, max, min, sum, view } from "../../../src/kernel/params.js";
import { openWebGpu } from "./opened.js";

const params = { x: view(f32), k: view(i32), s: sum(f32), high: max(i32), low: min(i32), top: max(f32) };
const all = kernel("all", params, ({ x, k, s, high, low, top }, i) => {
  s.add(x[i]);
  high.max(k[i]);
  low.min(k[i]);
  top.max(x[i]);
});
const rows = teamKernel("rows", { x: view(f32, 2), y: view(f32) }, ({ x, y }, team) => {
  const total = team.sum(x[0].length, (j) => x[team.index][j]);
  y[team.index] = total;
});

/** Sums of these are exact in any order. */
const xs = Float32Array.from({ length: 70_001 }, (_, i) => (i % 8) / 8);
const ks = Int32Array.from(xs, (_, i) => Math.imul(i + 1, 2654435761));

const { device, skip } = await openWebGpu();

describe("fast folds on webgpu", { skip }, () => {
  after(() => device?.close());

  it("go by subgroups where the adapter has them, but for the least and greatest of floats", async () => {
    const launch = device.prepare(all, { x: device.from(f32, xs), k: device.from(i32, ks) }, range(xs.length));
    const calls = [...launch.source().matchAll(/subgroup(Add|Min|Max)\(/g)].map(([, fold]) => fold);
    assert.deepEqual(calls, device.gpu.hasSubgroups ? ["Add", "Max", "Min"] : []);
    device.queue.submit(launch);
    const expected = {
      s: xs.reduce((a, b) => a + b),
      high: ks.reduce((a, b) => Math.max(a, b)),
      low: ks.reduce((a, b) => Math.min(a, b)),
      top: 0.875,
    };
    assert.deepEqual(await device.queue.results(launch), expected);
    launch.free();
  });

  it("give sums of teams of any size", async () => {
    const [x, y] = [device.from(f32, xs.slice(0, 1000), [10, 100]), device.array(f32, 10)];
    const expected = Array.from({ length: 10 }, (_, row) => xs.slice(100 * row, 100 * (row + 1)).reduce((a, b) => a + b));
    for (const size of [undefined, 1, 32, 200]) {
      await device.run(rows, { x, y }, teams(10, { size }));
      assert.deepEqual([...(await device.queue.read(y))], expected, `teams of ${size}`);
    }
  });
});
