import type { Device } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { kernel, type Kernel } from "../../kernel/declare/kernel.js";
import { f32, view } from "../../kernel/declare/params.js";
import { same, shownValue } from "../expect.js";
import { ofType, type RealToken, type Rounding } from "../real.js";
import { reals, type ConformanceCase } from "../case.js";
import { edgesOn, make, noiseValue } from "../values.js";

const functions = ofType((real) =>
  kernel("functions", { x: view(real), y: view(real), o: view(real, 2) }, ({ x, y, o }, i) => {
    o[0][i] = Math.exp(x[i]);
    o[1][i] = Math.expm1(x[i]);
    o[2][i] = Math.log(x[i]);
    o[3][i] = Math.log1p(x[i]);
    o[4][i] = Math.log2(x[i]);
    o[5][i] = Math.log10(x[i]);
    o[6][i] = Math.pow(x[i], y[i]);
    o[7][i] = Math.sin(x[i]);
    o[8][i] = Math.cos(x[i]);
    o[9][i] = Math.tan(x[i]);
    o[10][i] = Math.asin(x[i]);
    o[11][i] = Math.acos(x[i]);
    o[12][i] = Math.atan(x[i]);
    o[13][i] = Math.atan2(x[i], y[i]);
    o[14][i] = Math.sinh(x[i]);
    o[15][i] = Math.cosh(x[i]);
    o[16][i] = Math.tanh(x[i]);
    o[17][i] = Math.cbrt(x[i]);
    o[18][i] = Math.hypot(x[i], y[i]);
    o[19][i] = y[i] ** 3;
  }),
);
const FUNCTIONS: readonly [name: string, (x: number, y: number) => number][] = [
  ["exp", Math.exp],
  ["expm1", Math.expm1],
  ["log", Math.log],
  ["log1p", Math.log1p],
  ["log2", Math.log2],
  ["log10", Math.log10],
  ["pow", Math.pow],
  ["sin", Math.sin],
  ["cos", Math.cos],
  ["tan", Math.tan],
  ["asin", Math.asin],
  ["acos", Math.acos],
  ["atan", Math.atan],
  ["atan2", Math.atan2],
  ["sinh", Math.sinh],
  ["cosh", Math.cosh],
  ["tanh", Math.tanh],
  ["cbrt", Math.cbrt],
  ["hypot", Math.hypot],
  ["**", (_, y) => y ** 3],
];

/**
 * Operands that a compiler knows: what it makes of them must have the same special cases. Each kernel is small, so that helper functions are
 * inlined; each `y` is 1.
 */
const roots = ofType((real) =>
  kernel("roots", { x: view(real), y: view(real), o: view(real, 2) }, ({ x, y, o }, i) => {
    o[0][i] = x[i] ** 0.5;
    o[1][i] = (x[i] / y[i]) ** 0.5;
  }),
);
const powers = ofType((real) =>
  kernel("powers", { x: view(real), y: view(real), o: view(real, 2) }, ({ x, y, o }, i) => {
    o[0][i] = x[i] ** -0.5;
    o[1][i] = (x[i] / y[i]) ** -1;
    o[2][i] = x[i] ** 0;
    o[3][i] = Math.pow(1, x[i]);
    o[4][i] = Math.pow(-0.5, x[i]);
    o[5][i] = Math.atan2(-0.25, x[i]);
  }),
);
const negativeZero = ofType((real) =>
  kernel("negativeZero", { x: view(real), y: view(real), o: view(real, 2) }, ({ x, o }, i) => {
    o[0][i] = Math.max(-0, x[i]);
  }),
);
const nans = ofType((real) =>
  kernel("nans", { x: view(real), y: view(real), o: view(real, 2) }, ({ x, o }, i) => {
    o[0][i] = Math.floor(x[i] / NaN);
    o[1][i] = Math.exp(x[i] * NaN);
  }),
);
const zeros = ofType((real) =>
  kernel("zeros", { x: view(real), y: view(real), o: view(real, 2) }, ({ x, o }, i) => {
    o[0][i] = Math.max(x[i], -0);
    o[1][i] = Math.min(0, x[i]);
    o[2][i] = Math.min(x[i], 0);
  }),
);
const KNOWN: readonly [run: (real: RealToken) => Kernel, fns: readonly Named[]][] = [
  [
    roots,
    [
      ["x ** 0.5", (x) => x ** 0.5],
      ["(x / 1) ** 0.5", (x) => x ** 0.5],
    ],
  ],
  [
    powers,
    [
      ["x ** -0.5", (x) => x ** -0.5],
      ["(x / 1) ** -1", (x) => x ** -1],
      ["x ** 0", (x) => x ** 0],
      ["pow(1, x)", (x) => 1 ** x],
      ["pow(-0.5, x)", (x) => (-0.5) ** x],
      ["atan2(-0.25, x)", (x) => Math.atan2(-0.25, x)],
    ],
  ],
  [
    nans,
    [
      ["floor(x / NaN)", () => NaN],
      ["exp(x * NaN)", () => NaN],
    ],
  ],
  [negativeZero, [["max(-0, x)", (x) => Math.max(-0, x)]]],
  [
    zeros,
    [
      ["max(x, -0)", (x) => Math.max(x, -0)],
      ["min(0, x)", (x) => Math.min(0, x)],
      ["min(x, 0)", (x) => Math.min(x, 0)],
    ],
  ],
];

