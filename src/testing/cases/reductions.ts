import type { Device, Precision } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import type { NumberType } from "../../ir/types.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { f32, i32, max, min, reducer, sum, u32, view, type ScalarToken } from "../../kernel/declare/params.js";
import { strictFold } from "../strict-fold.js";
import { expectEqual, expectSame } from "../expect.js";
import { adding, ofType, type RealToken, type Rounding } from "../real.js";
import { reals, type ConformanceCase } from "../case.js";
import { make, noiseValue } from "../values.js";

const dot = ofType((real) =>
  kernel("dot", { x: view(real), y: view(real), s: sum(real) }, ({ x, y, s }, i) => {
    s.add(x[i] * y[i]);
  }),
);
const statistics = ofType((type: ScalarToken<NumberType>) =>
  kernel("statistics", { x: view(type), total: sum(type), least: min(type), greatest: max(type) }, ({ x, total, least, greatest }, i) => {
    total.add(x[i]);
    least.min(x[i]);
    greatest.max(x[i]);
  }),
);
/** `both` is not of absolute values alone. */
const farthest = ofType((real) =>
  kernel("farthest", { x: view(real), most: max(real), both: max(real) }, ({ x, most, both }, i) => {
    most.max(Math.abs(x[i]));
    both.max(Math.abs(x[i]));
    both.max(x[i] - 9);
  }),
);
const custom = ofType((real) =>
  kernel(
    "custom",
    {
      x: view(real),
      p: reducer(real, 1, (a, b) => a * b),
      w: reducer(real, 0, (a, b) => (Math.abs(b) > Math.abs(a) ? b : a)),
      m: reducer(i32, 0, (a, b) => a | b),
    },
    ({ x, p, w, m }, i) => {
      p.merge(1 + x[i] * 0.01);
      w.merge(x[i] - 0.5);
      m.merge(1 << (i % 31));
    },
  ),
);
const conditional = ofType((real) =>
  kernel("conditional", { x: view(real), s: sum(real), n: sum(i32) }, ({ x, s, n }, i) => {
    if (x[i] > 0.5) {
      s.add(x[i]);
      n.add(1);
    } else if (x[i] < 0.1) {
      s.add(-1);
    }
  }),
);
const looped = ofType((real) =>
  kernel("looped", { x: view(real, 2), y: view(real), s: sum(real) }, ({ x, y, s }, i) => {
    let row = 0;
    for (let k = 0; k < x[0].length; k++) {
      row += x[i][k];
      s.add(x[i][k] * k);
    }
    y[i] = row;
  }),
);
const plane = ofType((real) =>
  kernel("plane", { x: view(real, 2), s: sum(real) }, ({ x, s }, i, j) => {
    s.add(x[i][j]);
  }),
);
const space = ofType((real) =>
  kernel("space", { x: view(real, 3), s: sum(real), m: max(real) }, ({ x, s, m }, i, j, k) => {
    s.add(x[i][j][k]);
    m.max(x[i][j][k]);
  }),
);

/** Sizes around the sizes of lanes, chunks, and chunks of chunks. */
const SIZES = [1, 7, 8, 9, 255, 256, 257, 1000, 4096, 65_536, 70_001];
const values = (n: number, r: Rounding): Float64Array => make(n, (k) => r((noiseValue(k) - 0.5) * 10 ** ((k % 9) - 4)));
const LIMITS = { f64: [Infinity, -Infinity], f32: [Infinity, -Infinity], i32: [2147483647, -2147483648], u32: [4294967295, 0] };
const least = (a: number, b: number): number => Math.min(a, b);
const greatest = (a: number, b: number): number => Math.max(a, b);

/** Dot products of several sizes, with the products that are to be added. */
async function dots(
  device: Device,
  real: RealToken,
  r: Rounding,
  precision: Precision,
  check: (actual: number, products: Float64Array) => void,
): Promise<void> {
  for (const n of SIZES) {
    const [xs, ys] = [values(n, r), make(n, (k) => r(1 / (1 + k)))];
    const x = device.from(real, xs),
      y = device.from(real, ys);
    const { s } = await device.run(dot(real), { x, y }, range(n), { precision });
    check(
      s,
      xs.map((v, k) => r(v * ys[k])),
    );
    x.free();
    y.free();
  }
}

