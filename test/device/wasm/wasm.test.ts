import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { freemem } from "node:os";
import test from "node:test";
import { DeviceError, f64, i32, kernel, open, range, view } from "../../../src/index.js";
import { backend as nativeBackend } from "../../../src/device/native/native.js";
import { backend } from "../../../src/device/wasm/wasm.js";
import { cpuStorage } from "../../../src/device/cpu/storage.js";
import { View } from "../../../src/device/memory/view.js";

const native = await nativeBackend.probe();

const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});

test("the probe starts nothing and tells what the device can do", async () => {
  const { devices, missing } = await backend.probe();
  assert.equal(missing, undefined);
  assert.equal(devices[0].name, "wasm");
  assert.equal(devices[0].capabilities.simdBytes, 16);
  assert.equal(devices[0].capabilities.f64, true);
});

test("launches share a module where extents and strides are equal, with any arrays and scalars", async () => {
  const device = await open("wasm");
  const arrays = () => ({ x: device.from(f64, [1, 2, 3]), y: device.array(f64, 3) });
  const [first, second] = [arrays(), arrays()];
  const launches = [device.prepare(axpy, { a: 2, ...first }, range(3)), device.prepare(axpy, { a: 5, ...second }, range(3))];
  for (const launch of launches) device.queue.submit(launch);
  assert.deepEqual([...(await device.queue.read(first.y))], [2, 4, 6]);
  assert.deepEqual([...(await device.queue.read(second.y))], [5, 10, 15]);
  assert.equal(launches[0].source(), launches[1].source());
  assert.match(launches[0].source(), /^\(module/);
  launches[0].free();
  launches[0].free();
  assert.throws(() => device.queue.submit(launches[0]), /launch of kernel "axpy" was freed/);
  device.queue.submit(launches[1]);
  await device.close();
});

test("an array that WebAssembly cannot address is refused with its size", async (t) => {
  const storage = cpuStorage();
  const outside = storage.allocate(4096);
  const device = await open("wasm");
  t.after(() => device.close());
  const allocate = t.mock.method(storage, "allocateForWasm", () => undefined);
  assert.throws(
    () => device.array(f64, 671088640),
    (error: Error) => {
      assert(error instanceof DeviceError);
      assert.match(
        error.message,
        /an array of shape \[671088640\]: 5\.00 GiB do not fit into WebAssembly's memory of \d+\.\d+ GiB.*use the device native/,
      );
      return true;
    },
  );
  allocate.mock.restore();
  const y = new View({ ...outside, inWasmMemory: false } as typeof outside, "f64", [8], [1]);
  assert.throws(() => device.prepare(axpy, { a: 1, x: device.array(f64, 8), y }, range(8)), /kernel "axpy", view "y".*do not fit/);
});

test("a trap names the kernel, and the device goes on", async () => {
  const device = await open("wasm");
  const wild = kernel("wild", { p: view(i32), y: view(f64, 1, { disjoint: true }) }, ({ p, y }, i) => {
    y[p[i]] = 1;
  });
  const [p, y] = [device.from(i32, [0x0fffffff]), device.array(f64, 1)];
  await assert.rejects(device.run(wild, { p, y }, range(1)), (error: Error) => {
    assert(error instanceof DeviceError);
    assert.match(error.message, /device "wasm": kernel "wild" failed in worker 0: memory access out of bounds/);
    return true;
  });
  await device.run(axpy, { a: 1, x: device.from(f64, [2]), y }, range(1));
  assert.deepEqual([...(await device.queue.read(y))], [2]);
  await device.close();
});

const INDEX = new URL("../../../src/index.js", import.meta.url).href;

/** What a process of its own writes. */
function outputOf(script: string, environment: Record<string, string> = {}): string {
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, ...environment },
    timeout: 240_000,
    encoding: "utf8",
  });
  return stdout + stderr;
}

const nodeVersion = Number(process.versions.node.split(".")[0]);
/** Node 20 has no memory with 64-bit addresses, Node 24 has; between them are those that must be asked for it. */
const has64 = nodeVersion >= 24 ? true : nodeVersion < 22 ? false : undefined;

