import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { bool, f32, i32, u32, view } from "../../kernel/declare/params.js";
import { u8 } from "../../kernel/declare/storage.js";
import { expectOutput, expectSame } from "../expect.js";
import { ofType } from "../real.js";
import { conformanceCase, reals, type ConformanceCase } from "../case.js";
import { make, noiseValue } from "../values.js";

const fill = ofType((real) =>
  kernel("fill", { x: view(real), value: real }, ({ x, value }, i) => {
    x[i] = value;
  }),
);
const count = kernel("count", { x: view(i32) }, ({ x }, i) => {
  x[i] = i;
});
const axpy = ofType((real) =>
  kernel("axpy", { a: real, x: view(real), y: view(real) }, ({ a, x, y }, i) => {
    y[i] = a * x[i] + y[i];
  }),
);
const scalars = ofType((real) =>
  kernel("scalars", { a: real, b: f32, c: i32, d: u32, e: bool, x: view(real, 2), n: view(i32, 2) }, ({ a, b, c, d, e, x, n }, i) => {
    x[0][i] = a;
    x[1][i] = b;
    x[2][i] = c;
    x[3][i] = d;
    n[0][i] = c;
    n[1][i] = d | 0;
    n[2][i] = e ? 1 : 0;
  }),
);
const index2 = kernel("index2", { x: view(i32, 2) }, ({ x }, i, j) => {
  x[i][j] = i * 100 + j;
});
const index3 = kernel("index3", { x: view(i32, 3) }, ({ x }, i, j, k) => {
  x[i][j][k] = (i * 100 + j) * 100 + k;
});
const index4 = kernel("index4", { x: view(i32, 4) }, ({ x }, i, j, k, l) => {
  x[i][j][k][l] = ((i * 100 + j) * 100 + k) * 100 + l;
});
const transpose = ofType((real) =>
  kernel("transpose", { x: view(real, 2), y: view(real, 2) }, ({ x, y }, i, j) => {
    y[j][i] = x[i][j];
  }),
);
const laplace = ofType((real) =>
  kernel("laplace", { p: view(real, 3), s: view(real, 3) }, ({ p, s }, i, j, k) => {
    s[i][j][k] = 6 * p[i][j][k] - p[i - 1][j][k] - p[i + 1][j][k] - p[i][j - 1][k] - p[i][j + 1][k] - p[i][j][k - 1] - p[i][j][k + 1];
  }),
);
const flat = ofType((real) =>
  kernel("flat", { x: view(real), y: view(real), nx: i32 }, ({ x, y, nx }, j, i) => {
    const c = j * nx + i;
    y[c] = x[c] + x[c + 1] + x[c + nx];
  }),
);
const reverse = ofType((real) =>
  kernel("reverse", { x: view(real), y: view(real) }, ({ x, y }, i) => {
    y[i] = x[x.length - 1 - i];
  }),
);
const gather = ofType((real) =>
  kernel("gather", { at: view(i32), x: view(real), y: view(real) }, ({ at, x, y }, i) => {
    y[i] = x[at[i]] + x[at[at[i]]];
  }),
);
const scattered = ofType((real) =>
  kernel("scattered", { at: view(i32), x: view(real), y: view(real, 1, { disjoint: true }) }, ({ at, x, y }, i) => {
    y[at[i]] = x[i];
  }),
);
const bytes = kernel("bytes", { x: view(u8), y: view(u8), z: view(i32) }, ({ x, y, z }, i) => {
  y[i] = x[i] * 2;
  z[i] = x[i] - 100;
});
const extents = ofType((real) =>
  kernel("extents", { x: view(real, 3), y: view(i32, 2) }, ({ x, y }, i) => {
    y[0][i] = x.length;
    y[1][i] = x[0].length;
    y[2][i] = x[0][0].length;
  }),
);

