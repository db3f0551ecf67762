import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { loadKoffi } from "../../../src/device/ffi.js";
import { Opencl } from "../../../src/device/opencl/api.js";
import { backend } from "../../../src/device/opencl/backend.js";
import { findDevices, type Found } from "../../../src/device/opencl/facts.js";
import { OpenclMachine } from "../../../src/device/opencl/machine.js";
import { OpenclDevice } from "../../../src/device/opencl/opencl-device.js";
import { refusal, requireRightTeams, wrongSum } from "../../../src/device/opencl/self-test.js";
import { f32, f64, i32, kernel, open, range, scatter, sum, teamKernel, teams, view } from "../../../src/index.js";

const { missing } = await backend.probe();
const skip = missing && `${missing.reason}; ${missing.remedy}`;

const bins = kernel("bins", { x: view(f64), h: scatter(f64), count: scatter(i32) }, ({ x, h, count }, i) => {
  h.add(i % 3, x[i]);
  count.add(i % 3, 1);
});
const norm = kernel("norm", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => {
  s.add(x[i] * x[i]);
});
const multiplyAdd = kernel("multiplyAdd", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
  y[i] = x[i] * x[i] + y[i];
});
const halve = kernel("halve", { x: view(f32) }, ({ x }, i) => {
  x[i] = x[i] / 3;
});

const full = teamKernel("full", { out: view(f64) }, ({ out }, team) => {
  const all = team.scratch("f64", 6144);
  team.range(6144, (j) => {
    all[j] = j;
  });
  out[team.index] = all[6143];
});

