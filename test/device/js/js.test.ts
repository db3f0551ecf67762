import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { cpuStorage } from "../../../src/device/cpu/storage.js";
import { open } from "../../../src/device/open.js";
import { range } from "../../../src/device/launch/policy.js";
import { stridesOf, View } from "../../../src/device/memory/view.js";
import { KernelBuilder } from "../../../src/ir/builder.js";
import { binary, index } from "../../../src/ir/expressions.js";
import { kernelFromIR } from "../../../src/ir-api.js";
import { kernel } from "../../../src/kernel/declare/kernel.js";
import { f64, i32, scatter, sum, view } from "../../../src/kernel/declare/params.js";

const device = await open("js");
after(() => device.close());

const scale = kernel("scale", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i];
});
const total = kernel("total", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => {
  s.add(x[i]);
});

describe("the js device", () => {
  it("works on memory that was there before it grew, and after", async () => {
    const x = device.from(f64, new Float64Array(5000).fill(2));
    const y = device.array(f64, 5000);
    const launch = device.prepare(scale, { a: 3, x, y }, range(5000));
    device.queue.submit(launch);
    const before = cpuStorage().memory!.buffer.byteLength;
    const large = device.array(f64, before / 8);
    assert.ok(cpuStorage().memory!.buffer.byteLength > before);
    device.queue.submit(launch);
    assert.ok((await device.queue.read(y)).every((v) => v === 6));
    const tail = large.slice([large.size - 4000, large.size]);
    await device.run(scale, { a: 0.5, x: x.slice([0, 4000]), y: tail }, range(4000));
    assert.equal((await device.run(total, { x: tail }, range(4000))).s, 4000);
    [launch, x, y, large].forEach((thing) => thing.free());
  });

  it("has room for many scalars, beside what others have in memory", async () => {
    const own = await open("js");
    const near = Array.from({ length: 8 }, () => own.from(f64, [7, 7, 7, 7, 7, 7, 7, 7]));
    const b = new KernelBuilder("many");
    const names = Array.from({ length: 60 }, (_, n) => `a${n}`);
    const y = b.view("y", "f64");
    b.store(
      y,
      index(0),
      names.map((name) => b.scalar(name, "f64")).reduce((left, right) => binary("add", left, right)),
    );
    const many = kernelFromIR(b.finish());
    const out = own.array(f64, 1);
    await own.run(many, { y: out, ...Object.fromEntries(names.map((name, n) => [name, n])) }, range(1));
    assert.deepEqual([...(await own.queue.read(out))], [(60 * 59) / 2]);
    for (const view of near) assert.ok((await own.queue.read(view)).every((v) => v === 7));
    await own.close();
  });

  it("works on buffers outside the WebAssembly memory", async () => {
    const host = new SharedArrayBuffer(8 * 10_000);
    const outside = new View(
      { memory: device.memory, bytes: host.byteLength, address: 0, host, free() {} },
      "f64",
      [10_000],
      stridesOf([10_000], "right"),
    );
    const y = device.array(f64, 10_000);
    device.queue.write(outside, new Float64Array(10_000).fill(1.5));
    await device.run(scale, { a: 2, x: outside, y }, range(10_000));
    assert.ok((await device.queue.read(y)).every((v) => v === 3));
    await device.run(scale, { a: 2, x: y, y: outside }, range(10_000));
    assert.equal((await device.run(total, { x: outside }, range(10_000))).s, 60_000);
    y.free();
  });

  it("gives back temporary memory, whatever a launch used", async () => {
    const x = device.from(f64, new Float64Array(100_000).fill(1));
    const h = device.array(f64, 1000);
    const bins = kernel("bins", { x: view(f64), h: scatter(f64) }, ({ x, h }, i) => {
      h.add(i % 1000, x[i]);
    });
    const rounds = async (): Promise<number> => {
      for (let n = 0; n < 100; n++) {
        await device.run(total, { x: x.slice([n, 90_000]) }, range(90_000 - n));
        await device.run(bins, { x, h }, range(100_000), { scatter: "duplicated", precision: "fast" });
      }
      return cpuStorage().allocated;
    };
    // What launches over the latest views have left is kept for the next.
    const allocated = await rounds();
    assert.equal(await rounds(), allocated);
    assert.ok((await device.queue.read(h)).every((v) => v === 20_000));
  });

  it("frees its arrays when it is closed, and says so when they are used", async () => {
    const other = await open("js");
    const x = other.array(f64, 10);
    await other.close();
    await assert.rejects(() => device.queue.read(x), /freed/);
  });

  it("chooses private copies for small scatter targets, atomics for large ones with much work, one worker for little, and says so", async (t) => {
    if (device.capabilities.parallelism === 1) return t.skip("one thread adds in order");
    const bins = kernel("bins", { h: scatter(f64), size: i32 }, ({ h, size }, i) => {
      h.add((i * 7) % size, 1);
    });
    const worked = kernel("worked", { h: scatter(f64), size: i32 }, ({ h, size }, i) => {
      let value = i + 0.5;
      for (let n = 0; n < 400; n++) value = Math.sqrt(value + n);
      h.add((i * 7) % size, value);
    });
    const strategy = (kernel: typeof bins, size: number, updates: number): string => {
      const h = device.array(f64, size);
      const launch = device.prepare(kernel, { h, size }, range(updates), { precision: "fast" });
      launch.free();
      h.free();
      return launch.remarks.find((line) => line.startsWith('scatter "h"'))!;
    };
    assert.match(strategy(bins, 1000, 100_000), /duplicated, \d+ private copies of 1000 elements/);
    assert.match(strategy(worked, 10_000_000, 5000), /atomic/);
    assert.match(strategy(bins, 10_000_000, 5000), /sorted, one worker/);
    assert.match(strategy(bins, 1000, 100), /sorted, one worker/);
  });
});
