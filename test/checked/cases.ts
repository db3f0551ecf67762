import { f32, i32, kernel, range, scatter, sum, table, teamKernel, teams, view, type Device, type LaunchOptions } from "../../src/index.js";

/** Code of which some index is outside, with types that every device has. */
export interface Failing {
  readonly title: string;
  run(device: Device, options: LaunchOptions): Promise<unknown>;
}

const N = 1000;
const numbers = (n: number, value: (k: number) => number = (k) => k): number[] => Array.from({ length: n }, (_, k) => value(k));
type Others = Readonly<Record<number, number>>;
/** The numbers up to N, but for some elements. */
const wrong = (others: Others): number[] => numbers(N, (k) => others[k] ?? k);
/** 16 rows of 32, likewise. */
const rows16 = (device: Device, others: Others) =>
  device.from(
    i32,
    numbers(16 * 32, (k) => others[k] ?? k % 32),
    [16, 32],
  );

const gather = kernel("gather", { at: view(i32), x: view(f32), y: view(f32) }, ({ at, x, y }, i) => {
  y[i] = x[at[i]];
});
const store = kernel("store", { at: view(i32), y: view(f32) }, ({ at, y }, i) => {
  if (at[i] !== i) y[at[i]] = i;
});
const nested = kernel("nested", { at: view(i32), x: view(f32), y: view(f32) }, ({ at, x, y }, i) => {
  y[i] = x[at[at[i] * 3]] + x[at[i]];
});
/** Only one side of a choice is evaluated; of two terms the first is told. */
const chosen = kernel("chosen", { at: view(i32), x: view(f32), y: view(f32) }, ({ at, x, y }, i) => {
  const value = at[i] > 2000 ? 1 : x[at[i] + 7];
  y[i] = at[i] >= 0 && x[at[i]] > 3 ? value : at[i] === -5 ? x[at[i] - 1] + x[at[i]] : 2;
});
const plane = kernel("plane", { at: view(i32, 2), x: view(f32, 2), y: view(f32, 2) }, ({ at, x, y }, i, j) => {
  y[i][j] = x[at[i][j]][j] + x[i][at[i][j]];
});
const cube = kernel("cube", { at: view(i32, 3), x: view(f32, 3), y: view(f32, 3) }, ({ at, x, y }, i, j, k) => {
  y[i][j][k] = x[i][at[i][j][k]][k] + x[i][j][k];
});
const search = kernel("search", { next: view(i32), y: view(i32) }, ({ next, y }, i) => {
  let k = i;
  let steps = 0;
  while (next[k] !== k) {
    k = next[k];
    steps++;
  }
  y[i] = steps;
});
const looked = kernel("looked", { at: view(i32), y: view(f32), t: table(f32, [1, 2, 3, 4]) }, ({ at, y, t }, i) => {
  y[i] = t[at[i]];
});
const privately = kernel("privately", { at: view(i32), y: view(f32) }, ({ at, y }, i) => {
  const own = new Float32Array(8);
  own[at[i]] = 2;
  y[i] = own[3];
});
const total = kernel("total", { at: view(i32), x: view(f32), s: sum(f32) }, ({ at, x, s }, i) => {
  s.add(x[at[i]]);
});
const count = kernel("count", { at: view(i32), h: scatter(i32) }, ({ at, h }, i) => {
  h.add(at[i], 1);
  h.add(i, 1);
});
const rows = teamKernel("rows", { at: view(i32, 2), x: view(f32, 2), y: view(f32, 2) }, ({ at, x, y }, team) => {
  const row = team.index;
  const held = team.scratch("f32", 32);
  team.range(32, (j) => {
    held[j] = x[row][j];
  });
  team.range(32, (j) => {
    y[row][j] = held[at[row][j]];
  });
});
const sums = teamKernel("sums", { at: view(i32, 2), x: view(f32), y: view(f32) }, ({ at, x, y }, team) => {
  const row = team.index;
  const total = team.sum(32, (j) => x[at[row][j]]);
  team.single(() => {
    y[row] = x[at[row][0] + 30] + total;
  });
});
/** A loop of the whole team, with what members share behind it: how often it turns must be the same for all of them. */
const waiting = teamKernel("waiting", { next: view(i32), at: view(i32, 2), x: view(f32), y: view(f32, 2) }, ({ next, at, x, y }, team) => {
  const row = team.index;
  team.range(32, (j) => {
    y[row][j] = x[at[row][j]];
  });
  let k = 0;
  while (next[k] !== k) k = next[k];
  for (let n = 0; n < k % 4; n++)
    team.range(32, (j) => {
      y[row][j] = x[31 - j] + n;
    });
});
const lanes = teamKernel("lanes", { at: view(i32, 2), x: view(f32), y: view(f32, 2) }, ({ at, x, y }, team) => {
  const row = team.index;
  team.range(8, (j, lanes) => {
    y[row][j] = lanes.sum(16, (k) => x[at[row][k] + j]);
  });
});
const spread = teamKernel("spread", { at: view(i32, 2), h: scatter(i32) }, ({ at, h }, team) => {
  const row = team.index;
  team.range(32, (j) => {
    h.add(at[row][j], 1);
  });
});

