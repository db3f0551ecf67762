import assert from "node:assert/strict";
import { it, test } from "node:test";
import { f32, f64, LaunchError, open } from "isoform";
import { sparseMatrix, type SparseFormat } from "isoform/patterns";
import type { Device } from "../../../src/device/device.js";
import { randomNumbers } from "../../io/table/random-table.js";
import { eachDevice } from "../devices.js";
import { plainRows, randomElements } from "./random-elements.js";

type Round = (x: number) => number;
type Row = readonly (readonly [column: number, value: number])[];

/** What the tests compute with: f64 where the device has it. */
const numbersOf = (device: Device): { real: typeof f64; round: Round } =>
  device.capabilities.f64 ? { real: f64, round: (x) => x } : { real: f32 as unknown as typeof f64, round: Math.fround as Round };

/** The sum of a row in the order of its format, each operation rounded. */
function rowSum(format: SparseFormat, row: Row, x: (column: number) => number, round: Round): number {
  const products = row.map(([column, value]) => round(value * x(column)));
  if (format !== "csr") return products.reduce((a, b) => round(a + b), 0);
  const lanes = Array.from({ length: 8 }, () => 0);
  for (const [k, product] of products.entries()) lanes[k % 8] = round(lanes[k % 8] + product);
  for (const apart of [4, 2, 1]) for (let k = 0; k < apart; k++) lanes[k] = round(lanes[k] + lanes[k + apart]);
  return lanes[0];
}

/** A row with the zeros of its blocks. */
function withZeros(rows: readonly Row[], at: number, side: number): Row {
  const first = at - (at % side);
  const found = new Set(rows.slice(first, first + side).flatMap((row) => row.map(([column]) => Math.floor(column / side))));
  const own = new Map(rows[at]);
  return [...found]
    .sort((a, b) => a - b)
    .flatMap((block) => Array.from({ length: side }, (_, t) => [block * side + t, own.get(block * side + t) ?? 0] as const));
}

const bitsOf = (values: ArrayLike<number>): string => Buffer.from(Float64Array.from(values).buffer).toString("hex");
const vectorOf = (random: () => number, length: number, round: Round): Float64Array =>
  Float64Array.from({ length }, () => round(2 * random() - 1));

const SHAPES = [
  [1, 1],
  [24, 48],
  [120, 72],
  [0, 12],
  [12, 0],
  [0, 0],
] as const;
const STORED = [
  ["csr", undefined],
  ["sell", undefined],
  ["bsr", 2],
  ["bsr", 3],
  ["bsr", 4],
] as const;