/** Arguments in the domains of most functions, wide ranges, and special values. */
const ORDINARY = [
  ...make(400, (k) => noiseValue(k) * 2 - 1),
  ...make(400, (k) => (noiseValue(k) - 0.5) * 80),
  ...make(100, (k) => 10 ** (noiseValue(k) * 20 - 10)),
  0,
  -0,
  1,
  -1,
  Infinity,
  -Infinity,
  NaN,
];
const SPECIAL = [NaN, Infinity, -Infinity, 0, -0, 1, -1, 2, -3];
const PAIRS = SPECIAL.flatMap((x) => SPECIAL.map((y) => [x, y] as const));
const XS = [...ORDINARY, ...PAIRS.map(([x]) => x)];
const YS = [...ORDINARY.map((_, k) => (noiseValue(k + 0.25) - 0.3) * 6), ...PAIRS.map(([, y]) => y)];

/** The engine's own function is itself within 1 ulp, so that a device within 2 ulp of the truth is within 3 of it. */
const ULPS = 3;

function distance(actual: number, expected: number, ulp: (x: number) => number): number {
  if (Object.is(actual, expected)) return 0;
  // Compares the sign of zeros, too.
  if (expected === 0 && actual === 0) return Infinity;
  return Math.abs(actual - expected) / ulp(expected);
}

const ulpOf = ({ type }: RealToken): ((x: number) => number) => {
  const [bits, least] = { f64: [52, 5e-324], f32: [23, 2 ** -149] }[type];
  return (x) => Math.max(least, 2 ** (Math.floor(Math.log2(Math.abs(x) || least)) - bits));
};

const outside = (x: number): boolean => !(Math.abs(x) < 2 ** 126 && Math.abs(x) > 2 ** -100);

/** Judgement of results; emulated f64 results beyond the range of f32 are not judged, and results within it are not rounded. */
interface Judge {
  real: RealToken;
  r: Rounding;
  ulp: (x: number) => number;
  emulated: boolean;
}

function judgeOf({ capabilities: { f64Bits } }: Device, real: RealToken, r: Rounding): Judge {
  const ulp = ulpOf(real);
  if (real === f32 || f64Bits === undefined) return { real, r, ulp, emulated: false };
  const held = (x: number): number => (Number.isFinite(x) ? Math.fround(x) + Math.fround(x - Math.fround(x)) : x);
  return { real, r: held, ulp: (x) => ulp(x) * 2 ** (57 - f64Bits), emulated: true };
}

type Named = readonly [name: string, (x: number, y: number) => number];

/** Runs a kernel whose output has a row for each function. */
async function compare(device: Device, run: Kernel, fns: readonly Named[], { real, r, ulp, emulated }: Judge, of: [number[], number[]]) {
  const [xs, ys] = of.map((values) => values.map(r));
  const x = device.from(real, xs),
    y = device.from(real, ys),
    o = device.array(real, [fns.length, xs.length]);
  await device.run(run, { x, y, o }, range(xs.length));
  const actual = await device.queue.read(o);
  fns.forEach(([name, fn], row) =>
    xs.forEach((v, k) => {
      const value = fn(v, ys[k]);
      const expected = emulated ? value : r(value),
        got = actual[row * xs.length + k];
      const near = distance(got, expected, ulp) <= ULPS || (emulated ? outside(expected) : same(got, expected));
      if (!near)
        throw new Error(`${name}(${shownValue(v)}, ${shownValue(ys[k])}) is ${shownValue(got)} instead of ${shownValue(expected)}`);
    }),
  );
}

export const mathematics: ConformanceCase[] = [
  ...reals(90, "functions within 2 ulp, emulated ones within 16 of the bits that they have", (device, real, r) =>
    compare(device, functions(real), FUNCTIONS, judgeOf(device, real, r), [XS, YS]),
  ),
  ...reals(91, "special cases of functions whose operands are known", async (device, real, r) => {
    const edges = [...edgesOn(device, real), -(2 ** 127)];
    const judge = judgeOf(device, real, r);
    for (const [run, fns] of KNOWN) await compare(device, run(real), fns, judge, [edges, edges.map(() => 1)]);
  }),
];
