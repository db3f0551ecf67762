import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { hooks } from "../../../src/device/tools/hooks.js";
import { EmitError } from "../../../src/base/errors.js";
import { f32, f64, kernel, open, range, scatter, sum, view, type Device } from "../../../src/index.js";
import { PORTS, portDevice, portOf, type HostPort } from "../../../src/portability/ports/names.js";
import { openPort } from "../../../src/portability/ports/open.js";
import { typedArray } from "../../../src/device/memory/view.js";
import { CASES, requestOf } from "../../emit/standalone/cases.js";
import { missing } from "../../emit/standalone/compiled.js";
import { givesBitsOfJs } from "./strict-bits.js";
import type { Case } from "../../emit/standalone/cases.js";
import { toolchainOf } from "../../../src/portability/ports/toolchain.js";

const double = kernel("double", { from: view(f64), to: view(f64) }, ({ from, to }, i) => {
  to[i] = 2 * from[i];
});

const total = kernel("total", { x: view(f64, 2), s: sum(f64) }, ({ x, s }, i, j) => s.add(x[i][j]));

const count = kernel("count", { h: scatter(f32) }, ({ h }, i) => h.add(i % 3, 1));

test("only ports have the devices of ports", () => {
  assert.deepEqual(
    PORTS.map((port) => portOf(portDevice(port))),
    [...PORTS],
  );
  assert.deepEqual(
    ["native", "emitted-wgsl", "c"].map((name) => portOf(name)),
    [undefined, undefined, undefined],
  );
});

/** Ports on the host's memory, with the cases that each is tested with: some compilers take long. */
const TESTED: readonly (readonly [port: HostPort, cases: readonly Case[]])[] = [
  ["c", CASES],
  ["omp-target", CASES],
  ["openacc", CASES],
  ["stdpar", [CASES[1], CASES[2], CASES[9]]],
  ["kokkos", [CASES[1], CASES[9]]],
];

/** False, or why the port cannot be had on this machine. */
function absent(port: HostPort): string | false {
  const compiler = missing(port === "c" || port === "omp-target" ? "gcc" : "g++");
  if (compiler) return compiler;
  try {
    toolchainOf(port);
  } catch (error) {
    return (error as Error).message;
  }
  const tbb = spawnSync("g++", ["-x", "c++", "-", "-o", "/dev/null", "-ltbb"], { input: "int main() {}" });
  return port === "stdpar" && tbb.status !== 0 && "libtbb-dev not installed";
}

test("a port without its compiler is refused in the name of the device, with the remedy", async () => {
  const kept = process.env.ISOFORM_ACPP;
  try {
    process.env.ISOFORM_ACPP = "no-such-compiler";
    await assert.rejects(openPort("sycl"), /^DeviceError: device "emitted-sycl": no compiler of SYCL was found \(.*\) \(.*ISOFORM_ACPP\)/);
  } finally {
    delete process.env.ISOFORM_ACPP;
    if (kept !== undefined) process.env.ISOFORM_ACPP = kept;
  }
});

test(
  "a compiler for offloading that is not there, or does not compile, is reported in the name of the device",
  { skip: missing("gcc") },
  async () => {
    const kept = { cc: process.env.OMP_TARGET_CC, flags: process.env.OMP_TARGET_FLAGS };
    const opened = (cc: string, flags: string) => {
      Object.assign(process.env, { OMP_TARGET_CC: cc, OMP_TARGET_FLAGS: flags });
      return openPort("omp-target");
    };
    try {
      await assert.rejects(
        opened("no-such-compiler", ""),
        /^DeviceError: device "emitted-omp-target": the compiler no-such-compiler of \$OMP_TARGET_CC/,
      );
      await assert.rejects(
        opened("gcc", "-no-such-flag"),
        /^DeviceError: device "emitted-omp-target": gcc -no-such-flag could not compile/,
      );
    } finally {
      delete process.env.OMP_TARGET_CC;
      delete process.env.OMP_TARGET_FLAGS;
      if (kept.cc !== undefined) process.env.OMP_TARGET_CC = kept.cc;
      if (kept.flags !== undefined) process.env.OMP_TARGET_FLAGS = kept.flags;
    }
  },
);

for (const [port, cases] of TESTED)
  describe(portDevice(port), { skip: absent(port) }, () => {
    let device: Device;
    before(async () => {
      device = await openPort(port);
    });
    after(() => device.close());

    for (const given of cases) test(`gives the bits of js for ${given.kernel.name} in strict mode`, () => givesBitsOfJs(device, given));

    test("works on views of one memory with js, with strides and offsets, and puts results into views", async () => {
      const js = await open("js");
      const whole = js.from(
        f64,
        Float64Array.from({ length: 24 }, (_, n) => n),
        [4, 6],
      );
      const s = device.array(f64, 1);
      const launch = device.prepare(total, { x: whole.slice([1, 3], [2, 5]), s }, range(2, 3));
      device.queue.submit(launch);
      assert.deepEqual(await device.queue.read(s), Float64Array.of(8 + 9 + 10 + 14 + 15 + 16));
      assert.deepEqual(await device.queue.results(launch), { s: 72 });
      await js.close();
    });

    test("tells tools of its launches", async () => {
      const heard: string[] = [];
      const detach = hooks.attach({ endKernel: ({ label, devices: [{ name }] }) => void heard.push(`${label} on ${name}`) });
      try {
        const [from, to] = [device.array(f64, 4), device.array(f64, 4)];
        await device.run(double, { from, to }, range(4));
      } finally {
        detach();
      }
      assert.deepEqual(heard, [`double on ${portDevice(port)}`]);
    });

    test("runs graphs, and launches again after the data have changed", async () => {
      const h = device.array(f32, 3);
      const launch = device.prepare(count, { h }, range(9));
      const graph = device.queue.capture(() => {
        device.queue.clear(h);
        for (let n = 0; n < 3; n++) device.queue.submit(launch);
      });
      for (let n = 0; n < 2; n++) device.queue.submit(graph);
      assert.deepEqual(await device.queue.read(h), typedArray("f32", 3).fill(9));
    });

    test("shows the very text of isoform emit", async () => {
      const { TARGETS } = await import("../../../src/emit/standalone/index.js");
      const [given] = CASES;
      const request = requestOf(given, "fast");
      const views = Object.fromEntries(Object.entries(given.views).map(([name, { shape }]) => [name, device.array(f64, [...shape])]));
      const launch = device.prepare(given.kernel, { ...given.scalars, ...views } as never, given.policy as never);
      assert.equal(launch.source(), TARGETS[port](request)[0].text);
    });

    test("refuses what emitted files cannot do, by the kernel's name", () => {
      const x = device.array(f64, 10);
      const partial = { x: device.array(f64, [2, 8]), s: device.array(f64, 2) };
      const refused = (problem: RegExp) => (error: unknown) => error instanceof EmitError && problem.test(error.message);
      assert.throws(
        () => device.prepare(double, { from: x, to: x }, range(10)),
        refused(/kernel "double" cannot be written for .*share memory/),
      );
      assert.throws(
        () => device.prepare(total, partial, range(2, 8), { precision: "strict", partials: true }),
        refused(/kernel "total" cannot be written for .*partial results/),
      );
    });
  });
