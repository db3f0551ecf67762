import {
  atomic,
  copysign,
  f32,
  f64,
  fixed,
  i32,
  kernel,
  max,
  open,
  powi,
  range,
  reducer,
  scatter,
  sum,
  table,
  teamKernel,
  teams,
  u32,
  u8,
  view,
} from "../../../src/index.js";
import { stridesOf, type TypedArray } from "../../../src/device/memory/view.js";
import { contiguousRows, type EmitRequest } from "../../../src/emit/standalone/index.js";
import { launchArguments } from "../../../src/emit/standalone/signature.js";
import type { Policy, Precision } from "../../../src/ir/launch.js";
import { codingOf, ELEMENTS, valueIn, type ElementType, type NumericType } from "../../../src/ir/scalars.js";
import { compileKernel, relaxedKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { noiseValue } from "../../../src/testing/values.js";
import { axpy, dot, laplace, narrow, rowSums } from "../c/kernels.js";

/** A launch of a kernel on data: what its emitted code must do too. */
export interface Case extends WithScratch {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly scalars?: Readonly<Record<string, number | bigint | boolean>>;
  readonly fixed?: Readonly<Record<string, number | boolean>>;
  readonly views: Readonly<Record<string, { shape: readonly number[]; values(n: number): number | bigint }>>;
  /** Its atomic operations run in fast mode alone: whatever is asked for, its code is that. */
  readonly precision?: "fast";
}

const weights = kernel("weights", { x: view(f64), w: view(f64), h: scatter(f64) }, ({ x, w, h }, i) => {
  h.add(x[i] | 0, w[i]);
});

const norms = kernel(
  "norms",
  {
    a: view(f64, 2),
    mask: view(u8, 2),
    scale: table(f64, [1, 0.5, 0.25]),
    power: fixed(i32),
    total: sum(f64),
    largest: max(f64),
    euclid: reducer(f64, 0, (a, b) => Math.sqrt(a * a + b * b)),
  },
  ({ a, mask, scale, power, total, largest, euclid }, i, j) => {
    if (mask[i][j] !== 0) {
      let value = a[i][j] * scale[j % 3];
      for (let n = 1; n < power; n++) value *= a[i][j];
      total.add(value);
      largest.max(value);
      euclid.merge(value);
    }
  },
);

/** Sums rows by a tree in scratch memory. */
const blocks = teamKernel("blocks", { a: view(f32, 2), s: view(f32), n: sum(i32) }, ({ a, s, n }, team) => {
  const part = team.scratch("f32", 8);
  team.range(8, (j) => {
    let own = 0;
    for (let k = j; k < a[0].length; k += 8) own += a[team.index][k];
    part[j] = own;
  });
  team.single(() => {
    s[team.index] = part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];
  });
  n.add(1);
});

/** Without f64, for targets that lack it. */
const single = kernel(
  "single",
  { a: f32, x: view(f32, 2), flags: view(u8, 2), y: view(f32, 2), h: scatter(f32), s: sum(f32), most: max(i32) },
  ({ a, x, flags, y, h, s, most }, i, j) => {
    y[i][j] = a * x[i][j] + y[i][j];
    flags[i][j] = (i + j) % 5;
    h.add((i + j) % 3, x[i][j]);
    s.add(y[i][j]);
    most.max(i * j);
  },
);

/** Integer scatters beside a sum, without f64 as well. */
const counts = kernel("counts", { x: view(f32), h: scatter(i32), top: scatter(i32, 1, "max"), s: sum(f32) }, ({ x, h, top, s }, i) => {
  h.add((i * 7) % 5, i);
  top.max((i * 3) % 4, (i * 7919) % 1001);
  s.add(x[i]);
});

interface WithScratch {
  /** Teams' scratch of level 1, which emitted code is given, and what the kernel leaves there. */
  readonly scratch?: Readonly<Record<string, { shape: readonly number[]; left(n: number): number }>>;
}

