import type { Device, LaunchOptions } from "../../device/device.js";
import { range, teams } from "../../device/policy.js";
import type { View } from "../../device/view.js";
import type { ReduceOp } from "../../ir/types.js";
import { kernel, teamKernel, type Kernel } from "../../kernel/kernel.js";
import { f32, f64, i32, max, min, reducer, sum, view } from "../../kernel/params.js";
import { foldChunk, strictFold } from "../strict-fold.js";
import { expectEqual, expectError, expectSame, make, noise, rung, type Rung } from "../rung.js";

const statistics = kernel("statistics", { x: view(f64), s: sum(f64), low: min(f64), high: max(f64) }, ({ x, s, low, high }, i) => {
  s.add(x[i]);
  low.min(x[i]);
  high.max(x[i]);
});
const singles = kernel("singles", { x: view(f32), s: sum(f32), low: min(f32) }, ({ x, s, low }, i) => {
  s.add(x[i]);
  low.min(x[i]);
});
const own = kernel("own", { x: view(f64), p: reducer(f64, 1, (a, b) => a * b), m: reducer(i32, 0, (a, b) => a | b) }, ({ x, p, m }, i) => {
  p.merge(1 + x[i] * 0.01);
  m.merge(1 << (i % 31));
});
const space = kernel("space", { x: view(f64, 3), s: sum(f64), high: max(f64) }, ({ x, s, high }, i, j, k) => {
  s.add(x[i][j][k]);
  high.max(x[i][j][k]);
});
const rows = teamKernel("rows", { x: view(f64, 2), s: sum(f64) }, ({ x, s }, team) => {
  const total = team.sum(x[0].length, (j) => x[team.index][j]);
  s.add(total);
});
const doubled = kernel("doubled", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
  y[i] = 2 * x[i];
});

const values = (n: number): Float64Array => make(n, (k) => (noise(k) - 0.5) * 10 ** ((k % 9) - 4));
const add = (a: number, b: number): number => a + b;
/** The strict fold of each chunk of a line. */
const chunks = (line: ArrayLike<number>, fold: (a: number, b: number) => number, identity: number): number[] =>
  Array.from({ length: Math.ceil(line.length / 256) }, (_, c) =>
    strictFold([Array.from(line).slice(256 * c, 256 * (c + 1))], fold, identity),
  );

/** Partials in order, folded by a strict reduction like any other. */
async function folded(device: Device, partials: View<"f64">): Promise<Record<Exclude<ReduceOp, "custom">, number>> {
  const { s, low, high } = await device.run(statistics, { x: partials }, range(partials.size));
  return { sum: s, min: low, max: high };
}