/** A case of one kernel over a range of N elements, or over teams. */
const over =
  (policy: Parameters<Device["run"]>[2]) =>
  (title: string, code: unknown, args: (device: Device) => object, more: LaunchOptions = {}): Failing => ({
    title,
    run: (device, options) => device.run(code as typeof gather, args(device) as never, policy, { ...options, ...more }),
  });
const elements = over(range(N));
const leagues = over(teams(16));
const gathered = (title: string, others: Others): Failing =>
  elements(title, gather, (d) => ({ at: d.from(i32, wrong(others)), x: d.array(f32, N), y: d.array(f32, N) }));
const shape = [9, 10, 70];

export const failing: readonly Failing[] = [
  gathered("a gather, of which the first element in order is named", { 700: 5300, 300: 5000 }),
  gathered("an index one too large", { 999: 1000 }),
  gathered("a negative index", { 0: -1 }),
  gathered("an index of 2e9", { 500: 2e9 }),
  gathered("an index of -2e9", { 500: -2e9 }),
  gathered("all elements at once", Object.fromEntries(numbers(N).map((k) => [k, 4000 - k]))),
  elements("an array without elements", gather, (d) => ({ at: d.from(i32, wrong({})), x: d.array(f32, 0), y: d.array(f32, N) })),
  elements("a slice, beside which there is more memory", gather, (d) => {
    const at = d.from(i32, wrong({ 4: -1, 5: N }));
    return { at, x: d.array(f32, 3 * N).slice([N, 2 * N]), y: d.array(f32, N) };
  }),
  elements("a store", store, (d) => ({ at: d.from(i32, wrong({ 10: 11, 77: -3, 78: 1e9 })), y: d.array(f32, N) })),
  elements("a gather in a gather", nested, (d) => ({ at: d.from(i32, wrong({})), x: d.array(f32, N), y: d.array(f32, N) })),
  elements("the side of a choice that is taken, and the first of two terms", chosen, (d) => {
    const at = wrong({ 300: -5, ...Object.fromEntries(numbers(7).map((k) => [993 + k, 1])) });
    return { at: d.from(i32, at), x: d.from(f32, numbers(N)), y: d.array(f32, N) };
  }),
  over(range([2, 40], [3, 40]))("a range of two axes that does not begin at 0", plane, (d) => {
    const at = numbers(40 * 40, (k) => (k === 25 * 40 + 33 ? -9 : k === 25 * 40 + 39 ? 1000 : Math.floor(k / 40)));
    return { at: d.from(i32, at, [40, 40]), x: d.array(f32, [40, 40]), y: d.array(f32, [40, 40]) };
  }),
  over(range(9, 10, 70))("a range of three axes", cube, (d) => {
    const at = numbers(9 * 700, (k) => (k === 6 * 700 + 5 * 70 + 66 || k === 6 * 700 + 4 * 70 + 69 ? 10 : 3));
    return { at: d.from(i32, at, shape), x: d.array(f32, shape), y: d.array(f32, shape) };
  }),
  elements("a loop that would not end", search, (d) => ({ next: d.from(i32, wrong({ 5: 6, 6: 4000, 0: 5 })), y: d.array(i32, N) })),
  elements("a constant table", looked, (d) => ({
    at: d.from(
      i32,
      numbers(N, (k) => (k > 400 ? k : k % 4)),
    ),
    y: d.array(f32, N),
  })),
  elements("a private array", privately, (d) => ({
    at: d.from(
      i32,
      numbers(N, (k) => (k > 400 ? k : k % 8)),
    ),
    y: d.array(f32, N),
  })),
  elements("a reduction", total, (d) => ({ at: d.from(i32, wrong({ 640: N, 630: -N })), x: d.array(f32, N) })),
  ...(["atomic", "duplicated", "cached", "sorted"] as const).map((scatter) =>
    elements(`a scatter, ${scatter}`, count, (d) => ({ at: d.from(i32, wrong({ 640: N, 630: -N })), h: d.array(i32, N) }), {
      precision: "fast",
      scatter,
    }),
  ),
  leagues("scratch of a team", rows, (d) => ({
    at: rows16(d, { 70: 32, 71: -1, 400: 99 }),
    x: d.array(f32, [16, 32]),
    y: d.array(f32, [16, 32]),
  })),
  leagues("a sum of a team", sums, (d) => ({ at: rows16(d, { 90: 1000 }), x: d.array(f32, 62), y: d.array(f32, 16) })),
  leagues("a statement of one member", sums, (d) => ({ at: rows16(d, { 96: 33 }), x: d.array(f32, 60), y: d.array(f32, 16) })),
  leagues("a member, before a loop of its whole team", waiting, (d) => ({
    next: d.from(i32, [1, 2, 3, 3]),
    at: rows16(d, { 133: 32 }),
    x: d.array(f32, 32),
    y: d.array(f32, [16, 32]),
  })),
  leagues("a loop of a whole team", waiting, (d) => ({
    next: d.from(i32, [1, 2, 3, 7]),
    at: rows16(d, {}),
    x: d.array(f32, 32),
    y: d.array(f32, [16, 32]),
  })),
  leagues("lanes of members", lanes, (d) => ({ at: rows16(d, { 200: 60 }), x: d.array(f32, 64), y: d.array(f32, [16, 8]) })),
  leagues("a scatter of a team", spread, (d) => ({ at: rows16(d, { 200: 40 }), h: d.array(i32, 32) })),
];
