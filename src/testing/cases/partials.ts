import type { Device, LaunchOptions } from "../../device/device.js";
import { range, teams } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import type { ScatterOp } from "../../ir/types.js";
import { kernel, teamKernel, type Kernel } from "../../kernel/declare/kernel.js";
import { f32, f64, i32, max, min, reducer, sum, view } from "../../kernel/declare/params.js";
import { foldChunk, strictFold } from "../strict-fold.js";
import { expectEqual, expectError, expectSame } from "../expect.js";
import { adding, ofType, type RealToken, type Rounding } from "../real.js";
import { reals, type ConformanceCase } from "../case.js";
import { make, noiseValue } from "../values.js";

const statistics = ofType((real) =>
  kernel("statistics", { x: view(real), s: sum(real), low: min(real), high: max(real) }, ({ x, s, low, high }, i) => {
    s.add(x[i]);
    low.min(x[i]);
    high.max(x[i]);
  }),
);
const own = ofType((real) =>
  kernel("own", { x: view(real), p: reducer(real, 1, (a, b) => a * b), m: reducer(i32, 0, (a, b) => a | b) }, ({ x, p, m }, i) => {
    p.merge(1 + x[i] * 0.01);
    m.merge(1 << (i % 31));
  }),
);
const counts = kernel("counts", { x: view(i32), s: sum(i32) }, ({ x, s }, i) => {
  s.add(x[i]);
});
const space = ofType((real) =>
  kernel("space", { x: view(real, 3), s: sum(real), high: max(real) }, ({ x, s, high }, i, j, k) => {
    s.add(x[i][j][k]);
    high.max(x[i][j][k]);
  }),
);
const rows = ofType((real) =>
  teamKernel("rows", { x: view(real, 2), s: sum(real) }, ({ x, s }, team) => {
    const total = team.sum(x[0].length, (j) => x[team.index][j]);
    s.add(total);
  }),
);
const doubled = ofType((real) =>
  kernel("doubled", { x: view(real), y: view(real) }, ({ x, y }, i) => {
    y[i] = 2 * x[i];
  }),
);

const values = (n: number, r: Rounding): Float64Array => make(n, (k) => r((noiseValue(k) - 0.5) * 10 ** ((k % 9) - 4)));
/** The strict fold of each chunk of a line. */
const chunks = (line: ArrayLike<number>, fold: (a: number, b: number) => number, identity: number): number[] => {
  const elements = Array.from(line);
  return Array.from({ length: Math.ceil(elements.length / 256) }, (_, c) =>
    strictFold([elements.slice(256 * c, 256 * (c + 1))], fold, identity),
  );
};

/** Partials in order, folded by a strict reduction like any other. */
async function folded(device: Device, real: RealToken, partials: View<"f64" | "f32">): Promise<Record<ScatterOp, number>> {
  const { s, low, high } = await device.run(statistics(real), { x: partials }, range(partials.size));
  return { sum: s, min: low, max: high };
}

