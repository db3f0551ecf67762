import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { WorkerPool, threadCount } from "../../../src/device/cpu/pool.js";
import { DeviceError, IsoformError } from "../../../src/base/errors.js";
import { PoolChoice } from "../../../src/device/cpu/pool-choice.js";

// Each share is run by its own thread, however busy the machine is: some of them end it.
PoolChoice.prototype.isAlone = () => false;

const sharedMemory = () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });

/** Each worker writes 100 * args + its rank + 1 to its own place. */
const MARK = `const out = new Int32Array(memory); return (args, worker) => { out[worker] = 100 * args + worker + 1; };`;

test("every worker runs its share, the caller included", async () => {
  const memory = sharedMemory();
  const pool = await WorkerPool.open({ memory, threads: 4 });
  const mark = pool.register({ kind: "js", name: "mark", source: MARK });
  const out = new Int32Array(memory.buffer);
  for (let round = 0; round < 300; round++) {
    out.fill(0);
    pool.run(mark, round);
    assert.deepEqual([...out.subarray(0, 5)], [1, 2, 3, 4].map((k) => 100 * round + k).concat(0));
  }
  out.fill(0);
  pool.run(mark, 0, 2);
  assert.deepEqual([...out.subarray(0, 4)], [1, 2, 0, 0]);
  await pool.close();
});

test("workers that fell asleep wake up", async () => {
  const memory = sharedMemory();
  const pool = await WorkerPool.open({ memory, threads: 3 });
  const mark = pool.register({ kind: "js", name: "mark", source: MARK });
  for (let round = 1; round < 4; round++) {
    pool.run(mark, round);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(new Int32Array(memory.buffer)[2], 100 * round + 3);
  }
  await pool.close();
});

test("programs registered and released along the way, and shared buffers", async () => {
  const pool = await WorkerPool.open({ memory: sharedMemory(), threads: 2 });
  for (let n = 0; n < 5; n++) {
    const buffer = new SharedArrayBuffer(64);
    const number = pool.share(buffer);
    const source = `const out = new Float64Array(buffers[${number}]); return (args, worker) => { out[worker] = args; };`;
    const program = pool.register({ kind: "js", name: `p${n}`, source });
    pool.run(program, n + 0.5);
    pool.release(program);
    pool.unshare(number);
    assert.deepEqual([...new Float64Array(buffer, 0, 2)], [n + 0.5, n + 0.5]);
  }
  await pool.close();
});

test("what comes and goes while one thread works is never kept for the others", async () => {
  for (const threads of [1, 2]) {
    const memory = sharedMemory();
    const pool = await WorkerPool.open({ memory, threads });
    const mark = pool.register({ kind: "js", name: "mark", source: MARK });
    for (let n = 0; n < 50; n++) {
      const buffer = pool.share(new SharedArrayBuffer(64));
      const program = pool.register({ kind: "js", name: `p${n}`, source: MARK });
      pool.run(program, n, 1);
      pool.release(program);
      pool.unshare(buffer);
    }
    assert.equal(pool.untold, threads - 1);
    pool.run(mark, 7);
    assert.equal(pool.untold, 0);
    assert.deepEqual([...new Int32Array(memory.buffer, 0, threads)], [701, 702].slice(0, threads));
    const other = pool.share(new SharedArrayBuffer(64));
    pool.run(mark, 8);
    pool.release(mark);
    pool.unshare(other);
    assert.equal(pool.untold, 2 * (threads - 1));
    await pool.close();
  }
});

test("an exception in a worker names the kernel, and the pool goes on", async () => {
  const memory = sharedMemory();
  const pool = await WorkerPool.open({ memory, threads: 3, device: "js" });
  const mark = pool.register({ kind: "js", name: "mark", source: MARK });
  const fails = pool.register({
    kind: "js",
    name: "fails",
    source: `return (args, worker) => { if (worker === args) throw new Error("no such thing"); };`,
  });
  for (const worker of [0, 2])
    assert.throws(
      () => pool.run(fails, worker),
      (error: Error) => {
        assert(error instanceof DeviceError);
        assert.equal(error.message, `device "js": kernel "fails" failed in worker ${worker}: no such thing`);
        return true;
      },
    );
  pool.run(mark, 1);
  assert.deepEqual([...new Int32Array(memory.buffer).subarray(0, 3)], [101, 102, 103]);
  await pool.close();
});

