import assert from "node:assert/strict";
import test from "node:test";
import { chunksBefore, chunksOf, decodeResults } from "../../../src/device/gpu/partials.js";
import { range } from "../../../src/device/launch/policy.js";

test("chunks end with lines, and those of pieces follow each other", () => {
  assert.equal(chunksOf(range(257)), 2);
  assert.equal(chunksOf(range(3, 4, 300)), 24);
  assert.equal(chunksBefore(range([512, 600]), range([0, 600])), 2);
  assert.equal(chunksBefore(range([4, 5], 4, 300), range([2, 5], 4, 300)), 16);
});

test("results are decoded by their types", () => {
  const data = new DataView(new ArrayBuffer(32));
  data.setFloat64(0, 0.1, true);
  data.setFloat32(8, 0.5, true);
  data.setInt32(16, -3, true);
  data.setUint32(24, 2 ** 32 - 1, true);
  const reduces = (["f64", "f32", "i32", "u32"] as const).map((type) => ({ name: type, type }));
  assert.deepEqual(decodeResults(reduces, data.buffer), { f64: 0.1, f32: 0.5, i32: -3, u32: 2 ** 32 - 1 });
});