export const partials: Rung[] = [
  rung(110, "partials of pieces of a line, folded by a second reduction, give the bits of the whole", async (device) => {
    for (const [n, cut] of [
      [5001, 2560],
      [70_001, 65_536],
      [300, 256],
    ]) {
      const xs = values(n);
      const x = device.from(f64, xs);
      const count = Math.ceil(n / 256);
      const [s, low, high] = [1, 2, 3].map(() => device.array(f64, count));
      for (const [begin, end] of [
        [cut, n],
        [0, cut],
      ]) {
        const place = (all: View<"f64">) => all.slice([begin / 256, Math.ceil(end / 256)]);
        const args = { x, s: place(s), low: place(low), high: place(high) };
        const launch = device.prepare(statistics, args, range([begin, end]), { partials: true });
        device.queue.submit(launch);
        expectEqual(Object.keys(await device.queue.results(launch)).length, 0, "results beside partials");
        launch.free();
      }
      expectSame(await device.queue.read(s), chunks(xs, add, 0), `partials of ${n}`);
      const whole = await device.run(statistics, { x }, range(n));
      expectEqual((await folded(device, s)).sum, whole.s, `sum of ${n} in two pieces`);
      expectEqual((await folded(device, low)).min, whole.low, `least of ${n} in two pieces`);
      expectEqual((await folded(device, high)).max, whole.high, `greatest of ${n} in two pieces`);
      [x, s, low, high].forEach((array) => array.free());
    }
  }),

  rung(111, "partials of planes that several launches share out, in slices of one array", async (device) => {
    for (const [planes, lines, columns] of [
      [7, 5, 40],
      [6, 3, 700],
    ]) {
      const xs = values(planes * lines * columns);
      const x = device.from(f64, xs, [planes, lines, columns]);
      const inPlane = lines * Math.ceil(columns / 256);
      const [s, high] = [1, 2].map(() => device.array(f64, planes * inPlane));
      for (const [begin, end] of [
        [1, 4],
        [0, 1],
        [4, planes],
        [3, 3],
      ]) {
        const place = (all: View<"f64">) => all.slice([begin * inPlane, end * inPlane]);
        await device.run(space, { x, s: place(s), high: place(high) }, range([begin, end], lines, columns), { partials: true });
      }
      const whole = await device.run(space, { x }, range(planes, lines, columns));
      expectEqual((await folded(device, s)).sum, whole.s, `sum of ${planes} planes in pieces`);
      expectEqual((await folded(device, high)).max, whole.high, `greatest of ${planes} planes in pieces`);
      [x, s, high].forEach((array) => array.free());
    }
  }),

  rung(112, "partials of f32, of folds of one's own, and of teams", async (device) => {
    const n = 1030;
    const xs = make(n, noise);
    const rounded = xs.map(Math.fround);
    const [s32, low32] = [1, 2].map(() => device.array(f32, 5));
    await device.run(singles, { x: device.from(f32, xs), s: s32, low: low32 }, range(n), { partials: true });
    expectSame(
      await device.queue.read(s32),
      chunks(rounded, (a, b) => Math.fround(a + b), 0),
      "f32 sums",
    );
    expectSame(await device.queue.read(low32), chunks(rounded, Math.min, Infinity), "f32 least values");

    const [p, m] = [device.array(f64, 5), device.array(i32, 5)];
    await device.run(own, { x: device.from(f64, xs), p, m }, range(n), { partials: true });
    const factors = xs.map((v) => 1 + v * 0.01);
    expectSame(
      await device.queue.read(p),
      chunks(factors, (a, b) => a * b, 1),
      "products",
    );
    const bits = [...xs.keys()].map((i) => 1 << (i % 31));
    expectSame(
      await device.queue.read(m),
      chunks(bits, (a, b) => a | b, 0),
      "bits",
    );

    const sums = device.array(f64, 3);
    await device.run(rows, { x: device.from(f64, xs.slice(0, 300), [3, 100]), s: sums }, teams(3), { partials: true });
    const teamSums = [0, 100, 200].map((first) => foldChunk(Array.from(xs.slice(first, first + 100)), add, 0));
    expectSame(await device.queue.read(sums), teamSums, "one partial a team");
  }),

  rung(113, "partials without a fitting view for each, or in fast mode, are refused", async (device) => {
    const x = device.from(f64, make(1000, noise));
    const [low, high] = [1, 2].map(() => device.array(f64, 4));
    const parts = { x, s: device.array(f64, 4), low, high };
    const refused = (args: object, message: RegExp, options: LaunchOptions = {}, of: Kernel = statistics) =>
      expectError(() => device.run(of, args as never, range(1000), { partials: true, ...options }), "LaunchError", message);
    await refused(parts, /partials are defined in strict mode only.*"strict"/, { precision: "fast" });
    await refused({ x, low, high }, /s leaves 4 partials and needs a contiguous view.*given nothing/);
    await refused({ ...parts, s: device.array(f64, 3) }, /s leaves 4 partials.*one of shape \[3\]/);
    await refused({ ...parts, s: device.array(f64, [4, 2]).at(1, 0) }, /contiguous view.*shape \[4\] with gaps/);
    await refused({ ...parts, s: device.array(f32, 4) }, /s is a view of f64, and is given one of f32/);
    await refused({ ...parts, s: x.slice([0, 4]) }, /share memory/);
    await refused({ x, y: device.array(f64, 1000) }, /no reduce parameters to leave partials of/, {}, doubled);
  }),
];
