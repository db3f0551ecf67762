import assert from "node:assert/strict";
import test, { after } from "node:test";
import { bind } from "../../../src/device/launch/bind.js";
import type { LaunchOptions } from "../../../src/device/device.js";
import type { CodeFacts } from "../../../src/device/gpu/machine.js";
import { programOf } from "../../../src/device/gpu/program.js";
import type { Policy } from "../../../src/device/launch/policy.js";
import { cudaLanguage } from "../../../src/emit/c/cuda.js";
import { f64, i32, kernel, open, range, scatter, teamKernel, teams, view } from "../../../src/index.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";

const device = await open("js");
after(() => device.close());

const FACTS: CodeFacts = { sharedBytes: 48 << 10, threads: 1024, atomics64: true, l2Bytes: 50 << 20 };
const [at, h, j] = [device.array(i32, 1000), device.array(f64, 50_000), device.array(f64, 50_000)];

const launch = (made: unknown, args: object, policy: Policy, options: LaunchOptions = {}, facts = FACTS) =>
  programOf(bind(device, made as Kernel, { ...args }, policy, { scatter: "cached", ...options }), cudaLanguage, facts);

const add = kernel("add", { at: view(i32), h: scatter(f64) }, ({ at, h }, i) => {
  h.add(at[i], 1);
});
const both = kernel("both", { at: view(i32), h: scatter(f64), j: scatter(f64) }, ({ at, h, j }, i) => {
  for (let k = 0; k < 8; k++) {
    h.add(at[i] + k, 1);
    j.add(at[i] + k, 1);
  }
});

test("a block takes as many elements as pay for its scatter cache", () => {
  const { caches, remarks } = launch(add, { at, h }, range(1000));
  assert.deepEqual([caches!.lines, caches!.segment], [256, 8192]);
  assert.match(
    remarks.join("\n"),
    /scatter "h": cached, a scatter cache for each block[^]*scatter caches: 256 lines of 8 elements, for segments of 8192/,
  );
  assert.equal(launch(both, { at, h, j }, range(1000)).caches!.segment, 1024);
});

test("scatter caches share what a block has", () => {
  assert.equal(launch(both, { at, h, j }, range(1000)).caches!.lines, 256);
  assert.equal(launch(both, { at, h, j }, range(1000), {}, { ...FACTS, sharedBytes: 10_000 }).caches!.lines, 64);
  assert.throws(
    () => launch(both, { at, h, j }, range(1000), {}, { ...FACTS, sharedBytes: 1000 }),
    /kernel "both": scatter caches of h, j take 2176 bytes at least and a block has 1000 left; use the strategy "atomic" for some/,
  );
  assert.equal(launch(both, { at, h, j }, range(1000), { scatter: { h: "cached", j: "atomic" } }).caches!.segment, 1024);
});

test("teams have no scatter caches on a GPU, and neither has a device without atomic operations of the size", () => {
  const team = teamKernel("team", { h: scatter(f64) }, ({ h }, team) => {
    h.add(team.index, 1);
  });
  assert.throws(() => launch(team, { h }, teams(10)), /scatter "h" cannot be cached on a GPU: teams have no scatter caches of their own/);
  assert.throws(() => launch(add, { at, h }, range(1000), {}, { ...FACTS, atomics64: false }), /"h" of f64 cannot be cached.*no atomic/);
});
