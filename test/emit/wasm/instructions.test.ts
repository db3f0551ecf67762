import { test } from "node:test";
import { stridesOf } from "../../../src/device/memory/view.js";
import { emitWasm, type WasmSpec } from "../../../src/emit/wasm/module.js";
import { listing } from "../../../src/emit/wasm/listing.js";
import {
  bool,
  f32,
  f64,
  i32,
  kernel,
  max,
  min,
  mulhi,
  print,
  range,
  scatter,
  sum,
  table,
  teamKernel,
  teams,
  u32,
  u8,
  view,
} from "../../../src/index.js";
import type { Policy } from "../../../src/ir/launch.js";
import { checkedKernel, compileKernel, printingKernel, relaxedKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { matchesSnapshot } from "../snapshot.js";

/*
 * How many instructions of each kind the code of some kernels has. Results alone do not tell whether loads are shared, values hoisted, loops made of vectors,
 * addresses made of pointers. A change that is meant goes into the snapshot with UPDATE_SNAPSHOTS=1.
 */

interface Code extends Partial<Omit<WasmSpec, "ir" | "policy" | "views">> {
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly kernel: Kernel<any>;
  readonly policy: Policy;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly strides?: Readonly<Record<string, readonly number[]>>;
  readonly fixed?: Readonly<Record<string, number | boolean>>;
  readonly checked?: boolean;
}

const laplace = kernel("laplace", { p: view(f64, 3), s: view(f64, 3) }, ({ p, s }, i, j, k) => {
  s[i][j][k] = p[i + 1][j][k] + p[i - 1][j][k] + p[i][j + 1][k] + p[i][j - 1][k] + p[i][j][k + 1] + p[i][j][k - 1] - 6 * p[i][j][k];
});

const dot = kernel("dot", { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => s.add(x[i] * y[i]));

const moments = kernel(
  "moments",
  { x: view(f32, 2), s: sum(f32), q: sum(f32), low: min(f32), high: max(f32) },
  ({ x, s, q, low, high }, i) => {
    s.add(x[i][0]);
    q.add(x[i][1]);
    low.min(x[i][0]);
    high.max(x[i][1]);
  },
);

const branches = kernel("branches", { a: f32, flags: view(u8), x: view(f32), y: view(f32), n: view(i32) }, ({ a, flags, x, y, n }, i) => {
  let v = x[i];
  if (flags[i] !== 0) {
    v = v * a;
    if (v > 1) v = Math.sqrt(v) - 1;
    v += 0.5;
  } else y[i] = Math.fround(n[i]);
  n[i] = (v | 0) + (v < 0 ? 1 : 2);
  y[i] = Math.min(v, y[i]);
});

const iterates = kernel("iterates", { most: i32, x: view(f64), steps: view(f64) }, ({ most, x, steps }, i) => {
  let z = x[i];
  let count = 0.0;
  for (let k = 0; k < most; k++) {
    if (z > 4) break;
    if (z < -4) continue;
    z = z * z + x[i];
    count += 1;
  }
  while (z > 2) z = z / 2;
  steps[i] = count + z;
});

const integers = kernel(
  "integers",
  { n: view(i32), u: view(u32), flag: bool, out: view(i32), high: view(u32) },
  ({ n, u, flag, out, high }, i) => {
    const a = n[i];
    out[i] = ((a / 3) | 0) + (a % 7) + (a << 3) - (a >> 2) + ((a ^ 5) & ~a) + Math.abs(a) + (flag ? Math.clz32(a) : 0);
    high[i] = mulhi(u[i], 0xcccccccd) >>> 2;
  },
  () => [mulhi],
);

const divides = kernel("divides", { n: view(i32), m: view(i32), u: view(u32), out: view(i32) }, ({ n, m, u, out }, i) => {
  out[i] = ((n[i] / m[i]) | 0) + (n[i] % m[i]) + ((u[i] % 10) | 0);
});

const gathers = kernel(
  "gathers",
  { at: view(i32), weights: table(f64, [0.25, 0.5, 0.25]), x: view(f64), y: view(f64) },
  ({ at, weights, x, y }, i) => {
    let total = 0.0;
    for (let k = 0; k < 3; k++) total += weights[k] * x[at[i] + k];
    y[i] = total * total + Math.sin(total);
  },
);

const window = kernel("window", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, i, j) => {
  const kept = new Float64Array(3);
  for (let k = 0; k < 3; k++) kept[k] = x[i][j + k - 1] * 0.5;
  y[i][j] = kept[0] - 2 * kept[1] + kept[2];
});

const matmul = kernel("matmul", { n: i32, a: view(f64, 2), b: view(f64, 2), c: view(f64, 2) }, ({ n, a, b, c }, i, j) => {
  let total = 0.0;
  for (let k = 0; k < n; k++) total += a[i][k] * b[k][j];
  c[i][j] = total;
});

const transpose = kernel("transpose", { x: view(f32, 2), y: view(f32, 2) }, ({ x, y }, i, j) => {
  y[j][i] = x[i][j];
});

const histogram = kernel("histogram", { x: view(f64), h: scatter(f64), low: scatter(i32, 1, "min") }, ({ x, h, low }, i) => {
  const bin = Math.floor(x[i] * 8) | 0;
  h.add(bin, x[i]);
  low.min(bin, i);
});

const tree = teamKernel("tree", { x: view(f64, 2), y: view(f64) }, ({ x, y }, team) => {
  const part = team.scratch("f64", 64);
  team.range(64, (j) => {
    part[j] = x[team.index][j];
  });
  const halves = team.scratch("f64", 32);
  for (let turn = 0; turn < 3; turn++)
    team.range(32, (j) => {
      halves[j] = part[j] + part[j + 32] * turn;
    });
  const largest = team.max(64, (j) => x[team.index][j]);
  team.single(() => {
    y[team.index] = halves[0] / largest;
  });
});

const lines = kernel(
  "lines",
  { x: view(f64) },
  ({ x }, i) => {
    if (x[i] > 1) print("x", x[i], i);
  },
  () => [print],
);

const [L, M] = [1000, 96];
const cube = [10, 18, 70];
const CODES: Readonly<Record<string, Code>> = {
  laplace: { kernel: laplace, policy: range([1, 9], [1, 17], [1, 69]), shapes: { p: cube, s: cube } },
  "laplace, where memory may be shared": {
    kernel: laplace,
    policy: range([1, 9], [1, 17], [1, 69]),
    shapes: { p: cube, s: cube },
    disjointMemory: false,
  },
  "laplace, wide": { kernel: laplace, policy: range([1, 9], [1, 17], [1, 69]), shapes: { p: cube, s: cube }, wide: true },
  "laplace, the first index contiguous": {
    kernel: laplace,
    policy: range([1, 9], [1, 17], [1, 69]),
    shapes: { p: cube, s: cube },
    strides: { p: stridesOf(cube, "left"), s: stridesOf(cube, "left") },
  },
  dot: { kernel: dot, policy: range(L), shapes: { x: [L], y: [L] } },
  "dot, fast": { kernel: dot, policy: range(L), shapes: { x: [L], y: [L] }, precision: "fast", relaxed: true },
  "dot, backwards": { kernel: dot, policy: range(L), shapes: { x: [L], y: [L] }, strides: { x: [-1], y: [2] } },
  moments: { kernel: moments, policy: range(L), shapes: { x: [L, 2] } },
  "moments, fast": { kernel: moments, policy: range(L), shapes: { x: [L, 2] }, precision: "fast" },
  branches: { kernel: branches, policy: range(L), shapes: { flags: [L], x: [L], y: [L], n: [L] } },
  iterates: { kernel: iterates, policy: range(L), shapes: { x: [L], steps: [L] } },
  integers: { kernel: integers, policy: range(L), shapes: { n: [L], u: [L], out: [L], high: [L] } },
  divides: { kernel: divides, policy: range(L), shapes: { n: [L], m: [L], u: [L], out: [L] } },
  gathers: { kernel: gathers, policy: range(L), shapes: { at: [L], x: [L], y: [L] } },
  "gathers, checked": { kernel: gathers, policy: range(L), shapes: { at: [L], x: [L], y: [L] }, checked: true },
  window: { kernel: window, policy: range(M, [1, M - 1]), shapes: { x: [M, M], y: [M, M] } },
  matmul: { kernel: matmul, policy: range(M, M), shapes: { a: [M, M], b: [M, M], c: [M, M] } },
  "matmul, fast": { kernel: matmul, policy: range(M, M), shapes: { a: [M, M], b: [M, M], c: [M, M] }, precision: "fast", relaxed: true },
  transpose: { kernel: transpose, policy: range(M, M), shapes: { x: [M, M], y: [M, M] } },
  ...Object.fromEntries(
    (["sorted", "atomic", "cached", "duplicated"] as const).map((strategy): [string, Code] => [
      `histogram, ${strategy}`,
      {
        kernel: histogram,
        policy: range(L),
        shapes: { x: [L], h: [9], low: [9] },
        scatter: { h: strategy, low: strategy },
        shared: strategy !== "sorted",
      },
    ]),
  ),
  tree: { kernel: tree, policy: teams(5), shapes: { x: [5, 64], y: [5] } },
  lines: { kernel: lines, policy: range(L), shapes: { x: [L] } },
};

/** Names and counts of a module's instructions, remarks before them. */
function countsOf(name: string, { kernel, policy, shapes, strides = {}, fixed = {}, checked, ...more }: Code): string {
  const strict = printingKernel(compileKernel(kernel, fixed));
  const known = { range: () => undefined, shape: (name: string) => shapes[name] ?? [3], trusted: () => false };
  const { ir } = checked ? checkedKernel(strict, known) : more.precision === "fast" ? relaxedKernel(strict) : strict;
  const views = Object.fromEntries(
    ir.params.flatMap((param) => {
      if (param.kind !== "view" && param.kind !== "scatter") return [];
      const shape = shapes[param.name] ?? Array<number>(param.rank).fill(64);
      return [[param.name, { element: param.element, shape, strides: strides[param.name] ?? stridesOf(shape, "right") }]];
    }),
  );
  const made = emitWasm({
    precision: "strict",
    scatter: {},
    disjointMemory: true,
    relaxed: false,
    shared: false,
    wide: false,
    ...more,
    ir,
    policy,
    views,
  });
  const counts = new Map<string, number>();
  for (const line of listing(made.bytes)
    .split("\n")
    .filter((each) => each.startsWith("    "))) {
    const [word] = line.trim().split(" ");
    if (!word.startsWith("(")) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([word, count]) => `${word} ${count}`);
  const rows: string[] = [];
  for (const entry of sorted)
    if (rows.length > 0 && rows[rows.length - 1].length + entry.length < 118) rows[rows.length - 1] += `, ${entry}`;
    else rows.push(entry);
  const remarks = made.remarks.map((remark) => `  ${remark}`);
  return [
    `${name}: ${made.slots.length} arguments, ${made.scratchBytes} bytes of scratch`,
    ...remarks,
    ...rows.map((row) => `    ${row}`),
    "",
  ].join("\n");
}

test("code has the instructions that it had", () =>
  matchesSnapshot(
    "emit/wasm/instructions.txt",
    Object.entries(CODES)
      .map(([name, code]) => countsOf(name, code))
      .join("\n"),
  ));
