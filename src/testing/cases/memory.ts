import { f32, f64, i32, u32 } from "../../kernel/declare/params.js";
import { u8 } from "../../kernel/declare/storage.js";
import { expectEqual, expectSame } from "../expect.js";
import type { View } from "../../device/memory/view.js";
import { conformanceCase, type ConformanceCase } from "../case.js";
import { edgesOn, make } from "../values.js";

export const memory: ConformanceCase[] = [
  conformanceCase(1, "allocates zeroed arrays of every type", async (device) => {
    for (const type of [f64, f32, i32, u32, u8]) {
      const view = device.array(type, [7, 5]);
      expectEqual(view.size, 35, "size");
      expectSame(await device.queue.read(view), new Float64Array(35), `new ${type.type} array`);
      view.free();
    }
  }),

  conformanceCase(2, "writes and reads back every type", async (device) => {
    const cases = [
      [f64, [0, -0, 1.5, NaN, Infinity, 5e-324]],
      [f32, [0, -0, 1.5, NaN, -Infinity, 1.401298464324817e-45]],
      [i32, [0, -1, 2147483647, -2147483648]],
      [u32, [0, 1, 4294967295, 2147483648]],
      [u8, [0, 1, 127, 255]],
    ] as const;
    for (const [type, all] of cases) {
      const values = type === f64 ? edgesOn(device, f64, all) : all;
      const view = device.from(type, values);
      expectSame(await device.queue.read(view), values, `${type.type} array`);
      device.queue.write(view, [...values].reverse());
      expectSame(await device.queue.read(view), [...values].reverse(), `${type.type} array written again`);
      view.free();
    }
  }),

  conformanceCase(3, "gives zeroed memory again after it was used", async (device) => {
    for (const n of [10, 5000, 100_000]) {
      const first = device.from(
        f64,
        make(n, () => 7),
      );
      first.free();
      const second = device.array(f64, n);
      expectSame(await device.queue.read(second), new Float64Array(n), `reused memory of ${n} elements`);
      second.free();
    }
  }),

  conformanceCase(4, "reads and writes slices", async (device) => {
    const whole = device.from(
      f64,
      make(60, (n) => n),
      [3, 4, 5],
    );
    const window = whole.slice([1, 3], undefined, [2, 5]);
    const inside = [...Array(24).keys()].map((n) => (1 + Math.floor(n / 12)) * 20 + (Math.floor(n / 3) % 4) * 5 + 2 + (n % 3));
    expectSame(await device.queue.read(window), inside, "slice");
    device.queue.write(
      window,
      make(24, (n) => -n - 1),
    );
    const expected = make(60, (n) => (inside.includes(n) ? -inside.indexOf(n) - 1 : n));
    expectSame(await device.queue.read(whole), expected, "array after its slice was written");
    expectSame(
      await device.queue.read(whole.at(1, 2)),
      [...Array(15).keys()].map((n) => expected[Math.floor(n / 5) * 20 + 10 + (n % 5)]),
      "one row of each plane",
    );
    expectSame(await device.queue.read(whole.reshape(60)), expected, "reshaped array");
  }),

  conformanceCase(5, "keeps the order of indices in the left layout", async (device) => {
    const view = device.from(
      f64,
      make(24, (n) => n),
      [2, 3, 4],
      { layout: "left" },
    );
    expectEqual(view.strides.join(), "1,2,6", "strides");
    expectSame(
      await device.queue.read(view),
      make(24, (n) => n),
      "left array",
    );
    expectSame(
      await device.queue.read(view.slice([1, 2])),
      make(12, (n) => 12 + n),
      "slice of a left array",
    );
  }),

  conformanceCase(6, "copies and clears", async (device) => {
    const { queue } = device;
    const source = device.from(
      f32,
      make(20, (n) => n + 0.5),
      [4, 5],
    );
    const target = device.array(f32, [4, 5], { layout: "left" });
    queue.copy(source, target);
    expectSame(
      await queue.read(target),
      make(20, (n) => n + 0.5),
      "copy to another layout",
    );
    queue.copy(source.slice([0, 2], [0, 2]), target.slice([2, 4], [3, 5]));
    expectSame(await queue.read(target.slice([2, 4], [3, 5])), [0.5, 1.5, 5.5, 6.5], "copy of a window");
    queue.clear(source);
    expectSame(await queue.read(source), new Float64Array(20), "cleared array");
  }),

  conformanceCase(7, "has arrays of no elements", async (device) => {
    const view = device.array(f64, [3, 0]);
    expectSame(await device.queue.read(view), [], "empty array");
    device.queue.write(view, []);
    device.queue.clear(view);
    view.free();
  }),

  conformanceCase(8, "copies windows of arrays of seven axes, captured, too", async (device) => {
    const { queue } = device;
    const shape = [2, 3, 2, 2, 3, 2, 2];
    const size = 288;
    const source = device.from(
      i32,
      make(size, (n) => n),
      shape,
    );
    const target = device.array(i32, shape, { layout: "left" });
    queue.copy(source, target);
    expectSame(
      await queue.read(target),
      make(size, (n) => n),
      "copy to another layout",
    );
    // Each axis has a gap, so that no two are one.
    const odd = [0, 1, 1, 0, 1, 1, 0] as const;
    const window = (view: View): View => view.slice(...odd.map((at, axis) => [at, at + (shape[axis] === 3 ? 2 : 1)] as const));
    const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
    const isInside = (n: number): boolean =>
      strides.every((stride, axis) => {
        const at = Math.floor(n / stride) % shape[axis];
        return at >= odd[axis] && at < odd[axis] + (shape[axis] === 3 ? 2 : 1);
      });
    queue.clear(target);
    const graph = queue.capture(() => queue.copy(window(source), window(target)));
    queue.submit(graph);
    expectSame(
      await queue.read(target),
      make(size, (n) => (isInside(n) ? n : 0)),
      "copy of a window",
    );
    queue.clear(window(source));
    expectSame(
      await queue.read(source),
      make(size, (n) => (isInside(n) ? 0 : n)),
      "array after a window was cleared",
    );
    graph.free();
  }),
];