const axes = ofType((real) =>
  kernel(
    "axes",
    { x: view(real, 5), y: view(real, 7), z: view(real, 7), n: view(i32, 1, { disjoint: true }) },
    ({ x, y, z, n }, i, j, k) => {
      y[i][j][k][0][k][1][0] = x[j][i][k][1][2];
      z[0][i][j][0][k][i][1] = x[j][0][0][k][i];
      if (i === 1 && j === 0 && k === 0) {
        n[0] = x[0][0][0][0].length;
        n[1] = y[0][0][0].length;
        n[2] = z[0][0].length;
        n[3] = z[0][0][0][0][0][0].length;
      }
    },
  ),
);

const many = ofType((real) =>
  kernel(
    "many",
    {
      a: view(real),
      b: view(f32),
      c: view(i32),
      d: view(u32),
      e: view(u8),
      f: view(real),
      g: view(f32),
      h: view(i32),
      k: view(u32),
      l: view(u8),
      m: real,
      n: f32,
      o: i32,
      p: u32,
      q: bool,
      r: view(real, 2),
      s: view(i32, 2),
      t: view(real),
      u: view(f32),
      v: view(i32),
      w: view(u32),
      x: view(u8),
    },
    ({ a, b, c, d, e, f, g, h, k, l, m, n, o, p, q, r, s, t, u, v, w, x }, i) => {
      t[i] = a[i] * m + f[i] + b[i] + r[0][i] - (q ? c[i] * m : d[i] * m);
      u[i] = Math.fround(b[i] * n + g[i]);
      v[i] = (c[i] + h[i] * o + s[1][i] + e[i]) | 0;
      w[i] = (d[i] + k[i] * p) >>> 0;
      x[i] = (e[i] + l[i]) | 0;
    },
  ),
);

const SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 31, 255, 256, 257, 1000, 5000, 70_001];

