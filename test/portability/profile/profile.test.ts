import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, test } from "node:test";
import { backendNames, f32, f64, kernel, open, range, region, view } from "../../../src/index.js";
import {
  Profiler,
  profileJson,
  profileText,
  profileTrace,
  rooflineShare,
  type Profile,
  type ProfileRow,
} from "../../../src/portability/index.js";
import { dense } from "../../../src/domain/index.js";
import { devices } from "../../../src/set/index.js";
import { skeleton, swap } from "../../../src/skeleton/index.js";
import { fakeHip } from "../../device/hip/fake.js";

/** `hip`, whose queues are those of `cuda`, is there without a GPU then. */
const fake = await fakeHip();

/** What tuning finds is remembered in a folder of its own. */
const folder = mkdtempSync(join(tmpdir(), "isoform-profile-"));
process.env.XDG_CACHE_HOME = folder;
process.once("exit", () => rmSync(folder, { recursive: true }));

const scale = kernel("scale", { x: view(f32), y: view(f32) }, ({ x, y }, i) => {
  y[i] = 2 * x[i];
});
const shift = kernel("shift", { y: view(f32) }, ({ y }, i) => {
  y[i] = y[i] + 1;
});

const N = 4096;

async function profileOf(name: string): Promise<Profile & { readonly memoryName: string }> {
  const profiler = Profiler.start({ samples: 4, trace: true });
  const device = await open(name);
  const x = device.from(f32, new Float32Array(N));
  const y = device.array(f32, N);
  await region("setup", () => device.run(scale, { x, y }, range(N)));
  const launches = [device.prepare(scale, { x, y }, range(N)), device.prepare(shift, { y }, range(N))];
  const graph = device.queue.capture(() => {
    for (const launch of [...launches, launches[1]]) device.queue.submit(launch);
    device.queue.copy(y, x);
  });
  await region("loop", async () => {
    for (let n = 0; n < 20; n++) {
      region("inner", () => device.queue.submit(launches[1]));
      if (n % 5 === 0) device.queue.submit(graph);
    }
    await device.queue.finish();
  });
  await device.queue.read(y);
  x.free();
  // Times are read before it is closed.
  await device.close();
  return { ...(await profiler.stop()), memoryName: device.memory.name };
}

const DEVICES = ["js", "wasm", "native", "opencl", "webgpu", "cuda", "hip"].filter((name) => backendNames().includes(name));

