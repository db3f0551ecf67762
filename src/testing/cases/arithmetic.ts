import { range } from "../../device/launch/policy.js";
import type { Device } from "../../device/device.js";
import { copysign, mulhi, powi } from "../../kernel/declare/builtins.js";
import { kernel, type Kernel } from "../../kernel/declare/kernel.js";
import { f32, i32, u32, view, type ScalarToken } from "../../kernel/declare/params.js";
import type { NumberType } from "../../ir/types.js";
import { expectSame, same } from "../expect.js";
import { ofType, type Rounding } from "../real.js";
import { conformanceCase, reals, type ConformanceCase } from "../case.js";
import { edgesOn, F64_EDGES, I32_EDGES, make, pairs, U32_EDGES } from "../values.js";

const floats = ofType((real) =>
  kernel("floats", { a: view(real), b: view(real), o: view(real, 2) }, ({ a, b, o }, i) => {
    o[0][i] = a[i] + b[i];
    o[1][i] = a[i] - b[i];
    o[2][i] = a[i] * b[i];
    o[3][i] = a[i] / b[i];
    o[4][i] = a[i] % b[i];
    o[5][i] = Math.min(a[i], b[i]);
    o[6][i] = Math.max(a[i], b[i]);
    o[7][i] = -a[i];
    o[8][i] = Math.abs(a[i]);
    o[9][i] = Math.sqrt(a[i]);
    o[10][i] = Math.floor(a[i]);
    o[11][i] = Math.ceil(a[i]);
    o[12][i] = Math.trunc(a[i]);
    o[13][i] = Math.round(a[i]);
    o[14][i] = Math.sign(a[i]);
    o[15][i] = a[i] * b[i] + a[i];
    o[16][i] = a[i] * 0.1 - b[i];
  }),
);
const floatsOf =
  (r: Rounding) =>
  (a: number, b: number): number[] => [
    r(a + b),
    r(a - b),
    r(a * b),
    r(a / b),
    r(a % b),
    Math.min(a, b),
    Math.max(a, b),
    -a,
    Math.abs(a),
    r(Math.sqrt(a)),
    Math.floor(a),
    Math.ceil(a),
    Math.trunc(a),
    Math.round(a),
    Math.sign(a),
    r(r(a * b) + a),
    r(r(a * r(0.1)) - b),
  ];

const integers = kernel("integers", { a: view(i32), b: view(i32), o: view(i32, 2) }, ({ a, b, o }, i) => {
  o[0][i] = (a[i] + b[i]) | 0;
  o[1][i] = (a[i] - b[i]) | 0;
  o[2][i] = Math.imul(a[i], b[i]);
  o[3][i] = (a[i] / b[i]) | 0;
  o[4][i] = (a[i] % b[i]) | 0;
  o[5][i] = Math.min(a[i], b[i]);
  o[6][i] = Math.max(a[i], b[i]);
  o[7][i] = -a[i] | 0;
  o[8][i] = Math.abs(a[i]) | 0;
  o[9][i] = ~a[i];
  o[10][i] = a[i] & b[i];
  o[11][i] = a[i] | b[i];
  o[12][i] = a[i] ^ b[i];
  o[13][i] = a[i] << b[i];
  o[14][i] = a[i] >> b[i];
  o[15][i] = Math.clz32(a[i]);
  o[16][i] = (a[i] >>> b[i]) | 0;
});
const integersOf = (a: number, b: number): number[] => [
  (a + b) | 0,
  (a - b) | 0,
  Math.imul(a, b),
  (a / b) | 0,
  (a % b) | 0,
  Math.min(a, b),
  Math.max(a, b),
  -a | 0,
  Math.abs(a) | 0,
  ~a,
  a & b,
  a | b,
  a ^ b,
  a << b,
  a >> b,
  Math.clz32(a),
  (a >>> b) | 0,
];

