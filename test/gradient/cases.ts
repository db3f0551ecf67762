import { f32, f64, i32, kernel, max, min, powi, range, scatter, sum, table, view, type Kernel, type RangePolicy } from "../../src/index.js";

/** A kernel, arguments, and the places at which central differences are not asked for. */
export interface GradientCase {
  readonly name: string;
  readonly kernel: Kernel;
  readonly wrt: readonly string[];
  readonly policy: RangePolicy;
  /** Numbers for scalars; arrays with their shapes for views. */
  readonly args: () => Record<string, number | Data>;
}

/** Elements of an array. */
export interface Data {
  readonly type: typeof f64 | typeof i32;
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

const N = 40;

/** Numbers between -0.5 and 0.5, always the same. */
export function numbers(count: number, seed: number, of: (x: number) => number = (x) => x): Float64Array {
  let state = seed >>> 0;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return of(state / 2 ** 32 - 0.5);
  });
}

/** The kernels, with floats of one type. */
export function gradientCases(float: typeof f64 | typeof f32): GradientCase[] {
  const real = float as typeof f64;
  const arrayOf = (data: ArrayLike<number>, ...shape: number[]): Data => ({
    type: real,
    data,
    shape: shape.length ? shape : [data.length],
  });
  const random = (seed: number, ...shape: number[]): Data =>
    arrayOf(
      numbers(
        shape.reduce((a, b) => a * b),
        seed,
      ),
      ...shape,
    );
  const integers = (length: number, of: (n: number) => number): Data => ({
    type: i32,
    data: Int32Array.from({ length }, (_, n) => of(n)),
    shape: [length],
  });
  return [
    ...straight(real, arrayOf, random),
    ...indexed(real, arrayOf, random, integers),
    ...loops(real, random),
    ...branches(real, random),
    ...memory(real, random),
  ];
}

/** The type of private arrays of such floats. */
const arrayType = (float: { readonly type: string }): typeof Float64Array =>
  float.type === "f64" ? Float64Array : (Float32Array as unknown as typeof Float64Array);

type ArrayOf = (data: ArrayLike<number>, ...shape: number[]) => Data;
type Random = (seed: number, ...shape: number[]) => Data;
type Integers = (length: number, of: (n: number) => number) => Data;

