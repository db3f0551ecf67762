import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { f32, i32, table, u32, view } from "../../kernel/declare/params.js";
import { expectOutput, expectSame } from "../expect.js";
import { arrayOf, ofType, type Rounding } from "../real.js";
import { reals, type ConformanceCase } from "../case.js";
import { make, noiseValue } from "../values.js";

const sorted = ofType((real) =>
  kernel("sorted", { x: view(real, 2), y: view(real, 2), Real: arrayOf(real) }, ({ x, y, Real }, i) => {
    const v = new Real(6);
    for (let k = 0; k < 6; k++) v[k] = x[k][i];
    for (let k = 1; k < 6; k++) {
      const held = v[k];
      let at = k - 1;
      while (at >= 0 && v[at] > held) {
        v[at + 1] = v[at];
        at--;
      }
      v[at + 1] = held;
    }
    for (let k = 0; k < 6; k++) y[k][i] = v[k];
  }),
);
const histogram = ofType((real) =>
  kernel("histogram", { x: view(real, 2), o: view(i32, 2) }, ({ x, o }, i) => {
    const bins = new Int32Array(4);
    for (let k = 0; k < 50; k++) {
      const b = (x[k][i] * 4) | 0;
      bins[b] = bins[b] + 1;
    }
    for (let b = 0; b < 4; b++) o[b][i] = bins[b];
  }),
);
const kinds = ofType((real) =>
  kernel("kinds", { x: view(real), o: view(real, 2), w: view(u32, 2), Real: arrayOf(real) }, ({ x, o, w, Real }, i) => {
    const v = new Real(2);
    const f = new Float32Array(2);
    const u = new Uint32Array(2);
    const n = new Int32Array(2);
    v[i % 2] = x[i] - 0.5;
    f[0] = Math.fround(x[i]);
    f[1] = f[0] * f[0];
    u[0] = (i * 3) >>> 0;
    u[i % 2] = (u[i % 2] - 1) >>> 0;
    n[i % 2] = -i;
    o[0][i] = v[0];
    o[1][i] = v[1] + f[1];
    w[0][i] = u[0];
    w[1][i] = u[1];
    w[2][i] = n[0] >>> 0;
    w[3][i] = n[1] >>> 0;
  }),
);
const SPECIAL = [
  [1, Infinity, -0],
  [NaN, -Infinity, 2],
];
const special = ofType((real) =>
  kernel("special", { o: view(real), t: table(real, SPECIAL) }, ({ o, t }, i) => {
    o[i] = t[i % 2][(i >> 1) % 3];
  }),
);
/** The most that an array which begins with zeros has after one of its elements was raised, in loops of `turns` turns. */
const zeroed = ofType((real) =>
  kernel("zeroed", { turns: i32, o: view(real), w: view(i32), Real: arrayOf(real) }, ({ turns, o, w, Real }, i) => {
    let most = 0;
    let worst = 0;
    for (let r = 0; r < turns; r++) {
      const own = new Real(3);
      const n = new Int32Array(4);
      own[(i + r) % 3] = own[(i + r) % 3] + 1;
      n[(i + r) & 3] = n[(i + r) & 3] + 1;
      most = Math.max(most, own[0] + own[1] + own[2]);
      let q = 0;
      while (q < r + n[0]) {
        const inner = new Int32Array(2);
        inner[q & 1] = inner[q & 1] + n[0] + n[1] + n[2] + n[3];
        worst = Math.max(worst, inner[0] + inner[1]);
        q++;
      }
    }
    o[i] = most;
    w[i] = worst;
  }),
);
const stencil = ofType((real) =>
  kernel(
    "stencil",
    {
      x: view(real),
      y: view(real),
      weights: table(real, [0.25, -1.5, 3, 0.1]),
      offsets: table(i32, [
        [0, 1],
        [2, 3],
      ]),
      small: table(f32, [0.1, 0.2]),
    },
    ({ x, y, weights, offsets, small }, i) => {
      let sum = 0.0;
      for (let k = 0; k < weights.length; k++) sum += weights[k] * x[(i + k) % x.length];
      const a = offsets[i % 2][(i >> 1) % 2];
      y[i] = sum + x[(i + a) % x.length] + small[i % 2];
    },
  ),
);

const square = (x: number): number => x * x;
const clamp = (x: number, low: number, high: number): number => {
  if (x < low) return low;
  if (x > high) return high;
  return x;
};
const rotate = (x: number, y: number): [number, number] => [0.6 * x - 0.8 * y, 0.8 * x + 0.6 * y];
const helpers = ofType((real) =>
  kernel("helpers", { x: view(real), y: view(real), square, clamp, rotate }, ({ x, y, square, clamp, rotate }, i) => {
    const [a, b] = rotate(x[i], 1 - x[i]);
    let v = clamp(square(a) + square(b) - 0.3, 0.1, 0.5);
    for (let k = 0; k < 3; k++) v = clamp(v + square(v), 0, 0.9);
    y[i] = v;
  }),
);