test("a WebAssembly trap in a worker names the kernel", async () => {
  const pool = await WorkerPool.open({ memory: sharedMemory(), threads: 2, device: "wasm" });
  const bytes = Uint8Array.of(
    0,
    97,
    115,
    109,
    1,
    0,
    0,
    0,
    1,
    7,
    1,
    0x60,
    3,
    0x7f,
    0x7f,
    0x7f,
    0, // (i32, i32, i32) -> ()
    3,
    2,
    1,
    0,
    7,
    7,
    1,
    3,
    114,
    117,
    110,
    0,
    0, // run
    10,
    10,
    1,
    8,
    0,
    0x20,
    1,
    0x04,
    0x40,
    0x00,
    0x0b,
    0x0b, // if (worker) unreachable
  );
  const trap = pool.register({ kind: "wasm", name: "trap", bytes });
  assert.throws(() => pool.run(trap, 0), /kernel "trap" failed in worker 1: unreachable/);
  pool.run(trap, 0, 1);
  await pool.close();
});

const ENDS = {
  "process.exit": `process.exit(0);`,
  "an uncaught error": `queueMicrotask(() => { throw new Error("too late"); });`,
};

for (const [cause, statement] of Object.entries(ENDS))
  test(`a worker that dies of ${cause} is reported with the kernel, and no more work is taken`, async () => {
    const pool = await WorkerPool.open({ memory: sharedMemory(), threads: 2, device: "js" });
    const deadly = { kind: "js", name: "deadly", source: `return (args, worker) => { if (worker === 1) { ${statement} } };` } as const;
    // The second program makes the worker leave its loop, where errors of its event loop surface.
    const runBoth = () => {
      pool.run(pool.register(deadly), 0);
      pool.run(pool.register(deadly), 0);
    };
    assert.throws(runBoth, /device "js": worker 1 died in kernel "deadly"/);
    assert.equal(pool.works, false);
    assert.throws(runBoth, /it takes no more work: worker 1 died in kernel "deadly"/);
    await pool.close();
  });

test("a pool keeps no process alive and leaves none behind", () => {
  const pool = new URL("../../../src/device/cpu/pool.js", import.meta.url).href;
  const script = `
    const { WorkerPool } = await import("${pool}");
    const p = await WorkerPool.open({ threads: 3 });
    p.run(p.register({ kind: "js", name: "nothing", source: "return () => {};" }), 0);
    console.log("ran");`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { timeout: 240_000, encoding: "utf8" });
  assert.equal(stdout, "ran\n");
  assert.equal(status, 0);
});

/** Each worker writes the number of its thread to its own place. */
const THREAD = `const out = new Int32Array(memory);
const { threadId } = process.getBuiltinModule("node:worker_threads");
return (args, worker) => { out[worker] = threadId; };`;

async function threadsOf(): Promise<number[]> {
  const memory = sharedMemory();
  const pool = await WorkerPool.open({ memory, threads: 3 });
  pool.run(pool.register({ kind: "js", name: "thread", source: THREAD }), 0);
  await pool.close();
  return [...new Int32Array(memory.buffer, 4, 2)].toSorted((a, b) => a - b);
}

test("500 pools, one after the other, share their threads, which end when no other pool comes", async () => {
  const first = await threadsOf();
  for (let n = 0; n < 500; n++) assert.deepEqual(await threadsOf(), first);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const later = await threadsOf();
  assert.equal(later.filter((thread) => first.includes(thread)).length, 0);
});

