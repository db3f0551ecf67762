import type { Device, ScatterStrategy } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { f32, f64, i32, scatter, sum, u32, view } from "../../kernel/declare/params.js";
import { expectSame } from "../expect.js";
import { ofType, type RealToken, type Rounding } from "../real.js";
import { conformanceCase, reals, type ConformanceCase } from "../case.js";
import { make, noiseValue } from "../values.js";

const histogram = kernel("histogram", { at: view(i32), h: scatter(i32) }, ({ at, h }, i) => {
  h.add(at[i], 1);
});
const deposit = ofType((real) =>
  kernel("deposit", { at: view(i32), x: view(real), h: scatter(real) }, ({ at, x, h }, i) => {
    h.add(at[i], x[i]);
    h.add(at[i] + 1, 0.5 * x[i]);
  }),
);
const extremes = ofType((real) =>
  kernel(
    "extremes",
    { at: view(i32), x: view(real), low: scatter(real, 1, "min"), high: scatter(real, 1, "max") },
    ({ at, x, low, high }, i) => {
      low.min(at[i], x[i]);
      high.max(at[i], x[i]);
    },
  ),
);
const narrow = kernel(
  "narrow",
  {
    at: view(i32),
    s: scatter(f32),
    u: scatter(u32),
    lowest: scatter(i32, 1, "min"),
    highest: scatter(u32, 1, "max"),
    f: scatter(f32, 1, "max"),
  },
  ({ at, s, u, lowest, highest, f }, i) => {
    s.add(at[i], 0.5);
    u.add(at[i], 3 >>> 0);
    lowest.min(at[i], ((i * 37) % 1000) - 500);
    highest.max(at[i], ((i * 37) % 1000) >>> 0);
    f.max(at[i], Math.fround(i));
  },
);
const plane = ofType((real) =>
  kernel("plane", { at: view(i32), h: scatter(real, 2) }, ({ at, h }, i, j) => {
    h.add(at[i], at[j], i + 2 * j);
  }),
);
const withStores = ofType((real) =>
  kernel("withStores", { at: view(i32), x: view(real), h: scatter(real) }, ({ at, x, h }, i) => {
    x[i] = x[i] * 2;
    if (x[i] > 0.5) h.add(at[i], x[i]);
  }),
);
const looped = ofType((real) =>
  kernel("looped", { first: view(i32), at: view(i32), x: view(real), h: scatter(real) }, ({ first, at, x, h }, i) => {
    for (let k = first[i]; k < first[i + 1]; k++) h.add(at[k], x[k] * x[i]);
  }),
);

/** Three of four elements in rising order, the others anywhere. */
const spread = ofType((real) =>
  kernel(
    "spread",
    { at: view(i32, 2), x: view(real, 2), places: i32, h: scatter(real, 2), least: scatter(real, 1, "min"), s: sum(real) },
    ({ at, x, places, h, least, s }, i, j) => {
      const place = at[i][j];
      for (let k = 0; k < 3; k++) h.add((place + k) % places, k, x[i][j]);
      least.min(place, x[i][j]);
      s.add(x[i][j]);
    },
  ),
);
const ifAny = ofType((real) =>
  kernel("ifAny", { at: view(i32), h: scatter(real), low: scatter(i32, 1, "min") }, ({ at, h, low }, i) => {
    if (at[i] >= 0) {
      h.add(at[i], 1);
      low.min(at[i], i);
    }
  }),
);

const STRATEGIES: readonly ScatterStrategy[] = ["sorted", "atomic", "duplicated", "cached"];
const N = 20_000;
const BINS = 97;
const ats = make(N, (k) => Math.floor(noiseValue(k) * BINS));
/** Sums of these are exact in any order. */
const coarse = make(N, (k) => Math.floor(noiseValue(k + 0.5) * 1024) / 8);
const fine = (r: Rounding): Float64Array => make(N, (k) => r(noiseValue(k) - 0.3));