for (const name of DEVICES) {
  const missing = await open(name).then(
    (device) => device.close(),
    (error: Error) => error.message,
  );
  describe(`a profile on ${name}`, { skip: missing ?? false }, () => {
    it("has counts, work, times and regions of all that ran", async () => {
      const profile = await profileOf(name);
      const device = profile.devices[0].name;
      const row = (kind: string, label: string, path = ""): ProfileRow => {
        const found = profile.rows.find((one) => one.kind === kind && one.label === label && one.region.join("/") === path);
        assert.ok(found, `no ${kind} ${label} in "${path}": ${JSON.stringify(profile.rows)}`);
        return found;
      };
      const single = row("kernel", "scale", "setup");
      assert.deepEqual([single.count, single.bytes, single.flops, single.devices], [1, 8 * N, N, [device]]);
      const inner = row("kernel", "shift", "loop/inner");
      assert.deepEqual([inner.count, inner.bytes, inner.flops], [20, 20 * 8 * N, 20 * N]);
      // Launches 1 to 4, then 5, 7, 9, 11, then 13, 17.
      assert.equal(inner.sampled, 10);
      assert.ok(inner.least! >= 0 && inner.least! <= inner.mean!);
      assert.ok(Math.abs(inner.seconds! - 20 * inner.mean!) <= 1e-12);
      const graph = row("graph", "graph of scale, shift x2", "loop");
      assert.deepEqual([graph.count, graph.bytes, graph.flops], [4, 4 * 8 * N * 4, 4 * 3 * N]);
      assert.deepEqual(
        graph.inner?.map(({ label, count, bytes }) => [label, count, bytes]),
        [
          ["scale", 1, 8 * N],
          ["shift", 2, 16 * N],
        ],
      );
      const read = row("copy", `read ${profile.memoryName} to host`);
      assert.deepEqual([read.count, read.bytes], [1, 4 * N]);
      assert.ok(read.seconds! > 0);
      assert.equal(row("fence", "read").count, 1);
      assert.deepEqual(
        profile.regions.map(({ path, count }) => [path.join("/"), count]),
        [
          ["setup", 1],
          ["loop/inner", 20],
          ["loop", 1],
        ],
      );
      assert.equal(profile.memory[0].arrays, 2);
      assert.equal(profile.memory[0].most, 8 * N);
      const loop = profile.regions[2];
      assert.ok(loop.seconds <= profile.seconds);
    });

    it("is a trace of events that lie in their profile and in order", async () => {
      const profile = await profileOf(name);
      const { traceEvents } = JSON.parse(profileTrace(profile)) as {
        traceEvents: { name: string; ph: string; cat?: string; pid: number; tid: number; ts: number; dur: number }[];
      };
      const spans = traceEvents.filter(({ ph }) => ph === "X");
      assert.equal(spans.length, profile.spans.length);
      assert.ok(spans.some(({ name, pid }) => name === "graph of scale, shift x2" && pid === 1));
      assert.ok(spans.some(({ name, cat, pid }) => name === "loop" && cat === "region" && pid === 0));
      // Clocks of devices and of the program are compared once: a process that waits for its turn meanwhile finds them so far apart at most.
      const slack = 1e7;
      for (const { ts, dur } of spans) assert.ok(ts > -slack && dur >= 0 && ts + dur < 1e6 * profile.seconds + slack);
      const kernels = spans.filter(({ cat, tid }) => cat === "kernel" && tid === 0).map(({ ts }) => ts);
      assert.deepEqual(
        kernels,
        kernels.toSorted((a, b) => a - b),
      );
    });
  });
}

for (const spec of ["wasm", "js*2", "hip:0,hip:1"])
  test(
    `a skeleton on ${spec} has the same results in graphs and apart`,
    { skip: spec.startsWith("hip") && typeof fake === "string" && fake },
    async () => {
      if (typeof fake !== "string") fake.devices(2);
      const outcome = async (graphs: "whole" | "apart") => {
        const profiler = Profiler.start({ graphs });
        const set = await devices(spec);
        const grid = dense(set, [12, 6, 6]);
        const [u, next] = [grid.field("u", f64), grid.field("next", f64)];
        u.fill((x, y, z) => x * x + y * z);
        const step = grid.container("step", { u, next }, ({ u, next }, c) => {
          next[c] = 0.5 * u[c] + 0.25 * (u.at(c, 1, 0, 0) + u.at(c, -1, 0, 0));
        });
        await skeleton(set, "steps", [step, swap(u, next)], { occ: "standard", precision: "strict" }).run(6);
        const values = [...(await u.download())].join();
        await set.close();
        return { values, rows: (await profiler.stop()).rows };
      };
      const [whole, apart] = [await outcome("whole"), await outcome("apart")];
      assert.equal(apart.values, whole.values);
      const kinds = (rows: readonly ProfileRow[]) => new Set(rows.map(({ kind }) => kind));
      assert.ok(kinds(whole.rows).has("graph") && !kinds(apart.rows).has("graph"));
      const partsOf = ({ kind, label, count, bytes, inner = [] }: ProfileRow) =>
        kind === "kernel" ? [{ label, bytes }] : inner.map((part) => ({ label: part.label, bytes: count * part.bytes }));
      const bytesOf = (rows: readonly ProfileRow[]) =>
        rows.flatMap(partsOf).reduce((sum, { label, bytes }) => (label === "step" ? sum + bytes : sum), 0);
      assert.ok(bytesOf(whole.rows) > 0);
      assert.equal(bytesOf(apart.rows), bytesOf(whole.rows));
    },
  );

test("js and wasm share a memory and not a row", async () => {
  const profiler = Profiler.start();
  const [js, wasm] = [await open("js"), await open("wasm")];
  const y = js.array(f32, N);
  for (const device of [js, wasm]) await device.run(shift, { y }, range(N));
  await Promise.all([js.close(), wasm.close()]);
  const { rows } = await profiler.stop();
  assert.deepEqual(
    rows.filter(({ kind }) => kind === "kernel").map(({ devices }) => devices),
    [["js"], ["wasm"]],
  );
});

