import { range, teams } from "../../device/launch/policy.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { argmax, argmin, i32, reducer, sum, u32, view, type ScalarToken } from "../../kernel/declare/params.js";
import { struct } from "../../kernel/declare/struct.js";
import type { NumberType } from "../../ir/types.js";
import { reals, type ConformanceCase } from "../case.js";
import { expectSame } from "../expect.js";
import { ofType } from "../real.js";
import { strictFold } from "../strict-fold.js";
import { noiseValue } from "../values.js";

const extrema = ofType((type: ScalarToken<NumberType>) =>
  kernel("extrema", { x: view(type), least: argmin(type), greatest: argmax(type) }, ({ x, least, greatest }, i) => {
    least.min(x[i], i);
    greatest.max(x[i], i);
  }),
);
/** Places count downwards, some elements fold twice and some never; a sum folds beside them. */
const several = ofType((real) =>
  kernel("several", { x: view(real, 2), least: argmin(real), total: sum(real) }, ({ x, least, total }, i, j) => {
    const place = 1000 - (i * x[0].length + j);
    if (j % 3 !== 1) least.min(x[i][j], place);
    if (j % 5 === 0) least.min(x[i][j] - 1, place);
    total.add(x[i][j]);
  }),
);
const ofTeams = ofType((real) =>
  teamKernel("of_teams", { x: view(real), greatest: argmax(real) }, ({ x, greatest }, team) => {
    const most = team.max(8, (j) => x[8 * team.index + j]);
    greatest.max(most, team.index);
  }),
);
const moments = ofType((real) => {
  const Moments = struct("Moments", { n: i32, mean: real, sign: u32 });
  return kernel(
    "moments",
    {
      x: view(real),
      m: reducer(Moments, { n: 0, mean: 0, sign: 0 }, (a, b) => {
        const n = a.n + b.n;
        return { n, mean: a.mean * 0.5 + b.mean, sign: (a.sign ^ b.sign) >>> 0 };
      }),
    },
    ({ x, m }, i) => {
      m.merge({ n: 1, mean: x[i], sign: (1 << (i & 31)) >>> 0 });
    },
  );
});

/** The value that NumPy's argmin finds, or argmax if `sign` is -1, and its place. */
function first(values: readonly number[], sign: 1 | -1): { value: number; index: number } {
  let index = -1;
  values.forEach((value, n) => {
    const known = values[index];
    if (index < 0 || (!Number.isNaN(known) && (Number.isNaN(value) || sign * value < sign * known))) index = n;
  });
  return { value: index < 0 ? sign * Infinity : values[index], index };
}

const list = <T>(length: number, of: (n: number) => T): T[] => Array.from({ length }, (_, n) => of(n));

const expectPlaced = (
  actual: { readonly value: number; readonly index: number },
  expected: { readonly value: number; readonly index: number },
  what: string,
): void => expectSame([actual.value, actual.index], [expected.value, expected.index], what);

const CONTENTS: readonly ((n: number) => number)[] = [
  (n) => noiseValue(n),
  (n) => Math.floor(4 * noiseValue(n)),
  (n) => (n % 2 === 0 ? -0 : 0),
  (n) => (noiseValue(n) < 0.01 ? NaN : -n),
  () => NaN,
  () => Infinity,
  () => -Infinity,
];

export const extremaCases: ConformanceCase[] = [
  ...reals(176, "least and greatest values with their places: NaN first, then the smaller place", async (device, real, r) => {
    for (const precision of ["strict", "fast"] as const)
      for (const n of [0, 1, 8, 9, 300, 5000])
        for (const [kind, content] of CONTENTS.entries()) {
          const xs = list(n, (k) => r(content(k)));
          const x = device.from(real, n === 0 ? [0] : xs);
          const { least, greatest } = await device.run(extrema(real), { x }, range(n), { precision });
          expectPlaced(least, first(xs, 1), `least of ${n}, ${kind}, ${precision}`);
          expectPlaced(greatest, first(xs, -1), `greatest of ${n}, ${kind}, ${precision}`);
          x.free();
        }
  }),

  ...reals(177, "extrema of integers, over planes, beside sums, from values and into views", async (device, real, r) => {
    for (const [type, last] of [
      [i32, -(2 ** 31)],
      [u32, 2 ** 32 - 1],
    ] as const) {
      const x = device.from(type, [7, 3, last, 3, 2 ** 31 - 1, last]);
      const { least, greatest } = await device.run(extrema(type), { x }, range(6));
      expectSame([least.index, greatest.index], type === i32 ? [2, 4] : [1, 2], `places of ${type.type}`);
    }
    const [a, b] = [7, 301];
    const rows = list(a, (i) => list(b, (j) => r(Math.floor(9 * noiseValue(i * b + j)))));
    const x = device.from(real, rows.flat(), [a, b]);
    const candidates = rows.flatMap((row, i) =>
      row.flatMap((value, j) => {
        const place = 1000 - (i * b + j);
        return [...(j % 3 !== 1 ? [{ value, place }] : []), ...(j % 5 === 0 ? [{ value: r(value - 1), place }] : [])];
      }),
    );
    const order = candidates.toSorted((p, q) => p.value - q.value || p.place - q.place);
    const { least, total } = await device.run(several(real), { x }, range(a, b));
    expectPlaced(least, { value: order[0].value, index: order[0].place }, "least of planes");
    expectSame([total], [strictFold(rows, (p, q) => r(p + q), 0)], "sum beside it");
    const start = { value: -2, index: 5 };
    expectPlaced((await device.run(several(real), { x, least: start }, range(a, b))).least, start, "from a value");
    const taken = { value: device.array(real, 1), index: device.array(i32, 1) };
    await device.run(several(real), { x, least: taken }, range(a, b));
    expectSame(await device.queue.read(taken.value), [order[0].value], "into a view");
    expectSame(await device.queue.read(taken.index), [order[0].place], "its place into a view");
  }),

  ...reals(178, "extrema of teams, and records that are folded as a whole", async (device, real, r) => {
    const xs = list(8 * 300, (k) => r(Math.floor(50 * noiseValue(k))));
    const most = list(300, (t) => Math.max(...xs.slice(8 * t, 8 * t + 8)));
    const { greatest } = await device.run(ofTeams(real), { x: device.from(real, xs) }, teams(300));
    expectPlaced(greatest, first(most, -1), "greatest of teams");
    for (const n of [0, 5, 257, 2400]) {
      const { m } = await device.run(moments(real), { x: device.from(real, xs) }, range(n));
      const values = xs.slice(0, n).map((mean, i) => ({ n: 1, mean, sign: (1 << (i & 31)) >>> 0 }));
      const whole = strictFold([values], (p, q) => ({ n: p.n + q.n, mean: r(r(p.mean * 0.5) + q.mean), sign: (p.sign ^ q.sign) >>> 0 }), {
        n: 0,
        mean: 0,
        sign: 0,
      });
      expectSame([m.n, m.mean, m.sign], [whole.n, whole.mean, whole.sign], `records of ${n}`);
    }
  }),
];