test("ISOFORM_THREADS sets the number of threads", (t) => {
  const before = process.env.ISOFORM_THREADS;
  t.after(() => (before === undefined ? delete process.env.ISOFORM_THREADS : (process.env.ISOFORM_THREADS = before)));
  process.env.ISOFORM_THREADS = "3";
  assert.equal(threadCount(), 3);
  process.env.ISOFORM_THREADS = "many";
  assert.throws(threadCount, IsoformError);
});

/** Each worker adds the sum of all places to its own one, so that whoever runs ahead or behind shows. */
const GATHER = `const all = new Float64Array(memory, 0, 8), next = new Float64Array(memory, 64, 8);
return (args, worker, workers) => {
  const [from, to] = args === 0 ? [all, next] : [next, all];
  let sum = 0;
  for (let w = 0; w < workers; w++) sum += from[w];
  to[worker] = (from[worker] + sum) % 1000003;
};`;

function gathered(rounds: number, workers: number): number[] {
  let all = Array.from({ length: workers }, (_, w) => w + 1);
  for (let round = 0; round < rounds; round++) {
    const sum = all.reduce((a, b) => a + b);
    all = all.map((v) => (v + sum) % 1000003);
  }
  return all;
}

test("a region's programs run one after the other on all workers, with what the caller does alone between them", async () => {
  const memory = sharedMemory();
  const pool = await WorkerPool.open({ memory, threads: 4 });
  const gather = pool.register({ kind: "js", name: "gather", source: GATHER });
  const places = new Float64Array(memory.buffer, 0, 8);
  const calls: number[] = [];
  const step = (args: number, workers = 4) => ({ program: gather, args, workers });
  const doubled = () => {
    calls.push(places[3]);
    places[3] *= 2;
    places[3] /= 2;
  };
  const region = pool.region("a region", [doubled, step(0), step(1), step(0), step(1), doubled, doubled, step(0), step(1), doubled]);
  assert.equal(region.barriers, 6);
  for (let round = 0; round < 200; round++) {
    places.set([1, 2, 3, 4]);
    region.run();
    assert.deepEqual([...places.subarray(0, 4)], gathered(6, 4));
    const [start, middle, end] = [4, gathered(4, 4)[3], gathered(6, 4)[3]];
    assert.deepEqual(calls.splice(0), [start, middle, middle, end]);
  }
  places.set([5]);
  const alone = pool.region("alone", [step(0, 1), step(1, 1)]);
  assert.equal(alone.barriers, 0);
  alone.run();
  assert.equal(places[0], 20);
  region.free();
  alone.free();
  await pool.close();
});

test("a region's workers wait asleep for a caller that takes long, and wake up", async () => {
  const memory = sharedMemory();
  const pool = await WorkerPool.open({ memory, threads: 3 });
  const gather = pool.register({ kind: "js", name: "gather", source: GATHER });
  const places = new Float64Array(memory.buffer, 0, 8);
  const idle = new Int32Array(new SharedArrayBuffer(4));
  const pause = () => void Atomics.wait(idle, 0, 0, 30);
  const step = (args: number) => ({ program: gather, args, workers: 3 });
  const region = pool.region("slow", [step(0), pause, step(1), pause, step(0), step(1)]);
  for (let round = 0; round < 3; round++) {
    places.set([1, 2, 3]);
    region.run();
    assert.deepEqual([...places.subarray(0, 3)], gathered(4, 3));
  }
  await pool.close();
});

