import assert from "node:assert/strict";
import { test } from "node:test";
import { indicesOf, overlaps, pieceAt, primitivePieces, splinePieces, wrapped } from "../../../apps/pic/mesh/splines.js";
import { primitive, spline } from "./reference.js";

const fractions = (rows: number[][], by: number): number[][] => rows.map((row) => row.map((value) => value / by));

test("pieces and primitives of degrees 1 to 3 are the textbook's", () => {
  assert.deepEqual(splinePieces(1), [
    [-1, 1],
    [1, 0],
  ]);
  assert.deepEqual(
    splinePieces(2),
    fractions(
      [
        [1, -2, 1],
        [-2, 2, 1],
        [1, 0, 0],
      ],
      2,
    ),
  );
  assert.deepEqual(
    splinePieces(3),
    fractions(
      [
        [-1, 3, -3, 1],
        [3, -6, 0, 4],
        [-3, 3, 3, 1],
        [1, 0, 0, 0],
      ],
      6,
    ),
  );
  assert.deepEqual(
    primitivePieces(2),
    fractions(
      [
        [1, -3, 3, 5],
        [-2, 3, 3, 1],
        [1, 0, 0, 0],
      ],
      6,
    ),
  );
  assert.deepEqual(
    primitivePieces(3),
    fractions(
      [
        [-1, 4, -6, 4, 23],
        [3, -8, 0, 16, 12],
        [-3, 4, 6, 4, 1],
        [1, 0, 0, 0, 0],
      ],
      24,
    ),
  );
});

test("pieces and primitives of degrees 1 to 5 follow the recursion of Cox and de Boor", () => {
  for (let d = 1; d <= 5; d++)
    for (let j = 0; j <= d; j++)
      for (const xi of [0, 0.125, 0.5, 0.9]) {
        assert.ok(Math.abs(pieceAt(splinePieces(d), j, xi) - spline(d, d - j + xi)) < 1e-15);
        assert.ok(Math.abs(pieceAt(primitivePieces(d), j, xi) - primitive(d, d - j + xi)) < 1e-15);
      }
});

test("overlaps are the known fractions", () => {
  assert.deepEqual(overlaps(1), fractions([[4, 1]], 6)[0]);
  assert.deepEqual(overlaps(2), fractions([[66, 26, 1]], 120)[0]);
  assert.deepEqual(overlaps(3), fractions([[2416, 1191, 120, 1]], 5040)[0]);
});

test("indices wrap on both sides", () => {
  assert.deepEqual(
    [-17, -8, -1, 0, 7, 8, 25].map((i) => wrapped(i, 8) + 0),
    [7, 0, 7, 0, 7, 0, 1],
  );
  const index = new Int32Array(4);
  indicesOf(1, 8, index);
  assert.deepEqual([...index], [6, 7, 0, 1]);
  indicesOf(0, 1, index);
  assert.deepEqual([...index], [0, 0, 0, 0]);
});

test("degrees that are none are refused", () => {
  assert.throws(() => splinePieces(-1), /degree -1/);
  assert.throws(() => splinePieces(2.5), /degree 2\.5/);
});