export const ranges: ConformanceCase[] = [
  ...reals(10, "fills arrays of many sizes, and nothing beyond them", async (device, real) => {
    for (const n of SIZES) {
      const whole = device.from(
        real,
        make(n + 2, () => -1),
      );
      await device.run(fill(real), { x: whole.slice([1, n + 1]), value: 3 }, range(n));
      expectSame(
        await device.queue.read(whole),
        make(n + 2, (k) => (k === 0 || k === n + 1 ? -1 : 3)),
        `fill of ${n}`,
      );
      whole.free();
    }
  }),

  conformanceCase(11, "knows the index", async (device) => {
    for (const n of SIZES) {
      const x = device.array(i32, n);
      await expectOutput(
        device,
        count,
        { x },
        range(n),
        x,
        make(n, (k) => k),
      );
      x.free();
    }
  }),

  ...reals(12, "runs axpy", async (device, real, r) => {
    for (const n of SIZES) {
      const [xs, ys] = [make(n, (k) => r(k / 7)), make(n, (k) => r(1 / (k + 1)))];
      const [x, y] = [device.from(real, xs), device.from(real, ys)];
      await expectOutput(
        device,
        axpy(real),
        { a: 0.1, x, y },
        range(n),
        y,
        make(n, (k) => r(r(r(0.1) * xs[k]) + ys[k])),
      );
      x.free();
      y.free();
    }
  }),

  ...reals(13, "takes scalars of every type", async (device, real, r) => {
    const x = device.array(real, [4, 3]),
      n = device.array(i32, [3, 3]);
    const run = async (a: number, b: number, c: number, d: number, e: boolean) => {
      await device.run(scalars(real), { a, b, c, d, e, x, n }, range(3));
      const thrice = (values: readonly number[]) => values.flatMap((v) => [v, v, v]);
      expectSame(await device.queue.read(x), thrice([a, Math.fround(b), c, d].map(r)), "scalars as floats");
      expectSame(await device.queue.read(n), thrice([c, d | 0, e ? 1 : 0]), "scalars as integers");
    };
    await run(0.1, 0.1, -2147483648, 4294967295, true);
    await run(-0, 3.5, 2147483647, 0, false);
    await run(NaN, Infinity, 0, 1, true);
  }),

  conformanceCase(14, "runs over ranges of two, three and four axes", async (device) => {
    for (const [a, b, c, d] of [
      [2, 3, 4, 5],
      [7, 1, 9, 3],
      [1, 13, 1, 17],
      [5, 4, 3, 1],
    ]) {
      const digits = (n: number, ...shape: number[]): number =>
        shape.reduceRight(
          ([value, scale, rest], extent) => [value + (rest % extent) * scale, scale * 100, Math.floor(rest / extent)],
          [0, 1, n],
        )[0];
      const x2 = device.array(i32, [a, b]),
        x3 = device.array(i32, [a, b, c]),
        x4 = device.array(i32, [a, b, c, d]);
      await expectOutput(
        device,
        index2,
        { x: x2 },
        range(a, b),
        x2,
        make(a * b, (n) => digits(n, a, b)),
      );
      await expectOutput(
        device,
        index3,
        { x: x3 },
        range(a, b, c),
        x3,
        make(a * b * c, (n) => digits(n, a, b, c)),
      );
      await expectOutput(
        device,
        index4,
        { x: x4 },
        range(a, b, c, d),
        x4,
        make(a * b * c * d, (n) => digits(n, a, b, c, d)),
      );
    }
  }),

  conformanceCase(15, "begins where the range begins", async (device) => {
    const x = device.array(i32, [6, 7]);
    await expectOutput(
      device,
      index2,
      { x },
      range([2, 5], [1, 6]),
      x,
      make(42, (n) => {
        const [i, j] = [Math.floor(n / 7), n % 7];
        return i >= 2 && i < 5 && j >= 1 && j < 6 ? i * 100 + j : 0;
      }),
    );
    const line = device.array(i32, 3000);
    await expectOutput(
      device,
      count,
      { x: line },
      range([100, 2900]),
      line,
      make(3000, (n) => (n >= 100 && n < 2900 ? n : 0)),
    );
  }),

  conformanceCase(16, "does nothing for an empty range", async (device) => {
    const x = device.from(
      i32,
      make(6, () => 5),
      [2, 3],
    );
    await expectOutput(
      device,
      index2,
      { x },
      range(0, 3),
      x,
      make(6, () => 5),
    );
    await expectOutput(
      device,
      index2,
      { x },
      range(2, 0),
      x,
      make(6, () => 5),
    );
    await expectOutput(
      device,
      index2,
      { x },
      range([1, 1], [0, 3]),
      x,
      make(6, () => 5),
    );
  }),

  ...reals(17, "reads and writes left layouts, slices and strided views", async (device, real) => {
    for (const layout of ["left", "right"] as const) {
      const x = device.from(
        real,
        make(12 * 11, (n) => n),
        [12, 11],
        { layout },
      );
      const y = device.array(real, [11, 12], { layout: "left" });
      await expectOutput(
        device,
        transpose(real),
        { x, y },
        range(12, 11),
        y,
        make(132, (n) => (n % 12) * 11 + Math.floor(n / 12)),
      );
      const column = device.array(real, 12);
      await expectOutput(
        device,
        axpy(real),
        { a: 1, x: x.at(1, 3), y: column },
        range(12),
        column,
        make(12, (n) => n * 11 + 3),
      );
      const window = x.slice([2, 9], [4, 10]);
      const out = device.array(real, [6, 7]);
      await expectOutput(
        device,
        transpose(real),
        { x: window, y: out },
        range(7, 6),
        out,
        make(42, (n) => ((n % 7) + 2) * 11 + Math.floor(n / 7) + 4),
      );
    }
  }),

  ...reals(18, "applies a stencil to the interior of a box", async (device, real, r) => {
    for (const [nx, ny, nz] of [
      [3, 3, 3],
      [5, 6, 70],
      [4, 9, 33],
    ]) {
      const ps = make(nx * ny * nz, (n) => r(Math.sin(n)));
      const p = device.from(real, ps, [nx, ny, nz]),
        s = device.array(real, [nx, ny, nz]);
      await expectOutput(
        device,
        laplace(real),
        { p, s },
        range([1, nx - 1], [1, ny - 1], [1, nz - 1]),
        s,
        make(nx * ny * nz, (n) => {
          const [i, j, k] = [Math.floor(n / (ny * nz)), Math.floor(n / nz) % ny, n % nz];
          if (i === 0 || i === nx - 1 || j === 0 || j === ny - 1 || k === 0 || k === nz - 1) return 0;
          const around = [-ny * nz, ny * nz, -nz, nz, -1, 1];
          return around.reduce((s, d) => r(s - ps[n + d]), r(6 * ps[n]));
        }),
      );
    }
  }),

  ...reals(19, "computes indices from scalars and extents", async (device, real, r) => {
    const xs = make(40 * 30, (n) => r(Math.cos(n)));
    const x = device.from(real, xs),
      y = device.array(real, 1200);
    await expectOutput(
      device,
      flat(real),
      { x, y, nx: 40 },
      range([1, 29], [0, 39]),
      y,
      make(1200, (n) => {
        const [j, i] = [Math.floor(n / 40), n % 40];
        return j >= 1 && j < 29 && i < 39 ? r(r(xs[n] + xs[n + 1]) + xs[n + 40]) : 0;
      }),
    );
    await expectOutput(device, reverse(real), { x, y }, range(1200), y, xs.slice().reverse());
    const shape = device.array(i32, [3, 4]);
    await expectOutput(
      device,
      extents(real),
      { x: x.reshape(4, 6, 50), y: shape },
      range(4),
      shape,
      make(12, (n) => [4, 6, 50][Math.floor(n / 4)]),
    );
  }),

  ...reals(20, "gathers, and writes at indices asserted to be disjoint", async (device, real) => {
    const n = 777;
    const ats = make(n, (k) => (k * 50) % n),
      xs = make(n, (k) => k + 0.25);
    const at = device.from(i32, ats),
      x = device.from(real, xs),
      y = device.array(real, n);
    await expectOutput(
      device,
      gather(real),
      { at, x, y },
      range(n),
      y,
      make(n, (k) => xs[ats[k]] + xs[ats[ats[k]]]),
    );
    const expected = new Float64Array(n);
    ats.forEach((to, k) => (expected[to] = xs[k]));
    await expectOutput(device, scattered(real), { at, x, y }, range(n), y, expected);
  }),

  conformanceCase(21, "reads and writes bytes", async (device) => {
    const xs = make(256, (k) => k);
    const x = device.from(u8, xs),
      y = device.array(u8, 256),
      z = device.array(i32, 256);
    await expectOutput(
      device,
      bytes,
      { x, y, z },
      range(256),
      z,
      make(256, (k) => k - 100),
    );
    expectSame(
      await device.queue.read(y),
      make(256, (k) => (k * 2) % 256),
      "bytes modulo 256",
    );
  }),

  ...reals(22, "runs one kernel on other arrays and other extents", async (device, real) => {
    const sizes = [10, 300, 10, 4000, 300];
    for (const n of sizes) {
      const a = device.from(
          real,
          make(n, (k) => k),
        ),
        b = device.from(
          real,
          make(n, (k) => -k),
        );
      const there = device.prepare(axpy(real), { a: 2, x: a, y: b }, range(n)),
        back = device.prepare(axpy(real), { a: 3, x: b, y: a }, range(n));
      for (let round = 0; round < 3; round++) {
        device.queue.submit(there);
        device.queue.submit(back);
      }
      const [as, bs] = [make(n, (k) => k), make(n, (k) => -k)];
      for (let round = 0; round < 3; round++)
        for (let k = 0; k < n; k++) {
          bs[k] = 2 * as[k] + bs[k];
          as[k] = 3 * bs[k] + as[k];
        }
      expectSame(await device.queue.read(a), as, `a of ${n}`);
      expectSame(await device.queue.read(b), bs, `b of ${n}`);
      [there, back, a, b].forEach((thing) => thing.free());
    }
  }),

  ...reals(23, "takes many views and scalars of all types in one kernel", async (device, real, r) => {
    const n = 301;
    const whole = (scale: number) => make(n, (i) => Math.floor(noiseValue(i + scale) * 100) - (scale % 2) * 50);
    const fraction = (scale: number) => make(n, (i) => Math.fround(noiseValue(i * scale) - 0.5));
    const [a, f, b, g] = [1, 2, 3, 4].map(fraction);
    const [c, h, d, k, e, l] = [whole(1), whole(3), whole(2), whole(4), whole(6), whole(8)];
    const [row, s] = [fraction(5), whole(5)];
    const [m, scale] = [r(0.3), Math.fround(0.7)];
    const inputs = {
      a: device.from(real, a),
      b: device.from(f32, b),
      c: device.from(i32, c),
      d: device.from(u32, d),
      e: device.from(u8, e),
      f: device.from(real, f),
      g: device.from(f32, g),
      h: device.from(i32, h),
      k: device.from(u32, k),
      l: device.from(u8, l),
      r: device.from(real, [...row, ...row], [2, n]),
      s: device.from(i32, [...s, ...s], [2, n]),
    };
    for (const q of [true, false]) {
      const outputs = {
        t: device.array(real, n),
        u: device.array(f32, n),
        v: device.array(i32, n),
        w: device.array(u32, n),
        x: device.array(u8, n),
      };
      await device.run(many(real), { ...inputs, ...outputs, m, n: scale, o: -3, p: 7, q }, range(n));
      expectSame(
        await device.queue.read(outputs.t),
        make(n, (i) => r(r(r(r(r(a[i] * m) + f[i]) + b[i]) + row[i]) - r((q ? c : d)[i] * m))),
        "real output",
      );
      expectSame(
        await device.queue.read(outputs.u),
        make(n, (i) => Math.fround(Math.fround(b[i] * scale) + g[i])),
        "f32 output",
      );
      expectSame(
        await device.queue.read(outputs.v),
        make(n, (i) => c[i] - 3 * h[i] + s[i] + e[i]),
        "i32 output",
      );
      expectSame(
        await device.queue.read(outputs.w),
        make(n, (i) => d[i] + 7 * k[i]),
        "u32 output",
      );
      expectSame(
        await device.queue.read(outputs.x),
        make(n, (i) => (e[i] + l[i]) % 256),
        "u8 output",
      );
    }
  }),

  ...reals(24, "reads and writes arrays of five to seven axes, of any layout", async (device, real) => {
    const values = make(2 * 3 * 2 * 2 * 3, (n) => n / 8);
    const shape = [2, 3, 2, 2, 3] as const;
    for (const layout of ["right", "left"] as const) {
      const x = device.from(real, values, shape, { layout });
      const y = device.array(real, [3, 2, 2, 3, 2, 2, 2], { layout });
      const z = device.array(real, [1, 3, 2, 1, 2, 3, 2], { layout });
      const n = device.array(i32, 4);
      await device.run(axes(real), { x, y: y.slice(undefined, undefined, undefined, [1, 3]), z, n }, range([1, 3], 2, 2));
      const of = (a: number, b: number, c: number, d: number, e: number) => values[(((a * 3 + b) * 2 + c) * 2 + d) * 3 + e];
      const inside = (i: number, j: number, k: number) => i >= 1 && [i, j, k].every((index) => index < 3);
      expectSame(
        await device.queue.read(y),
        make(288, (at) => {
          const [i, j, k, l, p, q, r] = [96, 48, 24, 8, 4, 2, 1].map(
            (stride, axis) => Math.floor(at / stride) % [3, 2, 2, 3, 2, 2, 2][axis],
          );
          return inside(i, j, k) && l === 1 && p === k && q === 1 && r === 0 ? of(j, i, k, 1, 2) : 0;
        }),
        `y in ${layout} layout`,
      );
      expectSame(
        await device.queue.read(z),
        make(72, (at) => {
          const [i, j, k, l, m] = [24, 12, 6, 2, 1].map((stride, axis) => Math.floor(at / stride) % [3, 2, 2, 3, 2][axis]);
          return inside(i, j, k) && l === i && m === 1 ? of(j, 0, 0, k, i) : 0;
        }),
        `z in ${layout} layout`,
      );
      expectSame(await device.queue.read(n), [3, 2, 2, 2], "extents");
      [x, y, z, n].forEach((view) => view.free());
    }
  }),
];
