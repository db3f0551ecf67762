import assert from "node:assert/strict";
import { test } from "node:test";
import { f32, f64, i32, kernel, open, range, view, type Device, type Kernel } from "../../../src/index.js";

/* Vectors of elements that go side by side through the loops of a kernel. */

const params = { a: view(f64, 2), b: view(f64, 2), c: view(f64, 2), turns: i32 };

/** Jumps rows of b; what all elements of a row read, a[i][k], is common. */
const product = kernel("product", params, ({ a, b, c, turns }, i, j) => {
  let value = 0;
  for (let k = 0; k < turns; k++) value += a[i][k] * b[k][j];
  c[i][j] = value;
});
/** Carries two values, reads what it has written, chooses, and counts elements. */
const march = kernel("march", params, ({ a, b, c, turns }, i, j) => {
  let [last, least] = [b[0][j], 1e300];
  for (let k = 1; k < turns; k++) {
    const here = b[k][j] * a[i][k] + (b[k][j] > 0.5 ? last : j);
    least = Math.min(least, here);
    last = 0.5 * (here + last);
    c[i][j] = c[i][j] + last;
  }
  c[i][j] = c[i][j] - least;
});
const nested = kernel("nested", params, ({ a, b, c, turns }, i, j) => {
  let sum = 0;
  for (let k = 0; k < turns; k++) {
    let row = 0;
    for (let l = k; l >= 0; l--) row += b[l][j] * a[i][l];
    sum += row * a[i][k];
  }
  c[i][j] = sum;
});
/** Reads what it wrote a turn ago. */
const recurrence = kernel("recurrence", params, ({ a, b, c, turns }, j) => {
  for (let k = 1; k < turns; k++) c[k][j] = c[k - 1][j] * a[1][k] + b[k][j];
  for (let k = turns - 2; k > 0; k--) c[k][j] = c[k][j] - 0.5 * c[k + 1][j];
});
const singles = kernel("singles", { a: view(f32, 2), b: view(f32, 2), c: view(f32, 2), turns: i32 }, ({ a, b, c, turns }, i, j) => {
  let value = Math.fround(0);
  for (let k = 0; k < turns; k++) value = Math.fround(value + Math.fround(a[i][k] * b[k][j]));
  c[i][j] = value;
});
/** All leave at the same turn, or each at its own. */
const leaving = kernel("leaving", params, ({ a, b, c, turns }, i, j) => {
  let value = 0;
  for (let k = 0; k < turns; k++) {
    if (a[i][k] > 0.9) break;
    value += b[k][j];
  }
  for (let k = 0; k < turns; k++) {
    if (b[k][j] > 0.9) break;
    value += a[i][k];
  }
  c[i][j] = value;
});
/** Turns of each element's own. */
const ragged = kernel("ragged", params, ({ a, b, c, turns }, i, j) => {
  let value = b[0][j];
  const count = j % (turns + 1);
  for (let k = 0; k < count; k++) value = value * 0.5 + a[i][1];
  c[i][j] = value;
});

const [ROWS, MOST] = [5, 69];
const EDGES = [NaN, Infinity, -Infinity, -0, 5e-324];
const noise = (n: number): number => Math.abs(Math.sin(12.9898 * (n + 1)) * 43758.5453) % 1;

interface Case {
  readonly columns: number;
  readonly turns: number;
  readonly edges?: boolean;
  readonly rows?: number;
  readonly precision: "strict" | "fast";
}

async function outcome(device: Device, k: unknown, { columns, turns, edges = false, rows = ROWS, precision }: Case) {
  const type = (k === singles ? f32 : f64) as typeof f64;
  const values = (length: number, from: number): number[] =>
    Array.from({ length }, (_, n) => (edges && n % 7 === 3 ? EDGES[(n + from) % EDGES.length] : noise(n + from)));
  const a = device.from(type, values(rows * 12, 1), k === tall ? [12, rows] : [rows, 12]);
  const b = device.from(type, values(12 * columns, 500), [12, columns]);
  const c = device.from(type, values(Math.max(12, rows) * columns, 900), [Math.max(12, rows), columns]);
  const policy = k === recurrence ? range(columns) : range([1, rows], [0, columns]);
  const launch = device.prepare(k as Kernel<typeof params>, { a, b, c, turns }, policy, { precision });
  launch.submit();
  const result = [...(await device.queue.read(c))];
  const remarks = launch.remarks.join("\n");
  for (const used of [launch, a, b, c]) used.free();
  return { result, remarks };
}

const [js, wasm] = await Promise.all([open("js"), open("wasm")]);
// Code that checks indices goes element by element.
for (const device of [js, wasm]) device.checked = false;
test.after(() => Promise.all([js.close(), wasm.close()]));

for (const [k, vectors] of [
  [product, 8],
  [singles, 8],
  [march, 4],
  [nested, 8],
  [recurrence, 8],
] as const)
  test(`${k.name}: the bits of js in strict mode, near them in fast mode`, async () => {
    for (const columns of [1, 2, 3, 7, 8, 15, 16, 17, 31, 33, MOST])
      for (const turns of [0, 1, 2, 12]) {
        const where = `${columns} columns, ${turns} turns`;
        for (const edges of [false, true]) {
          const strict = { columns, turns, edges, precision: "strict" } as const;
          const { result, remarks } = await outcome(wasm, k, strict);
          assert.match(remarks, new RegExp(`${vectors} vectors side by side`));
          assert.deepEqual(result, (await outcome(js, k, strict)).result, where);
        }
        const [fast, near] = [
          await outcome(wasm, k, { columns, turns, precision: "fast" }),
          await outcome(js, k, { columns, turns, precision: "fast" }),
        ];
        fast.result.forEach((value, n) => assert.ok(Math.abs(value - near.result[n]) <= (k === singles ? 1e-5 : 1e-12), `${where}: ${n}`));
      }
  });

/** Two values to carry, nested loops, other rows than its own, and more reads that are contiguous along rows than along columns. */
const tall = kernel("tall", params, ({ a, b, c, turns }, i, j) => {
  let [sum, most] = [a[0][i], a[1][i]];
  for (let k = 0; k < turns; k++) {
    for (let l = 0; l < b.length; l++) sum += b[l][j] * a[k][i - 1];
    most = Math.max(most, sum * a[k][i]);
  }
  c[i][j] = sum - most;
});

test("rows that read the same go in pairs", async () => {
  for (const k of [product, singles, tall])
    for (const [rows, pairs] of [
      [65, true],
      [71, true],
      [66, false],
      [9, false],
    ] as const)
      for (const columns of [1, 6, 16, MOST]) {
        const strict = { columns, turns: 12, edges: columns === 6, rows, precision: "strict" } as const;
        const { result, remarks } = await outcome(wasm, k, strict);
        assert.equal(/axis 0: two elements at a time/.test(remarks), pairs, `${k.name}, ${rows} rows: ${remarks}`);
        assert.deepEqual(result, (await outcome(js, k, strict)).result, `${k.name}, ${rows} rows, ${columns} columns`);
      }
});

test("elements that leave a loop at different turns do not share it", async () => {
  for (const k of [leaving, ragged])
    for (const columns of [1, 16, MOST]) {
      const strict = { columns, turns: 12, precision: "strict" } as const;
      const { result, remarks } = await outcome(wasm, k, strict);
      assert.doesNotMatch(remarks, /side by side/);
      assert.deepEqual(result, (await outcome(js, k, strict)).result);
    }
});