export const reductions: ConformanceCase[] = [
  ...reals(60, "sums by the strict tree, for sizes around its lanes and chunks", (device, real, r) =>
    dots(device, real, r, "strict", (actual, products) =>
      expectEqual(actual, strictFold([products], adding(r), 0), `dot of ${products.length}`),
    ),
  ),

  ...reals(61, "sums, least and greatest values of floats and integers, in one pass", async (device, real, r) => {
    const cases = [
      [real, (k: number) => r((noiseValue(k) - 0.5) * 1000), r],
      [i32, (k: number) => Math.imul(k + 1, 2654435761) | 0, (x: number) => x | 0],
      [u32, (k: number) => Math.imul(k + 1, 2654435761) >>> 0, (x: number) => x >>> 0],
    ] as const;
    for (const n of [1, 9, 300, 5001]) {
      for (const [type, value, wrapped] of cases) {
        const xs = make(n, value);
        const x = device.from(type, xs);
        const result = await device.run(statistics(type), { x }, range(n));
        const limits = LIMITS[type.type];
        expectEqual(result.total, strictFold([xs], adding(wrapped), 0), `sum of ${n} ${type.type}`);
        expectEqual(result.least, strictFold([xs], least, limits[0]), `least of ${n} ${type.type}`);
        expectEqual(result.greatest, strictFold([xs], greatest, limits[1]), `greatest of ${n} ${type.type}`);
        x.free();
      }
    }
  }),

  ...reals(62, "least and greatest values with NaN and signed zeros", async (device, real) => {
    for (const list of [
      [0, -0, 5],
      [-0, 0, -5],
      [1, NaN, 2],
      [-0, -0],
      [Infinity, -Infinity],
    ]) {
      const x = device.from(real, list);
      const result = await device.run(statistics(real), { x }, range(list.length));
      expectEqual(result.least, Math.min(...list), `least of ${list}`);
      expectEqual(result.greatest, Math.max(...list), `greatest of ${list}`);
      for (const places of [1, 20]) {
        const long = Array.from({ length: places * list.length }, (_, n) => list[Math.floor(n / places)]);
        const { most, both } = await device.run(farthest(real), { x: device.from(real, long) }, range(long.length));
        const expected = Math.max(...list.map(Math.abs));
        expectEqual(most, expected, `greatest absolute value of ${long}`);
        expectEqual(both, expected, `greatest absolute value of ${long}, among others`);
      }
    }
  }),

  ...reals(63, "the identity where there are no elements", async (device, real) => {
    for (const type of [real, i32, u32]) {
      const { total, least, greatest } = await device.run(statistics(type), { x: device.array(type, 4) }, range(0));
      expectSame([total, least, greatest], [0, ...LIMITS[type.type]], `${type.type} identities`);
    }
    const own = await device.run(custom(real), { x: device.array(real, 4) }, range(0));
    expectSame([own.p, own.w, own.m], [1, 0, 0], "identities of one's own");
    expectEqual((await device.run(plane(real), { x: device.array(real, [3, 5]) }, range(3, 0))).s, 0, "sum over empty lines");
  }),

  ...reals(64, "folds of one's own", async (device, real, r) => {
    for (const n of [1, 8, 257, 3000]) {
      const xs = make(n, (k) => r(noiseValue(k)));
      const x = device.from(real, xs);
      const result = await device.run(custom(real), { x }, range(n));
      const factors = xs.map((v) => r(1 + r(v * r(0.01))));
      expectEqual(
        result.p,
        strictFold([factors], (a, b) => r(a * b), 1),
        `product of ${n}`,
      );
      expectEqual(
        result.w,
        strictFold([xs.map((v) => r(v - 0.5))], (a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0),
        `widest of ${n}`,
      );
      expectEqual(
        result.m,
        [...Array(n).keys()].reduce((m, k) => m | (1 << (k % 31)), 0),
        `bits of ${n}`,
      );
    }
  }),

  ...reals(65, "contributions from some elements, and several from one", async (device, real, r) => {
    for (const n of [5, 300, 2000]) {
      const xs = make(n, (k) => r(noiseValue(k)));
      const x = device.from(real, xs);
      const result = await device.run(conditional(real), { x }, range(n));
      const parts = [...xs].map((v) => (v > 0.5 ? [v] : v < r(0.1) ? [-1] : []));
      expectEqual(result.s, strictFold([parts], adding(r), 0), `conditional sum of ${n}`);
      expectEqual(result.n, xs.filter((v) => v > 0.5).length, `count of ${n}`);

      const grid = make(n * 5, (k) => r(noiseValue(k)));
      const z = device.from(real, grid, [n, 5]),
        y = device.array(real, n);
      const rows = [...Array(n).keys()].map((i) => [0, 1, 2, 3, 4].map((k) => grid[i * 5 + k]));
      const { s } = await device.run(looped(real), { x: z, y }, range(n));
      expectEqual(s, strictFold([rows.map((row) => row.map((v, k) => r(v * k)))], adding(r), 0), `looped sum of ${n}`);
      expectSame(
        await device.queue.read(y),
        rows.map((row) => row.reduce(adding(r), 0)),
        "rows",
      );
    }
  }),

  ...reals(66, "sums over ranges of two and three axes, line by line", async (device, real, r) => {
    for (const [a, b] of [
      [1, 1],
      [3, 7],
      [7, 300],
      [300, 7],
      [2, 1030],
    ]) {
      const xs = values(a * b, r);
      const x = device.from(real, xs, [a, b]);
      const lines = [...Array(a).keys()].map((i) => xs.slice(i * b, (i + 1) * b));
      expectEqual((await device.run(plane(real), { x }, range(a, b))).s, strictFold(lines, adding(r), 0), `sum over ${a} x ${b}`);
      const inner = lines.slice(1).map((line) => line.slice(1));
      expectEqual(
        (await device.run(plane(real), { x }, range([1, a], [1, b]))).s,
        strictFold(inner, adding(r), 0),
        `sum over the rest of ${a} x ${b}`,
      );
    }
    const xs = values(5 * 6 * 40, r);
    const lines = [...Array(30).keys()].map((i) => xs.slice(i * 40, (i + 1) * 40));
    const result = await device.run(space(real), { x: device.from(real, xs, [5, 6, 40]) }, range(5, 6, 40));
    expectEqual(result.s, strictFold(lines, adding(r), 0), "sum over a box");
    expectEqual(result.m, Math.max(...xs), "greatest of a box");
  }),

  ...reals(67, "results into views", async (device, real, r) => {
    const xs = values(2000, r);
    const x = device.from(real, xs),
      places = device.from(real, [1, 2, 3, 4, 5]);
    const total = places.slice([1, 2]),
      greatest = places.slice([3, 4]);
    const launch = device.prepare(statistics(real), { x, total, greatest }, range(2000));
    for (let round = 0; round < 2; round++) device.queue.submit(launch);
    const expected = strictFold([xs], adding(r), 0);
    expectSame(await device.queue.read(places), [1, expected, 3, Math.max(...xs), 5], "views with results");
    const results = await device.queue.results(launch);
    expectSame([results.total, results.least, results.greatest], [expected, Math.min(...xs), Math.max(...xs)], "results");
    launch.free();
  }),

  ...reals(68, "sums in fast mode, within rounding", (device, real, r) =>
    dots(device, real, r, "fast", (actual, products) => {
      const exact = products.reduce((s, v) => s + v, 0),
        scale = products.reduce((s, v) => s + Math.abs(v), 0);
      const unit = real === f32 ? 2 ** -24 : 2 ** -(device.capabilities.f64Bits ?? 53);
      if (!(Math.abs(actual - exact) <= (products.length + 1) * unit * scale))
        throw new Error(`fast dot of ${products.length}: ${actual} instead of about ${exact}`);
    }),
  ),

  ...reals(69, "sums in the order of strict mode where a fast launch is deterministic", async (device, real, r) => {
    const options = { precision: "fast", deterministic: true } as const;
    for (const n of SIZES) {
      const xs = values(n, r);
      const x = device.from(real, xs);
      const { total } = await device.run(statistics(real), { x }, range(n), options);
      expectEqual(total, strictFold([xs], adding(r), 0), `sum of ${n}`);
      x.free();
    }
    const xs = values(7 * 700, r);
    const lines = Array.from({ length: 7 }, (_, line) => xs.subarray(700 * line, 700 * (line + 1)));
    const { s } = await device.run(plane(real), { x: device.from(real, xs, [7, 700]) }, range(7, 700), options);
    expectEqual(s, strictFold(lines, adding(r), 0), "sum over lines");
  }),
];
