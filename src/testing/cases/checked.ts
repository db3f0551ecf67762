import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { f32, i32, scatter, view } from "../../kernel/declare/params.js";
import { conformanceCase, type ConformanceCase } from "../case.js";
import { expectError, expectSame } from "../expect.js";
import { make } from "../values.js";

const gather = kernel("gather", { at: view(i32), x: view(f32), y: view(f32) }, ({ at, x, y }, i) => {
  y[i] = x[at[i]];
});
const move = kernel("move", { at: view(i32), x: view(f32), y: view(f32, 1, { disjoint: true }), h: scatter(i32) }, ({ at, x, y, h }, i) => {
  y[at[i]] = x[at[at[i]]] + x[i];
  h.add(at[i] % 7, i);
});

/** Few, and enough for all workers. */
const SIZES = [50, 20_000];

export const checked: ConformanceCase[] = [
  conformanceCase(140, "an index outside of its array ends a checked launch, which can run again", async (device) => {
    for (const n of SIZES) {
      const inside = Int32Array.from({ length: n }, (_, k) => (k * 7) % n);
      const at = device.from(
        i32,
        inside.map((value, k) => (k === n - 2 ? -3 : k === n - 9 ? n : value)),
      );
      const [x, y] = [
        device.from(
          f32,
          make(n, (k) => k),
        ),
        device.array(f32, n),
      ];
      const launch = device.prepare(gather, { at, x, y }, range(n), { checked: true });
      const run = async () => {
        device.queue.submit(launch);
        await device.queue.finish();
      };
      const message = new RegExp(`index ${n} is outside axis 0 of "x", which has extent ${n} \\(element \\[${n - 9}\\]`);
      for (let turn = 0; turn < 2; turn++) await expectError(run, "KernelError", message);
      await device.queue.write(at, inside);
      await run();
      expectSame(await device.queue.read(y), [...inside], "gather");
      launch.free();
    }
  }),

  conformanceCase(141, "checks change no bits where all indices are inside", async (device) => {
    for (const n of SIZES) {
      const order = make(n, (k) => (k * 7 + 3) % n);
      const at = device.from(i32, order);
      const x = device.from(
        f32,
        make(n, (k) => Math.fround(Math.sqrt(k))),
      );
      const results: (readonly number[])[] = [];
      for (const checked of [false, true]) {
        const [y, h] = [device.array(f32, n), device.array(i32, 7)];
        await device.run(move, { at, x, y, h }, range(n), { checked });
        results.push([...(await device.queue.read(y)), ...(await device.queue.read(h))]);
      }
      expectSame(results[1], results[0], "checked");
      expectSame(
        results[0].slice(n),
        order.reduce(
          (all, place, k) => ((all[place % 7] += k), all),
          make(7, () => 0),
        ),
        "h",
      );
    }
  }),
];
