import assert from "node:assert/strict";
import { after, it } from "node:test";
import { f64, i32, kernel, open, range, view } from "isoform";

/* What was proved of one launch holds for another only where range, integers and shapes are the same. */

const shifted = kernel("shifted", { x: view(f64), y: view(f64), by: i32 }, ({ x, y, by }, i) => {
  if (i > 0) y[i] = x[i + by];
});

const device = await open("js");
after(() => device.close());
const views = [10, 20].map((length) => [device.array(f64, length), device.array(f64, length)] as const);
const [[x, y], [longX, longY]] = views;
const launch = (args: { x: typeof x; y: typeof y; by: number }, length: number): Promise<unknown> =>
  device.run(shifted, args, range(length), { precision: "strict" });

for (const [what, args, length, extent] of [
  ["another integer", { x, y, by: 5 }, 10, 10],
  ["another shape", { x, y: longY, by: 0 }, 20, 10],
  ["another range", { x: longX, y: longY, by: 5 }, 20, 20],
] as const)
  it(`a launch that was proved to be inside leaves its views with ${what}`, async () => {
    await launch({ x, y, by: 0 }, 10);
    await launch({ x: longX, y: longY, by: 0 }, 20);
    await launch({ x: longX, y: longY, by: 5 }, 10);
    await assert.rejects(launch(args, length), new RegExp(`index ${extent} is outside axis 0 of "x", which has extent ${extent}`));
    await launch({ x, y, by: 0 }, 10);
  });
