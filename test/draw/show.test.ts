import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { inflateSync } from "node:zlib";
import { show } from "../../src/draw/index.js";
import { dense } from "../../src/domain/index.js";
import { f64, LaunchError, open } from "../../src/index.js";
import { devices } from "../../src/set/index.js";

/* Pictures of arrays, views and fields. */

test("a line of numbers is plotted in a terminal, and drawn as a curve", async () => {
  const picture = await show([0, 1, 2, 3, NaN, 4], { title: "steps" });
  assert.equal(inspect(picture), "steps\n \u2582\u2584\u2586?\u2588\n0.000 to 4.000");
  assert.equal(String(picture), picture.text());
  assert.match(picture.svg(), /^<svg .*steps.*<path class="curve"/s);
  assert.throws(() => picture.png(), { message: "steps is a curve, which a PNG of cells does not show: draw it as SVG" });
});

test("rows are drawn with the first one lowest, as SVG and as PNG", async () => {
  const picture = await show([
    [0, 0, 0],
    [1, 1, 0.5],
  ]);
  assert.equal(picture.text(), "array\n\u2588\u2588\u2592\n\n0.000 to 1.000");
  assert.match(picture.svg(), /in cells/);
  const png = Buffer.from(picture.png());
  assert.equal(png.toString("latin1", 1, 4), "PNG");
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  assert.deepEqual([width, height], [513, 342]);
  const length = png.readUInt32BE(33);
  const rows = inflateSync(png.subarray(41, 41 + length));
  assert.equal(rows.length, height * (1 + 3 * width));
  assert.deepEqual([...rows.subarray(1, 4)], [0xfd, 0xe7, 0x25], "the upper left corner is the greatest value's colour");
  assert.deepEqual([...rows.subarray(-3)], [0x44, 0x01, 0x54]);
});

test("a notebook is given a drawing and a text", async () => {
  const picture = (await show([1, 2])) as unknown as Record<symbol, () => Record<string, string>>;
  const shown = picture[Symbol.for("Jupyter.display")]();
  assert.deepEqual(Object.keys(shown), ["image/svg+xml", "text/plain"]);
  assert.match(shown["image/svg+xml"], /^<svg/);
});

test("a view is read by its device's queue", async () => {
  const device = await open("js");
  const view = device.from(f64, [1, 2, 3, 4, 5, 6], [2, 3]);
  const picture = await show(view, { queue: device.queue });
  assert.deepEqual([picture.width, picture.height, ...Array.from(picture.values)], [3, 2, 1, 2, 3, 4, 5, 6]);
  await assert.rejects(show(view), { message: "show reads a view by a queue of its device; give show(view, { queue: device.queue })" });
  await device.close();
});

test("of a field in space it shows a plane of one component, and says which", async () => {
  const set = await devices("js");
  const grid = dense(set, [4, 3, 2]);
  const u = grid.field("u", f64, { cardinality: 2 });
  u.fill((x, y, z, k) => 1000 * k + 100 * z + 10 * y + x);
  const picture = await show(u, { component: 1, plane: 0 });
  assert.equal(picture.title, "u, component 1, plane 0 of 2");
  assert.deepEqual(Array.from(picture.values).slice(0, 5), [1000, 1001, 1002, 1003, 1010]);
  assert.equal((await show(u)).title, "u, component 0, plane 1 of 2");
  await assert.rejects(show(u, { component: 2 }), { message: "show is given the component 2, and there are 2" });
  await assert.rejects(show(u, { plane: 0.5 }), { message: "show is given the plane 0.5, and there are 2" });
  await set.close();
});

test("what cannot be drawn is refused", async () => {
  const refused = (what: unknown, options: object, message: RegExp): Promise<void> =>
    assert.rejects(show(what as number[], options), (error: Error) => error instanceof LaunchError && message.test(error.message));
  await refused(3, {}, /^show draws arrays, views and fields, and is given/);
  await refused({}, {}, /is given an object; give its numbers$/);
  await refused([], {}, /is given 0 numbers of shape \[0\]/);
  await refused([1, 2, 3], { shape: [2, 2] }, /is given 3 numbers of shape \[2, 2\]; give a slice, or \{ shape: \[rows, columns\] \}/);
  await refused([[1], [1, 2]], {}, /rows of one length, and is given 1 and 2 numbers/);
  await refused([1], { colour: "red" }, /colour/);
});
