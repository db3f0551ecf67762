import assert from "node:assert/strict";
import { it, test } from "node:test";
import { f32, f64, i32, LaunchError, open, type View } from "isoform";
import { gemm, type Gemm } from "isoform/patterns";
import type { Device } from "../../src/device/device.js";
import { noiseValue } from "../../src/testing/values.js";
import { eachDevice } from "./devices.js";

/** What the tests compute with: f64 where the device has it. */
const numbersOf = (device: Device) =>
  device.capabilities.f64
    ? { real: f64, round: (x: number): number => x }
    : { real: f32 as unknown as typeof f64, round: Math.fround as (x: number) => number };

const noiseOf = (count: number, key: number, round: (x: number) => number): Float64Array =>
  Float64Array.from({ length: count }, (_, k) => round(2 * noiseValue(k + 0.31 * key) - 1));

interface Sizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** Plain loops, each operation rounded. */
function plainProduct(a: ArrayLike<number>, b: ArrayLike<number>, { m, n, k }: Sizes, round: (x: number) => number): Float64Array {
  const c = new Float64Array(m * n);
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let t = 0; t < k; t++) sum = round(sum + round(a[i * k + t] * b[t * n + j]));
      c[i * n + j] = sum;
    }
  return c;
}

/** The elements with the bits of -0 and NaN. */
const bitsOf = (values: ArrayLike<number>): string => Buffer.from(Float64Array.from(values).buffer).toString("hex");

async function product(device: Device, what: Gemm): Promise<ArrayLike<number>> {
  const pattern = gemm(device, what);
  await pattern.run();
  pattern.free();
  return device.queue.read(what.c);
}

await eachDevice("products by cuBLAS", (device) => {
  const { real, round } = numbersOf(device);
  const square = () => device.array(real, [4, 4]);

  if (device.backend !== "cuda")
    return it("are refused by name", () => {
      const what = { a: square(), b: square(), c: square(), library: "cublas" } as const;
      assert.throws(
        () => gemm(device, what),
        new LaunchError(`gemm with library "cublas" on ${device.name}: cuBLAS multiplies on CUDA devices: leave out library`),
      );
    });

  it("are refused in strict mode", () => {
    assert.throws(
      () => gemm(device, { a: square(), b: square(), c: square(), library: "cublas" }, { precision: "strict" }),
      new LaunchError('gemm with library "cublas" in strict mode: the order of its sums is its own: use fast mode, or leave out library'),
    );
  });

  for (const transpose of [{}, { a: true }, { b: true }, { a: true, b: true }])
    it(`agree with the plain loops, of batches, transposed ${Object.keys(transpose).join(" and ") || "none"}`, async (t) => {
      for (const [m, n, k] of [
        [3, 5, 7],
        [65, 33, 130],
        [1, 9, 4],
        [8, 1, 16],
      ])
        for (const beta of [0, 0.5]) {
          const [a, b, before] = [noiseOf(2 * m * k, 1, round), noiseOf(k * n, 2, round), noiseOf(2 * m * n, 3, round)];
          const turned = (data: Float64Array, rows: number, columns: number) =>
            data.map((_, at) => data[at - (at % (rows * columns)) + (at % rows) * columns + (Math.floor(at / rows) % columns)]);
          const what: Gemm = {
            a: transpose.a ? device.from(real, turned(a, m, k), [2, k, m]) : device.from(real, a, [2, m, k]),
            b: transpose.b ? device.from(real, turned(b, k, n), [n, k]) : device.from(real, b, [k, n]),
            c: device.from(real, before, [2, m, n]),
            alpha: 2,
            beta,
            transpose,
            library: "cublas",
          };
          let pattern;
          try {
            pattern = gemm(device, what, { precision: "fast" });
          } catch (error) {
            if (error instanceof LaunchError && error.message.includes("libcublas was not found")) return t.skip(error.message);
            throw error;
          }
          assert.match(pattern.launches[0].remarks.join(), /a product by cuBLAS/);
          await pattern.run();
          const found = await device.queue.read(what.c);
          for (let batch = 0; batch < 2; batch++) {
            const plain = plainProduct(a.subarray(batch * m * k), b, { m, n, k }, (x) => x);
            plain.forEach((sum, at) => {
              const wanted = 2 * sum + (beta === 0 ? 0 : beta * before[batch * m * n + at]);
              assert.ok(Math.abs(found[batch * m * n + at] - wanted) <= 1e-12 * k, `${found[batch * m * n + at]}, not ${wanted}`);
            });
          }
          pattern.free();
        }
    });

  it("may be captured in a graph", async (t) => {
    const what = { a: device.from(real, noiseOf(16, 1, round), [4, 4]), b: device.from(real, noiseOf(16, 2, round), [4, 4]), c: square() };
    let pattern;
    try {
      pattern = gemm(device, { ...what, library: "cublas" }, { precision: "fast" });
    } catch (error) {
      return t.skip(String(error));
    }
    const graph = device.queue.capture(() => pattern.submit());
    device.queue.submit(graph);
    const found = await device.queue.read(what.c);
    const plain = plainProduct(noiseOf(16, 1, round), noiseOf(16, 2, round), { m: 4, n: 4, k: 4 }, (x) => x);
    plain.forEach((sum, at) => assert.ok(Math.abs(found[at] - sum) < 1e-14));
  });
});

it("another library than cuBLAS is refused", async () => {
  const device = await open("js");
  const square = () => device.array(f64, [4, 4]);
  assert.throws(
    () => gemm(device, { a: square(), b: square(), c: square(), library: "mkl" as never }),
    /gemm has no library "mkl": give "cublas"/,
  );
  await device.close();
});