test("ISOFORM_MEMORY_GIB asks for a memory with 64-bit addresses", { skip: has64 === undefined }, () => {
  const output = outputOf(
    `
    const { f64, kernel, open, range, scatter, sum, view } = await import("${INDEX}");
    try {
      const device = await open("wasm");
      const mix = kernel("mix", { x: view(f64, 2), h: scatter(f64), s: sum(f64) }, ({ x, h, s }, i, j) => {
        s.add(x[j][i]);
        h.add((x[i][j] | 0) % 3, 1);
      });
      const x = device.from(f64, Float64Array.from({ length: 40000 }, (_, k) => k % 200), [200, 200]);
      const h = device.array(f64, 3);
      const { s } = await device.run(mix, { x, h }, range(200, 200));
      console.log(s, ...(await device.queue.read(h)));
    } catch (error) {
      console.log(error.message);
    }`,
    { ISOFORM_MEMORY_GIB: "5" },
  );
  assert.match(output, has64 ? /^3980000 13400 13400 13200\n/ : /no WebAssembly memory of 5\.00 GiB \(use Node 24 or newer/);
});

test("arrays beyond 4 GiB are given where the engine has 64-bit addresses, and refused elsewhere", { skip: has64 === undefined }, (t) => {
  if (freemem() < 7 * 2 ** 30) return t.skip("the system has less than 7 GiB of free memory");
  const output = outputOf(`
    const { f64, kernel, open, range, sum, view } = await import("${INDEX}");
    const device = await open("wasm");
    const dot = kernel("dot", { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => {
      y[i] = y[i] + i;
      s.add(x[i] * y[i]);
    });
    const x = device.from(f64, new Float64Array(50000).fill(2));
    const y = device.array(f64, 50000);
    const small = device.prepare(dot, { x, y }, range(50000));
    device.queue.submit(small);
    try {
      const large = device.array(f64, 5 * 2 ** 27);
      const end = large.slice([5 * 2 ** 27 - 50000, 5 * 2 ** 27]);
      console.log((await device.run(dot, { x, y: end }, range(50000))).s, (await device.queue.read(end))[3]);
      device.queue.submit(small);
      console.log((await device.queue.results(small)).s, (await device.queue.read(y))[3]);
    } catch (error) {
      console.log(error.message);
    }`);
  assert.match(output, has64 ? /^2499950000 3\n4999900000 6\n/ : /5\.00 GiB do not fit.*no.* 64-bit addresses.*use Node 24 or newer/);
});

test("launches and graphs go on when the memory moves", () => {
  const output = outputOf(
    `
    const { f64, kernel, open, range, scatter, sum, view } = await import("${INDEX}");
    const { cpuStorage } = await import("${new URL("../../../src/device/cpu/storage.js", import.meta.url).href}");
    const storage = cpuStorage();
    const { memory } = storage;
    // As if the memory ended at 16 MiB, and another one had 64.
    Object.assign(storage, { maxPages: 256, mostPages: 1024 });
    const add = kernel("add", { x: view(f64), y: view(f64), h: scatter(f64), s: sum(f64) }, ({ x, y, h, s }, i) => {
      y[i] = y[i] + x[i];
      h.add(i % 5, 1);
      s.add(y[i]);
    });
    const n = 100000;
    const all = [];
    for (const name of ["js", "wasm", "js-debug", ...(process.env.NATIVE ? ["native"] : [])]) {
      const device = await open(name);
      const args = { x: device.from(f64, new Float64Array(n).fill(2)), y: device.array(f64, n), h: device.array(f64, 5) };
      const launch = device.prepare(add, args, range(n));
      const copy = device.array(f64, n);
      const graph = device.queue.capture(() => {
        device.queue.submit(launch);
        device.queue.copy(args.y, copy);
      });
      all.push({ name, device, args, launch, copy, graph });
    }
    const round = async () => {
      for (const { name, device, args, launch, copy, graph } of all) {
        device.queue.submit(launch);
        device.queue.submit(graph);
        const { s } = await device.queue.results(launch);
        console.log(name, s, (await device.queue.read(copy))[7], (await device.queue.read(args.h))[2]);
      }
    };
    await round();
    const wasm = all[1].device;
    const large = wasm.array(f64, 2 ** 21);
    console.log(storage.memory !== memory);
    await wasm.run(add, { ...all[1].args, y: large.slice([0, n]) }, range(n));
    await round();
    for (const { device, graph, launch } of all) {
      graph.free();
      launch.free();
      await device.close();
    }
    console.log(storage.allocated);`,
    { NATIVE: native.missing ? "" : "1" },
  );
  const names = ["js", "wasm", "js-debug", ...(native.missing ? [] : ["native"])];
  const line = (name: string, turns: number, runs: number) => `${name} ${2e5 * turns} ${2 * turns} ${2e4 * runs}`;
  assert.deepEqual(output.trim().split("\n"), [
    ...names.map((name) => line(name, 2, 2)),
    "true",
    ...names.map((name) => line(name, 4, name === "wasm" ? 5 : 4)),
    "0",
  ]);
});

test("a device that is not closed keeps no process alive", () => {
  const index = new URL("../../../src/index.js", import.meta.url).href;
  const script = `
    const { f64, kernel, open, range, view } = await import("${index}");
    const device = await open("wasm");
    const y = device.array(f64, 100000);
    await device.run(kernel("ones", { y: view(f64) }, ({ y }, i) => { y[i] = 1; }), { y }, range(100000));
    console.log((await device.queue.read(y)).reduce((a, b) => a + b));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    timeout: 240_000,
    encoding: "utf8",
  });
  assert.equal(stdout, "100000\n", stderr);
  assert.equal(status, 0);
});
