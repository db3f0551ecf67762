import { range } from "../../device/policy.js";
import { kernel } from "../../kernel/kernel.js";
import { f32, f64, i32, table, u32, view } from "../../kernel/params.js";
import { expectOutput, make, noise, rung, type Rung } from "../rung.js";

const sorted = kernel("sorted", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, i) => {
  const v = new Float64Array(6);
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
});
const histogram = kernel("histogram", { x: view(f64, 2), o: view(i32, 2) }, ({ x, o }, i) => {
  const bins = new Int32Array(4);
  for (let k = 0; k < 50; k++) {
    const b = (x[k][i] * 4) | 0;
    bins[b] = bins[b] + 1;
  }
  for (let b = 0; b < 4; b++) o[b][i] = bins[b];
});
const narrow = kernel("narrow", { x: view(f64), o: view(f64, 2) }, ({ x, o }, i) => {
  const f = new Float32Array(2);
  const u = new Uint32Array(2);
  f[0] = Math.fround(x[i]);
  f[1] = f[0] * f[0];
  u[0] = (i * 3) >>> 0;
  u[i % 2] = (u[i % 2] - 1) >>> 0;
  o[0][i] = f[1];
  o[1][i] = u[0];
  o[2][i] = u[1];
});
const stencil = kernel(
  "stencil",
  {
    x: view(f64),
    y: view(f64),
    weights: table(f64, [0.25, -1.5, 3, 0.1]),
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
);

const square = (x: number): number => x * x;
const clamp = (x: number, low: number, high: number): number => {
  if (x < low) return low;
  if (x > high) return high;
  return x;
};
const rotate = (x: number, y: number): [number, number] => [0.6 * x - 0.8 * y, 0.8 * x + 0.6 * y];
const helpers = kernel("helpers", { x: view(f64), y: view(f64), square, clamp, rotate }, ({ x, y, square, clamp, rotate }, i) => {
  const [a, b] = rotate(x[i], 1 - x[i]);
  let v = clamp(square(a) + square(b) - 0.3, 0.1, 0.5);
  for (let k = 0; k < 3; k++) v = clamp(v + square(v), 0, 0.9);
  y[i] = v;
});

/** A counter-based generator: what particle and solver codes draw their numbers from. */
const mix = (key: number): number => {
  let h = (key ^ 0x9e3779b9) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b) >>> 0;
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35) >>> 0;
  return (h ^ (h >>> 16)) >>> 0;
};
const random = kernel("random", { o: view(u32), f: view(f64), mix }, ({ o, f, mix }, i) => {
  const h = mix(i >>> 0);
  o[i] = h;
  f[i] = h * 2.3283064365386963e-10;
});

const N = 517;
const xs = make(N, noise);

export const locals: Rung[] = [
  rung(50, "private arrays with constant and with computed indices", async (device) => {
    const values = make(6 * N, noise);
    const x = device.from(f64, values, [6, N]),
      y = device.array(f64, [6, N]);
    const columns = xs
      .map((_, i) => i)
      .reduce<number[][]>((list, i) => [...list, [0, 1, 2, 3, 4, 5].map((k) => values[k * N + i]).sort((a, b) => a - b)], []);
    await expectOutput(
      device,
      sorted,
      { x, y },
      range(N),
      y,
      make(6 * N, (q) => columns[q % N][Math.floor(q / N)]),
    );
    const many = make(50 * N, noise);
    const counts = (b: number, i: number): number => [...Array(50).keys()].filter((k) => Math.floor(many[k * N + i] * 4) === b).length;
    const z = device.from(f64, many, [50, N]),
      o = device.array(i32, [4, N]);
    await expectOutput(
      device,
      histogram,
      { x: z, o },
      range(N),
      o,
      make(4 * N, (q) => counts(Math.floor(q / N), q % N)),
    );
  }),

  rung(51, "private arrays of every type, zero at first", async (device) => {
    const x = device.from(f64, xs),
      o = device.array(f64, [3, N]);
    await expectOutput(
      device,
      narrow,
      { x, o },
      range(N),
      o,
      make(3 * N, (q) => {
        const [row, i] = [Math.floor(q / N), q % N];
        const f = Math.fround(xs[i]);
        const u = [i * 3, 0];
        u[i % 2] = (u[i % 2] - 1) >>> 0;
        return row === 0 ? Math.fround(f * f) : u[row - 1];
      }),
    );
  }),

  rung(52, "constant tables", async (device) => {
    const x = device.from(f64, xs),
      y = device.array(f64, N);
    await expectOutput(
      device,
      stencil,
      { x, y },
      range(N),
      y,
      make(N, (i) => {
        const sum = [0.25, -1.5, 3, 0.1].reduce((total, w, k) => total + w * xs[(i + k) % N], 0);
        const a = [
          [0, 1],
          [2, 3],
        ][i % 2][(i >> 1) % 2];
        return sum + xs[(i + a) % N] + Math.fround([0.1, 0.2][i % 2]);
      }),
    );
  }),

  rung(53, "helper functions, with early returns and several results", async (device) => {
    const x = device.from(f64, xs),
      y = device.array(f64, N);
    await expectOutput(
      device,
      helpers,
      { x, y },
      range(N),
      y,
      xs.map((x0) => {
        const [a, b] = rotate(x0, 1 - x0);
        let v = clamp(square(a) + square(b) - 0.3, 0.1, 0.5);
        for (let k = 0; k < 3; k++) v = clamp(v + square(v), 0, 0.9);
        return v;
      }),
    );
  }),

  rung(54, "a counter-based random number generator", async (device) => {
    const o = device.array(u32, N),
      f = device.array(f64, N);
    await expectOutput(device, random, { o, f }, range(N), o, make(N, mix));
    await expectOutput(
      device,
      random,
      { o, f },
      range(N),
      f,
      make(N, (i) => mix(i) * 2.3283064365386963e-10),
    );
  }),
];
