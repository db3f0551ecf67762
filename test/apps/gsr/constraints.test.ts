import assert from "node:assert/strict";
import { test } from "node:test";
import { constraintRows, transposed } from "../../../apps/gsr/constraints.js";
import { publishedShape } from "../../../apps/gsr/shape.js";

const shape = publishedShape(1);
const rows = constraintRows(shape);
const row = (r: number) => [...rows.columns.subarray(rows.rowStart[r], rows.rowStart[r + 1])];
const values = (r: number) => [...rows.values.subarray(rows.rowStart[r], rows.rowStart[r + 1])];

test("the published constraints have 438 rows and 736808 non-zeros", () => {
  assert.equal(rows.rowStart.length - 1, 438);
  assert.equal(rows.columns.length, 736_808);
});

test("large-scale rows sum the CCDs of an interval", () => {
  assert.equal(row(3).length, 124);
  assert.deepEqual(row(3).slice(0, 2), [122078 + 3, 122078 + 22 + 3]);
  assert.equal(row(3)[62], 122078 + 1364 + 3);
  assert.equal(row(22 + 2 * 3 + 1).length, 62);
  assert.equal(row(22 + 2 * 3 + 1)[5], 252154 + 1364 + 5 * 22 + 3);
  assert.ok(values(3).every((v) => v === 100));
});

test("small-scale rows are Legendre polynomials over the pixel columns", () => {
  const first = 66;
  for (const [block, start] of [
    [0, 186],
    [1, 130262],
  ]) {
    const ccd = first + 186 * block + 3 * 7;
    assert.equal(row(ccd)[10], start + 7 * 1966 + 10);
    const x = 10.5 / 1966;
    assert.deepEqual(
      [0, 1, 2].map((d) => values(ccd + d)[10]),
      [100, 100 * (2 * (x - 0.5)), 100 * (6 * (x - 0.5) * (x - 0.5) - 0.5)],
    );
  }
  const dot = (a: number[], b: number[]) => a.reduce((t, v, i) => t + v * b[i], 0);
  for (const [p, q] of [
    [0, 1],
    [0, 2],
    [1, 2],
  ])
    assert.ok(Math.abs(dot(values(first + p), values(first + q))) < 20);
});

test("the transposed matrix has the same entries", () => {
  const columns = transposed(rows, 260_338);
  assert.equal(columns.rowStart[260_338], rows.columns.length);
  for (const c of [0, 186, 122081, 130262, 257610]) {
    const expected: [number, number][] = [];
    for (let r = 0; r < 438; r++) row(r).forEach((column, e) => column === c && expected.push([r, values(r)[e]]));
    const entries = Array.from({ length: columns.rowStart[c + 1] - columns.rowStart[c] }, (_, e) => columns.rowStart[c] + e);
    assert.deepEqual(
      entries.map((e) => [columns.columns[e], columns.values[e]]),
      expected,
    );
  }
});