await eachDevice("products of matrices", (device) => {
  const { real, round } = numbersOf(device);

  it("have the bits of the plain loops", async () => {
    for (const [m, n, k] of [
      [1, 1, 1],
      [3, 5, 7],
      [64, 32, 64],
      [65, 33, 130],
      [40, 70, 5],
      [4, 4, 0],
    ]) {
      const [a, b] = [noiseOf(m * k, 1, round), noiseOf(k * n, 2, round)];
      const c = device.array(real, [m, n]);
      const found = await product(device, { a: device.from(real, a, [m, k]), b: device.from(real, b, [k, n]), c });
      assert.equal(bitsOf(found), bitsOf(plainProduct(a, b, { m, n, k }, round)), `${m} ${n} ${k}`);
    }
  });

  it("take transposed matrices, factors and what the target holds", async () => {
    const sizes = { m: 18, n: 35, k: 9 };
    const { m, n, k } = sizes;
    const [a, b, before] = [noiseOf(m * k, 3, round), noiseOf(k * n, 4, round), noiseOf(m * n, 5, round)];
    const sums = plainProduct(a, b, sizes, round);
    const turned = (data: Float64Array, rows: number, columns: number) =>
      data.map((_, at) => data[(at % rows) * columns + Math.floor(at / rows)]);
    for (const [alpha, beta] of [
      [1, 0],
      [-0.75, 0.3],
      [2, 1],
    ].map((pair) => pair.map(round)))
      for (const transpose of [{}, { a: true }, { b: true }, { a: true, b: true }]) {
        const left = transpose.a ? device.from(real, turned(a, m, k), [k, m]) : device.from(real, a, [m, k], { layout: "left" });
        const right = transpose.b ? device.from(real, turned(b, k, n), [n, k]) : device.from(real, b, [k, n]);
        const c = device.from(real, before, [m, n]);
        const found = await product(device, { a: left, b: right, c, alpha, beta, transpose });
        const expected = sums.map((sum, at) => (beta === 0 ? round(alpha * sum) : round(round(alpha * sum) + round(beta * before[at]))));
        assert.equal(bitsOf(found), bitsOf(expected), `${alpha} ${beta} ${JSON.stringify(transpose)}`);
      }
  });

  it("go over a batch, with one matrix for each or for all", async () => {
    const sizes = { m: 5, n: 9, k: 6 };
    const { m, n, k } = sizes;
    const [a, b] = [noiseOf(3 * m * k, 6, round), noiseOf(3 * k * n, 7, round)];
    for (const shared of [false, true]) {
      const right = shared ? device.from(real, b.subarray(0, k * n), [k, n]) : device.from(real, b, [3, k, n]);
      const c = device.array(real, [3, m, n]);
      const found = Array.from(await product(device, { a: device.from(real, a, [3, m, k]), b: right, c }));
      const expected = [0, 1, 2].flatMap((batch) => {
        const at = shared ? 0 : batch * k * n;
        return Array.from(plainProduct(a.subarray(batch * m * k, (batch + 1) * m * k), b.subarray(at, at + k * n), sizes, round));
      });
      assert.equal(bitsOf(found), bitsOf(expected), String(shared));
    }
  });
});

test("zeros after the end of matrices meet no number of theirs", async () => {
  const device = await open("wasm");
  const [a, b] = [device.from(f64, [Infinity, 1, 2, NaN, 3, -0], [2, 3]), device.from(f64, [1, 0, 2], [3, 1])];
  assert.deepEqual(Array.from(await product(device, { a, b, c: device.array(f64, [2, 1]) })), [Infinity, NaN]);
  const c = device.from(f64, [NaN], [1, 1]);
  const one = device.from(f64, [2], [1, 1]);
  assert.deepEqual(Array.from(await product(device, { a: one, b: one, c })), [4]);
  await device.close();
});

test("matrices that do not fit are refused", async () => {
  const device = await open("js");
  const of = (...shape: number[]): View<"f64"> => device.array(f64, shape);
  const [a, b, c] = [of(2, 3), of(3, 4), of(2, 4)];
  const square = of(3, 3);
  const cases: readonly (readonly [Gemm, RegExp])[] = [
    [{ a: b, b: a, c }, /gemm of 3 x 4 and 2 x 3 into 2 x 4: give a of m x k, b of k x n and c of m x n, or transpose/],
    [{ a, b, c, transpose: { a: true } }, /gemm of 3 x 2 \(transposed\) and 3 x 4 into 2 x 4/],
    [{ a: square, b: of(3, 3), c: square }, /gemm: c and a share memory, and c is written: give it memory of its own/],
    [{ a, b: device.array(f32, [3, 4]), c }, /gemm: b is of f32 and c of f64: types must be equal/],
    [{ a: device.array(i32, [2, 3]) as never, b, c }, /gemm: a is a view of i32: give f64 or f32/],
    [{ a: of(6), b, c }, /gemm: a has shape \[6\]: give a view of rank 2, or of rank 3 for a batch/],
    [{ a: of(2, 2, 3), b, c: of(5, 2, 4) }, /gemm: a has 2 matrices and c 5: give as many, or a view of rank 2 for all/],
    [{ a, b, c, alpha: "1" as never }, /gemm: alpha is .*: give numbers/],
    [{ a, b, c, transpose: { a: 1 as never } }, /gemm, for transpose.a, is given .*1; give true or false/],
  ];
  for (const [what, message] of cases)
    assert.throws(
      () => gemm(device, what),
      (error) => error instanceof LaunchError && message.test(error.message),
      String(message),
    );
  assert.throws(() => gemm(device, { a, b, c, gamma: 1 } as never), /gemm has no option "gamma"/);
  await gemm(device, { a: of(0, 3), b, c: of(0, 4) }).run();
  await device.close();
});
