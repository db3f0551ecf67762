import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import {
  bool,
  doctor,
  f64,
  i32,
  kernel,
  KernelError,
  LaunchError,
  open,
  range,
  reducer,
  scatter,
  sum,
  table,
  teamKernel,
  teams,
  u8,
  view,
} from "isoform";
import type { KernelIR } from "../../src/ir/types.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { kernelFromIR } from "../../src/kernel/declare/from-ir.js";
import { add, i, kernel as code, load, n, store, view as viewParam } from "../ir/build.js";
import { tested } from "../devices.js";

const found = (await doctor()).filter((report) => report.devices.length > 0).map((report) => report.backend);
const names = ["js", "js-debug", "wasm", "native"].filter((name) => found.includes(name) && tested(name));
const devices = await Promise.all(names.map((name) => open(name)));
after(() => Promise.all(devices.map((device) => device.close())));

const mixed = kernel(
  "mixed",
  {
    a: f64,
    on: bool,
    x: view(f64),
    bytes: view(u8),
    h: scatter(i32),
    s: sum(f64),
    p: reducer(f64, 1, (a, b) => a * b),
    t: table(f64, [0.5, 2, 4]),
  },
  ({ a, on, x, bytes, h, s, p, t }, i) => {
    x[i] = a * x[i]! + t[i % 3]!;
    bytes[i] = bytes[i]! + 200;
    h.add(i % 4, 1);
    if (on) s.add(x[i]!);
    p.merge(i % 2 === 0 ? 2 : 0.5);
  },
);
const rows = teamKernel("rows", { x: view(f64), y: view(f64) }, ({ x, y }, team) => {
  y[team.index] = team.sum(4, (j) => x[4 * team.index + j]!);
});

describe("a kernel made of code does what its function does", () => {
  for (const device of devices)
    it(`on ${device.name}`, async () => {
      const outcome = async (made: typeof mixed): Promise<unknown[]> => {
        const x = device.from(
            f64,
            Float64Array.from({ length: 12 }, (_, n) => n / 8),
          ),
          bytes = device.from(
            u8,
            Uint8Array.from({ length: 12 }, (_, n) => 20 * n),
          ),
          h = device.array(i32, 4);
        const results = await device.run(made, { a: 3, on: true, x, bytes, h }, range(12), { precision: "strict" });
        const read = await Promise.all([x, bytes, h].map((of) => device.queue.read(of)));
        [x, bytes, h].forEach((of) => of.free());
        return [results, ...read];
      };
      const made = kernelFromIR(compileKernel(mixed).ir) as unknown as typeof mixed;
      assert.deepEqual(await outcome(made), await outcome(mixed));
      assert.deepEqual(await outcome(made), await outcome(mixed));

      const x = device.from(
          f64,
          Float64Array.from({ length: 12 }, (_, n) => n),
        ),
        y = device.array(f64, 3);
      await device.run(kernelFromIR(compileKernel(rows).ir) as unknown as typeof rows, { x, y }, teams(3));
      assert.deepEqual([...(await device.queue.read(y))], [6, 22, 38]);
      [x, y].forEach((of) => of.free());
    });
});

describe("a kernel made of code is checked like any other", () => {
  const shift = (by: number): KernelIR => code([viewParam("x"), viewParam("y")], [store("x", [i], load("y", [add(i, n(by))]))]);

  it("at its launch", async () => {
    const device = await open("js");
    const [x, y] = [device.array(f64, 4), device.array(f64, 4)];
    const kernel = kernelFromIR(shift(1), { file: "app.ts", line: 3, column: 1 });
    assert.throws(
      () => device.prepare(kernel, { x, y }, range(4)),
      (error) => error instanceof LaunchError && /kernel "test" \(app\.ts:3\) on js: reads y\[i \+ 1\]/.test(error.message),
    );
    assert.throws(() => device.prepare(kernel, { x }, range(3)), /y needs a view of f64, and is given nothing/);
    [x, y].forEach((view) => view.free());
    await device.close();
  });

  it("for races", () => {
    const racing = code([viewParam("x")], [store("x", [n(0)], load("x", [i]))]);
    assert.throws(() => compileKernel(kernelFromIR(racing)), KernelError);
  });

  it("once", () => {
    const kernel = kernelFromIR(shift(0));
    assert.equal(compileKernel(kernel), compileKernel(kernel));
  });
});
