import assert from "node:assert/strict";
import { test } from "node:test";
import { CPU_MEMORY, View, type Buffer } from "../../../src/device/memory/view.js";
import { BlockedView } from "../../../src/device/memory/blocked-view.js";
import { f64, i32 } from "../../../src/kernel/declare/params.js";
import { u8 } from "../../../src/kernel/declare/storage.js";

const buffer: Buffer = { memory: CPU_MEMORY, bytes: 80, address: 0, free: () => {} };
const refused = (message: RegExp, ...[type, shape, strides, offset]: [unknown, number[], number[], number?]): void =>
  assert.throws(() => new View(buffer, type as "f64", shape, strides, offset), { name: "LaunchError", message });

test("a view of one's own takes a type or its token, and stays inside its buffer", () => {
  assert.equal(new View(buffer, f64, [10], [1]).type, "f64");
  assert.equal(new View(buffer, "i32", [20], [1]).size, 20);
  assert.equal(new View(buffer, u8, [80], [-1], 79).size, 80);
  assert.equal(new View(buffer, i32, [1_000_000], [0], 19).size, 1_000_000);
  refused(/goes from element 0 to 10 of a buffer that has 10 of f64/, f64, [11], [1]);
  refused(/goes from element 5 to 10 of/, f64, [6], [1], 5);
  refused(/goes from element -1 to 4 of/, f64, [6], [-1], 4);
  refused(/goes from element -1 to -1 of/, f64, [1], [1], -1);
  refused(/goes from element 0 to 20 of a buffer that has 20 of i32/, i32, [3, 1], [10, 1]);
  // The last index of an axis of stride 0 is the first.
  refused(/goes from element 10 to 10/, f64, [4], [0], 10);
});

test("what is none of a view's parts is refused by name", () => {
  refused(/strides \[1.5\]: give a whole number for each axis/, f64, [2], [1.5]);
  refused(/strides \[NaN\]/, f64, [2], [NaN]);
  refused(/strides \[1\]: give a whole number for each axis/, f64, [2, 2], [1]);
  refused(/at offset 0.5: give a whole number of elements/, f64, [2], [1], 0.5);
  refused(/at offset NaN/, f64, [2], [1], NaN);
  refused(/shape \[2.5\]/, f64, [2.5], [1]);
  refused(/shape \[-1\]/, f64, [-1], [1]);
  refused(/rank 0/, f64, [], []);
  for (const type of ["f8", "bool", undefined, { type: "bool" }, 3]) refused(/a view needs an element type/, type, [2], [1]);
  assert.throws(() => new View(undefined as unknown as Buffer, f64, [2], [1]), /a view is given nothing for its buffer/);
  assert.throws(() => new View(new Float64Array(3) as unknown as Buffer, f64, [2], [1]), /a view is given a Float64Array for its buffer/);
});

test("lists that are changed later do not change a view", () => {
  const [shape, strides] = [[3], [1]];
  const view = new View(buffer, f64, shape, strides);
  shape[0] = strides[0] = 9;
  assert.deepEqual([view.shape, view.strides], [[3], [1]]);
});

test("an empty view may be cut anywhere, and lies in its buffer", () => {
  const backwards = new View(buffer, f64, [10], [-1], 9);
  assert.equal(backwards.slice([10, 10]).offset, 0);
  assert.equal(new View(buffer, f64, [10], [1]).slice([10, 10]).offset, 10);
});

test("a blocked view has a whole number of elements", () => {
  const storage = new View(buffer, f64, [2, 4], [4, 1]);
  assert.equal(new BlockedView(storage, 7).length, 7);
  for (const length of [6.5, -1, NaN, 3, 9])
    assert.throws(() => new BlockedView(storage, length), { name: "LaunchError", message: /whole/ });
});