const unsigned = kernel("unsigned", { a: view(u32), b: view(u32), o: view(u32, 2), mulhi }, ({ a, b, o, mulhi }, i) => {
  o[0][i] = (a[i] + b[i]) >>> 0;
  o[1][i] = (a[i] - b[i]) >>> 0;
  o[2][i] = Math.imul(a[i], b[i]) >>> 0;
  o[3][i] = (a[i] / b[i]) >>> 0;
  o[4][i] = (a[i] % b[i]) >>> 0;
  o[5][i] = Math.min(a[i], b[i]);
  o[6][i] = Math.max(a[i], b[i]);
  o[7][i] = ~a[i] >>> 0;
  o[8][i] = (a[i] & b[i]) >>> 0;
  o[9][i] = (a[i] | b[i]) >>> 0;
  o[10][i] = (a[i] ^ b[i]) >>> 0;
  o[11][i] = (a[i] << b[i]) >>> 0;
  o[12][i] = a[i] >>> b[i];
  o[13][i] = mulhi(a[i], b[i]);
  o[14][i] = Math.clz32(a[i]) >>> 0;
});
const unsignedOf = (a: number, b: number): number[] => [
  (a + b) >>> 0,
  (a - b) >>> 0,
  Math.imul(a, b) >>> 0,
  b === 0 ? 0 : Math.floor(a / b),
  b === 0 ? 0 : a % b,
  Math.min(a, b),
  Math.max(a, b),
  ~a >>> 0,
  (a & b) >>> 0,
  (a | b) >>> 0,
  (a ^ b) >>> 0,
  (a << b) >>> 0,
  a >>> b,
  Number((BigInt(a) * BigInt(b)) >> 32n),
  Math.clz32(a),
];

/** The six comparisons, and some truth tables, as bits of one number. */
const comparedOf = (a: number, b: number): number =>
  (a < b ? 1 : 0) +
  (a <= b ? 2 : 0) +
  (a > b ? 4 : 0) +
  (a >= b ? 8 : 0) +
  (a === b ? 16 : 0) +
  (a !== b ? 32 : 0) +
  (a < b && b > 0 ? 64 : 0) +
  (a < b || b > 0 ? 128 : 0) +
  (!(a < b) ? 256 : 0);
const compare = ofType((type: ScalarToken<NumberType>) =>
  kernel("compare", { a: view(type), b: view(type), o: view(i32) }, ({ a, b, o }, i) => {
    const x = a[i],
      y = b[i];
    o[i] =
      (x < y ? 1 : 0) +
      (x <= y ? 2 : 0) +
      (x > y ? 4 : 0) +
      (x >= y ? 8 : 0) +
      (x === y ? 16 : 0) +
      (x !== y ? 32 : 0) +
      (x < y && y > 0 ? 64 : 0) +
      (x < y || y > 0 ? 128 : 0) +
      (!(x < y) ? 256 : 0);
  }),
);

const fromFloat = ofType((real) =>
  kernel("fromFloat", { a: view(real), i: view(i32), u: view(u32), o: view(f32) }, ({ a, i, u, o }, n) => {
    i[n] = a[n] | 0;
    u[n] = a[n] >>> 0;
    o[n] = Math.fround(a[n]);
  }),
);
const toFloat = ofType((real) =>
  kernel("toFloat", { i: view(i32), u: view(u32), a: view(real, 2), s: view(f32, 2) }, ({ i, u, a, s }, n) => {
    a[0][n] = i[n];
    a[1][n] = u[n];
    s[0][n] = Math.fround(i[n]);
    s[1][n] = Math.fround(u[n]);
  }),
);
const keepBits = kernel("keepBits", { i: view(i32), u: view(u32), j: view(i32), v: view(u32) }, ({ i, u, j, v }, n) => {
  j[n] = u[n] | 0;
  v[n] = i[n] >>> 0;
});
const truths = ofType((real) =>
  kernel("truths", { a: view(real), i: view(i32), o: view(i32) }, ({ a, i, o }, n) => {
    const big = a[n] > 1;
    const whole = !!i[n];
    o[n] = (a[n] ? 1 : 0) + (i[n] ? 2 : 0) + (big ? 4 : 0) + (big !== whole ? 8 : 0) + (big && whole ? 16 : 0) + (big || whole ? 32 : 0);
  }),
);
const chosen = ofType((real) =>
  kernel("chosen", { a: view(real), i: view(i32), o: view(real), p: view(i32) }, ({ a, i, o, p }, n) => {
    o[n] = a[n] > 0 ? (a[n] > 1 ? a[n] : 2 * a[n]) : i[n] > 3 ? -1 : a[n] - i[n];
    p[n] = a[n] < 0 ? i[n] : a[n] > 2 ? 7 : -i[n];
  }),
);

