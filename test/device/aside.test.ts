import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import { DeviceError, f64, i32, kernel, KernelError, LaunchError, open, range, sum, view, type Launch } from "isoform";
import { backlog } from "../../src/device/cpu/backlog.js";
import { limit } from "../../src/device/cpu/lasted.js";
import { tested } from "../devices.js";
import { RUNS, SEED } from "../random/agrees.js";
import { campaign } from "../random/campaign.js";
import { check } from "../random/check.js";

/* Long work, which other threads do while the event loop goes on: with limit.long at 0 all work is long. */

const CPUS: readonly (readonly [name: string, options?: { threads: number }])[] = [["js"], ["wasm"], ["wasm", { threads: 1 }], ["native"]];
const opened = CPUS.filter(([name]) => tested(name)).map(([name, options]) =>
  open(name, options).catch((error: Error) => {
    if (!(error instanceof DeviceError)) throw error;
    return undefined;
  }),
);
const devices = (await Promise.all(opened)).filter((device) => device !== undefined);
after(() => Promise.all(devices.map((device) => device.close())));

const { long } = limit;
afterEach(() => (limit.long = long));

/** Work for some tens of milliseconds, in loops that depend on data. */
const slow = kernel("slow", { x: view(f64), turns: i32 }, ({ x, turns }, i) => {
  let value = x[i];
  for (let turn = 0; turn < turns; turn++) value = Math.sqrt(value + turn + i);
  x[i] = value;
});
const add = kernel("add", { x: view(f64), a: f64 }, ({ x, a }, i) => {
  x[i] += a;
});
const total = kernel("total", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => s.add(x[i]));
const scaled = kernel("scaled", { x: view(f64), a: f64, s: sum(f64) }, ({ x, a, s }, i) => s.add(a * x[i]));
const gather = kernel("gather", { x: view(f64), y: view(f64), at: view(i32) }, ({ x, y, at }, i) => {
  y[i] = x[at[i]];
});

const n = 4096;
const TURNS = 500;