await eachDevice("sparse matrices", (device) => {
  const { real, round } = numbersOf(device);

  it("give the sums of their format, bit by bit", async () => {
    const random = randomNumbers(1);
    for (const shape of SHAPES)
      for (const [format, block] of STORED) {
        if (block && shape.some((extent) => extent % block !== 0)) continue;
        const elements = randomElements(random, shape, round);
        const rows = plainRows(elements, round);
        const matrix = sparseMatrix(device, { ...elements, type: real, format, block });
        const name = `${shape} ${format} ${block}`;
        assert.deepEqual([matrix.shape, matrix.nonZeros], [shape, rows.flat().length]);
        const [xs, before] = [vectorOf(random, shape[1], round), vectorOf(random, shape[0], round)];
        for (const [alpha, beta] of [
          [1, 0],
          [-0.75, round(0.3)],
        ]) {
          const [x, y] = [device.from(real, xs), device.from(real, before)];
          const pattern = matrix.apply({ x, y, alpha, beta });
          await pattern.run();
          const expected = rows.map((row, at) => {
            const product = round(alpha * rowSum(format, block ? withZeros(rows, at, block) : row, (column) => xs[column], round));
            return beta === 0 ? product : round(product + round(beta * before[at]));
          });
          assert.equal(bitsOf(await device.queue.read(y)), bitsOf(expected), `${name} ${beta}`);
          pattern.free();
        }
        const sides = 3;
        const many = vectorOf(random, shape[1] * sides, round);
        const all = device.array(real, [shape[0], sides]);
        await matrix.applyAll({ x: device.from(real, many, [shape[1], sides]), y: all }).run();
        const expected = rows.flatMap((row, at) =>
          Array.from({ length: sides }, (_, j) =>
            rowSum(format, block ? withZeros(rows, at, block) : row, (c) => many[c * sides + j], round),
          ),
        );
        assert.equal(bitsOf(await device.queue.read(all)), bitsOf(expected), `${name} for all`);
        matrix.free();
      }
  });

  it("are transposed, and read views with gaps", async () => {
    const random = randomNumbers(2);
    const elements = randomElements(random, [40, 30], round);
    const matrix = sparseMatrix(device, { ...elements, type: real }).transpose();
    assert.deepEqual(matrix.shape, [30, 40]);
    const turned = plainRows({ shape: [30, 40], rows: elements.columns, columns: elements.rows, values: elements.values }, round);
    const xs = vectorOf(random, 80, round);
    const gaps = device.from(real, xs, [40, 2]).slice([0, 40], [1, 2]);
    const y = device.array(real, [30, 1]);
    await matrix.applyAll({ x: gaps, y }).run();
    assert.equal(bitsOf(await device.queue.read(y)), bitsOf(turned.map((row) => rowSum("csr", row, (c) => xs[2 * c + 1], round))));
  });

  it("take other values for the same elements", async () => {
    const random = randomNumbers(6);
    for (const [format, block] of STORED) {
      const elements = randomElements(random, [24, 12], round);
      const matrix = sparseMatrix(device, { ...elements, type: real, format, block });
      const xs = vectorOf(random, 12, round);
      const y = device.array(real, 24);
      const product = matrix.apply({ x: device.from(real, xs), y });
      const next = elements.values.map(() => round(random() - 0.5));
      matrix.update(next);
      await product.run();
      const fresh = sparseMatrix(device, { ...elements, values: next, type: real, format, block });
      assert.deepEqual(matrix.elements, fresh.elements);
      const expected = device.array(real, 24);
      await fresh.apply({ x: device.from(real, xs), y: expected }).run();
      assert.equal(bitsOf(await device.queue.read(y)), bitsOf(await device.queue.read(expected)), format);
      assert.throws(() => matrix.update([1]), /matrix.update: 1 values for \d+ elements/);
    }
  });

  it("solve by their triangles", async () => {
    const random = randomNumbers(3);
    for (const n of [0, 1, 7, 60, 300])
      for (const triangle of ["lower", "upper"] as const)
        for (const unitDiagonal of [false, true]) {
          const given = randomElements(random, [n, n], (value) => round(value / 8));
          for (let row = 0; row < n; row++) {
            given.rows.push(row);
            given.columns.push(row);
            given.values.push(round(3 + random()));
          }
          const rows = plainRows(given, round);
          const bs = vectorOf(random, n, round);
          const expected = new Float64Array(n);
          for (let turn = 0; turn < n; turn++) {
            const row = triangle === "lower" ? turn : n - 1 - turn;
            let [sum, diagonal] = [0, 1];
            for (const [column, value] of rows[row]) {
              if (column === row) diagonal = value;
              else if (triangle === "lower" ? column < row : column > row) sum = round(sum + round(value * expected[column]));
            }
            const rest = round(bs[row] - sum);
            expected[row] = unitDiagonal ? rest : round(rest / diagonal);
          }
          const matrix = sparseMatrix(device, { ...given, type: real });
          const [b, x] = [device.from(real, bs), device.array(real, n)];
          await matrix.solve({ triangle, unitDiagonal, b, x }).run();
          assert.equal(bitsOf(await device.queue.read(x)), bitsOf(expected), `${n} ${triangle} ${unitDiagonal}`);
          await matrix.solve({ triangle, unitDiagonal, b, x: b }).run();
          assert.equal(bitsOf(await device.queue.read(b)), bitsOf(expected), `${n} ${triangle} ${unitDiagonal}, in place`);
        }
  });
});

test("wide levels are launches of their own, and narrow ones share one", async () => {
  const device = await open("wasm");
  device.precision = "strict";
  const n = 30_000;
  // Row i needs row i - 10,000: three levels; then rows that need their neighbours: 100 more.
  const [rows, columns, values]: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < n; i++) {
    for (const [column, value] of [
      [i - 10_000, -0.5],
      [i >= n - 100 ? i - 1 : -1, 0.25],
      [i, 2],
    ])
      if (column >= 0) {
        rows.push(i);
        columns.push(column);
        values.push(value);
      }
  }
  const matrix = sparseMatrix(device, { rows, columns, values });
  const [b, x] = [
    device.from(
      f64,
      Float64Array.from({ length: n }, (_, i) => Math.sin(i)),
    ),
    device.array(f64, n),
  ];
  const pattern = matrix.solve({ triangle: "lower", b, x });
  assert.deepEqual(
    pattern.launches.map(({ kernel }) => kernel.name),
    ["sparseCopy", "sparseLevel", "sparseLevel", "sparseLevel", "sparseLevels"],
  );
  await pattern.run();
  const expected = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    if (i >= 10_000) sum += -0.5 * expected[i - 10_000];
    if (i >= n - 100) sum += 0.25 * expected[i - 1];
    expected[i] = (Math.sin(i) - sum) / 2;
  }
  assert.deepEqual(Array.from(await device.queue.read(x)), Array.from(expected));
  await device.close();
});

