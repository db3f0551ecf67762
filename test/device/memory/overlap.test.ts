import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { meetsItself, overlap, requireApart } from "../../../src/device/memory/overlap.js";
import { CPU_MEMORY, View, type Buffer } from "../../../src/device/memory/view.js";

const buffer: Buffer = { memory: CPU_MEMORY, bytes: 8000, address: 0, free: () => {} };
const viewOf = (shape: readonly number[], strides: readonly number[], offset: number): View =>
  new View(buffer, "f64", shape, strides, offset);

/** The places of a view's elements, in `right` order. */
function placesOf({ shape, strides, offset }: View): number[] {
  let places = [offset];
  shape.forEach((extent, axis) => {
    places = places.flatMap((place) => Array.from({ length: extent }, (_, n) => place + n * strides[axis]));
  });
  return places;
}

const axis = fc.record({ extent: fc.integer({ min: 0, max: 5 }), stride: fc.integer({ min: -12, max: 12 }) });
const any = fc.record({ axes: fc.array(axis, { minLength: 1, maxLength: 4 }), offset: fc.nat(20) }).map(({ axes, offset }) =>
  viewOf(
    axes.map(({ extent }) => extent),
    axes.map(({ stride }) => stride),
    offset + 300,
  ),
);

test("views overlap where they share an element, and nowhere else", () => {
  fc.assert(
    fc.property(any, any, (a, b) => {
      const places = new Set(placesOf(a));
      assert.equal(
        overlap(a, b),
        placesOf(b).some((place) => places.has(place)),
      );
    }),
    { numRuns: 5000, seed: 3 },
  );
});

test("a view meets itself where two of its elements are one place, and nowhere else", () => {
  fc.assert(
    fc.property(any, (view) => {
      const places = placesOf(view);
      assert.equal(meetsItself(view), new Set(places).size < places.length);
    }),
    { numRuns: 5000, seed: 4 },
  );
  assert.throws(() => requireApart("a copy to", viewOf([3], [0], 0)), {
    name: "LaunchError",
    message: /a copy to a view of shape \[3\] with strides \[0\], in which several elements share one place/,
  });
});

test("long searches end, and say that elements may meet", () => {
  const large: Buffer = { ...buffer, bytes: 2 ** 48 };
  const shape = [20_011, 20_021, 20_023];
  const [a, b] = [0, 1].map((offset) => new View(large, "f64", shape, [20_029, 20_023, 20_011], offset));
  // Without a bound on their turns they would go through 10^12 places.
  assert.ok(overlap(a, b));
  assert.ok(meetsItself(a));
  assert.equal(meetsItself(new View(large, "f64", shape, [20_021 * 20_023, 20_023, 1])), false);
});

test("components of records do not overlap, whatever their rank, and a vector and its own component do", () => {
  const [x, v, w] = [viewOf([9], [5], 0), viewOf([9, 3], [5, 1], 1), viewOf([9], [5], 4)];
  for (const [a, b] of [
    [x, v],
    [v, w],
    [x, w],
  ]) {
    assert.equal(overlap(a, b), false);
    assert.equal(overlap(b, a), false);
  }
  assert.ok(overlap(v, v.at(1, 2)));
  assert.ok(overlap(v.at(1, 0), v));
  assert.ok(overlap(viewOf([9, 4], [5, 1], 1), w));
});