for (const device of devices)
  describe(`long work on ${device.name} with ${device.capabilities.parallelism} threads`, () => {
    const x = device.array(f64, n);
    const { queue } = device;

    /** The values that `work` leaves in x, which held 1 before. */
    const left = async (work: () => unknown): Promise<Float64Array> => {
      queue.write(x, new Float64Array(n).fill(1));
      await work();
      return queue.read(x);
    };
    const prepared = (turns: number): Launch => device.prepare(slow, { x, turns }, range(n));

    it("lets timers through", async () => {
      limit.long = 5;
      for (const work of ["run", "submit", "graph"]) {
        const launch = prepared(10 * TURNS);
        const graph = queue.capture(() => queue.submit(launch));
        let ticks = 0;
        const timer = setInterval(() => ticks++, 1);
        if (work === "run") await device.run(slow, { x, turns: 10 * TURNS }, range(n));
        else {
          queue.submit(work === "graph" ? graph : launch);
          assert.ok(backlog.busy, "submit came back before the work was done");
          await queue.finish();
        }
        clearInterval(timer);
        assert.ok(ticks > 3, `${work}: ${ticks} ticks`);
        graph.free();
        launch.free();
      }
    });

    it("gives the bits that short work gives", async () => {
      const run = () => device.run(slow, { x, turns: TURNS }, range(n), { precision: "strict" });
      limit.long = Infinity;
      const short = await left(run);
      limit.long = 0;
      assert.deepEqual(await left(run), short);
      const { signal } = new AbortController();
      const sliced = () => device.run(slow, { x, turns: TURNS }, range(n), { precision: "strict", signal });
      limit.long = 0.1;
      for (let again = 0; again < 2; again++) assert.deepEqual(await left(sliced), short);
    });

    it("comes in slices over ranges that slices do not divide", async () => {
      const { signal } = new AbortController();
      for (const size of [1, 257, 700, 1100, 1281, 2049, 4095]) {
        const run = () => device.run(slow, { x, turns: 40 }, range(size), { precision: "strict", signal });
        limit.long = Infinity;
        const short = await left(run);
        limit.long = 0.001;
        assert.deepEqual(await left(run), short, `${size} elements`);
      }
    });

    it("has the results of the numbers that a launch was submitted with, whatever is submitted next", async () => {
      queue.write(x, new Float64Array(n).fill(1));
      const launch = device.prepare(scaled, { x, a: 1 }, range(n));
      queue.submit(launch);
      assert.deepEqual(await queue.results(launch), { s: n });
      limit.long = 0;
      for (let turn = 0; turn < 2; turn++) {
        launch.submit({ a: 2 + turn });
        const results = queue.results(launch);
        launch.submit({ a: 7 });
        const later = queue.results(launch);
        assert.deepEqual([await results, await later], [{ s: (2 + turn) * n }, { s: 7 * n }]);
      }
      launch.free();
    });

    it("lets reads and results see what came before them, and nothing of short work after them", async () => {
      const [launch, y] = [device.prepare(scaled, { x, a: 1 }, range(n)), device.array(f64, n)];
      const reads: Promise<unknown>[] = [];
      queue.write(x, new Float64Array(n).fill(1));
      const busy = prepared(50 * TURNS);
      queue.submit(busy);
      assert.ok(backlog.busy);
      queue.write(y, new Float64Array(n).fill(1));
      queue.write(x, new Float64Array(n).fill(1));
      for (let value = 2; value < 5; value++) {
        reads.push(queue.read(y));
        queue.write(y, new Float64Array(n).fill(value));
        launch.submit({ a: value });
        reads.push(queue.results(launch));
      }
      const expected = [2, 3, 4].flatMap((value) => [new Float64Array(n).fill(value - 1), { s: value * n }]);
      assert.deepEqual(await Promise.all(reads), expected);
      for (const made of [launch, y, busy]) made.free();
    });

    it("tells who asks for results of its failure, not of a launch that has not run", async () => {
      limit.long = 0;
      const [y, at] = [device.array(f64, n), device.from(i32, new Int32Array(n).fill(n))];
      const outside = device.prepare(gather, { x, y, at }, range(n), { checked: true });
      queue.submit(outside);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await assert.rejects(queue.results(outside), KernelError);
      for (const made of [outside, at, y]) made.free();
    });

    it("agrees with the evaluator on random kernels", async () => {
      limit.long = 0;
      await campaign({
        runs: device.backend === "native" ? 20 : Math.ceil(RUNS / 20),
        seed: SEED + 91,
        check: (program) => check(program, [device]),
      });
    });

    it("comes in the order of its submission, whatever it is and whoever waits for what", async () => {
      limit.long = 0;
      const launch = device.prepare(add, { x, a: 1 }, range(n));
      const graph = queue.capture(() => {
        queue.submit(launch);
        queue.clear(x.slice([0, 1]));
        queue.submit(launch);
      });
      const other = device.createQueue();
      const copy = device.array(f64, n);
      const sums: Promise<unknown>[] = [];
      const data = new Float64Array(n).fill(100);
      const values = await left(() => {
        queue.submit(launch);
        sums.push(device.run(total, { x }, range(n)));
        launch.submit({ a: 10 });
        other.submit(graph);
        sums.push(device.run(total, { x }, range(n)));
        queue.copy(x, copy);
        queue.write(x, data);
        // A write has taken its data.
        data.fill(7);
        sums.push(device.run(add, { x, a: 0.5 }, range(n)), device.run(total, { x }, range(n)));
      });
      assert.deepEqual(await Promise.all(sums), [{ s: 2 * n }, { s: 14 * (n - 1) + 1 }, {}, { s: 100.5 * n }]);
      assert.deepEqual(values, new Float64Array(n).fill(100.5));
      assert.deepEqual([...(await queue.read(copy)).subarray(0, 2)], [1, 14]);
      for (const made of [graph, launch, copy]) made.free();
    });

    it("is done when memory is written from the host, freed or moved, and code is freed only then", async () => {
      limit.long = 0;
      const y = device.array(f64, n);
      const launch = device.prepare(slow, { x: y, turns: TURNS }, range(n));
      queue.submit(launch);
      queue.submit(launch);
      launch.free();
      assert.ok(backlog.busy);
      y.free();
      assert.ok(!backlog.busy);
      assert.throws(() => queue.submit(launch), LaunchError);
      // Longer than the time between two looks whether threads live.
      const longer = prepared(100 * TURNS);
      queue.submit(longer);
      queue.write(x, new Float64Array(n).fill(3));
      longer.free();
      // Takes the place of y.
      const z = device.array(f64, n);
      assert.deepEqual(await queue.read(z), new Float64Array(n));
      z.free();
    });

    it("lets writes of some size wait, and has others wait for it", async () => {
      limit.long = 0;
      const many = device.array(f64, 1 << 17);
      const data = new Float64Array(many.size);
      const launch = prepared(100 * TURNS);
      queue.submit(launch);
      queue.write(many, data);
      assert.ok(backlog.busy);
      for (let write = 1; write < 20; write++) queue.write(many, data.fill(write));
      assert.ok(!backlog.busy, "20 MiB are not copied");
      assert.deepEqual(await queue.read(many), data);
      for (const made of [launch, many]) made.free();
    });

    it("tells its failure to who waits, and goes on", async () => {
      limit.long = 0;
      const y = device.array(f64, n);
      const at = device.from(
        i32,
        Int32Array.from({ length: n }, (_, i) => (i === 3 ? n : i)),
      );
      const outside = device.prepare(gather, { x, y, at }, range(n), { checked: true });
      queue.submit(outside);
      queue.submit(outside);
      await assert.rejects(queue.finish(), KernelError);
      await queue.finish();
      const failed = device.run(gather, { x, y, at }, range(n), { checked: true });
      const sums = device.run(total, { x: at as never }, range(n)).catch((error: Error) => error.name);
      const good = device.run(add, { x, a: 0 }, range(n));
      await assert.rejects(failed, /index \[?4096/);
      assert.equal(await sums, "LaunchError");
      await good;
      queue.submit(outside);
      await assert.rejects(queue.read(x), KernelError);
      for (const made of [outside, at, y]) made.free();
    });

    it("measures by events what comes before and after it", async () => {
      const launch = prepared(10 * TURNS);
      const begin = queue.record();
      queue.submit(launch);
      const end = queue.record();
      assert.ok(backlog.busy);
      const seconds = await end.since(begin);
      assert.ok(seconds > 0.001, `${seconds} s`);
      const after = queue.record();
      queue.submit(launch);
      const later = queue.record();
      later.block();
      assert.ok(!backlog.busy);
      assert.ok((await later.since(after)) > 0.001);
      launch.free();
    });

    it("ends by a signal between its slices, before it begins, and where it cannot be cut at its end", async () => {
      const turns = 50 * TURNS;
      const run = (signal: AbortSignal) => device.run(slow, { x, turns }, range(n), { signal });
      const reason = new Error("enough");
      for (const wait of [0, 1]) {
        const controller = new AbortController();
        const running = run(controller.signal);
        if (wait) await new Promise((resolve) => setTimeout(resolve, 1));
        controller.abort(reason);
        await assert.rejects(running, reason);
      }
      await assert.rejects(run(AbortSignal.abort(reason)), reason);
      await assert.rejects(run(7 as never), /signal is 7; give the signal of an AbortController/);
      limit.long = 0;
      const { signal } = new AbortController();
      queue.write(x, new Float64Array(n).fill(1));
      assert.deepEqual(await device.run(total, { x }, range(n), { signal }), { s: n });
      assert.throws(() => device.prepare(add, { x, a: 1 }, range(n), { signal } as never), LaunchError);
    });
  });