describe("opencl", { skip }, () => {
  let cl: Opencl;
  let found: Found;
  const machines: OpenclMachine[] = [];
  /** The first device, as if it were one with other facts. */
  const machine = (facts: Partial<Found["facts"]> = {}): OpenclMachine => {
    const made = new OpenclMachine("opencl:0", cl, { ...found, facts: { ...found.facts, ...facts } });
    machines.push(made);
    return made;
  };
  before(async () => {
    cl = Opencl.load((await loadKoffi())!)!;
    [found] = findDevices(cl);
  });
  after(() => {
    for (const each of machines) each.close();
  });

  it("refuses arrays beyond the limits of the device, and takes back what is freed", () => {
    const small = machine({ maxAllocation: 1000, memory: 2000 });
    assert.throws(() => small.allocate(1001), {
      name: "DeviceError",
      message: /asked for in one piece, and the largest that this device gives is/,
    });
    const kept = [small.allocate(900), small.allocate(900)];
    assert.throws(() => small.allocate(900), { name: "DeviceError", message: /asked for, .* left \(free arrays/ });
    kept[0].free();
    kept[0].free();
    assert.equal(small.allocate(900).bytes, 900);
  });

  it("shows what the driver's compiler refuses, with the kernel and its line", () => {
    const source = "__kernel void broken(__global float *x) {\n  x[0] = y;  // line 7\n}\n";
    assert.throws(() => machine().load(source, false, "broken", ["broken"]), {
      name: "DeviceError",
      message: /refused the code generated for "broken", at what its line 7 became:\n.*y/s,
    });
  });

  it("says how many devices there are, where one is asked for that is not there", () =>
    assert.rejects(open("opencl:99"), { name: "DeviceError", message: /this machine has \d+ OpenCL devices? \(isoform doctor/ }));

  it("sorts contributions of 8 bytes where the device has no atomic operations for them", async () => {
    const device = new OpenclDevice("opencl:0", machine({ atomics64: false }));
    const [x, h, count] = [device.from(f64, [1, 2, 3, 4, 5, 6, 7]), device.array(f64, 3), device.array(i32, 3)];
    const launch = device.prepare(bins, { x, h, count }, range(7), { precision: "fast" });
    assert.match(launch.remarks.join("\n"), /scatter "h": sorted, .*because this device has no atomic operations of 8 bytes/);
    assert.match(launch.remarks.join("\n"), /scatter "count": atomic/);
    device.queue.submit(launch);
    assert.deepEqual([...(await device.queue.read(h))], [12, 7, 9]);
    assert.deepEqual([...(await device.queue.read(count))], [3, 2, 2]);
    for (const strategy of ["atomic", "duplicated"] as const)
      assert.throws(() => device.prepare(bins, { x, h, count }, range(7), { scatter: strategy }), {
        name: "LaunchError",
        message: /scatter "h" of f64 cannot be .*use the strategy "sorted"/,
      });
  });

  it("takes all local memory, less what the driver keeps", async () => {
    const device = new OpenclDevice("opencl:0", machine({ sharedBytes: 48 << 10 }));
    const out = device.array(f64, 1);
    const kept = {
      name: "DeviceError",
      message: /needs 49152 bytes of local memory for each work-group \(and 1 that the driver keeps\), and the device has 49152/,
    };
    const run = (precision: "fast" | "strict"): Promise<unknown> => device.run(full, { out }, teams(1), { precision });
    // NVIDIA's driver keeps a byte, PoCL none.
    if (device.label.includes("NVIDIA")) await assert.rejects(run("fast"), kept);
    else {
      await run("fast");
      assert.deepEqual([...(await device.queue.read(out))], [6143]);
    }
    const load = device.gpu.load.bind(device.gpu);
    device.gpu.load = (...args) => new Map([...load(...args)].map(([name, entry]) => [name, { ...entry, local: 1 }]));
    await assert.rejects(run("strict"), kept);
  });

  it("refuses a device whose compiler adds up scratch memory wrongly", async () => {
    const device = (await open("opencl")) as OpenclDevice;
    assert.equal(wrongSum([25, 25, 25, 25]), undefined);
    assert.equal(wrongSum([25, 25, 0, 25]), 0);
    assert.throws(() => {
      throw refusal(device, 0);
    }, /device "opencl:0": the compiler of .* gets a sum over a team's scratch memory wrong: 25 ones gave 0, .*use another backend/);
    device.queue.read = () => Promise.resolve(new Float64Array(4)) as never;
    const before = process.env.XDG_CACHE_HOME;
    const folder = mkdtempSync(join(tmpdir(), "isoform-self-test-"));
    process.env.XDG_CACHE_HOME = folder;
    try {
      await assert.rejects(requireRightTeams(device), { name: "DeviceError", message: /25 ones gave 0/ });
      assert.throws(() => device.array(f64, 1), /it is closed/);
    } finally {
      if (before === undefined) delete process.env.XDG_CACHE_HOME;
      else process.env.XDG_CACHE_HOME = before;
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("refuses kernels that need what the device does not have", () => {
    const prepare = (facts: Partial<Found["facts"]>, precision: "strict" | "fast") => (): void => {
      const device = new OpenclDevice("opencl:0", machine(facts));
      device.prepare(halve, { x: device.array(f32, 4) }, range(4), { precision }).free();
    };
    assert.throws(prepare({ exactF32: false, f64: false }, "strict"), {
      name: "LaunchError",
      message: /kernel "halve" .*device\.test\.[jt]s:\d+\) on opencl:0: it has a division of f32, .* use fast mode or another device/,
    });
    assert.doesNotThrow(prepare({ exactF32: false, f64: false }, "fast"));
    assert.doesNotThrow(prepare({ exactF32: false }, "strict"));
    assert.throws(prepare({ parameterBytes: 16 }, "fast"), {
      name: "DeviceError",
      message: /"halve_kernel" has \d+ bytes of parameters, and the device takes 16/,
    });
    const device = new OpenclDevice("opencl:0", machine({ f64: false }));
    assert.throws(() => device.prepare(norm, { x: device.array(f64, 4) }, range(4)), {
      name: "LaunchError",
      message: /kernel "norm" .*its parameter "x" is f64, and this device has no f64/,
    });
    const narrow = new OpenclDevice("opencl:0", machine({ sharedBytes: 64 }));
    assert.throws(() => narrow.prepare(norm, { x: narrow.array(f64, 4) }, range(4), { precision: "strict" }), {
      name: "DeviceError",
      message: /needs \d+ bytes of local memory for each work-group, and the device has 64/,
    });
  });

  it("rounds products before they are added, in strict mode", async () => {
    const device = new OpenclDevice("opencl:0", machine());
    const root = 1 + 2 ** -30;
    const y = device.from(f64, [-(root * root)]);
    await device.run(multiplyAdd, { x: device.from(f64, [root]), y }, range(1), { precision: "strict" });
    assert.deepEqual([...(await device.queue.read(y))], [0]);
  });

  it("finds compiled code again where the driver keeps none itself", async () => {
    const values: number[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const device = new OpenclDevice("opencl:0", machine({ caches: false }));
      const { s } = await device.run(norm, { x: device.from(f64, [3, 4]) }, range(2));
      values.push(s);
    }
    assert.deepEqual(values, [25, 25]);
  });

  it("copies between devices that share no memory, and orders their work by events, also in a graph", async () => {
    const [one, two] = [1, 2].map(() => new OpenclDevice("opencl:0", machine()));
    const [a, b] = [one.from(f64, [1, 2, 3, 4], [2, 2]), two.array(f64, [2, 3])];
    const column = b.slice([0, 2], [1, 3]);
    const work = (): void => {
      one.queue.copy(a, column);
      two.queue.wait(one.queue.record());
      two.queue.copy(column.at(1, 0), b.at(1, 0));
    };
    work();
    assert.deepEqual([...(await two.queue.read(b))], [1, 1, 2, 3, 3, 4]);
    two.queue.clear(b);
    const graph = one.queue.capture(work, [two.queue]);
    one.queue.submit(graph);
    await one.queue.finish();
    assert.deepEqual([...(await two.queue.read(b))], [1, 1, 2, 3, 3, 4]);
    graph.free();
  });
});
