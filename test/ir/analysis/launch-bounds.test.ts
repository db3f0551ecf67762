import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { outside, takenRange, type Access } from "../../../src/ir/analysis/access.js";
import type { Affine, Interval } from "../../../src/ir/analysis/affine.js";
import { launchBounds } from "../../../src/ir/analysis/launch-bounds.js";

const ATOMS = ["index:0", "index:1", "param:n", "extent:x:0", "local:k", "param:unknown"] as const;
const SHAPES: Readonly<Record<string, readonly number[]>> = { x: [100, 7], y: [2 ** 31 - 1], t: [5] };

const form = fc.oneof(
  fc.record({
    constant: fc.oneof(fc.integer({ min: -3, max: 8 }), fc.constantFrom(2 ** 31 - 1, -(2 ** 31))),
    terms: fc.dictionary(fc.constantFrom(...ATOMS), fc.constantFrom(1, -1, 2, 100, -(2 ** 20)), { maxKeys: 3 }),
  }),
  fc.constant(undefined),
);
const loop = fc.record({ name: fc.constant("k"), first: form, last: form, step: fc.constantFrom(1, 3, -2) });
const access = fc
  .record({
    view: fc.constantFrom(...Object.keys(SHAPES)),
    kind: fc.constantFrom("read", "write", "scatter"),
    affine: fc.array(form, { minLength: 2, maxLength: 2 }),
    wraps: fc.boolean(),
    loops: fc.array(loop, { maxLength: 1 }),
    conditional: fc.boolean(),
  })
  .map(({ wraps, affine, ...rest }): Access => {
    const whole = { ...rest, affine: affine.slice(0, SHAPES[rest.view].length) as (Affine | undefined)[] };
    return { ...whole, ...(wraps && { wraps }), indices: [], location: { file: "f", line: 1 } } as unknown as Access;
  });
const interval = fc.oneof(
  fc.tuple(fc.integer({ min: -2, max: 120 }), fc.integer({ min: 0, max: 40 })).map(([low, more]): Interval => [low, low + more]),
  fc.constant<Interval>([2 ** 31 - 1, 2 ** 31 - 1]),
);

test("accesses that are certain to be outside are among the doubtful, in their order, and no certain one without a loop is there that is inside", () => {
  let wrong = 0;
  const property = fc.property(
    fc.array(access, { maxLength: 8 }),
    fc.dictionary(fc.constantFrom(...ATOMS.slice(0, 4)), interval),
    (accesses, ranges) => {
      const known = (atom: string): Interval | undefined => ranges[atom];
      const isOutside = (a: Access): boolean =>
        SHAPES[a.view].some((extent, axis) => {
          const range = takenRange(a, axis, known);
          return range !== undefined && outside(range, extent) !== undefined;
        });
      const { views, arrays } = launchBounds({ accesses, arrays: accesses, views: {}, reduced: [] });
      for (const bounds of arrays ? [views, arrays] : [views]) {
        const doubtful = bounds.doubtful(known, (name) => SHAPES[name]);
        assert.deepEqual(
          doubtful.filter((a) => a.loops.length === 0),
          accesses.filter((a) => a.loops.length === 0 && isOutside(a)),
        );
        for (const a of accesses) if (isOutside(a)) assert.ok(doubtful.includes(a));
        assert.deepEqual(
          accesses.filter((a) => doubtful.includes(a)),
          doubtful,
        );
        wrong += doubtful.filter(isOutside).length;
      }
    },
  );
  fc.assert(property, { numRuns: 3000, seed: 1 });
  assert.ok(wrong > 1000, `${wrong}`);
});
