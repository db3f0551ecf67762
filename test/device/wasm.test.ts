import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { DeviceError, f64, i32, kernel, open, range, view } from "../../src/index.js";
import { backend } from "../../src/device/wasm.js";
import { cpuStorage } from "../../src/device/cpu/storage.js";
import { View } from "../../src/device/view.js";

const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});

test("the probe starts nothing and tells what the device can do", async () => {
  const { devices, missing } = await backend.probe();
  assert.equal(missing, undefined);
  assert.equal(devices[0].name, "wasm");
  assert.equal(devices[0].abilities.simdBytes, 16);
  assert.equal(devices[0].abilities.f64, true);
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
  const allocate = t.mock.method(storage, "allocate", () => ({ ...outside, bytes: 5 * 2 ** 30, inWasmMemory: false, free: () => {} }));
  assert.throws(
    () => device.array(f64, 671088640),
    (error: Error) => {
      assert(error instanceof DeviceError);
      assert.match(error.message, /5\.00 GiB do not fit into WebAssembly's memory of 4\.00 GiB.*use the device native/);
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

test("a memory beyond 4 GiB has 64-bit addresses where the engine has them, and is refused elsewhere", () => {
  const index = new URL("../../src/index.js", import.meta.url).href;
  const script = `
    const { f64, kernel, open, range, scatter, sum, view } = await import("${index}");
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
    }`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, ISOFORM_MEMORY_GIB: "5" },
    timeout: 20000,
    encoding: "utf8",
  });
  const has64 = Number(process.versions.node.split(".")[0]) >= 22;
  assert.match(stdout, has64 ? /^3980000 13400 13400 13200\n/ : /no WebAssembly memory of 5\.00 GiB \(use Node 22 or newer/);
});

test("a device that is not closed keeps no process alive", () => {
  const index = new URL("../../src/index.js", import.meta.url).href;
  const script = `
    const { f64, kernel, open, range, view } = await import("${index}");
    const device = await open("wasm");
    const y = device.array(f64, 100000);
    await device.run(kernel("ones", { y: view(f64) }, ({ y }, i) => { y[i] = 1; }), { y }, range(100000));
    console.log((await device.queue.read(y)).reduce((a, b) => a + b));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    timeout: 20000,
    encoding: "utf8",
  });
  assert.equal(stdout, "100000\n", stderr);
  assert.equal(status, 0);
});
