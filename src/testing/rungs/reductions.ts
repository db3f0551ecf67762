import type { Device, Precision } from "../../device/device.js";
import { range } from "../../device/policy.js";
import type { NumericType } from "../../ir/types.js";
import { kernel } from "../../kernel/kernel.js";
import { f32, f64, i32, max, min, reducer, sum, u32, view } from "../../kernel/params.js";
import { strictFold } from "../strict-fold.js";
import { expectEqual, expectSame, make, noise, rung, type Rung } from "../rung.js";

const dot = kernel("dot", { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => {
  s.add(x[i] * y[i]);
});
const statistics64 = kernel(
  "statistics64",
  { x: view(f64), total: sum(f64), least: min(f64), greatest: max(f64) },
  ({ x, total, least, greatest }, i) => {
    total.add(x[i]);
    least.min(x[i]);
    greatest.max(x[i]);
  },
);
const statistics32 = kernel(
  "statistics32",
  { x: view(f32), total: sum(f32), least: min(f32), greatest: max(f32) },
  ({ x, total, least, greatest }, i) => {
    total.add(x[i]);
    least.min(x[i]);
    greatest.max(x[i]);
  },
);
const statisticsSigned = kernel(
  "statisticsSigned",
  { x: view(i32), total: sum(i32), least: min(i32), greatest: max(i32) },
  ({ x, total, least, greatest }, i) => {
    total.add(x[i]);
    least.min(x[i]);
    greatest.max(x[i]);
  },
);
const statisticsUnsigned = kernel(
  "statisticsUnsigned",
  { x: view(u32), total: sum(u32), least: min(u32), greatest: max(u32) },
  ({ x, total, least, greatest }, i) => {
    total.add(x[i]);
    least.min(x[i]);
    greatest.max(x[i]);
  },
);
const custom = kernel(
  "custom",
  {
    x: view(f64),
    p: reducer(f64, 1, (a, b) => a * b),
    w: reducer(f64, 0, (a, b) => (Math.abs(b) > Math.abs(a) ? b : a)),
    m: reducer(i32, 0, (a, b) => a | b),
  },
  ({ x, p, w, m }, i) => {
    p.merge(1 + x[i] * 0.01);
    w.merge(x[i] - 0.5);
    m.merge(1 << (i % 31));
  },
);
const conditional = kernel("conditional", { x: view(f64), s: sum(f64), n: sum(i32) }, ({ x, s, n }, i) => {
  if (x[i] > 0.5) {
    s.add(x[i]);
    n.add(1);
  } else if (x[i] < 0.1) {
    s.add(-1);
  }
});
const looped = kernel("looped", { x: view(f64, 2), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => {
  let row = 0;
  for (let k = 0; k < x[0].length; k++) {
    row += x[i][k];
    s.add(x[i][k] * k);
  }
  y[i] = row;
});
const plane = kernel("plane", { x: view(f64, 2), s: sum(f64) }, ({ x, s }, i, j) => {
  s.add(x[i][j]);
});
const space = kernel("space", { x: view(f64, 3), s: sum(f64), m: max(f64) }, ({ x, s, m }, i, j, k) => {
  s.add(x[i][j][k]);
  m.max(x[i][j][k]);
});

/** Sizes around those of lanes, chunks, and chunks of chunks. */
const SIZES = [1, 7, 8, 9, 255, 256, 257, 1000, 4096, 65_536, 70_001];
const values = (n: number): Float64Array => make(n, (k) => (noise(k) - 0.5) * 10 ** ((k % 9) - 4));

const FOLDS = {
  sum: (type: NumericType) => (a: number, b: number) =>
    type === "f64" ? a + b : type === "f32" ? Math.fround(a + b) : type === "i32" ? (a + b) | 0 : (a + b) >>> 0,
  min: () => Math.min,
  max: () => Math.max,
};

async function dots(
  device: Device,
  precision: Precision,
  check: (actual: number, x: Float64Array, y: Float64Array) => void,
): Promise<void> {
  for (const n of SIZES) {
    const [xs, ys] = [values(n), make(n, (k) => 1 / (1 + k))];
    const x = device.from(f64, xs),
      y = device.from(f64, ys);
    check((await device.run(dot, { x, y }, range(n), { precision })).s, xs, ys);
    x.free();
    y.free();
  }
}

export const reductions: Rung[] = [
  rung(60, "sums by the strict tree, for sizes around its lanes and chunks", (device) =>
    dots(device, "strict", (actual, xs, ys) =>
      expectEqual(
        actual,
        strictFold([xs.map((v, k) => v * ys[k])], (a, b) => a + b, 0),
        `dot of ${xs.length}`,
      ),
    ),
  ),

  rung(61, "sums, least and greatest values of every type, in one pass", async (device) => {
    const runs = [
      [f64, statistics64],
      [f32, statistics32],
      [i32, statisticsSigned],
      [u32, statisticsUnsigned],
    ] as const;
    for (const n of [1, 9, 300, 5001]) {
      for (const [type, run] of runs) {
        const raw = make(n, (k) =>
          type.type === "i32"
            ? Math.imul(k + 1, 2654435761) | 0
            : type.type === "u32"
              ? Math.imul(k + 1, 2654435761) >>> 0
              : (noise(k) - 0.5) * 1000,
        );
        const x = device.from(type, raw);
        const xs = [...(await device.queue.read(x))];
        const result = await device.run(run as typeof statistics64, { x: x as never }, range(n));
        const limits = { f64: [Infinity, -Infinity], f32: [Infinity, -Infinity], i32: [2147483647, -2147483648], u32: [4294967295, 0] }[
          type.type
        ];
        expectEqual(result.total, strictFold([xs], FOLDS.sum(type.type), 0), `sum of ${n} ${type.type}`);
        expectEqual(result.least, strictFold([xs], Math.min, limits[0]), `least of ${n} ${type.type}`);
        expectEqual(result.greatest, strictFold([xs], Math.max, limits[1]), `greatest of ${n} ${type.type}`);
        x.free();
      }
    }
  }),

  rung(62, "least and greatest values with NaN and signed zeros", async (device) => {
    for (const list of [
      [0, -0, 5],
      [-0, 0, -5],
      [1, NaN, 2],
      [-0, -0],
      [Infinity, -Infinity],
    ]) {
      const x = device.from(f64, list);
      const result = await device.run(statistics64, { x }, range(list.length));
      expectEqual(result.least, Math.min(...list), `least of ${list}`);
      expectEqual(result.greatest, Math.max(...list), `greatest of ${list}`);
    }
  }),

  rung(63, "the identity where there are no elements", async (device) => {
    const x = device.array(f64, 4),
      xi = device.array(i32, 4),
      xu = device.array(u32, 4);
    const real = await device.run(statistics64, { x }, range(0));
    expectSame([real.total, real.least, real.greatest], [0, Infinity, -Infinity], "f64 identities");
    const signed = await device.run(statisticsSigned, { x: xi }, range(0));
    expectSame([signed.total, signed.least, signed.greatest], [0, 2147483647, -2147483648], "i32 identities");
    const unsigned = await device.run(statisticsUnsigned, { x: xu }, range(0));
    expectSame([unsigned.total, unsigned.least, unsigned.greatest], [0, 4294967295, 0], "u32 identities");
    const own = await device.run(custom, { x }, range(0));
    expectSame([own.p, own.w, own.m], [1, 0, 0], "identities of one's own");
    expectEqual((await device.run(plane, { x: device.array(f64, [3, 5]) }, range(3, 0))).s, 0, "sum over empty lines");
  }),

  rung(64, "folds of one's own", async (device) => {
    for (const n of [1, 8, 257, 3000]) {
      const xs = make(n, noise);
      const x = device.from(f64, xs);
      const result = await device.run(custom, { x }, range(n));
      expectEqual(
        result.p,
        strictFold([xs.map((v) => 1 + v * 0.01)], (a, b) => a * b, 1),
        `product of ${n}`,
      );
      expectEqual(
        result.w,
        strictFold([xs.map((v) => v - 0.5)], (a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0),
        `widest of ${n}`,
      );
      expectEqual(
        result.m,
        [...Array(n).keys()].reduce((m, k) => m | (1 << (k % 31)), 0),
        `bits of ${n}`,
      );
    }
  }),

  rung(65, "contributions from some elements, and several from one", async (device) => {
    for (const n of [5, 300, 2000]) {
      const xs = make(n, noise);
      const x = device.from(f64, xs);
      const result = await device.run(conditional, { x }, range(n));
      const parts = [...xs].map((v) => (v > 0.5 ? [v] : v < 0.1 ? [-1] : []));
      expectEqual(
        result.s,
        strictFold([parts], (a, b) => a + b, 0),
        `conditional sum of ${n}`,
      );
      expectEqual(result.n, xs.filter((v) => v > 0.5).length, `count of ${n}`);

      const grid = make(n * 5, noise);
      const z = device.from(f64, grid, [n, 5]),
        y = device.array(f64, n);
      const rows = [...Array(n).keys()].map((i) => [0, 1, 2, 3, 4].map((k) => grid[i * 5 + k]));
      const { s } = await device.run(looped, { x: z, y }, range(n));
      expectEqual(
        s,
        strictFold([rows.map((row) => row.map((v, k) => v * k))], (a, b) => a + b, 0),
        `looped sum of ${n}`,
      );
      expectSame(
        await device.queue.read(y),
        rows.map((row) => row.reduce((a, b) => a + b, 0)),
        "rows",
      );
    }
  }),

  rung(66, "sums over ranges of two and three axes, line by line", async (device) => {
    for (const [a, b] of [
      [1, 1],
      [3, 7],
      [7, 300],
      [300, 7],
      [2, 1030],
    ]) {
      const xs = values(a * b);
      const x = device.from(f64, xs, [a, b]);
      const lines = [...Array(a).keys()].map((i) => xs.slice(i * b, (i + 1) * b));
      expectEqual(
        (await device.run(plane, { x }, range(a, b))).s,
        strictFold(lines, (p, q) => p + q, 0),
        `sum over ${a} x ${b}`,
      );
      const inner = lines.slice(1).map((line) => line.slice(1));
      expectEqual(
        (await device.run(plane, { x }, range([1, a], [1, b]))).s,
        strictFold(inner, (p, q) => p + q, 0),
        `sum over the rest of ${a} x ${b}`,
      );
    }
    const xs = values(5 * 6 * 40);
    const lines = [...Array(30).keys()].map((i) => xs.slice(i * 40, (i + 1) * 40));
    const result = await device.run(space, { x: device.from(f64, xs, [5, 6, 40]) }, range(5, 6, 40));
    expectEqual(
      result.s,
      strictFold(lines, (p, q) => p + q, 0),
      "sum over a box",
    );
    expectEqual(result.m, Math.max(...xs), "greatest of a box");
  }),

  rung(67, "results into views", async (device) => {
    const xs = values(2000);
    const x = device.from(f64, xs),
      places = device.from(f64, [1, 2, 3, 4, 5]);
    const total = places.slice([1, 2]),
      greatest = places.slice([3, 4]);
    const launch = device.prepare(statistics64, { x, total, greatest }, range(2000));
    for (let round = 0; round < 2; round++) device.queue.submit(launch);
    const expected = strictFold([xs], (a, b) => a + b, 0);
    expectSame(await device.queue.read(places), [1, expected, 3, Math.max(...xs), 5], "views with results");
    const results = await device.queue.results(launch);
    expectSame([results.total, results.least, results.greatest], [expected, Math.min(...xs), Math.max(...xs)], "results");
    launch.free();
  }),

  rung(68, "sums in fast mode, within rounding", (device) =>
    dots(device, "fast", (actual, xs, ys) => {
      const exact = xs.reduce((s, v, k) => s + v * ys[k], 0);
      const scale = xs.reduce((s, v, k) => s + Math.abs(v * ys[k]), 0);
      if (!(Math.abs(actual - exact) <= 1e-12 * scale)) throw new Error(`fast dot of ${xs.length}: ${actual} instead of about ${exact}`);
    }),
  ),
];
