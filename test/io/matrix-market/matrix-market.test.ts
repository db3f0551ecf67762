import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { after, it } from "node:test";
import { readMatrixMarket, writeMatrixMarket, type MarketSymmetry, type MatrixMarketOptions } from "../../../src/io/index.js";
import { randomNumbers } from "../table/random-table.js";
import { denseOf, randomCoordinates } from "./random-matrix.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-mtx-"));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, "a.mtx");

const SYMMETRIES: readonly MarketSymmetry[] = ["general", "symmetric", "skew-symmetric", "hermitian"];

it("matrices come back bit by bit", async () => {
  const random = randomNumbers(5);
  for (let n = 0; n < 60; n++) {
    const symmetry = SYMMETRIES[n % 4];
    const isComplex = symmetry === "hermitian" || random() < 0.4;
    const size = Math.floor(random() * 7);
    const matrix = randomCoordinates(random, [size, symmetry === "general" ? Math.floor(random() * 7) : size], symmetry, isComplex);
    const dense = denseOf(matrix);
    await writeMatrixMarket(path, matrix, { symmetry, comments: [" made up", ""] });
    const read = await readMatrixMarket(path);
    assert.ok(read.format === "coordinate");
    assert.deepEqual(
      [read.field, read.symmetry, read.comments, read.shape],
      [isComplex ? "complex" : "real", symmetry, [" made up", ""], matrix.shape],
    );
    if (symmetry === "general") assert.deepEqual([read.rows, read.columns, read.values], [matrix.rows, matrix.columns, matrix.values]);
    assert.deepEqual(denseOf(read), dense);
    await writeMatrixMarket(path, dense, { symmetry });
    const array = await readMatrixMarket(path);
    assert.equal(array.format, "array");
    // Elements that the coordinates leave out are 0 on both sides of the diagonal, and one becomes -0 here.
    const signless = (data?: ArrayLike<number>) => Array.from(data ?? [], (value) => (symmetry === "general" ? value : value + 0));
    assert.deepEqual([array.values, array.imaginary].map(signless), [dense.values, dense.imaginary].map(signless));
  }
});

it("fields, special values and compressed files", async () => {
  const matrix = { shape: [2, 3], rows: [0, 1, 1], columns: [2, 0, 0], values: [NaN, -Infinity, Infinity] } as const;
  await writeMatrixMarket(path, matrix);
  assert.equal(readFileSync(path, "utf8"), "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 3 nan\n2 1 -inf\n2 1 inf\n");
  assert.deepEqual((await readMatrixMarket(path)).values, Float64Array.from(matrix.values));
  await writeMatrixMarket(path, matrix, { field: "pattern" });
  assert.deepEqual((await readMatrixMarket(path)).values, Float64Array.of(1, 1, 1));
  await writeMatrixMarket(path, { ...matrix, values: [3, -(2 ** 53) + 1, 0] }, { field: "integer" });
  const read = await readMatrixMarket(path);
  assert.deepEqual([read.field, read.values], ["integer", Float64Array.of(3, -(2 ** 53) + 1, 0)]);
  writeFileSync(path, gzipSync("%%matrixmarket MATRIX Coordinate DOUBLE General\r\n% c\n\n 1\t1 1\n\n1 1 +1.5e0\n"));
  assert.deepEqual((await readMatrixMarket(path)).values, Float64Array.of(1.5));
});

const HEAD = "%%MatrixMarket matrix coordinate real general\n";

it("other files are refused with their line", async () => {
  const cases: readonly (readonly [string, number, RegExp])[] = [
    ["", 1, /the file ends before its header/],
    ["1 1 1\n", 1, /this is not a file of the Matrix Market/],
    ["%%MatrixMarket matrix coordinate real\n", 1, /this is not a file/],
    ["%%MatrixMarket vector coordinate real general\n", 1, /the object is "vector": isoform reads a matrix/],
    ["%%MatrixMarket matrix csr real general\n", 1, /the format is "csr": the format knows coordinate, array/],
    ["%%MatrixMarket matrix array pattern general\n", 1, /an array has values/],
    [HEAD, 2, /the file ends before the size/],
    [`${HEAD}% c\n2 2\n`, 3, /the size has 2 numbers instead of 3: rows, columns, elements/],
    [`${HEAD}2 -2 1\n`, 2, /columns: "-2" is not a whole number from 0 to 2147483647/],
    [`${HEAD}2 2 1\n3 1 1\n`, 3, /row: "3" is not a whole number from 1 to 2/],
    [`${HEAD}2 2 1\n1 0 1\n`, 3, /column: "0" is not/],
    [`${HEAD}2 2 1\n1 1\n`, 3, /the element has 2 words instead of 3/],
    [`${HEAD}2 2 1\n1 1 1.5x\n`, 3, /"1.5x" is not a number/],
    [`${HEAD}2 2 1\n1 1 0x10\n`, 3, /"0x10" is not a number/],
    [`${HEAD}2 2 2\n1 1 1\n`, 4, /the file ends after 1 of 2 elements/],
    [`${HEAD}2 2 1\n1 1 1\n\n2 2 2\n`, 5, /the size promises 1 elements, and this is one more/],
    [`${HEAD.replace("general", "symmetric")}2 3 1\n`, 2, /a matrix of 2 x 3 cannot be symmetric/],
    [`${HEAD.replace("general", "symmetric")}2 2 1\n1 2 1\n`, 3, /has its lower triangle in the file, and row 1 is above column 2/],
    [`${HEAD.replace("general", "skew-symmetric")}2 2 1\n1 1 1\n`, 3, /has zeros on its diagonal/],
    [
      `${HEAD.replace("real general", "complex hermitian")}1 1 1\n1 1 2 5\n`,
      3,
      /is real on its diagonal: row 1, column 1 has the imaginary part 5/,
    ],
    ["%%MatrixMarket matrix array complex hermitian\n1 1\n2 nan\n", 3, /is real on its diagonal/],
    [`${HEAD.replace("real", "integer")}1 1 1\n1 1 9007199254740993\n`, 3, /is not a whole number of up to 2\^53/],
  ];
  for (const [text, line, message] of cases) {
    writeFileSync(path, text);
    await assert.rejects(readMatrixMarket(path), (error: Error) => {
      assert.match(error.message, message);
      assert.ok(error.message.startsWith(`${path}:${line}: `), error.message);
      return true;
    });
  }
  await assert.rejects(readMatrixMarket(join(folder, "none.mtx")), /none\.mtx cannot be read: /);
});

