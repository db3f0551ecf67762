import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { open } from "../../../src/device/open.js";
import { range } from "../../../src/device/launch/policy.js";
import { all, subview, type Part } from "../../../src/device/memory/subview.js";
import type { View } from "../../../src/device/memory/view.js";
import { kernel } from "../../../src/kernel/declare/kernel.js";
import { f64, view } from "../../../src/kernel/declare/params.js";

const negate = kernel("negate", { x: view(f64, 2) }, ({ x }, i, j) => {
  x[i][j] = -x[i][j];
});

describe("subviews", async () => {
  const device = await open("js");
  after(() => device.close());
  const values = Float64Array.from({ length: 60 }, (_, n) => n);

  for (const layout of ["right", "left"] as const)
    it(`share their elements with a view of layout ${layout}, axes with an index left out`, async () => {
      const cube = device.from(f64, values, [3, 4, 5], { layout });
      const plane: View<"f64", 2> = subview(cube, [1, 3], 2, all);
      assert.deepEqual(plane.shape, [2, 5]);
      assert.deepEqual([...(await device.queue.read(plane))], [30, 31, 32, 33, 34, 50, 51, 52, 53, 54]);
      await device.run(negate, { x: plane }, range(2, 5));
      const result = await device.queue.read(cube);
      assert.deepEqual(
        result,
        values.map((v) => ((v >= 30 && v < 35) || v >= 50 ? (v < 55 ? -v : v) : v)),
      );
    });

  it("compose, and may be empty", async () => {
    const cube = device.from(f64, values, [3, 4, 5]);
    const line: View<"f64", 1> = subview(subview(cube, 2, all, [1, 4]), [2, 4], 0);
    assert.deepEqual([...(await device.queue.read(line))], [51, 56]);
    assert.equal(subview(cube, all, [4, 4], all).size, 0);
  });

  it("tell the compiler their rank", () => {
    const cube = device.array(f64, [3, 4, 5]);
    // @ts-expect-error two of three axes are left
    const wrong: View<"f64", 3> = subview(cube, all, 0, all);
    assert.equal(wrong.rank, 2);
    const parts: Part[] = [all, all, all];
    const whole: View<"f64", 3> = subview(cube, ...parts);
    assert.equal(whole.rank, 3);
  });

  it("are refused outside of an axis, by its number and extent", () => {
    const cube = device.array(f64, [3, 4, 5]);
    assert.throws(() => subview(cube, all, 4, all), { name: "LaunchError", message: /index 4 of axis 1, which has extent 4/ });
    assert.throws(() => subview(cube, all, all, -1), /index -1 of axis 2, which has extent 5/);
    assert.throws(() => subview(cube, [2, 4], all, all), /\[2, 4\) of axis 0, which has extent 3/);
    assert.throws(() => subview(cube, all, [3, 2], all), /\[3, 2\) of axis 1/);
    assert.throws(() => subview(cube, all), /with 1 parts of a view of shape \[3,4,5\]; give one for each axis/);
    assert.throws(() => subview(cube, 1, 2, 3), /subview \[1,2,3\] of one element; keep an axis with a window/);
  });
});