function forEach(
  strategies: readonly (ScatterStrategy | undefined)[],
  run: (options: { scatter?: ScatterStrategy; precision: "fast" | "strict" }, name: string) => Promise<void>,
) {
  return strategies.reduce(
    (before, scatter) => before.then(() => run({ scatter, precision: scatter === "sorted" ? "strict" : "fast" }, scatter ?? "automatic")),
    Promise.resolve(),
  );
}

const noExtremesByAtomics = ({ capabilities }: Device, real: RealToken): string | undefined =>
  real === f64 && capabilities.f64Bits !== undefined ? "an emulated f64 is two words, which atomics cannot compare" : undefined;

async function keepsExtremes(
  device: Device,
  real: RealToken,
  r: Rounding,
  strategies: readonly (ScatterStrategy | undefined)[],
): Promise<void> {
  const xs = fine(r);
  const at = device.from(i32, ats),
    x = device.from(real, xs);
  const start = new Float64Array(BINS).fill(r(0.1));
  const lows = start.slice(),
    highs = start.slice();
  for (let k = 0; k < N; k++) {
    lows[ats[k]] = Math.min(lows[ats[k]], xs[k]);
    highs[ats[k]] = Math.max(highs[ats[k]], xs[k]);
  }
  await forEach(strategies, async (options, name) => {
    const low = device.from(real, start),
      high = device.from(real, start);
    await device.run(extremes(real), { at, x, low, high }, range(N), options);
    expectSame(await device.queue.read(low), lows, `${name} least values`);
    expectSame(await device.queue.read(high), highs, `${name} greatest values`);
  });
}

/** Terms that put NaN into some bins, both infinities into some, and one of them into some. */
const SPECIAL_TERMS = make(N, (k) =>
  ats[k] === 3 && k % 7 === 0 ? NaN : ats[k] === 7 ? (k % 2 === 0 ? Infinity : -Infinity) : ats[k] === 11 ? Infinity : coarse[k],
);