const signs = ofType((real) =>
  kernel(
    "signs",
    { a: view(real), b: view(real), o: view(real, 2) },
    ({ a, b, o }, i) => {
      o[0][i] = copysign(a[i], b[i]);
      o[1][i] = copysign(-2.5, a[i] + b[i]);
      o[2][i] = copysign(a[i] * b[i], -0);
    },
    () => [copysign],
  ),
);
const sign = (size: number, of: number): number => (Object.is(of, -0) || of < 0 ? -1 : 1) * Math.abs(size);
const signsOf =
  (r: Rounding) =>
  (a: number, b: number): number[] => [sign(a, b), sign(2.5, a + b), sign(r(a * b), -1)];

const powers = ofType((real) =>
  kernel(
    "powers",
    { x: view(real), n: view(i32), o: view(real, 2) },
    ({ x, n, o }, i) => {
      o[0][i] = powi(x[i], n[i]);
      o[1][i] = powi(x[i], 3);
      o[2][i] = powi(x[i], 11);
      o[3][i] = powi(x[i], -6);
      o[4][i] = powi(x[i] + 1, 0);
      o[5][i] = powi(0.5 * x[i], n[i]);
    },
    () => [powi],
  ),
);
/** The product of x, x^2, x^4, ... where n has a bit, from the lowest on; 1 over that for a negative n. */
function power(x: number, n: number, r: Rounding): number {
  const bits = Math.abs(n).toString(2).split("").reverse();
  const squares = [x];
  while (squares.length < bits.length) squares.push(r(squares.at(-1)! ** 2));
  const product = squares.filter((_, k) => bits[k] === "1").reduce((a, b) => r(a * b), 1);
  return n < 0 ? r(1 / product) : product;
}
const BASES = [0, -0, 1, -1, 0.1, -0.2, 1 / 3, -1.7, 2.5, 3, NaN, Infinity, -Infinity];
const EXPONENTS = [0, 1, -1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 15, 27, -2, -3, -7, -15, 2147483647, -2147483647, -2147483648];

const saturate = (x: number, least: number, greatest: number): number =>
  Number.isNaN(x) ? 0 : Math.min(greatest, Math.max(least, Math.trunc(x))) + 0;
const toI32 = (x: number): number => saturate(x, -2147483648, 2147483647);
const toU32 = (x: number): number => saturate(x, 0, 4294967295);

/** Runs a kernel of two inputs on all pairs of edge values; output row r is function r of the pair. */
async function onPairs(
  device: Device,
  type: ScalarToken<NumberType>,
  run: Kernel,
  edges: readonly number[],
  expected: (a: number, b: number) => number[],
): Promise<void> {
  const [as, bs] = pairs(edges, edges);
  const rows = expected(as[0], bs[0]).length;
  const a = device.from(type, as),
    b = device.from(type, bs),
    o = device.array(type, [rows, as.length]);
  await device.run(run as unknown as Kernel<Record<string, never>>, { a, b, o } as never, range(as.length));
  const actual = await device.queue.read(o);
  for (let row = 0; row < rows; row++)
    for (let n = 0; n < as.length; n++)
      if (!same(actual[row * as.length + n], expected(as[n], bs[n])[row]))
        throw new Error(
          `${run.name}: operation ${row} of ${as[n]} and ${bs[n]} gives ${actual[row * as.length + n]} instead of ${expected(as[n], bs[n])[row]}`,
        );
}