test("a region that fails in some thread names the kernel, goes no further, and leaves the pool in order", async () => {
  const memory = sharedMemory();
  const pool = await WorkerPool.open({ memory, threads: 3, device: "js" });
  const fails = pool.register({
    kind: "js",
    name: "fails",
    source: `return (args, worker) => { if (worker === args) throw new Error("no such thing"); };`,
  });
  const mark = pool.register({ kind: "js", name: "mark", source: MARK });
  const marks = new Int32Array(memory.buffer);
  for (const [worker, message] of [
    [0, 'device "js": kernel "fails" failed in worker 0: no such thing'],
    [2, 'device "js": the graph failed in worker 2: kernel "fails": no such thing'],
  ] as const) {
    const region = pool.region("the graph", [
      { program: mark, args: 1, workers: 3 },
      { program: fails, args: worker, workers: 3 },
      { program: mark, args: 2, workers: 3 },
    ]);
    for (let round = 0; round < 20; round++) {
      assert.throws(() => region.run(), { name: "DeviceError", message });
      assert.deepEqual([...marks.subarray(0, 3)], [101, 102, 103]);
    }
  }
  const own = pool.region("own", [
    { program: mark, args: 3, workers: 3 },
    () => {
      throw new IsoformError("refused");
    },
    { program: mark, args: 4, workers: 3 },
  ]);
  assert.throws(() => own.run(), { name: "IsoformError", message: "refused" });
  assert.deepEqual([...marks.subarray(0, 3)], [301, 302, 303]);
  pool.run(mark, 5);
  assert.deepEqual([...marks.subarray(0, 3)], [501, 502, 503]);
  await pool.close();
});

test("a worker that dies in a region is reported with the region", async () => {
  const pool = await WorkerPool.open({ memory: sharedMemory(), threads: 2, device: "js" });
  const source = `return (args, worker) => { if (worker === 1) process.exit(0); };`;
  const deadly = pool.register({ kind: "js", name: "deadly", source });
  const step = { program: deadly, args: 0, workers: 2 };
  const region = pool.region("a graph of 2 launches", [step, step]);
  assert.throws(() => region.run(), /device "js": worker 1 died in a graph of 2 launches/);
  assert.equal(pool.works, false);
  assert.throws(() => region.run(), /it takes no more work: worker 1 died/);
  await pool.close();
});

for (const threads of [1, 3])
  test(`without the calling thread, ${threads} workers do their shares, and slices of them`, async () => {
    const memory = sharedMemory();
    const pool = await WorkerPool.open({ memory, threads, device: "js" });
    const out = new Int32Array(memory.buffer);
    const mark = pool.register({ kind: "js", name: "mark", source: MARK });
    const failing = `return (args, worker) => { if (worker === args) throw new Error("no " + args); };`;
    const refuse = pool.register({ kind: "js", name: "refuse", source: failing });
    for (const waits of [false, true])
      for (let round = 1; round < 20; round++) {
        out.fill(0);
        const run = pool.aside(mark, round)!;
        if (waits) run.wait();
        else await run.ended;
        run.check();
        assert.deepEqual(
          [...out.subarray(0, 4)],
          [0, 1, 2, 3].map((k) => (k < threads ? 100 * round + k + 1 : 0)),
        );
      }
    out.fill(0);
    const slice = pool.aside(mark, 1, threads, { number: 2, count: 4 })!;
    await slice.ended;
    assert.deepEqual(
      [...out.subarray(2 * threads, 3 * threads)],
      [...Array(threads).keys()].map((k) => 101 + 2 * threads + k),
    );
    for (let rank = 0; rank < threads; rank++) {
      const failed = pool.aside(refuse, rank)!;
      await failed.ended;
      assert.throws(() => failed.check(), new RegExp(`kernel "refuse" failed in worker ${rank}: no ${rank}`));
    }
    pool.run(mark, 7);
    assert.equal(out[0], 701);
    await pool.close();
  });

for (const waits of [false, true])
  test(`a thread in worker 0's place that dies is reported to one who ${waits ? "blocks" : "awaits"}`, async () => {
    const pool = await WorkerPool.open({ memory: sharedMemory(), threads: 2, device: "js" });
    const deadly = pool.register({
      kind: "js",
      name: "deadly",
      source: `return (args, worker) => { if (worker === 0) process.exit(0); };`,
    });
    const run = pool.aside(deadly, 0)!;
    if (waits) assert.throws(() => run.wait(), /device "js": the thread in place of worker 0 died in kernel "deadly"/);
    else {
      await run.ended;
      assert.throws(() => run.check(), /device "js": work on other threads did not end: exit code 0/);
    }
    await pool.close();
  });