export const partials: ConformanceCase[] = [
  ...reals(110, "partials of pieces of a line, folded by a second reduction, give the bits of the whole", async (device, real, r) => {
    for (const [n, cut] of [
      [5001, 2560],
      [70_001, 65_536],
      [300, 256],
    ]) {
      const xs = values(n, r);
      const x = device.from(real, xs);
      const count = Math.ceil(n / 256);
      const [s, low, high] = [1, 2, 3].map(() => device.array(real, count));
      for (const [begin, end] of [
        [cut, n],
        [0, cut],
      ]) {
        const place = (all: View<"f64" | "f32">) => all.slice([begin / 256, Math.ceil(end / 256)]);
        const args = { x, s: place(s), low: place(low), high: place(high) };
        const launch = device.prepare(statistics(real), args, range([begin, end]), { partials: true });
        device.queue.submit(launch);
        expectEqual(Object.keys(await device.queue.results(launch)).length, 0, "results beside partials");
        launch.free();
      }
      expectSame(await device.queue.read(s), chunks(xs, adding(r), 0), `partials of ${n}`);
      const whole = await device.run(statistics(real), { x }, range(n));
      expectEqual((await folded(device, real, s)).sum, whole.s, `sum of ${n} in two pieces`);
      expectEqual((await folded(device, real, low)).min, whole.low, `least of ${n} in two pieces`);
      expectEqual((await folded(device, real, high)).max, whole.high, `greatest of ${n} in two pieces`);
      [x, s, low, high].forEach((array) => array.free());
    }
  }),

  ...reals(111, "partials of planes that several launches share out, in slices of one array", async (device, real, r) => {
    for (const [planes, lines, columns] of [
      [7, 5, 40],
      [6, 3, 700],
    ]) {
      const xs = values(planes * lines * columns, r);
      const x = device.from(real, xs, [planes, lines, columns]);
      const inPlane = lines * Math.ceil(columns / 256);
      const [s, high] = [1, 2].map(() => device.array(real, planes * inPlane));
      for (const [begin, end] of [
        [1, 4],
        [0, 1],
        [4, planes],
        [3, 3],
      ]) {
        const place = (all: View<"f64" | "f32">) => all.slice([begin * inPlane, end * inPlane]);
        await device.run(space(real), { x, s: place(s), high: place(high) }, range([begin, end], lines, columns), { partials: true });
      }
      const whole = await device.run(space(real), { x }, range(planes, lines, columns));
      expectEqual((await folded(device, real, s)).sum, whole.s, `sum of ${planes} planes in pieces`);
      expectEqual((await folded(device, real, high)).max, whole.high, `greatest of ${planes} planes in pieces`);
      [x, s, high].forEach((array) => array.free());
    }
  }),

  ...reals(112, "partials of folds of one's own, and of teams", async (device, real, r) => {
    const n = 1030;
    const xs = make(n, (k) => r(noiseValue(k)));
    const [p, m] = [device.array(real, 5), device.array(i32, 5)];
    await device.run(own(real), { x: device.from(real, xs), p, m }, range(n), { partials: true });
    const factors = xs.map((v) => r(1 + r(v * r(0.01))));
    expectSame(
      await device.queue.read(p),
      chunks(factors, (a, b) => r(a * b), 1),
      "products",
    );
    const bits = [...xs.keys()].map((i) => 1 << (i % 31));
    expectSame(
      await device.queue.read(m),
      chunks(bits, (a, b) => a | b, 0),
      "bits",
    );

    const sums = device.array(real, 3);
    await device.run(rows(real), { x: device.from(real, xs.slice(0, 300), [3, 100]), s: sums }, teams(3), { partials: true });
    const teamSums = [0, 100, 200].map((first) => foldChunk(Array.from(xs.slice(first, first + 100)), adding(r), 0));
    expectSame(await device.queue.read(sums), teamSums, "one partial a team");
  }),

  ...reals(113, "partials without a fitting view for each, or in fast mode, are refused", async (device, real) => {
    const x = device.from(real, make(1000, noiseValue));
    const [low, high] = [1, 2].map(() => device.array(real, 4));
    const parts = { x, s: device.array(real, 4), low, high };
    const refused = (args: object, message: RegExp, options: LaunchOptions = {}, of: Kernel = statistics(real)) =>
      expectError(() => device.run(of, args as never, range(1000), { partials: true, ...options }), "LaunchError", message);
    await refused(parts, /partials are defined in strict mode only.*"strict"/, { precision: "fast" });
    await refused({ x, low, high }, /s returns 4 partials and needs a contiguous view.*given nothing/);
    await refused({ ...parts, s: device.array(real, 3) }, /s returns 4 partials.*one of shape \[3\]/);
    await refused({ ...parts, s: device.array(real, [4, 2]).at(1, 0) }, /contiguous view.*shape \[4\] with gaps/);
    await refused({ ...parts, s: device.array(real === f64 ? f32 : f64, 4) }, /s is a view of (f64|f32), and is given one of (?!\1)/);
    await refused({ ...parts, s: x.slice([0, 4]) }, /share memory/);
    await refused({ x, y: device.array(real, 1000) }, /no reduce parameters whose partials could be returned/, {}, doubled(real));
  }),

  ...reals(114, "reductions that start from a number: it comes first, before what the elements give", async (device, real, r) => {
    const xs = values(2000, r);
    const x = device.from(real, xs);
    const total = strictFold([xs], adding(r), 0);
    const [most, least] = [Math.max(...xs), Math.min(...xs)];
    for (const from of [5, -0.1, Infinity]) {
      const results = await device.run(statistics(real), { x, s: from, low: -7, high: 0.1 }, range(2000));
      expectSame([results.s, results.low, results.high], [r(r(from) + total), Math.min(-7, least), Math.max(r(0.1), most)], `from ${from}`);
    }
    const none = await device.run(statistics(real), { x, s: 3, high: -2 }, range(0));
    expectSame([none.s, none.low, none.high], [3, Infinity, -2], "without elements");
    const launch = device.prepare(statistics(real), { x, low: 9, s: 1 }, range(2000));
    for (let round = 0; round < 2; round++) device.queue.submit(launch);
    const results = await device.queue.results(launch);
    expectSame([results.s, results.low, results.high], [r(1 + total), Math.min(9, least), most], "each run starts anew");
    launch.free();
    const ones = device.from(i32, [1, 2, 4]);
    expectEqual((await device.run(counts, { x: ones, s: 2147483647 }, range(3))).s, -2147483642, "i32 that wraps");
    const folds = await device.run(own(real), { x, p: 2, m: 1 << 31 }, range(1));
    expectSame([folds.p, folds.m], [r(2 * r(1 + r(xs[0] * r(0.01)))), (1 << 31) | 1], "folds of one's own");
    await expectError(() => device.run(counts, { x: ones, s: 0.5 }, range(3)), "LaunchError", /s is i32, and 0.5 is not a whole number/);
  }),
];