export const scatters: ConformanceCase[] = [
  conformanceCase(70, "counts into bins by every strategy", async (device) => {
    const at = device.from(i32, ats);
    const counts = new Float64Array(BINS).fill(10);
    ats.forEach((bin) => counts[bin]++);
    await forEach([...STRATEGIES, undefined], async (options, name) => {
      const h = device.from(
        i32,
        make(BINS, () => 10),
      );
      await device.run(histogram, { at, h }, range(N), options);
      expectSame(await device.queue.read(h), counts, `${name} histogram`);
    });
  }),

  ...reals(71, "adds in the order of the elements in strict mode, and where a launch is deterministic", async (device, real, r) => {
    const xs = fine(r);
    const start = make(BINS + 1, (k) => r(k / 3));
    const at = device.from(i32, ats),
      x = device.from(real, xs);
    const expected = start.slice();
    for (let k = 0; k < N; k++) {
      expected[ats[k]] = r(expected[ats[k]] + xs[k]);
      expected[ats[k] + 1] = r(expected[ats[k] + 1] + r(0.5 * xs[k]));
    }
    for (const options of [{ precision: "strict" }, { precision: "fast", deterministic: true }] as const) {
      const h = device.from(real, start);
      await device.run(deposit(real), { at, x, h }, range(N), options);
      expectSame(await device.queue.read(h), expected, `deposit, ${options.precision}`);
    }
  }),

  ...reals(72, "adds floats by every strategy", async (device, real) => {
    const at = device.from(i32, ats),
      x = device.from(real, coarse);
    const expected = make(BINS + 1, (k) => k);
    for (let k = 0; k < N; k++) {
      expected[ats[k]] += coarse[k];
      expected[ats[k] + 1] += 0.5 * coarse[k];
    }
    await forEach([...STRATEGIES, undefined], async (options, name) => {
      const h = device.from(
        real,
        make(BINS + 1, (k) => k),
      );
      await device.run(deposit(real), { at, x, h }, range(N), options);
      expectSame(await device.queue.read(h), expected, `${name} deposit`);
    });
  }),

  ...reals(95, "keeps NaN and infinities that are added, by every strategy", async (device, real) => {
    const at = device.from(i32, ats),
      x = device.from(real, SPECIAL_TERMS);
    const expected = make(BINS + 1, (k) => k);
    for (let k = 0; k < N; k++) {
      expected[ats[k]] += SPECIAL_TERMS[k];
      expected[ats[k] + 1] += 0.5 * SPECIAL_TERMS[k];
    }
    await forEach([...STRATEGIES, undefined], async (options, name) => {
      const h = device.from(
        real,
        make(BINS + 1, (k) => k),
      );
      await device.run(deposit(real), { at, x, h }, range(N), options);
      expectSame(await device.queue.read(h), expected, `${name} deposit`);
    });
  }),

  ...reals(
    96,
    "keeps NaN as the least and greatest value, by every strategy",
    async (device, real) => {
      const at = device.from(i32, ats),
        x = device.from(real, SPECIAL_TERMS);
      const [lows, highs] = [new Float64Array(BINS).fill(0.5), new Float64Array(BINS).fill(0.5)];
      for (let k = 0; k < N; k++) {
        lows[ats[k]] = Math.min(lows[ats[k]], SPECIAL_TERMS[k]);
        highs[ats[k]] = Math.max(highs[ats[k]], SPECIAL_TERMS[k]);
      }
      await forEach([...STRATEGIES, undefined], async (options, name) => {
        const [low, high] = [0, 1].map(() => device.from(real, new Float64Array(BINS).fill(0.5)));
        await device.run(extremes(real), { at, x, low, high }, range(N), options);
        expectSame(await device.queue.read(low), lows, `${name} least values`);
        expectSame(await device.queue.read(high), highs, `${name} greatest values`);
      });
    },
    noExtremesByAtomics,
  ),

  ...reals(73, "keeps least and greatest values", (device, real, r) => keepsExtremes(device, real, r, ["sorted", undefined])),

  conformanceCase(74, "scatters every type by every strategy", async (device) => {
    const at = device.from(i32, ats);
    const s = new Float64Array(BINS),
      u = new Float64Array(BINS),
      lowest = new Float64Array(BINS),
      highest = new Float64Array(BINS),
      f = new Float64Array(BINS);
    for (let k = 0; k < N; k++) {
      const b = ats[k];
      s[b] += 0.5;
      u[b] += 3;
      lowest[b] = Math.min(lowest[b], ((k * 37) % 1000) - 500);
      highest[b] = Math.max(highest[b], (k * 37) % 1000);
      f[b] = Math.max(f[b], k);
    }
    await forEach(STRATEGIES, async (options, name) => {
      const views = {
        s: device.array(f32, BINS),
        u: device.array(u32, BINS),
        lowest: device.array(i32, BINS),
        highest: device.array(u32, BINS),
        f: device.array(f32, BINS),
      };
      await device.run(narrow, { at, ...views }, range(N), options);
      expectSame(await device.queue.read(views.s), s, `${name} f32 sum`);
      expectSame(await device.queue.read(views.u), u, `${name} u32 sum`);
      expectSame(await device.queue.read(views.lowest), lowest, `${name} i32 min`);
      expectSame(await device.queue.read(views.highest), highest, `${name} u32 max`);
      expectSame(await device.queue.read(views.f), f, `${name} f32 max`);
    });
  }),

  ...reals(75, "scatters into planes, and into slices of them", async (device, real) => {
    const n = 60;
    const list = make(n, (k) => Math.floor(noiseValue(k) * 11));
    const at = device.from(i32, list);
    const sums = new Float64Array(121);
    list.forEach((a, i) => list.forEach((b, j) => (sums[a * 11 + b] += i + 2 * j)));
    await forEach(STRATEGIES, async (options, name) => {
      const h = device.array(real, [13, 15]);
      const window = h.slice([1, 12], [2, 13]);
      await device.run(plane(real), { at, h: window }, range(n, n), options);
      expectSame(await device.queue.read(window), sums, `${name} plane`);
      const all = Float64Array.from(await device.queue.read(h));
      if (all.reduce((a, b) => a + b, 0) !== sums.reduce((a, b) => a + b, 0))
        throw new Error(`${name}: something was added beside the slice`);
    });
  }),

  ...reals(76, "scatters from kernels that also store, and from loops", async (device, real, r) => {
    const at = device.from(i32, ats);
    await forEach(STRATEGIES, async (options, name) => {
      const x = device.from(real, coarse),
        h = device.array(real, BINS);
      const sums = new Float64Array(BINS);
      coarse.forEach((v, k) => (sums[ats[k]] += 2 * v > 0.5 ? 2 * v : 0));
      await device.run(withStores(real), { at, x, h }, range(N), options);
      expectSame(
        await device.queue.read(x),
        coarse.map((v) => 2 * v),
        `${name}: stores`,
      );
      expectSame(await device.queue.read(h), sums, `${name}: sums`);
    });
    const rows = 500;
    const firsts = make(rows + 1, (i) => Math.floor((i * i) / 20));
    const first = device.from(i32, firsts),
      x = device.from(real, coarse),
      h = device.array(real, BINS);
    const sums = new Float64Array(BINS);
    for (let i = 0; i < rows; i++) for (let k = firsts[i]; k < firsts[i + 1]; k++) sums[ats[k]] = r(sums[ats[k]] + coarse[k] * coarse[i]);
    await device.run(looped(real), { first, at, x, h }, range(rows));
    expectSame(await device.queue.read(h), sums, "sparse rows");
  }),

  ...reals(
    77,
    "keeps least and greatest values by strategies that compare atomically",
    (device, real, r) => keepsExtremes(device, real, r, ["atomic", "duplicated"]),
    noExtremesByAtomics,
  ),

  ...reals(
    78,
    "scatters near and far into long arrays by every strategy",
    async (device, real) => {
      const [rows, columns, places] = [19, 600, 9_001];
      const n = rows * columns;
      const list = make(n, (k) => (k % 4 === 3 ? Math.floor(noiseValue(k) * places) : Math.floor((k / n) * places)));
      const xs = make(n, (k) => Math.floor(noiseValue(k + 0.5) * 64) / 8);
      const [at, x] = [device.from(i32, list, [rows, columns]), device.from(real, xs, [rows, columns])];
      const sums = new Float64Array(3 * places),
        lows = new Float64Array(places).fill(5);
      let total = 0;
      for (let k = 0; k < n; k++) {
        for (let m = 0; m < 3; m++) sums[3 * ((list[k] + m) % places) + m] += xs[k];
        lows[list[k]] = Math.min(lows[list[k]], xs[k]);
        total += xs[k];
      }
      // Copies of these take more than most blocks have.
      for (const scatter of ["sorted", "atomic", "cached", undefined] as const)
        for (const [precision, layout] of [
          ["strict", "right"],
          ["fast", "left"],
        ] as const) {
          const [h, least] = [device.array(real, [places, 3], { layout }), device.from(real, new Float64Array(places).fill(5))];
          const { s } = await device.run(spread(real), { at, x, places, h, least }, range(rows, columns), { precision, scatter });
          const name = `${scatter ?? "automatic"}, ${precision}, ${layout}:`;
          expectSame(await device.queue.read(h), sums, `${name} sums`);
          expectSame(await device.queue.read(least), lows, `${name} least values`);
          expectSame([s], [total], `${name} reduction`);
        }
    },
    noExtremesByAtomics,
  ),

  ...reals(79, "scatters into views of no elements", async (device, real) => {
    const at = device.from(
      i32,
      make(300, () => -1),
    );
    await forEach([...STRATEGIES, undefined], async (options) => {
      const [h, low] = [device.array(real, 0), device.array(i32, 0)];
      await device.run(ifAny(real), { at, h, low }, range(300), options);
      expectSame(await device.queue.read(h), [], "nothing");
    });
  }),
];
