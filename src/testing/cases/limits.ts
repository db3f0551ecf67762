import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { i32, u32, view } from "../../kernel/declare/params.js";
import { conformanceCase, reals, type ConformanceCase } from "../case.js";
import { expectSame } from "../expect.js";
import { ofType } from "../real.js";

/* i32 wraps everywhere, in the bounds of loops and in indices, too; the counter of a loop does not: it goes as far as in JavaScript. */

const LEAST = -2147483648;
const GREATEST = 2147483647;

/** Turns of loops whose bounds are near `n`; `s` has 0 and 1, so that some loops differ between elements. Minifiers make breaks a part of the tests. */
const turns = kernel("turns", { n: i32, s: view(i32), o: view(i32, 2) }, ({ n, s, o }, i) => {
  let count = 0;
  for (let q = n; q < ((n + 3) | 0); q++) count += 1;
  o[0][i] = count;
  count = 0;
  for (let q = (n + 5) | 0; q < ((n + 9) | 0); q++) count += 1;
  o[1][i] = count;
  count = 0;
  for (let q = (n - 2 - s[i]) | 0; q <= n; q++) {
    if (q === 5) continue;
    count += 1;
  }
  o[2][i] = count;
  count = 0;
  for (let q = (n + 2) | 0; q >= n; q--) count += 1;
  o[3][i] = count;
  count = 0;
  for (let q = (n - 12 + s[i]) | 0; q < n; q += 5) {
    count += 1;
    if (count > 40) break;
  }
  o[4][i] = count;
  count = 0;
  for (let q = (n + 15 - s[i]) | 0; q > n; q -= 7) {
    count += 1;
    if (count > 40) break;
  }
  o[5][i] = count;
  count = 0;
  for (let q = 0; q < Math.imul(n, n); q++) {
    count += 1;
    if (count > 20) break;
  }
  o[6][i] = count;
});

/** Loops up to the limits themselves, whose bounds are known. */
const toTheLimits = kernel("toTheLimits", { o: view(i32, 2) }, ({ o }, i) => {
  let count = 0;
  for (let q = 2147483642; q <= 2147483647; q += 2) count += 1;
  o[0][i] = count;
  count = 0;
  for (let q = -2147483642; q >= -2147483648; q -= 2) count += 1;
  o[1][i] = count;
  for (let q = -2147483646; q >= -2147483648; q--) o[2][i] = 7;
});

/** The same loops as JavaScript runs them. */
function turnsOf(n: number, s: number): number[] {
  const run = (start: number, below: (q: number) => boolean, step: number, most = Infinity): number => {
    let count = 0;
    for (let q = start | 0; below(q) && count <= most; q += step) count += 1;
    return count;
  };
  const skipped = (n - 2 - s) | 0;
  return [
    run(n, (q) => q < ((n + 3) | 0), 1),
    run(n + 5, (q) => q < ((n + 9) | 0), 1),
    run(skipped, (q) => q <= n, 1) - (skipped <= 5 && 5 <= n ? 1 : 0),
    run(n + 2, (q) => q >= n, -1),
    run(n - 12 + s, (q) => q < n, 5, 40),
    run(n + 15 - s, (q) => q > n, -7, 40),
    run(0, (q) => q < Math.imul(n, n), 1, 20),
  ];
}

/** Turns of loops that count in u32, where the next step would leave that type: JavaScript's counter goes beyond it, and the loop ends. */
const unsignedTurns = kernel("unsignedTurns", { n: u32, s: view(u32), o: view(i32, 2) }, ({ n, s, o }, i) => {
  let count = 0;
  for (let q = (n - s[i]) >>> 0; q <= n; q++) {
    count += 1;
    if (count > 40) break;
  }
  o[0][i] = count;
  count = 0;
  for (let q = (n - 12 - s[i]) >>> 0; q < n; q += 5) {
    if (q % 2 === 0) continue;
    count += 1;
    if (count > 40) break;
  }
  o[1][i] = count;
  count = 0;
  for (let q = s[i]; q >= 0; q--) {
    count += 1;
    if (count > 40) break;
  }
  o[2][i] = count;
  count = 0;
  for (let q = (s[i] + 7) >>> 0; q >= 2 && count < 40; q -= 3) count += 1;
  o[3][i] = count;
  count = 0;
  let turns = 0;
  for (let q = s[i]; q >= 0 && (count += 1) <= 40; q--) turns += 1;
  o[4][i] = count * 100 + turns;
  count = 0;
  for (let q = s[i]; count < 40 && q >= 0; q--) count += 1;
  o[5][i] = count;
  count = 0;
  for (let q = 2147483647 - i; count < 40 && 2147483647 >= q; q++) count += 1;
  o[6][i] = count;
});