test("a profile that was stopped hears no more", async () => {
  const profiler = Profiler.start();
  await profiler.stop();
  const device = await open("js");
  await device.run(shift, { y: device.array(f32, N) }, range(N));
  await device.close();
  assert.deepEqual((await profiler.stop()).rows, []);
});

const row: ProfileRow = {
  kind: "kernel",
  region: ["outer", "inner"],
  label: "triad",
  devices: ["a"],
  count: 10,
  sampled: 5,
  seconds: 0.01,
  mean: 1e-3,
  least: 9e-4,
  bytes: 2.4e7,
  flops: 2e6,
  rates: { bytes: 24e8, flops: 2e8 },
};
const profile: Profile = {
  seconds: 1,
  devices: [{ name: "a", label: "a device" }],
  rows: [row],
  regions: [{ path: ["outer", "inner"], count: 2, seconds: 0.02 }],
  memory: [{ device: "a", arrays: 3, held: 0, most: 2 ** 20 }],
  spans: [],
};

test("the share of the roofline is that of the roof that is nearer", () => {
  const peaks = { a: { bandwidth: 48e8, flops: 1e9 }, b: { bandwidth: 48e8, flops: 1e9 } };
  assert.equal(rooflineShare(row, peaks), 0.5);
  assert.equal(rooflineShare(row, { a: { bandwidth: 48e8, flops: 25e7 } }), 0.8);
  assert.equal(rooflineShare(row, { a: { bandwidth: 48e8, flops: null } }), 0.5);
  assert.equal(rooflineShare({ ...row, devices: ["a", "b"] }, peaks), 0.25);
  assert.equal(rooflineShare({ ...row, devices: ["a", "c"] }, peaks), undefined);
  assert.equal(rooflineShare({ ...row, kind: "copy" }, peaks), undefined);
  assert.equal(rooflineShare({ ...row, rates: null }, peaks), undefined);
  // A graph of which nothing is known.
  assert.equal(rooflineShare({ ...row, kind: "graph", bytes: 0, flops: 0, rates: { bytes: 0, flops: 0 } }, peaks), undefined);
});

test("the table nests regions, and has the share where peaks are known", () => {
  const lines = profileText(profile, { a: { bandwidth: 48e8, flops: 1e9 } })
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
  assert.deepEqual(lines, [
    "profile of 1.000 s",
    "a: a device; roofs 4.80 GB/s, 1.00 GFLOP/s; 3 arrays, at most 1.00 MiB at one time",
    "",
    "what       device  count  measured  total ms  mean us  least us  GB/s  GFLOP/s  roofline %",
    "---------  ------  -----  --------  --------  -------  --------  ----  -------  ----------",
    "outer:",
    "  inner:               2         2      20.0    10000",
    "    triad  a          10         5      10.0     1000       900  2.40    0.200        50.0",
  ]);
  assert.match(profileText(profile), /triad .* 0\.200\s*$/m);
});

test("the JSON has rows with shares, and no spans", () => {
  const json = JSON.parse(profileJson(profile, { a: { bandwidth: 48e8, flops: 1e9 } })) as Record<string, unknown>;
  assert.deepEqual(Object.keys(json), ["seconds", "devices", "regions", "memory", "peaks", "rows"]);
  assert.equal((json.rows as { roofline: number }[])[0].roofline, 0.5);
});

test("the launches that tuning tries stand in a region of their own", async () => {
  const device = await open("js", { tune: true });
  const big = kernel("big", { y: view(f64) }, ({ y }, i) => {
    y[i] = y[i] * 1.5 + i;
  });
  const profiler = Profiler.start();
  await device.run(big, { y: device.array(f64, 30000) }, range(30000));
  const { rows } = await profiler.stop();
  await device.close();
  const own = rows.filter(({ kind, label, region: path }) => kind === "kernel" && label === "big" && path.length === 0);
  assert.deepEqual(
    own.map(({ count }) => count),
    [1],
  );
  assert.ok(rows.some(({ label, region: [path] }) => label === "big" && path === "tuning"));
});