test("the cost of a product is 12 bytes an element and 20 a row", async () => {
  const device = await open("js");
  const matrix = sparseMatrix(device, { offsets: [0, 2, 2, 5], columns: [1, 2, 0, 1, 2], values: [1, 2, 3, 4, 5] });
  const [x, y] = [device.from(f64, [1, 2, 3]), device.array(f64, 3)];
  assert.deepEqual(matrix.apply({ x, y }).cost, { flops: 2 * 5 + 3, bytes: 12 * 5 + 20 * 3 });
  assert.deepEqual(matrix.apply({ x, y, beta: 1 }).cost, { flops: 2 * 5 + 9, bytes: 12 * 5 + 28 * 3 });
  await device.close();
});

test("matrices that cannot be are refused", async () => {
  const device = await open("js");
  const one = { rows: [0, 1], columns: [1, 0], values: [1, 2] };
  const refuses = (what: object, message: RegExp): void =>
    assert.throws(
      () => sparseMatrix(device, what as typeof one),
      (error) => error instanceof LaunchError && message.test(error.message),
      String(message),
    );
  refuses({ ...one, columns: [1, 2], shape: [2, 2] }, /columns\[1\] is 2, and there are 2 columns: give whole numbers from 0 to 1/);
  refuses({ ...one, columns: [0, "1"] }, /columns\[1\] is a string, and there are/);
  refuses({ ...one, rows: [0, -1] }, /rows\[1\] is -1/);
  refuses({ ...one, rows: [0, NaN] }, /rows\[1\] is NaN/);
  refuses({ ...one, rows: [0] }, /1 rows, 2 columns and 2 values/);
  refuses({ ...one, offsets: [0, 1, 2] }, /give rows \(a row for each element\) or offsets/);
  refuses({ columns: [0], values: [1] }, /give rows .* or offsets/);
  refuses(
    { offsets: [0, 2, 1, 2], columns: [0, 0], values: [1, 2] },
    /offsets\[2\] is 1 after 2: offsets are whole numbers that do not fall/,
  );
  refuses({ offsets: [1, 2], columns: [0], values: [1] }, /offsets begin with 1: they begin with 0/);
  refuses({ offsets: [0, 3], columns: [0], values: [1] }, /offsets end with 3, and there are 1 values/);
  refuses({ ...one, shape: [2, NaN] }, /for shape, is given .*; give \[rows, columns\]/);
  refuses({ ...one, shape: [2] }, /give \[rows, columns\]/);
  refuses({ ...one, format: "ell" }, /for format, is given .*; give csr, sell, bsr/);
  refuses({ ...one, format: "bsr" }, /for block, is given .*; give the rows of a block/);
  refuses({ ...one, format: "bsr", block: 2, shape: [2, 3] }, /2 x 3 is not a multiple of blocks of 2 x 2/);
  refuses({ ...one, block: 2 }, /a block of 2 is for the format bsr/);
  refuses({ ...one, values: ["1", 2] }, /values\[0\] is .*: give numbers/);
  refuses({ ...one, value: [1] }, /sparseMatrix has no option "value"/);
  assert.throws(() => sparseMatrix(one as never, one), /give the device first/);

  const matrix = sparseMatrix(device, { rows: [0, 1, 1], columns: [0, 0, 2], values: [1, 2, 3] });
  const [x, y] = [device.array(f64, 3), device.array(f64, 2)];
  assert.throws(() => matrix.apply({ x: y, y }), /matrix.apply of 2 x 3: x has the shape \[2\]: give \[3\]/);
  assert.throws(() => matrix.apply({ x: device.array(f32, 3), y }), /x is of f32 and the matrix of f64/);
  assert.throws(() => matrix.applyAll({ x, y }), /x has the shape \[3\]: give \[3, right sides\]/);
  assert.throws(() => matrix.apply({ x, y: x.slice([0, 2]) }), /y and x share memory/);
  assert.throws(() => matrix.solve({ triangle: "lower", b: y, x: y }), /2 rows and 3 columns: a triangle is square/);
  const square = sparseMatrix(device, { ...one, shape: [2, 2] });
  assert.throws(() => square.solve({ triangle: "lower", b: y, x: y }), /the diagonal element of row 0 is 0 or missing/);
  assert.throws(() => square.solve({ triangle: "both" as never, b: y, x: y }), /give "lower" or "upper"/);
  await device.close();
});
