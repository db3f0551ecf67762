import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { open } from "../../../src/device/open.js";
import { range, teams } from "../../../src/device/launch/policy.js";
import { findAdapter } from "../../../src/device/webgpu/adapter.js";
import { Gpu } from "../../../src/device/webgpu/gpu.js";
import { WebGpuDevice } from "../../../src/device/webgpu/webgpu-device.js";
import { kernel, teamKernel } from "../../../src/kernel/declare/kernel.js";
import { f32, f64, i32, sum, view } from "../../../src/kernel/declare/params.js";

const STEP = 40_000;
const N = 1000;
/** 160 MB, where WebGPU promises that a shader sees 128 MiB. */
const LENGTH = N * STEP;

const spread = kernel("spread", { x: view(f32), y: view(f32) }, ({ x, y }, i) => {
  x[i * 40000] = i;
  y[i] = 2 * i;
});
const picked = kernel("picked", { x: view(f32), y: view(f32), s: sum(f32) }, ({ x, y, s }, i) => {
  y[i] = y[i] + x[i * 40000];
  s.add(x[i * 40000 + 1] + 1);
});
const gathered = kernel("gathered", { at: view(i32), x: view(f32), y: view(f32) }, ({ at, x, y }, i) => {
  y[i] = x[at[i]];
});

const found = await findAdapter();
const skip = "missing" in found ? found.missing.reason : false;

describe("limits of webgpu", { skip }, () => {
  let device: WebGpuDevice;
  before(async () => {
    if ("missing" in found) return;
    // Without asking for more than every adapter has.
    device = new WebGpuDevice("webgpu", "default limits", new Gpu("webgpu", await found.adapter.requestDevice(), found.gpu, false));
  });
  after(() => device?.close());

  it("runs a range in pieces where an array is larger than a shader sees, in both modes", async () => {
    const x = device.array(f32, LENGTH);
    const y = device.array(f32, N);
    for (const precision of ["strict", "fast"] as const) {
      const first = device.prepare(spread, { x, y }, range(N), { precision });
      assert.ok(
        first.remarks.some((line) => /in 2 pieces of the range/.test(line)),
        first.remarks.join("; "),
      );
      device.queue.submit(first);
      const { s } = await device.run(picked, { x, y }, range(N), { precision });
      assert.equal(s, N);
      assert.deepEqual(
        [...(await device.queue.read(y))],
        Array.from({ length: N }, (_, i) => 3 * i),
      );
      first.free();
    }
    x.free();
  });

  it("binds the part that a slice is, and refuses what data decides", async () => {
    const x = device.array(f32, LENGTH);
    const [at, y] = [device.array(i32, N), device.array(f32, N)];
    const end = x.slice([LENGTH - N, LENGTH]);
    device.queue.write(end, new Float32Array(N).fill(7));
    await device.run(gathered, { at, x: end, y }, range(N));
    assert.deepEqual([...(await device.queue.read(y))], Array(N).fill(7));
    assert.throws(() => device.prepare(gathered, { at, x, y }, range(N)), {
      name: "LaunchError",
      message: /kernel "gathered" .*"x" spans more than the 134217728 bytes .*; launch it over slices/,
    });
    x.free();
  });

  it("says what an array beyond the largest buffer may have", () => {
    assert.throws(() => device.array(f32, 2 ** 28), {
      name: "DeviceError",
      message: /1.00 GiB asked for, and a buffer of this adapter has at most 0.250 GiB/,
    });
  });

  it("refuses more scratch than a workgroup has", () => {
    const large = teamKernel("large", { y: view(f32) }, ({ y }, team) => {
      const held = team.scratch("f32", 8192);
      team.range(8192, (j) => {
        held[j] = j;
      });
      y[team.index] = held[5];
    });
    assert.throws(() => device.prepare(large, { y: device.array(f32, 2) }, teams(2)), {
      name: "LaunchError",
      message: /kernel "large" .* take 32768 bytes of a workgroup's memory, and this adapter has 16384; use less scratch/,
    });
  });

  it("refuses f64, blocking and a closed device by name", async () => {
    const other = await open("webgpu");
    const x = other.array(f64, 4);
    const wide = kernel("wide", { x: view(f64) }, ({ x }, i) => {
      x[i] = 1;
    });
    assert.throws(() => other.prepare(wide, { x }, range(4)), {
      name: "LaunchError",
      message: /kernel "wide" \(.*:\d+\) on webgpu: its parameter "x" is f64/,
    });
    assert.throws(() => other.queue.record().block(), /no way to block.*await done\(\) instead/);
    await other.close();
    assert.throws(() => other.array(f32, 1), /it is closed/);
  });

  it("tells a device that is lost in each later call", async () => {
    const other = (await open("webgpu")) as WebGpuDevice;
    other.gpu.device.destroy();
    await other.gpu.device.lost;
    await new Promise((resolve) => setImmediate(resolve));
    assert.throws(() => other.array(f32, 1), { name: "DeviceError", message: /it was lost: .* \(open it again with new arrays/ });
  });
});