/** Members with lanes, and scratch of level 1. */
const levels = teamKernel("levels", { n: i32, a: view(f32, 3), s: view(f32, 2) }, ({ n, a, s }, team) => {
  const half = team.scratch("f32", n, { level: 1 });
  team.range(n, (j) => {
    half[j] = Math.fround(0.5 * j);
  });
  team.range(n, (j, lanes) => {
    const { low, total } = lanes.reduce(a[0][0].length, { low: "min", total: "sum" }, (k, r) => {
      r.low.min(a[team.index][j][k]);
      r.total.add(a[team.index][j][k]);
    });
    s[team.index][j] = half[n - 1 - j] + low * total;
    lanes.range(a[0][0].length, (k) => {
      a[team.index][j][k] = s[team.index][j] * k;
    });
  });
});

const powers = kernel(
  "powers",
  { n: view(i32), x: view(f64), y: view(f64), u: view(f32), v: view(f32) },
  ({ n, x, y, u, v }, i) => {
    y[i] = copysign(powi(x[i], n[i]), x[i]);
    v[i] = copysign(powi(u[i], n[i]), u[i]);
  },
  () => [copysign, powi],
);

const any = (n: number): number => noiseValue(n) * 2 - 1;
const zero = (): number => 0;

/** Atomic operations whose order does not show. */
const commuting = kernel(
  "commuting",
  { a: view(i32), sums: atomic(i32), least: atomic(i32), most: atomic(u32), all: atomic(u32), any: atomic(i32), odd: atomic(i32, 2) },
  ({ a, sums, least, most, all, any, odd }, i) => {
    sums.add(i % 7, a[i]);
    least.min(i % 7, a[i]);
    most.max(i % 7, a[i] >>> 0);
    all.and(i % 7, (a[i] | 0xff) >>> 0);
    any.or(i % 7, a[i] & 0xf0f0);
    odd.xor(i % 2, i % 7, a[i]);
  },
);
/** Operations that give old values, each element at its own place. */
const ledger = kernel(
  "ledger",
  { a: view(i32), n: atomic(i32), m: atomic(u32), old: view(i32, 2), more: view(u32) },
  ({ a, n, m, old, more }, i) => {
    old[i][0] = n.exchange(i, a[i]);
    old[i][1] = n.compareExchange(i, a[i], 5) + n.compareExchange(i, 4, 9);
    old[i][2] = n.add(i, a[i]) - n.sub(i, 3);
    old[i][3] = n.min(i, 40) ^ n.max(i, -7);
    old[i][4] = n.and(i, 0x1fff) ^ n.or(i, 0x30) ^ n.xor(i, 0x55);
    n.store(i, n.load(i) + 1);
    more[i] = (m.max(i, a[i] >>> 0) + m.min(i, 1000) + m.compareExchange(i, 1000, 3)) >>> 0;
  },
);

const whole = (n: number): number => Math.floor(4294967296 * noiseValue(n)) | 0;

/** Launches with atomic arrays, for languages that have operations which give the old value. */
export const ATOMIC_CASES: readonly Case[] = [
  {
    kernel: commuting as unknown as Kernel,
    policy: range(1000),
    views: {
      a: { shape: [1000], values: whole },
      sums: { shape: [7], values: zero },
      least: { shape: [7], values: () => 0x7fffffff },
      most: { shape: [7], values: zero },
      all: { shape: [7], values: () => 0xffffffff },
      any: { shape: [7], values: zero },
      odd: { shape: [2, 7], values: whole },
    },
  },
  {
    kernel: ledger as unknown as Kernel,
    policy: range(500),
    precision: "fast",
    views: {
      a: { shape: [500], values: (n) => (n % 3 === 0 ? 4 : whole(n)) },
      n: { shape: [500], values: (n) => whole(n + 3) },
      m: { shape: [500], values: (n) => (n % 5 === 0 ? 0 : whole(n + 9) >>> 0) },
      old: { shape: [500, 5], values: zero },
      more: { shape: [500], values: zero },
    },
  },
];