export const arithmetic: ConformanceCase[] = [
  ...reals(30, "arithmetic, rounded after each operation, with zeros, infinities, subnormals and NaN", (device, real, r) =>
    onPairs(device, real, floats(real), edgesOn(device, real), floatsOf(r)),
  ),
  conformanceCase(32, "i32 arithmetic: wraps, whole quotients, division by zero, shifts", (device) =>
    onPairs(device, i32, integers, I32_EDGES, integersOf),
  ),
  conformanceCase(33, "u32 arithmetic and mulhi", (device) => onPairs(device, u32, unsigned, U32_EDGES, unsignedOf)),

  ...reals(34, "comparisons and logic of floats and integers", async (device, real) => {
    const cases = [
      [real, edgesOn(device, real)],
      [i32, I32_EDGES],
      [u32, U32_EDGES],
    ] as const;
    for (const [type, edges] of cases) {
      const [as, bs] = pairs(edges, edges);
      const a = device.from(type, as),
        b = device.from(type, bs),
        o = device.array(i32, as.length);
      await device.run(compare(type), { a, b, o }, range(as.length));
      expectSame(
        await device.queue.read(o),
        make(as.length, (n) => comparedOf(as[n], bs[n])),
        `comparisons of ${type.type}`,
      );
    }
  }),

  ...reals(35, "conversions: rounded, truncated, saturated", async (device, real, r) => {
    const edges = F64_EDGES.map(r);
    const n = edges.length;
    const a = device.from(real, edges);
    const i = device.array(i32, n),
      u = device.array(u32, n),
      o = device.array(f32, n);
    await device.run(fromFloat(real), { a, i, u, o }, range(n));
    expectSame(await device.queue.read(i), edges.map(toI32), "to i32");
    expectSame(await device.queue.read(u), edges.map(toU32), "to u32");
    expectSame(await device.queue.read(o), edges.map(Math.fround), "to f32");

    const m = Math.min(I32_EDGES.length, U32_EDGES.length);
    const is = device.from(i32, [...I32_EDGES, 16777217].slice(-m)),
      us = device.from(u32, [...U32_EDGES, 16777217].slice(-m));
    const wide = device.array(real, [2, m]),
      narrow = device.array(f32, [2, m]),
      j = device.array(i32, m),
      v = device.array(u32, m);
    await device.run(toFloat(real), { i: is, u: us, a: wide, s: narrow }, range(m));
    await device.run(keepBits, { i: is, u: us, j, v }, range(m));
    const [iv, uv] = [[...(await device.queue.read(is))], [...(await device.queue.read(us))]];
    expectSame(await device.queue.read(wide), [...iv, ...uv].map(r), "integers to floats");
    expectSame(await device.queue.read(narrow), [...iv, ...uv].map(Math.fround), "integers to f32");
    expectSame(
      await device.queue.read(j),
      uv.map((x) => x | 0),
      "u32 to i32",
    );
    expectSame(
      await device.queue.read(v),
      iv.map((x) => x >>> 0),
      "i32 to u32",
    );
  }),

  ...reals(36, "truth values and choices", async (device, real, r) => {
    const [as, is] = pairs(edgesOn(device, real), [0, 1, -1, 5, -2147483647]);
    const a = device.from(real, as),
      i = device.from(i32, is),
      o = device.array(i32, as.length);
    await device.run(truths(real), { a, i, o }, range(as.length));
    expectSame(
      await device.queue.read(o),
      make(as.length, (n) => {
        const big = as[n] > 1,
          whole = is[n] !== 0;
        return (
          (as[n] ? 1 : 0) + (whole ? 2 : 0) + (big ? 4 : 0) + (big !== whole ? 8 : 0) + (big && whole ? 16 : 0) + (big || whole ? 32 : 0)
        );
      }),
      "truths",
    );
    const float = device.array(real, as.length),
      integer = device.array(i32, as.length);
    await device.run(chosen(real), { a, i, o: float, p: integer }, range(as.length));
    expectSame(
      await device.queue.read(float),
      make(as.length, (n) => (as[n] > 0 ? (as[n] > 1 ? as[n] : 2 * as[n]) : is[n] > 3 ? -1 : r(as[n] - r(is[n])))),
      "chosen floats",
    );
    expectSame(
      await device.queue.read(integer),
      make(as.length, (n) => (as[n] < 0 ? is[n] : as[n] > 2 ? 7 : 0 - is[n])),
      "chosen integers",
    );
  }),

  ...reals(37, "copysign, with the sign of zeros and of NaN", (device, real, r) =>
    onPairs(device, real, signs(real), edgesOn(device, real), signsOf(r)),
  ),
  ...reals(38, "powi: products in the order of the exponent's bits", async (device, real, r) => {
    const [xs, ns] = pairs(BASES.map(r), EXPONENTS);
    const [x, n, o] = [device.from(real, xs), device.from(i32, ns), device.array(real, [6, xs.length])];
    await device.run(powers(real), { x, n, o }, range(xs.length));
    expectSame(
      await device.queue.read(o),
      [
        ...xs.map((x, i) => power(x, ns[i], r)),
        ...[3, 11, -6, 0].flatMap((n) => [...xs].map((x) => power(x, n, r))),
        ...xs.map((x, i) => power(r(0.5 * x), ns[i], r)),
      ],
      "powers",
    );
  }),
];