function straight(f: typeof f64, arrayOf: ArrayOf, random: Random): GradientCase[] {
  return [
    {
      name: "axpy and dot product",
      kernel: kernel("axpydot", { a: f, x: view(f), y: view(f), s: sum(f) }, ({ a, x, y, s }, i) => {
        y[i] = a * x[i] + y[i];
        s.add(x[i] * y[i]);
      }),
      args: () => ({ a: 1.7, x: random(1, N), y: random(2, N) }),
      wrt: ["a", "x", "y"],
      policy: range(N),
    },
    {
      name: "heat",
      kernel: kernel("heat", { a: f, u: view(f, 2), v: view(f, 2) }, ({ a, u, v }, i, j) => {
        v[i][j] = u[i][j] + a * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
      }),
      args: () => ({ a: 0.1, u: random(1, 12, 12), v: random(2, 12, 12) }),
      wrt: ["a", "u", "v"],
      policy: range([1, 11], [1, 11]),
    },
    {
      name: "extremes",
      kernel: kernel("extremes", { x: view(f), y: view(f), m: max(f), l: min(f) }, ({ x, y, m, l }, i) => {
        y[i] = Math.max(x[i], 0) + Math.min(x[i] * x[i], 0.1) + Math.abs(x[i]);
        m.max(x[i] * 0.5 + x[i] * x[i]);
        l.min(x[i] * x[i]);
      }),
      args: () => ({ x: random(1, N), y: random(2, N) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
    {
      name: "x = f(x) in place",
      kernel: kernel("inplace", { a: f, x: view(f) }, ({ a, x }, i) => {
        x[i] = a * a * x[i] * x[i] + 1;
      }),
      args: () => ({ a: 0.3, x: random(1, N) }),
      wrt: ["a", "x"],
      policy: range(N),
    },
    {
      name: "functions",
      kernel: kernel("functions", { x: view(f), y: view(f) }, ({ x, y }, i) => {
        const a = x[i] + 0.1;
        const p = Math.abs(x[i]) + 0.3;
        let s = Math.exp(a) + Math.expm1(a) * Math.log(p) + Math.log1p(p) * Math.log2(p) + Math.log10(p) * Math.pow(p, a);
        s += Math.sin(a) * Math.cos(a) + Math.tan(a) * Math.asin(0.9 * a) + Math.acos(0.9 * a) * Math.atan(a);
        s += Math.atan2(a, p) * Math.sinh(a) + Math.cosh(a) * Math.tanh(a) + Math.cbrt(p) * Math.hypot(a, p);
        s += ((s % 0.7) * a) / p + Math.sqrt(p) * Math.floor(3 * a) + p ** 3;
        y[i] = s;
      }),
      args: () => ({ x: arrayOf(numbers(N, 1)), y: random(2, N) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
  ];
}

function indexed(f: typeof f64, arrayOf: ArrayOf, random: Random, integers: Integers): GradientCase[] {
  return [
    {
      name: "sparse matrix and vector",
      kernel: kernel("csr", { start: view(i32), col: view(i32), a: view(f), x: view(f), y: view(f) }, ({ start, col, a, x, y }, i) => {
        let s = 0;
        for (let k = start[i]; k < start[i + 1]; k++) s += a[k] * x[col[k]];
        y[i] = s;
      }),
      args: () => ({
        start: integers(N + 1, (k) => 5 * k),
        col: integers(5 * N, (k) => (k * 7) % N),
        a: random(1, 5 * N),
        x: random(2, N),
        y: random(3, N),
      }),
      wrt: ["a", "x", "y"],
      policy: range(N),
    },
    {
      name: "histogram",
      kernel: kernel("histogram", { x: view(f), w: view(f), h: scatter(f) }, ({ x, w, h }, i) => {
        const at = Math.floor((x[i] + 0.75) * 10) | 0;
        const t = (x[i] + 0.75) * 10 - Math.floor((x[i] + 0.75) * 10);
        h.add(at, w[i] * (1 - t));
        h.add(at + 1, w[i] * t * t);
      }),
      args: () => ({ x: random(1, N), w: random(2, N), h: random(3, 16) }),
      wrt: ["x", "w", "h"],
      policy: range(N),
    },
    {
      name: "particle push",
      kernel: kernel("push", { dt: f, e: view(f), x: view(f), v: view(f) }, ({ dt, e, x, v }, i) => {
        const g = (x[i] + 0.75) * 10;
        const c = Math.floor(g) | 0;
        const t = g - Math.floor(g);
        const force = (1 - t) * e[c] + t * e[c + 1];
        v[i] = v[i] + dt * force;
        x[i] = x[i] + dt * v[i];
      }),
      args: () => ({ dt: 0.1, e: random(1, 16), x: random(2, N), v: random(3, N) }),
      wrt: ["dt", "e", "x", "v"],
      policy: range(N),
    },
    {
      name: "rows in place, from the last column",
      kernel: kernel("rows", { n: i32, a: view(f, 2) }, ({ n, a }, i) => {
        let carry = 1;
        for (let k = n - 1; k >= 0; k -= 1) {
          carry = carry * 0.5 + a[i][k];
          a[i][k] = a[i][k] * carry;
        }
      }),
      args: () => ({ n: 7, a: arrayOf(numbers(56, 1), 8, 7) }),
      wrt: ["a"],
      policy: range(8),
    },
  ];
}

function loops(f: typeof f64, random: Random): GradientCase[] {
  const column = (seed: number): Record<string, Data> => ({ x: random(seed, N), y: random(seed + 1, N) });
  const Numbers = arrayType(f);
  return [
    {
      name: "forces between particles",
      kernel: kernel("nbody", { n: i32, x: view(f, 2), m: view(f), f: view(f, 2) }, ({ n, x, m, f }, i) => {
        let fx = 0;
        let fy = 0;
        for (let j = 0; j < n; j++) {
          const dx = x[j][0] - x[i][0];
          const dy = x[j][1] - x[i][1];
          const r2 = dx * dx + dy * dy + 0.01;
          const s = m[j] / (r2 * Math.sqrt(r2));
          fx += s * dx;
          fy += s * dy;
        }
        f[i][0] = fx;
        f[i][1] = fy;
      }),
      args: () => ({ n: N, x: random(1, N, 2), m: random(2, N), f: random(3, N, 2) }),
      wrt: ["x", "m", "f"],
      policy: range(N),
    },
    collide(f, random),
    {
      name: "a private array that a loop changes",
      kernel: kernel(
        "chain",
        { omega: f, fin: view(f, 2), fout: view(f, 2) },
        ({ omega, fin, fout }, i) => {
          const g = new Numbers(40);
          let rho = 0;
          for (let q = 0; q < 40; q++) {
            g[q] = fin[i][q];
            rho += g[q];
          }
          for (let q = 1; q < 40; q++) g[q] = g[q] * g[q - 1] + 0.3 * rho;
          for (let q = 0; q < 40; q++) fout[i][q] = g[q] - omega * (g[q] - g[q] * rho);
        },
        () => [Numbers],
      ),
      args: () => ({ omega: 1.2, fin: random(1, 8, 40), fout: random(2, 8, 40) }),
      wrt: ["omega", "fin", "fout"],
      policy: range(8),
    },
    {
      name: "layer of neurons",
      kernel: kernel("mlp", { n: i32, W: view(f, 2), b: view(f), x: view(f, 2), y: view(f, 2) }, ({ n, W, b, x, y }, s, o) => {
        let a = b[o];
        for (let k = 0; k < n; k++) a += W[o][k] * x[s][k];
        y[s][o] = a / (1 + Math.abs(a));
      }),
      args: () => ({ n: 6, W: random(1, 4, 6), b: random(2, 4), x: random(3, 5, 6), y: random(4, 5, 4) }),
      wrt: ["W", "b", "x", "y"],
      policy: range(5, 4),
    },
    {
      name: "acc = f(acc) in a loop",
      kernel: kernel("acc", { n: i32, x: view(f), y: view(f) }, ({ n, x, y }, i) => {
        let acc = 0.5;
        let last = 1;
        for (let k = 0; k < n; k++) {
          acc = acc * acc * 0.5 + x[i] * acc + 0.25;
          last = acc * x[i] * k;
        }
        y[i] = acc * acc + last;
      }),
      args: () => ({ n: 5, ...column(1) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
    {
      name: "a loop in a loop",
      kernel: kernel("nested", { n: i32, x: view(f), y: view(f) }, ({ n, x, y }, i) => {
        let q = x[i];
        for (let k = 0; k < n; k++) {
          let p = q;
          for (let j = 0; j < n + k; j++) p = p * (0.9 + 0.1 * x[i]) + 0.01 * p * q;
          q = q + p * p;
        }
        y[i] = q;
      }),
      args: () => ({ n: 4, ...column(1) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
    {
      name: "a value used before and after a loop",
      kernel: kernel("around", { n: i32, x: view(f), s: view(f), y: view(f) }, ({ n, x, s, y }, i) => {
        const b = x[i] * x[i];
        let acc = 5;
        for (let k = 0; k < n; k++) acc += s[k] * b;
        y[i] = acc * b;
      }),
      args: () => ({ n: 5, s: random(3, N), ...column(1) }),
      wrt: ["x", "s", "y"],
      policy: range(N),
    },
    {
      name: "steps of 3 and -2",
      kernel: kernel("steps", { n: i32, x: view(f), y: view(f) }, ({ n, x, y }, i) => {
        let s = 1;
        for (let k = 1; k < n; k += 3) s = s * x[k] + x[i];
        for (let k = n; k > 2; k -= 2) s = s * 0.5 * x[k] + s;
        y[i] = s;
      }),
      args: () => ({ n: 23, ...column(1) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
    {
      name: "a long loop",
      kernel: kernel("long", { n: i32, x: view(f), y: view(f) }, ({ n, x, y }, i) => {
        let a = x[i];
        let b = 0.5;
        for (let k = 0; k < n; k++) {
          const c = a;
          a = 0.99 * a + 0.1 * b * (0.3 - a * a);
          b = 0.98 * b - 0.1 * c;
        }
        y[i] = a * b;
      }),
      args: () => ({ n: 333, ...column(1) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
  ];
}

function collide(f: typeof f64, random: Random): GradientCase {
  const Numbers = arrayType(f);
  const cx = table(f, [0, 1, 0, -1, 0, 1, -1, -1, 1]);
  const cy = table(f, [0, 0, 1, 0, -1, 1, 1, -1, -1]);
  const w = table(f, [4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36]);
  return {
    name: "collisions on a lattice",
    kernel: kernel(
      "collide",
      { omega: f, fin: view(f, 2), fout: view(f, 2) },
      ({ omega, fin, fout }, i) => {
        const g = new Numbers(9);
        let rho = 1;
        let ux = 0;
        let uy = 0;
        for (let q = 0; q < 9; q++) {
          g[q] = fin[i][q];
          rho += 0.1 * g[q];
          ux += cx[q] * g[q];
          uy += cy[q] * g[q];
        }
        ux /= rho;
        uy /= rho;
        const uu = 1.5 * (ux * ux + uy * uy);
        for (let q = 0; q < 9; q++) {
          const cu = 3 * (cx[q] * ux + cy[q] * uy);
          fout[i][q] = g[q] - omega * (g[q] - w[q] * rho * (1 + cu + 0.5 * cu * cu - uu));
        }
      },
      () => [cx, cy, w, Numbers],
    ),
    args: () => ({ omega: 1.2, fin: random(1, N, 9), fout: random(2, N, 9) }),
    wrt: ["omega", "fin", "fout"],
    policy: range(N),
  };
}

function branches(f: typeof f64, random: Random): GradientCase[] {
  const column = (seed: number): Record<string, Data> => ({ x: random(seed, N), y: random(seed + 1, N) });
  return [
    {
      name: "Newton's method",
      kernel: kernel("newton", { x: view(f), y: view(f) }, ({ x, y }, i) => {
        const a = 1.5 + x[i];
        let z = a;
        let d = 1;
        while (Math.abs(d) > 1e-5) {
          d = (z * z * z - a) / (3 * z * z);
          z = z - d;
        }
        y[i] = z;
      }),
      args: () => column(1),
      wrt: ["x", "y"],
      policy: range(N),
    },
    {
      name: "continue, greatest value",
      kernel: kernel("greatest", { n: i32, c: view(f, 2), x: view(f), y: view(f) }, ({ n, c, x, y }, i) => {
        let best = -1e20;
        for (let p = 0; p < n; p++)
          for (let q = 0; q < n; q++) {
            const w = c[p][q];
            if (w < 0) continue;
            const v = x[i] * w * (p + 1 - q);
            if (v > best) best = v;
          }
        y[i] = best;
      }),
      args: () => ({ n: 5, c: random(3, 5, 5), ...column(1) }),
      wrt: ["c", "x", "y"],
      policy: range(N),
    },
    {
      name: "break",
      kernel: kernel("breaks", { n: i32, x: view(f), y: view(f) }, ({ n, x, y }, i) => {
        let z = 1 + x[i];
        for (let k = 0; k < n; k++) {
          z = z * 1.1 + 0.1 / (z + 1);
          if (z > 2) break;
          z += 0.05 * x[i];
        }
        y[i] = z * z;
      }),
      args: () => ({ n: 30, ...column(1) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
    {
      name: "guards",
      kernel: kernel("guards", { x: view(f), y: view(f) }, ({ x, y }, i) => {
        const r = x[i] > 0 ? Math.sqrt(x[i]) : 0;
        const q = x[i] < 0 ? Math.sqrt(-x[i]) * x[i] : x[i] * r;
        let t = 0;
        if (x[i] > 0.2) t = q * q;
        else if (x[i] > -0.2) t = q * q * q;
        y[i] = r + q * t;
      }),
      args: () => column(5),
      wrt: ["x", "y"],
      policy: range(N),
    },
  ];
}

/** Arrays that change while their values are needed. */
function memory(f: typeof f64, random: Random): GradientCase[] {
  const Numbers = arrayType(f);
  const column = (seed: number): Record<string, Data> => ({ x: random(seed, N), y: random(seed + 1, N) });
  return [
    {
      name: "a private array that is set again after a loop",
      kernel: kernel(
        "again",
        { n: i32, x: view(f), y: view(f) },
        ({ n, x, y }, i) => {
          const g = new Numbers(3);
          g[0] = x[i];
          g[1] = x[i] * x[i];
          g[2] = 0.5;
          let s = 1;
          for (let k = 0; k < n; k++) s = s * (1 + 0.1 * g[k % 3] * g[(k + 1) % 3]);
          g[n % 3] = s * s;
          for (let k = 0; k < n; k++) s += g[k % 3] * g[k % 3];
          g[0] = 7;
          y[i] = s * g[n % 3];
        },
        () => [Numbers],
      ),
      args: () => ({ n: 5, ...column(1) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
    {
      name: "a recurrence in a private array",
      kernel: kernel(
        "recurrence",
        { n: i32, x: view(f), y: view(f) },
        ({ n, x, y }, i) => {
          const g = new Numbers(5);
          for (let k = 0; k < 5; k++) g[k] = x[(i + k) % 40];
          let s = 0.5;
          for (let k = 0; k < n; k++) {
            g[(k + 1) % 5] = g[(k + 1) % 5] * g[k % 5] + 0.3 * s;
            s = s * g[k % 5] + 0.1;
          }
          y[i] = s + g[0] * g[1] + g[2] * g[3];
        },
        () => [Numbers],
      ),
      args: () => ({ n: 11, ...column(1) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
    {
      name: "read in a loop, then stored and read again",
      kernel: kernel("back", { n: i32, x: view(f, 2), y: view(f) }, ({ n, x, y }, i) => {
        let s = 1;
        for (let k = 0; k < n; k++) s = s * (0.7 + x[i][k % 4]);
        x[i][1] = s * x[i][0];
        y[i] = x[i][n % 4] * x[i][(n + 1) % 4] + s;
      }),
      args: () => ({ n: 5, x: random(1, N, 4), y: random(2, N) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
    {
      name: "choices of values, and whole powers",
      kernel: kernel(
        "choices",
        { n: i32, x: view(f), y: view(f) },
        ({ n, x, y }, i) => {
          const a = powi(x[i] + 1.5, n);
          const b = x[i] * x[i];
          const c = x[i] > 0 ? a : b;
          const d = x[i] > 0.2 ? b : c;
          y[i] = c * d;
        },
        () => [powi],
      ),
      args: () => ({ n: 4, ...column(1) }),
      wrt: ["x", "y"],
      policy: range(N),
    },
  ];
}