export const CASES: readonly Case[] = [
  {
    kernel: axpy as unknown as Kernel,
    policy: range([3, 1000]),
    scalars: { a: 1.7 },
    views: { x: { shape: [1000], values: any }, y: { shape: [1000], values: (n) => any(n + 7) } },
  },
  {
    kernel: laplace as unknown as Kernel,
    policy: range([1, 9], [1, 17], [1, 69]),
    views: { p: { shape: [10, 18, 70], values: any }, s: { shape: [10, 18, 70], values: zero } },
  },
  {
    kernel: dot as unknown as Kernel,
    policy: range(3000),
    views: { x: { shape: [3000], values: any }, y: { shape: [3000], values: (n) => any(n + 7) } },
  },
  {
    kernel: weights as unknown as Kernel,
    policy: range(2000),
    views: {
      x: { shape: [2000], values: (n) => Math.floor(noiseValue(n) * 7) },
      w: { shape: [2000], values: any },
      h: { shape: [7], values: zero },
    },
  },
  {
    kernel: norms as unknown as Kernel,
    policy: range([1, 7], [2, 600]),
    fixed: { power: 3 },
    views: { a: { shape: [8, 600], values: any }, mask: { shape: [8, 600], values: (n) => n % 3 } },
  },
  {
    kernel: rowSums as unknown as Kernel,
    policy: teams(5),
    views: { a: { shape: [5, 700], values: any }, s: { shape: [5], values: zero } },
  },
  {
    kernel: blocks as unknown as Kernel,
    policy: teams(6),
    views: { a: { shape: [6, 100], values: any }, s: { shape: [6], values: zero } },
  },
  {
    kernel: levels as unknown as Kernel,
    policy: teams(6),
    scalars: { n: 9 },
    views: { a: { shape: [6, 9, 21], values: any }, s: { shape: [6, 9], values: zero } },
    scratch: { scratch: { shape: [6, 9], left: (n) => 0.5 * (n % 9) } },
  },
  {
    kernel: powers as unknown as Kernel,
    policy: range(500),
    views: {
      n: { shape: [500], values: (n) => (n % 41) - 20 },
      x: { shape: [500], values: (n) => 2 * any(n) },
      y: { shape: [500], values: zero },
      u: { shape: [500], values: (n) => Math.fround(2 * any(n + 7)) },
      v: { shape: [500], values: zero },
    },
  },
  {
    kernel: counts as unknown as Kernel,
    policy: range([5, 3000]),
    views: { x: { shape: [3000], values: any }, h: { shape: [5], values: zero }, top: { shape: [4], values: zero } },
  },
  {
    kernel: single as unknown as Kernel,
    policy: range([1, 5], 600),
    scalars: { a: 0.5 },
    views: {
      x: { shape: [5, 600], values: any },
      flags: { shape: [5, 600], values: zero },
      y: { shape: [5, 600], values: (n) => any(n + 7) },
      h: { shape: [3], values: zero },
    },
  },
  {
    kernel: narrow as unknown as Kernel,
    policy: range(500),
    views: {
      x: { shape: [500], values: (n) => any(n) * 2 ** ((n % 40) - 20) },
      a: { shape: [500], values: any },
      b: { shape: [500], values: any },
      c: { shape: [500], values: (n) => (n % 256) - 128 },
      d: { shape: [500], values: (n) => (n * 7919) % 65536 },
      e: { shape: [500], values: (n) => ((n * 7919) % 65536) - 32768 },
      f: { shape: [500], values: (n) => n % 3 },
      y: { shape: [500], values: zero },
    },
  },
];

/** What emitted code is given beside scalars. */
const arraysOf = ({
  views,
  scratch,
}: Case): Readonly<Record<string, { shape: readonly number[]; values?(n: number): number | bigint }>> => ({
  ...views,
  ...scratch,
});

