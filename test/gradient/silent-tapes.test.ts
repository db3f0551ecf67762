import assert from "node:assert/strict";
import { it } from "node:test";
import { range } from "../../src/device/launch/policy.js";
import type { View } from "../../src/device/memory/view.js";
import { rule } from "../../src/gradient/rule.js";
import { tape } from "../../src/gradient/tape.js";
import type { TapeScalar } from "../../src/gradient/tape-scalar.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f64, fixed, i32, sum, view } from "../../src/kernel/declare/params.js";
import { eachDevice } from "../patterns/devices.js";

/* Launches that read, reduce or repeat what others would get wrong without an error. Expected gradients were derived by hand. */

const cubes = kernel("cubes", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => s.add(x[i] * x[i] * x[i]));
const squares = kernel("squares", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => s.add(x[i] * x[i]));
const times = kernel("times", { s: view(f64), x: view(f64), y: view(f64) }, ({ s, x, y }, i) => {
  y[i] = x[i] * s[0];
});
const scaled = kernel("scaled", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i];
});
const count = kernel("count", { p: view(i32), s: sum(f64) }, ({ p, s }, i) => s.add(p[i]));
const constant = rule(
  kernel("constant", { x: view(f64), s: sum(f64) }, ({ x, s }, i) => s.add(x[i])),
  "none",
);
const squared = kernel("squared", { x: view(f64) }, ({ x }, i) => {
  x[i] = x[i] * x[i];
});

await eachDevice("gradients of tapes", (device) => {
  if (!device.capabilities.f64) return;
  const array = (data: readonly number[]): View<"f64", 1> => device.from(f64, data);
  const read = async (v: View): Promise<number[]> => [...((await device.queue.read(v)) as Float64Array)];

  it("a result on the device that a launch without a gradient overwrites", async () => {
    for (const isCounted of [true, false]) {
      const t = tape(device);
      const [x, y, z, s] = [[1, 2], [0, 0], [0, 0], [0]].map(array);
      const p = device.from(i32, [1, 2]);
      await t.run(cubes, { x, s }, range(2));
      await t.run(times, { s, x, y }, range(2));
      await (isCounted ? t.run(count, { p, s }, range(2)) : t.run(constant, { x, s }, range(2)));
      await t.run(times, { s, x: y, y: z }, range(2));
      const g = await t.backward([[z, [1, 1]]]);
      // The sum of z is 3 (x0 + x1) (x0^3 + x1^3).
      assert.deepEqual(await read(g.of(x)), [54, 135]);
      t.free();
    }
  });

  it("parameters with values that are known before the launch", async () => {
    const power = kernel("power", { n: fixed(i32), x: view(f64), y: view(f64) }, ({ n, x, y }, i) => {
      let a = x[i];
      for (let j = 0; j < n; j++) a = a * x[i];
      y[i] = a;
    });
    const t = tape(device);
    const [x, y] = [array([1, 2]), array([0, 0])];
    await t.run(power, { n: 2, x, y }, range(2));
    await t.run(power, { n: 1, x: y, y: x }, range(2));
    const g = await t.backward([[x, [1, 1]]]);
    // x^6, and what x was at first does not last.
    assert.deepEqual(await read(g.of(x)), [6, 192]);
    t.free();
  });

  it("one memory that is written by one name, and decides by another", async () => {
    const chosen = kernel("chosen", { x: view(f64), y: view(f64), z: view(f64) }, ({ x, y, z }, i) => {
      y[i] = -y[i];
      if (x[i] > 0) z[i] = 3 * y[i];
    });
    const t = tape(device);
    const [y, z, other] = [
      [2, -2, 1],
      [0, 0],
      [1, 1],
    ].map(array);
    await assert.rejects(t.run(chosen, { x: y, y, z }, range(2)), {
      name: "GradientError",
      message: /"x" and "y" are given one memory, and it writes "y": its gradient is not known then/,
    });
    // Parts that do not meet.
    await t.run(chosen, { x: other, y: y.slice([0, 2]), z }, range(2));
    assert.deepEqual(await read((await t.backward([[z, [1, 1]]])).of(y)), [-3, -3, 0]);
    t.free();
  });

  it("numbers that leave a checkpoint by variables around it, each time", async () => {
    const t = tape(device);
    const [x, y, z] = [
      [1, 2],
      [0, 0],
      [0, 0],
    ].map(array);
    let [a, s]: (TapeScalar | undefined)[] = [];
    await t.checkpoint(async () => {
      a = t.scalar(3);
      await t.run(scaled, { a, x, y }, range(2));
      ({ s } = await t.run(squares, { x: y }, range(2)));
    });
    await t.checkpoint(async () => {
      await t.checkpoint(() => t.run(scaled, { a: s!, x, y: z }, range(2)));
    });
    const { s: last } = await t.run(squares, { x: z }, range(2));
    // The last number is a^4 X^3 for X the sum of squares, 5.
    for (let k = 0; k < 2; k++) {
      const g = await t.backward(last);
      assert.equal(g.of(a!), 4 * 27 * 125);
      assert.deepEqual(await read(g.of(x)), [6 * 81 * 25, 12 * 81 * 25]);
    }
    t.free();
  });

  it("checkpoints that launch something else are refused", async () => {
    const other = kernel("squared", { x: view(f64) }, ({ x }, i) => {
      x[i] = 2 * x[i];
    });
    let turn = 0;
    const x = array([2, 3]);
    const cases: readonly (readonly [run: (t: ReturnType<typeof tape>) => unknown, message: RegExp])[] = [
      [(t) => t.run(squared, { x: x.slice([turn, turn + 1]) }, range(1)), /gave kernel "squared" another "x"/],
      [(t) => t.run(squared, { x }, range(1 + turn)), /gave kernel "squared" another range/],
      [(t) => t.run(turn ? other : squared, { x }, range(2)), /ran another kernel "squared"/],
      [(t) => t.run(squared, { x }, range(2), { checked: turn > 0 }), /gave kernel "squared" other options/],
      [(t) => (t.scalar(turn), t.run(squared, { x }, range(2))), /made the number 1 in place of 0/],
    ];
    for (const [run, message] of cases) {
      const t = tape(device);
      turn = 0;
      await t.checkpoint(() => run(t));
      turn = 1;
      await assert.rejects(t.backward([[x, [1, 1]]]), { name: "LaunchError", message });
      t.free();
    }
  });
});
