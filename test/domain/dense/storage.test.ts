import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { BYTES } from "../../../src/device/memory/view.js";
import { DenseStorage } from "../../../src/domain/dense/storage.js";

const few = (most: number) => fc.integer({ min: 0, max: most });
const boxes = fc.oneof(
  fc.record({ extents: fc.tuple(few(4), few(4), few(40)), padding: fc.tuple(few(2), few(2), few(3)) }),
  fc.record({ extents: fc.tuple(few(6), few(40)), padding: fc.tuple(few(2), few(3)) }),
);
const valueLayouts = fc.record({
  type: fc.constantFrom("f64", "f32", "i32", "u8"),
  cardinality: fc.integer({ min: 1, max: 4 }),
  layout: fc.constantFrom("soa", "aos"),
});

it("every cell and halo cell has a place of its own, all lie in memory, padding is never a cell, and rows begin at cache lines", () => {
  fc.assert(
    fc.property(boxes, valueLayouts, ({ extents, padding }, stored) => {
      const box = { extents: extents.map((n) => n + 1), padding };
      const storage = new DenseStorage(box, stored);
      const { cardinality, type } = stored;
      const values = new Set<number>();
      const around = new Set<number>();
      const visit = (cell: readonly number[], axis: number): void => {
        if (axis < box.extents.length) {
          for (let n = -padding[axis]; n < box.extents[axis] + padding[axis]; n++) visit([...cell, n], axis + 1);
          return;
        }
        // Along the first axis the padding is a halo, which holds values.
        const isCell = cell.slice(1).every((n, a) => n >= 0 && n < box.extents[a + 1]);
        for (let k = 0; k < cardinality; k++) {
          const at = storage.at(cell, k);
          assert.ok(at >= 0 && at < storage.length, `cell ${cell}, component ${k} at ${at} of ${storage.length}`);
          if (!isCell) around.add(at);
          else if (values.has(at)) assert.fail(`cell ${cell}, component ${k} has the place of another`);
          else values.add(at);
        }
        if (isCell && cell.at(-1) === 0) assert.equal((storage.at(cell) * BYTES[type]) % 128, 0);
      };
      visit([], 0);
      for (const at of around) assert.ok(!values.has(at));
    }),
    { seed: 3, numRuns: 60 },
  );
});