/** The kernel of a case as `isoform emit` hands it over. */
export function requestOf(given: Case, asked: Precision): EmitRequest {
  const { kernel, fixed = {}, policy, precision = asked } = given;
  const strict = compileKernel(kernel, fixed);
  const { ir, access } = precision === "fast" ? relaxedKernel(strict) : strict;
  const sizes = Object.fromEntries(
    Object.entries(arraysOf(given)).map(([name, { shape }]) => [name, { shape, strides: stridesOf(shape, "right") }]),
  );
  return { ir, access, precision, stem: kernel.name, unitStrides: contiguousRows(ir), sizes: { policy, views: sizes } };
}

/** Element types of the arrays and results, by name. */
function elementsOf({ ir }: EmitRequest): Record<string, ElementType> {
  return Object.fromEntries(ir.params.flatMap((p) => (p.kind === "scalar" ? [] : [[p.name, p.kind === "reduce" ? p.type : p.element]])));
}

const heldIn = (element: ElementType, value: number): number => codingOf(element)?.bitsOf(value) ?? value;

/** The arrays before the launch, and a place for each result; floats of 16 bits are words. */
export function memoryOf(given: Case, request: EmitRequest): Record<string, TypedArray> {
  return Object.fromEntries(
    Object.entries(elementsOf(request)).map(([name, element]) => {
      const size = arraysOf(given)[name]?.shape.reduce((a, b) => a * b, 1) ?? 1;
      const array = new ELEMENTS[element].storage(size) as TypedArray;
      const zero = valueIn(element as NumericType, 0);
      for (let n = 0; n < size; n++) array[n] = heldIn(element, (given.views[name]?.values(n) ?? zero) as number);
      return [name, array];
    }),
  );
}

/** A launch function's arguments in their order, with their usual names; arrays and places of results are those in `memory`. */
export function argumentValues(given: Case, request: EmitRequest, memory: Record<string, unknown>): { name: string; value: unknown }[] {
  const { policy, scalars = {} } = given;
  const arrays = arraysOf(given);
  return launchArguments(request, { of: (_kind, name, wish = name) => wish }).map(({ slot, name }) => {
    const value = (): unknown => {
      switch (slot.kind) {
        case "scalar":
          return scalars[slot.name];
        case "extent":
          return arrays[slot.name].shape[slot.axis];
        case "stride":
          return stridesOf(arrays[slot.name].shape, "right")[slot.axis];
        case "view":
        case "result":
          return memory[slot.name];
        case "league":
          return policy.kind === "team" && policy.league;
        case "begin":
          return policy.kind === "range" && policy.begin[slot.axis];
        case "end":
          return policy.kind === "range" && policy.begin[slot.axis] + policy.extents[slot.axis];
        default:
          return slot satisfies never;
      }
    };
    return { name, value: value() };
  });
}

/** The arrays and results that the device `js` leaves in strict mode. */
export async function expectedOf(given: Case): Promise<Record<string, TypedArray>> {
  const request = requestOf(given, "strict");
  const memory = memoryOf(given, request);
  const device = await open("js");
  try {
    const elements = elementsOf(request);
    const views = Object.fromEntries(
      Object.entries(given.views).map(([name, { shape }]) => [
        name,
        device
          .from(
            { type: elements[name] },
            Array.from(memory[name], (held) => codingOf(elements[name])?.valueOf(held) ?? held),
          )
          .reshape(...shape),
      ]),
    );
    const results = await device.run(given.kernel, { ...given.scalars, ...given.fixed, ...views } as never, given.policy as never, {
      precision: given.precision ?? "strict",
    });
    for (const [name, v] of Object.entries(views))
      (await device.queue.read(v)).forEach((value, n) => (memory[name][n] = heldIn(elements[name], value)));
    for (const [name, value] of Object.entries(results as Record<string, number>)) memory[name][0] = value;
    for (const [name, { left }] of Object.entries(given.scratch ?? {})) memory[name] = memory[name].map((_, n) => left(n)) as TypedArray;
    return memory;
  } finally {
    await device.close();
  }
}