/** Loops that are not plainly counted, because their tests or bodies change something. */
const changingTurns = kernel("changingTurns", { s: view(u32), o: view(i32, 2) }, ({ s, o }, i) => {
  let count = 0;
  let turns = 0;
  for (let q = s[i]; count++ < 40 && q >= 0; q--) turns += 1;
  o[0][i] = count * 100 + turns;
  count = 0;
  turns = 0;
  for (let q = 2147483645; ++count <= 40 && q <= 2147483647; q++) turns += 1;
  o[1][i] = count * 100 + turns;
  count = 0;
  let last = 2147483640;
  for (let q = 2147483639; q <= last; q += 3) {
    last = 2147483647;
    count += 1;
    if (count > 40) break;
  }
  o[2][i] = count;
});

/** Indices that only wrapping brings into the array. */
const places = ofType((real) =>
  kernel(
    "places",
    { at: view(i32), c: i32, x: view(real), y: view(real, 2) },
    ({ at, c, x, y }, i) => {
      const past = (c + at[i]) | 0;
      y[0][i] = x[(Math.imul(at[i], 65536) + i) | 0];
      y[1][i] = x[(Math.imul(Math.imul(c, 65536), 65536) + i) | 0];
      y[2][i] = x[(past - c - 65536 + i) | 0];
      y[3][i] = x[(i + c + (1 - c) + (c - GREATEST_ODD) + (GREATEST_ODD - c) - 1) | 0];
    },
    () => [GREATEST_ODD],
  ),
);
const GREATEST_ODD = 2147483647;

const whole = ofType((real) =>
  kernel("whole", { x: view(real), y: view(real) }, ({ x, y }, i) => {
    y[i] = x[i] | 0;
  }),
);

export const limits: ConformanceCase[] = [
  conformanceCase(48, "loops near the limits of i32: bounds wrap, counters do not", async (device) => {
    for (const n of [GREATEST, GREATEST - 1, GREATEST - 4, LEAST, LEAST + 1, LEAST + 13, 65536, 3]) {
      const [s, o] = [device.from(i32, [0, 1, 0, 1, 1]), device.array(i32, [7, 5])];
      await device.run(turns, { n, s, o }, range(5));
      const expected = [turnsOf(n, 0), turnsOf(n, 1)];
      const rows = expected[0].flatMap((_, row) => [0, 1, 0, 1, 1].map((own) => expected[own][row]));
      expectSame(await device.queue.read(o), rows, `turns at ${n}`);
      s.free();
      o.free();
    }
    const limits = device.array(i32, [3, 5]);
    await device.run(toTheLimits, { o: limits }, range(5));
    expectSame(
      await device.queue.read(limits),
      [3, 4, 7].flatMap((turns) => Array<number>(5).fill(turns)),
      "turns to the limits",
    );
    limits.free();
  }),
  conformanceCase(153, "loops that count in u32, to its limits", async (device) => {
    const n = 2 ** 32 - 1;
    const [s, o] = [device.from(u32, [0, 1, 2, 3, 1]), device.array(i32, [7, 5])];
    await device.run(unsignedTurns, { n, s, o }, range(5));
    const expected = [
      [1, 2, 3, 4, 2],
      [2, 1, 2, 1, 1],
      [1, 2, 3, 4, 2],
      [2, 3, 3, 3, 3],
      [101, 202, 303, 404, 202],
      [1, 2, 3, 4, 2],
      [1, 2, 3, 4, 5],
    ];
    expectSame(await device.queue.read(o), expected.flat(), "turns");
    s.free();
    o.free();
  }),
  conformanceCase(154, "loops to the limits whose tests and bodies change something", async (device) => {
    const [s, o] = [device.from(u32, [0, 1, 2, 3, 1]), device.array(i32, [3, 5])];
    await device.run(changingTurns, { s, o }, range(5));
    const expected = [
      [201, 302, 403, 504, 302],
      [403, 403, 403, 403, 403],
      [3, 3, 3, 3, 3],
    ];
    expectSame(await device.queue.read(o), expected.flat(), "turns");
    s.free();
    o.free();
  }),
  ...reals(49, "indices that wrap into their array", async (device, real) => {
    const n = 37;
    const values = Array.from({ length: n }, (_, i) => i + 0.5);
    for (const precision of ["strict", "fast"] as const) {
      const [at, x, y] = [device.from(i32, Array<number>(n).fill(65536)), device.from(real, values), device.array(real, [4, n])];
      await device.run(places(real), { at, c: GREATEST, x, y }, range(n), { precision });
      expectSame(await device.queue.read(y), [...values, ...values, ...values, ...values], `places, ${precision}`);
      for (const array of [at, x, y]) array.free();
    }
  }),
  ...reals(39, "what truncates to nothing is +0", async (device, real) => {
    const xs = Array.from({ length: 37 }, (_, i) => (i % 5 === 0 ? -1.5 : i % 3 === 0 ? -0 : -0.25 - 0.7 * (i / 37)));
    const [x, y] = [device.from(real, xs), device.array(real, xs.length)];
    await device.run(whole(real), { x, y }, range(xs.length));
    expectSame(
      await device.queue.read(y),
      xs.map((value) => value | 0),
      "floats by way of integers",
    );
  }),
];
