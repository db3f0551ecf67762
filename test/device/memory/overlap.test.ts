import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { overlap } from "../../../src/device/memory/overlap.js";
import { CPU_MEMORY, View, type Buffer } from "../../../src/device/memory/view.js";

const buffer: Buffer = { memory: CPU_MEMORY, bytes: 8000, address: 0, free: () => {} };
const viewOf = (shape: readonly number[], strides: readonly number[], offset: number): View =>
  new View(buffer, "f64", shape, strides, offset);

function elementsOf({ shape, strides, offset }: View): Set<number> {
  let places = [offset];
  shape.forEach((extent, axis) => {
    places = places.flatMap((place) => Array.from({ length: extent }, (_, n) => place + n * strides[axis]));
  });
  return new Set(places);
}

test("views that share an element overlap", () => {
  const axis = fc.record({ extent: fc.integer({ min: 1, max: 5 }), stride: fc.integer({ min: 0, max: 12 }) });
  const any = fc.record({ axes: fc.array(axis, { minLength: 1, maxLength: 3 }), offset: fc.nat(20) }).map(({ axes, offset }) =>
    viewOf(
      axes.map(({ extent }) => extent),
      axes.map(({ stride }) => stride),
      offset,
    ),
  );
  fc.assert(
    fc.property(any, any, (a, b) => {
      const places = elementsOf(a);
      if ([...elementsOf(b)].some((place) => places.has(place))) assert.ok(overlap(a, b));
    }),
    { numRuns: 5000, seed: 3 },
  );
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
