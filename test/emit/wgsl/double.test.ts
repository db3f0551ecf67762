import assert from "node:assert/strict";
import test from "node:test";
import { WgslHelpers } from "../../../src/emit/wgsl/helpers.js";
import { noiseValue } from "../../../src/testing/values.js";
import { model, type Arithmetic } from "./model.js";

type Pair = readonly [number, number];

const DEVICE: Arithmetic = { quotient: (a, b) => Math.fround(a / b), root: (a) => Math.fround(Math.sqrt(a)) };
const bits = new BigInt64Array(1);
const double = new Float64Array(bits.buffer);

/** a b + c rounded once: rounded to odd in f64, which has the bits to spare, and then to f32. */
function rounded(a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  const part = sum - product;
  const error = product - (sum - part) + (c - part);
  double[0] = sum;
  if (error !== 0 && (bits[0] & 1n) === 0n) bits[0] += error > 0 === sum > 0 ? 1n : -1n;
  return Math.fround(double[0]);
}

const held = (x: number): Pair => [Math.fround(x), Math.fround(x - Math.fround(x))];
const value = ([high, low]: Pair): number => high + low;
const operand = (k: number): Pair => held((noiseValue(k) - 0.5) * 2 ** Math.floor(noiseValue(k + 0.5) * 60 - 30));

test("a sum of f64 rounded to odd rounds once to f32", () => {
  assert.equal(rounded(1 + 2 ** -12, 1 + 2 ** -12, 2 ** -80), Math.fround(1 + 2 ** -11 + 2 ** -23));
  assert.equal(rounded(1 + 2 ** -12, 1 - 2 ** -12, -(2 ** -80)), 1 - 2 ** -24);
});

for (const [how, fma, arithmetic] of [
  ["an fma that rounds once", true, { ...DEVICE, fma: rounded }],
  ["sums and products", false, DEVICE],
] as const) {
  const helpers = new WgslHelpers({ fma });
  for (const name of ["exact_sum", "exact_product", "add_f64", "sub_f64", "mul_f64", "fma_f64"] as const) helpers.use(name);
  const functions = model(String(helpers), arithmetic) as unknown as Record<string, (...args: (number | Pair)[]) => Pair>;

  test(`errors of f32 are exact by ${how}`, () => {
    for (let k = 0; k < 50_000; k++) {
      const [a, b] = [operand(k)[0], operand(k + 0.25)[0]];
      const [product, lost] = functions.exact_product(a, b);
      assert.deepEqual([product, product + lost], [Math.fround(a * b), a * b], `${a} * ${b}`);
      const near = Math.fround(a * (1 + (noiseValue(k + 0.1) - 0.5) * 2 ** -10));
      const [sum, rest] = functions.exact_sum(a, -near);
      assert.deepEqual([sum, sum + rest], [Math.fround(a - near), a - near], `${a} - ${near}`);
    }
  });

  test(`f64 has 44 bits by ${how}`, () => {
    const close = (name: string, a: Pair, b: Pair, exact: number): void => {
      const error = Math.abs(value(functions[name](a, b)) - exact);
      assert.ok(error <= 2 ** -44 * Math.abs(exact), `${name}(${value(a)}, ${value(b)}) is off by ${error / Math.abs(exact)}`);
    };
    for (let k = 0; k < 50_000; k++) {
      const a = operand(k);
      // Every third pair nearly cancels.
      const b = k % 3 === 0 ? held(-value(a) * (1 + (noiseValue(k + 0.2) - 0.5) * 2 ** -20)) : operand(k + 50_000);
      close("add_f64", a, b, value(a) + value(b));
      close("sub_f64", a, b, value(a) - value(b));
      close("mul_f64", a, b, value(a) * value(b));
      const c = held(-value(a) * value(b) * (0.5 + noiseValue(k + 0.3)));
      const error = Math.abs(value(functions.fma_f64(a, b, c)) - (value(a) * value(b) + value(c)));
      assert.ok(error <= 2 ** -44 * Math.abs(value(a) * value(b)), `${value(a)} * ${value(b)} + ${value(c)} is off by ${error}`);
    }
  });

  test(`what f32 has at its ends f64 has by ${how}`, () => {
    const { add_f64, mul_f64 } = functions;
    const one: Pair = [1, 0];
    const most: Pair = [3.4028234663852886e38, 0];
    assert.deepEqual(add_f64([Infinity, 0], one), [Infinity, 0]);
    assert.deepEqual(add_f64(most, most), [Infinity, 0]);
    assert.deepEqual(mul_f64(most, [-2, 0]), [-Infinity, 0]);
    assert.deepEqual(mul_f64([NaN, 0], one), [NaN, 0]);
    assert.deepEqual(add_f64([-0, 0], [-0, 0]), [-0, 0]);
    assert.deepEqual(mul_f64([-0, 0], one), [-0, 0]);
  });
}