it("matrices that cannot be written are refused", async () => {
  const one = { shape: [2, 2], rows: [1], columns: [0], values: [1] } as const;
  const cases: readonly (readonly [object, MatrixMarketOptions, RegExp])[] = [
    [{ ...one, rows: [2] }, {}, /element 0 has the row 2, and there are 2, counted from 0/],
    [{ ...one, columns: [0.5] }, {}, /element 0 has the column 0.5/],
    [{ ...one, values: [] }, {}, /1 rows, 1 columns and 0 values/],
    [{ ...one, shape: [2] }, {}, /its shape is/],
    [one, { symmetry: "symmetric" }, /row 1, column 0 and its image across the diagonal are not symmetric/],
    [{ ...one, values: [0.5] }, { field: "integer" }, /0\.5 is not a whole number of up to 2\^53: ask for real/],
    [{ shape: [2, 2], values: [1, 2, 3] }, {}, /it has 3 values for 2 x 2 elements/],
    [{ shape: [2, 2], values: [1, 2, 3, 4] }, { symmetry: "skew-symmetric" }, /row 0, column 0 and its image/],
    [{ ...one, rows: [1, 1], columns: [0, 0], values: [1, 1] }, { symmetry: "symmetric" }, /row 1, column 0 is given twice/],
    [{ ...one, imaginary: [1] }, { field: "real" }, /imaginary parts, which the field real leaves out/],
    [{ ...one, values: ["1"] }, {}, /values\[0\] is a string: give numbers/],
    [{ shape: [1, 1], values: new BigInt64Array(1) }, {}, /values\[0\] is a bigint: give numbers/],
    [{ shape: [1, 2], values: Array(2).fill(1, 1) }, {}, /values\[0\] is nothing: give numbers/],
    [{ ...one, columns: undefined }, {}, /its columns are nothing: give a list of numbers/],
    [{ ...one, rows: undefined, columns: undefined }, {}, /its rows are nothing: give a list of numbers/],
    [{ ...one, rows: null }, {}, /its rows are null: give a list/],
    [{ shape: [2, 2], rows: [1], columns: [0] }, {}, /its values are nothing: give a list of numbers/],
    [null as never, {}, /the matrix is null/],
    [
      { shape: [1, 1], values: [NaN] },
      { symmetry: "skew-symmetric" },
      /row 0, column 0 and its image across the diagonal are not skew-symmetric/,
    ],
    [{ ...one, columns: [1], values: [NaN] }, { symmetry: "skew-symmetric" }, /row 1, column 1 and its image/],
    [{ shape: [1, 1], values: [1], imaginary: [NaN] }, { symmetry: "hermitian" }, /row 0, column 0 and its image/],
    [one, { comments: "a" as never }, /its comments are a string: give a list of lines/],
    [one, { comments: ["a\nb"] }, /a comment is not one line/],
    [one, { field: "f64" as never }, /the field is .*give real, integer, pattern, complex/],
  ];
  for (const [matrix, options, message] of cases)
    await assert.rejects(writeMatrixMarket(path, matrix as typeof one, options), (error: Error) => {
      assert.match(error.message, message);
      assert.equal(error.message.split(" cannot be written: ").length, 2, error.message);
      return true;
    });
  // Products of places and extents beyond 2^53 are not the same place.
  const far = { shape: [2e8, 2e8], rows: [1e8, 1, 1e8, 2], columns: [1, 1e8, 2, 1e8], values: [1, 1, 2, 2] } as const;
  await writeMatrixMarket(path, far, { symmetry: "symmetric" });
  assert.deepEqual([...(await readMatrixMarket(path)).values], [1, 1, 2, 2]);
  await assert.rejects(writeMatrixMarket(path, one, { symetry: "general" } as never), /has no option "symetry"/);
});