/** A counter-based generator: what particle and solver codes draw their numbers from. */
const mix = (key: number): number => {
  let h = (key ^ 0x9e3779b9) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b) >>> 0;
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35) >>> 0;
  return (h ^ (h >>> 16)) >>> 0;
};
const random = ofType((real) =>
  kernel("random", { o: view(u32), f: view(real), scale: table(real, [2 ** -32]), mix }, ({ o, f, scale, mix }, i) => {
    const h = mix(i >>> 0);
    o[i] = h;
    f[i] = h * scale[0];
  }),
);

const N = 517;
const fractions = (r: Rounding, n = N): Float64Array => make(n, (k) => r(noiseValue(k)));

export const locals: ConformanceCase[] = [
  ...reals(50, "private arrays with constant and with computed indices", async (device, real, r) => {
    const values = fractions(r, 6 * N);
    const x = device.from(real, values, [6, N]),
      y = device.array(real, [6, N]);
    const columns = Array.from({ length: N }, (_, i) => [0, 1, 2, 3, 4, 5].map((k) => values[k * N + i]).sort((a, b) => a - b));
    await expectOutput(
      device,
      sorted(real),
      { x, y },
      range(N),
      y,
      make(6 * N, (q) => columns[q % N][Math.floor(q / N)]),
    );
    const many = fractions(r, 50 * N);
    const counts = (b: number, i: number): number => [...Array(50).keys()].filter((k) => Math.floor(many[k * N + i] * 4) === b).length;
    const z = device.from(real, many, [50, N]),
      o = device.array(i32, [4, N]);
    await expectOutput(
      device,
      histogram(real),
      { x: z, o },
      range(N),
      o,
      make(4 * N, (q) => counts(Math.floor(q / N), q % N)),
    );
  }),

  ...reals(51, "private arrays of every type, zero at first", async (device, real, r) => {
    const xs = fractions(r);
    const x = device.from(real, xs),
      o = device.array(real, [2, N]),
      w = device.array(u32, [4, N]);
    await device.run(kinds(real), { x, o, w }, range(N));
    const floats = [...xs].map((v, i) => {
      const square = Math.fround(Math.fround(v) ** 2);
      return i % 2 === 0 ? [r(v - 0.5), square] : [0, r(r(v - 0.5) + square)];
    });
    const integers = [...xs].map((_, i) => (i % 2 === 0 ? [(i * 3 - 1) >>> 0, 0, -i >>> 0, 0] : [i * 3, 4294967295, 0, -i >>> 0]));
    expectSame(
      await device.queue.read(o),
      make(2 * N, (q) => floats[q % N][Math.floor(q / N)]),
      "arrays of floats",
    );
    expectSame(
      await device.queue.read(w),
      make(4 * N, (q) => integers[q % N][Math.floor(q / N)]),
      "arrays of integers",
    );
  }),

  ...reals(55, "private arrays that are zero again on each turn of a loop", async (device, real) => {
    const [o, w] = [device.array(real, N), device.array(i32, N)];
    await device.run(zeroed(real), { turns: 6, o, w }, range(N));
    const ones = make(N, () => 1);
    expectSame(await device.queue.read(o), ones, "floats");
    expectSame(await device.queue.read(w), ones, "integers");
  }),

  ...reals(52, "constant tables", async (device, real, r) => {
    const xs = fractions(r);
    const x = device.from(real, xs),
      y = device.array(real, N);
    await expectOutput(
      device,
      stencil(real),
      { x, y },
      range(N),
      y,
      make(N, (i) => {
        const sum = [0.25, -1.5, 3, 0.1].reduce((total, w, k) => r(total + r(r(w) * xs[(i + k) % N])), 0);
        const a = [
          [0, 1],
          [2, 3],
        ][i % 2][(i >> 1) % 2];
        return r(r(sum + xs[(i + a) % N]) + Math.fround([0.1, 0.2][i % 2]));
      }),
    );
  }),

  ...reals(56, "tables with infinities, NaN and the zero below zero", async (device, real) => {
    const o = device.array(real, 12);
    await expectOutput(
      device,
      special(real),
      { o },
      range(12),
      o,
      make(12, (i) => SPECIAL[i % 2][(i >> 1) % 3]),
    );
  }),

  ...reals(53, "helper functions, with early returns and several results", async (device, real, r) => {
    const xs = fractions(r);
    const x = device.from(real, xs),
      y = device.array(real, N);
    await expectOutput(
      device,
      helpers(real),
      { x, y },
      range(N),
      y,
      xs.map((x0) => {
        const turned = (p: number, q: number): number => r(r(r(p) * x0) + r(r(q) * r(1 - x0)));
        const clamped = (v: number, low: number, high: number): number => Math.min(Math.max(v, r(low)), r(high));
        const [a, b] = [turned(0.6, -0.8), turned(0.8, 0.6)];
        let v = clamped(r(r(r(a * a) + r(b * b)) - r(0.3)), 0.1, 0.5);
        for (let k = 0; k < 3; k++) v = clamped(r(v + r(v * v)), 0, 0.9);
        return v;
      }),
    );
  }),

  ...reals(54, "a counter-based random number generator", async (device, real, r) => {
    const o = device.array(u32, N),
      f = device.array(real, N);
    await expectOutput(device, random(real), { o, f }, range(N), o, make(N, mix));
    await expectOutput(
      device,
      random(real),
      { o, f },
      range(N),
      f,
      make(N, (i) => r(mix(i)) * 2 ** -32),
    );
  }),
];
