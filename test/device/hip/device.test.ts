import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import type { Device } from "../../../src/device/device.js";
import { backend } from "../../../src/device/hip/backend.js";
import { open } from "../../../src/device/open.js";
import { range, teams } from "../../../src/device/launch/policy.js";
import { f64, i32, kernel, max, sum, teamKernel, view, type Tuning } from "../../../src/index.js";
import { fakeHip, type FakeHip } from "./fake.js";

const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});
const twice = kernel("twice", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
  y[i] = 2 * x[i];
});
const dot = kernel("dot", { s: sum(f64), m: max(i32), x: view(f64), n: view(i32) }, ({ s, m, x, n }, i) => {
  s.add(x[i] * x[i]);
  m.max(n[i]);
});

const made = await fakeHip();

describe("the hip backend on a library that records and checks", { skip: typeof made === "string" && made }, () => {
  const fake = made as FakeHip;
  const devices: Device[] = [];
  const opened = async (name: string) => {
    const device = await open(name);
    devices.push(device);
    return device;
  };
  beforeEach(() => typeof made !== "string" && fake.forget());
  after(async () => {
    for (const device of devices) await device.close();
  });
  const calls = (name: string) =>
    fake
      .log()
      .split("\n")
      .filter((line) => line.startsWith(`${name}(`));

  it("lists devices with what the driver tells of them", async () => {
    const report = await backend.probe();
    assert.deepEqual(
      report.devices.map(({ name, label, capabilities }) => [name, label, capabilities.parallelism]),
      [0, 1].map((n) => [`hip:${n}`, `Fake Instinct ${n}, 1 GiB, gfx90a`, 4]),
    );
    assert.deepEqual(report.versions, { driver: "HIP 6.2.42133", hiprtc: "6.2.42133" });
  });

  it("tells the bandwidth that clock and width of the memory promise", async () => {
    assert.equal((await opened("hip")).theoretical?.bandwidth, (2 * 1.6e9 * 4096) / 8);
  });

  it("refuses a device that is not there", () =>
    assert.rejects(open("hip:2"), { name: "DeviceError", message: /"hip:2": this machine has 2 AMD GPUs/ }));

  it("launches with the parameters that HIP expects", async () => {
    const device = await opened("hip:0");
    const [x, y] = [device.from(f64, new Float64Array(1000).fill(3)), device.from(f64, new Float64Array(1000).fill(1))];
    await device.run(axpy, { a: 2.5, x, y }, range([10, 1000]));
    assert.deepEqual(calls("hipModuleLaunchKernel"), [
      // a, x, y, the range's begin on a cache line, its begin, its end
      "hipModuleLaunchKernel(axpy_kernel, 4 x 1 x 1, 256 x 1 x 1, 0: 2.5, [8000 bytes], [8000 bytes], 0, 10, 1000)",
    ]);
    const values = await device.queue.read(y);
    assert.deepEqual([values[9], values[10], values[999]], [1, 8.5, 8.5]);
    const options = "--gpu-architecture=gfx90a:sramecc+:xnack- -O3 -std=c++17 -ffp-contract=fast";
    assert.deepEqual(calls("hiprtcCompileProgram"), [`hiprtcCompileProgram(${options})`]);
    await device.run(axpy, { a: 2.5, x, y }, range(1000), { precision: "strict" });
    assert.match(calls("hiprtcCompileProgram")[1], /-ffp-contract=off/);
    assert.equal(fake.complaints(), "");
  });

  it("keeps compiled code, by compiler and architecture", async () => {
    const device = await opened("hip:1");
    const [x, y] = [device.array(f64, 1000), device.array(f64, 1000)];
    await device.run(axpy, { a: 1, x, y }, range([10, 1000]));
    assert.deepEqual(calls("hiprtcCompileProgram"), []);
    assert.equal(calls("hipModuleLoadData").length, 1);
  });

  for (const wavefront of [32, 64])
    it(`folds in fast mode, in wavefronts of ${wavefront}`, async () => {
      fake.wavefront(wavefront);
      const device = await opened("hip");
      const count = 70_000;
      const x = device.from(
        f64,
        Float64Array.from({ length: count }, (_, i) => i % 10),
      );
      const n = device.from(
        i32,
        Int32Array.from({ length: count }, (_, i) => (i * 7919) % 65_537),
      );
      assert.deepEqual(await device.run(dot, { x, n }, range(count)), { s: 28.5 * count, m: 65_536 });
      const launch = device.prepare(dot, { x, n }, range(count));
      // Once more with the tickets that the first run has left.
      for (let run = 0; run < 2; run++) device.queue.submit(launch);
      assert.deepEqual(await device.queue.results(launch), { s: 28.5 * count, m: 65_536 });
      launch.free();
      assert.equal(fake.complaints(), "");
    });

  it("orders queues by events, and only by these", async () => {
    const device = await opened("hip");
    const [x, y, z] = [device.from(f64, [1, 2, 3]), device.array(f64, 3), device.array(f64, 3)];
    const [first, second] = [device.prepare(twice, { x, y }, range(3)), device.prepare(twice, { x: y, y: z }, range(3))];
    // The library runs younger streams first.
    const [one, two] = [device.createQueue(), device.createQueue()];
    one.submit(first);
    two.submit(second);
    await two.finish();
    assert.deepEqual([...(await two.read(z))], [0, 0, 0]);
    device.queue.clear(y);
    await device.queue.finish();
    one.submit(first);
    two.wait(one.record());
    two.submit(second);
    assert.deepEqual([...(await two.read(z))], [4, 8, 12]);
    assert.equal(fake.complaints(), "");
  });

  it("captures queues of two devices into one graph", async () => {
    const [near, far] = [await opened("hip:0"), await opened("hip:1")];
    const [x, y] = [near.from(f64, [1, 2, 3]), near.array(f64, 3)];
    const [copied, z] = [far.array(f64, 3), far.array(f64, 3)];
    const launches = [near.prepare(twice, { x, y }, range(3)), far.prepare(twice, { x: copied, y: z }, range(3))];
    const graph = near.queue.capture(() => {
      near.queue.submit(launches[0]);
      near.queue.copy(y, copied);
      far.queue.wait(near.queue.record());
      far.queue.submit(launches[1]);
    }, [far.queue]);
    assert.match(graph.remarks[0], /^a HIP graph of 3 nodes, for 2 launches/);
    near.queue.submit(graph);
    await near.queue.finish();
    assert.deepEqual([...(await far.queue.read(z))], [4, 8, 12]);
    graph.free();
    assert.throws(() => near.queue.submit(graph), /freed/);
    assert.equal(fake.complaints(), "");
  });

  it("goes through the driver where devices do not reach each other", async () => {
    fake.peers(false);
    const [near, far] = [await opened("hip:0"), await opened("hip:1")];
    const [x, y] = [near.from(f64, [1, 2, 3]), far.array(f64, 3)];
    near.queue.copy(x, y);
    await near.queue.finish();
    assert.deepEqual([...(await far.queue.read(y))], [1, 2, 3]);
    assert.deepEqual(calls("hipMemcpyPeerAsync"), ["hipMemcpyPeerAsync(1, 0, 24)"]);
    fake.peers(true);
    assert.equal(fake.complaints(), "");
  });

  it("launches the blocks that tuning asks for, with the same bits", async () => {
    const smooth = kernel("smooth", { u: view(f64, 3), v: view(f64, 3) }, ({ u, v }, i, j, k) => {
      v[i + 1][j][k] = 0.3 * u[i][j][k] + 0.4 * u[i + 1][j][k] + 0.3 * u[i + 2][j][k];
    });
    const device = await opened("hip");
    const shape = [9, 5, 40] as const;
    const values = Float64Array.from({ length: 1800 }, (_, n) => Math.sin(n));
    const args = { u: device.from(f64, values, shape), v: device.array(f64, shape) };
    const outcome = async (tuning?: Tuning) => {
      device.queue.clear(args.v);
      await device.run(smooth, args, range([0, 7], [0, 5], [0, 40]), { precision: "strict", tuning });
      return (await device.queue.read(args.v)).join();
    };
    const untuned = await outcome();
    for (const tuning of [
      { threads: 64, row: 16 },
      { elements: 2, planes: 2, cacheShare: 0.2 },
    ] satisfies Tuning[])
      assert.equal(await outcome(tuning), untuned, JSON.stringify(tuning));
    await assert.rejects(
      outcome({ threads: 64, row: 64, planes: 3 }),
      /kernel "smooth" on hip:0, tuning: planes cannot be 3; use one of 1, 2, 4/,
    );
    await assert.rejects(outcome({ threads: 32 }), /kernel "smooth" on hip:0, tuning: threads cannot be 32; use one of 64, 128, 256/);
    assert.equal(fake.complaints(), "");
  });

  it("refuses more memory than there is, and tells what the driver says where it fails", async () => {
    const device = await opened("hip");
    assert.throws(() => device.array(f64, 2 ** 28), { name: "DeviceError", message: /"hip:0": 2\.00 GiB asked for, .* of 1\.00 GiB free/ });
    await device.queue.finish();
    assert.throws(() => device.array(f64, 2 ** 28), { name: "DeviceError", message: /"hip:0": 2\.00 GiB asked for, .* of 1\.00 GiB free/ });
    fake.fail("hipMalloc", 2);
    assert.throws(() => device.array(f64, 10), {
      name: "DeviceError",
      message: /"hip": hipMalloc failed: hipErrorOutOfMemory, out of memory \(free arrays/,
    });
  });

  it("takes memory and writes to it when it is first used, not before", async () => {
    const device = await opened("hip");
    const data = [1, 2, 3];
    const [x, y, gone] = [device.from(f64, data), device.array(f64, 3), device.from(f64, data)];
    data[0] = 7;
    gone.free();
    assert.deepEqual(calls("hipMalloc"), []);
    await device.run(twice, { x, y }, range(3));
    assert.deepEqual([...(await device.queue.read(y))], [2, 4, 6]);
    assert.deepEqual([...(await device.queue.read(x))], [1, 2, 3]);
    assert.equal(calls("hipMemcpyHtoDAsync").length, 1);
    assert.equal(fake.complaints(), "");
  });

  it("says at its first use that a device cannot be used, as often as that is tried", async () => {
    const device = await opened("hip");
    const x = device.from(f64, [1, 2, 3]);
    fake.fail("hipMalloc", 2);
    await assert.rejects(device.queue.read(x), { name: "DeviceError", message: /hipMalloc failed: hipErrorOutOfMemory/ });
    assert.deepEqual([...(await device.queue.read(x))], [1, 2, 3]);
  });

  it("closes a device that did nothing", async () => {
    const device = await open("hip:1");
    device.from(f64, [1, 2, 3]);
    await device.close();
    assert.deepEqual(calls("hipMalloc"), []);
    assert.throws(() => device.array(f64, 3), { name: "DeviceError", message: /it is closed/ });
    assert.throws(() => device.createQueue(), { name: "DeviceError", message: /it is closed/ });
  });

  it("names the kernel whose code the compiler refuses, with its first lines", async () => {
    const device = await opened("hip");
    const broken = kernel("broken", { y: view(f64) }, ({ y }, i) => {
      y[i] = 12345;
    });
    fake.fail("hiprtcCompileProgram", 6);
    assert.throws(() => device.prepare(broken, { y: device.array(f64, 3) }, range(3)), {
      name: "DeviceError",
      message: /hiprtc refused the code generated for "broken":\nkernel\.hip:1: error: as the test asked for/,
    });
    await device.run(broken, { y: device.array(f64, 3) }, range(3));
  });

  it("names the last kernel where work fails behind the back of the calls", async () => {
    const device = await opened("hip");
    fake.fail("hipStreamQuery", 719);
    await assert.rejects(device.run(twice, { x: device.array(f64, 3), y: device.array(f64, 3) }, range(3)), {
      name: "DeviceError",
      message: /hipStreamQuery failed: hipErrorLaunchFailure, .*; the last kernel submitted was "twice" \(a kernel failed/,
    });
  });

  it("has a grid for more teams than that may have blocks", async () => {
    const device = await opened("hip");
    const many = teamKernel("many", { y: view(i32) }, ({ y }, team) => {
      team.single(() => {
        y[team.index] = 1;
      });
    });
    device.prepare(many, { y: device.array(i32, 2 ** 25) }, teams(2 ** 25, { size: 256 })).free();
    assert.equal(fake.complaints(), "");
  });

  it("keeps apart what another driver's devices have made", async () => {
    const [device, host] = [await opened("hip"), await open("js")];
    const x = host.from(f64, [1, 2, 3]);
    assert.throws(() => device.prepare(twice, { x, y: device.array(f64, 3) }, range(3)), { name: "LaunchError" });
    const y = device.array(f64, 3);
    device.queue.copy(x, y);
    assert.deepEqual([...(await device.queue.read(y))], [1, 2, 3]);
    await host.close();
  });

  it("gives back everything when it is closed", async () => {
    const device = await open("hip:1");
    fake.forget();
    const [x, y] = [device.from(f64, [1, 2, 3]), device.array(f64, 3)];
    await device.run(twice, { x, y }, range(3));
    await device.queue.read(y);
    await device.createQueue().finish();
    const late = device.prepare(twice, { x, y }, range(3));
    await device.close();
    late.free();
    for (const [make, free] of [
      ["hipMalloc", "hipFree"],
      ["hipHostMalloc", "hipHostFree"],
      ["hipModuleLoadData", "hipModuleUnload"],
    ]) {
      assert.ok(calls(make).length > 0);
      assert.equal(calls(free).length, calls(make).length, free);
    }
    assert.equal(calls("hipStreamDestroy").length, 2);
    assert.equal(fake.complaints(), "");
  });
});
