import type { Device } from "../device/device.js";
import { range } from "../device/launch/policy.js";
import type { View } from "../device/memory/view.js";
import type { NumberType } from "../ir/types.js";
import { describe } from "../base/describe.js";
import { LaunchError } from "../base/errors.js";
import { own, requireOptions } from "../base/own.js";
import { kernel } from "../kernel/declare/kernel.js";
import { bool, fixed, i32, u32, view } from "../kernel/declare/params.js";
import { planArgsort, requireKeys, words } from "./argsort.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions, type PatternSteps } from "./pattern.js";
import { planGather } from "./permute.js";
import { planScan, type ScanOp } from "./scan.js";
import { asU32 } from "./sort.js";
import { TOKENS } from "./scan-shape.js";

/** Arguments of `reduceByKey`. */
export interface ReduceByKey<K extends NumberType = NumberType, T extends NumberType = NumberType> {
  /** Equal keys that lie side by side are one run. NaN equals NaN, and -0 equals 0. */
  keys: View<K, 1>;
  /** A value for each key. */
  values: View<T, 1>;
  op: ScanOp;
  /** Takes the first key of each run, in their order; as long as the keys, as all may differ. Elements from `count` on keep their values. */
  uniqueKeys: View<K, 1>;
  /** Takes the fold of each run; of the values' type, as long as the keys. */
  sums: View<T, 1>;
  /** One element: takes the number of runs. */
  count: View<"i32", 1>;
}

/** Arguments of `unique`. */
export interface Unique<K extends NumberType = NumberType> {
  /** Integers or floats, in any order. NaN equals NaN, and -0 equals 0. */
  keys: View<K, 1>;
  /** Takes the different keys from the least to the greatest, NaN last; as long as the keys, as all may differ. Elements from `count` on keep their values. */
  values: View<K, 1>;
  /** One element: takes the number of different keys. */
  count: View<"i32", 1>;
  /** Takes how often each value occurs; as long as the keys. */
  counts?: View<"i32", 1>;
  /** Takes the index of each value's first key; as long as the keys. */
  index?: View<"i32", 1>;
  /** Takes for each key the place of its value; as long as the keys. */
  inverse?: View<"i32", 1>;
}

/**
 * Prepares the sum (least, greatest) of the values of each run of equal keys. Sort the keys first where equal ones shall meet. The order of additions is the order of
 * a `scan` with segments, which depends on the keys alone, so all devices give the same bits. Throws LaunchError where lengths or types do
 * not fit, and where a view that is written shares memory with another one.
 */
export function reduceByKey<K extends NumberType, T extends NumberType>(
  device: Device,
  what: ReduceByKey<K, T>,
  options: PatternOptions = {},
): Pattern {
  requireOptions("reduceByKey", what, ["keys", "values", "op", "uniqueKeys", "sums", "count"]);
  const { keys, values, op, uniqueKeys, sums, count } = what;
  requireKeys("reduceByKey", device, keys);
  requireView("reduceByKey, for its values,", values);
  if (op !== "sum" && op !== "min" && op !== "max")
    throw new LaunchError(`reduceByKey has no operation "${String(op)}"; use "sum", "min" or "max"`);
  if (!own(TOKENS, values.type)) throw new LaunchError(`reduceByKey folds f64, f32, i32 or u32, and is given ${describe(values)}`);
  requireLike("reduceByKey", "values", values, keys.length, values.type);
  requireLike("reduceByKey", "uniqueKeys", uniqueKeys, keys.length, keys.type);
  requireLike("reduceByKey", "sums", sums, keys.length, values.type);
  requireLike("reduceByKey", "count", count, 1, "i32");
  requireSeparate("reduceByKey", Object.entries({ uniqueKeys, sums, count }), Object.entries({ keys, values }));
  return makePattern(device, options, (steps) => {
    const { length } = keys;
    const runs = planRuns(steps, keys, count);
    const folds = steps.array(values.type, length);
    planScan(steps, { input: values, output: folds, op, flags: runs.heads } as Parameters<typeof planScan>[1]);
    planKeep(steps, runs, keys, uniqueKeys);
    planKeep(steps, runs, folds, sums, true);
  });
}

/**
 * Prepares the different numbers of a view, as NumPy's `unique`: sorted, each as its first key has it, with how often each occurs, where it first occurs and which
 * one each key is. All devices give the same. Throws LaunchError where lengths or types do not fit, and where a view that is written
 * shares memory with another one.
 */
export function unique<K extends NumberType>(device: Device, what: Unique<K>, options: PatternOptions = {}): Pattern {
  requireOptions("unique", what, ["keys", "values", "count", "counts", "index", "inverse"]);
  const { keys, values, count, counts, index, inverse } = what;
  requireKeys("unique", device, keys);
  requireLike("unique", "values", values, keys.length, keys.type);
  requireLike("unique", "count", count, 1, "i32");
  for (const [name, given] of Object.entries({ counts, index, inverse }))
    if (given !== undefined) requireLike("unique", name, given, keys.length, "i32");
  requireSeparate("unique", Object.entries({ values, count, counts, index, inverse }), [["keys", keys]]);
  return makePattern(device, options, (steps) => {
    const { length } = keys;
    const [order, sorted] = [steps.array("i32", length), steps.array(keys.type as NumberType, length)];
    planArgsort(steps, { keys, order });
    planGather(steps, order, moved(keys), moved(sorted));
    const runs = planRuns(steps, sorted, count);
    const { heads, places } = runs;
    const all = range(length);
    planKeep(steps, runs, sorted, values);
    if (index) planKeep(steps, runs, order, index);
    if (inverse) steps.launch(invert, { order, places, inverse }, all);
    if (!counts) return;
    const starts = steps.array("i32", length);
    steps.launch(keepStarts, { heads, places, starts }, all);
    steps.launch(countRuns, { starts, count, counts, length }, all);
  });
}

/** Throws LaunchError. */
function requireLike(pattern: string, name: string, view: View, length: number, type: string): void {
  requireView(`${pattern}, for ${name},`, view);
  if (view.rank !== 1 || view.length !== length || view.type !== type)
    throw new LaunchError(`${pattern}: ${name} is ${view.type} [${view.shape}]: give a view of ${length} ${type}`);
}

const SIGNLESS = 0x7fffffff;

/* Keys are compared by their bits: devices may take floats near 0 for 0. */
const singleHeads = kernel(
  "singleHeads",
  { bits: view(u32), heads: view(u32), float: fixed(bool) },
  ({ bits, heads, float }, i) => {
    const [a, b] = [bits[Math.max(0, i - 1)], bits[i]];
    const bothZero = float && ((a | b) & SIGNLESS) === 0;
    const bothNaN = float && (a & SIGNLESS) > 0x7f800000 && (b & SIGNLESS) > 0x7f800000;
    heads[i] = i > 0 && (a === b || bothZero || bothNaN) ? 0 : 1;
  },
  () => [SIGNLESS],
);
const isNaN = (low: number, high: number): boolean => (high & SIGNLESS) > 0x7ff00000 || ((high & SIGNLESS) === 0x7ff00000 && low !== 0);
const doubleHeads = kernel(
  "doubleHeads",
  { low: view(u32), high: view(u32), heads: view(u32) },
  ({ low, high, heads }, i) => {
    const before = Math.max(0, i - 1);
    const [a, b, c, d] = [low[before], high[before], low[i], high[i]];
    const bothZero = (a | c | ((b | d) & SIGNLESS)) === 0;
    heads[i] = i > 0 && ((a === c && b === d) || bothZero || (isNaN(a, b) && isNaN(c, d))) ? 0 : 1;
  },
  () => [SIGNLESS, isNaN],
);

/** The numbers as they are moved: as words if they have 32 bits. */
const moved = (view: View<NumberType, 1>): View<"u32", 1> | View<"f64", 1> =>
  view.type === "f64" ? (view as View<"f64", 1>) : words(view, 1, 0);

/** For each key 1 where a run begins, and the number of its run, from 1. */
interface Runs {
  readonly heads: View<"u32", 1>;
  readonly places: View<"u32", 1>;
}

/** Finds the runs; `count` takes how many there are. */
function planRuns(
  steps: PatternSteps,
  keys: View<NumberType, 1>,
  count: View<"i32", 1>,
): { heads: View<"u32", 1>; places: View<"u32", 1> } {
  const [heads, places] = [steps.array("u32", keys.length), steps.array("u32", keys.length)];
  const all = range(keys.length);
  if (keys.type === "f64") steps.launch(doubleHeads, { low: words(keys, 2, 0), high: words(keys, 2, 1), heads }, all);
  else steps.launch(singleHeads, { bits: words(keys, 1, 0), heads, float: keys.type === "f32" }, all);
  planScan(steps, { input: heads, output: places, op: "sum", total: asU32(count) });
  return { heads, places };
}

const makeKeep = (type: "f64" | "u32") =>
  kernel(
    "keepOfRuns",
    { given: view(TOKENS[type]), heads: view(u32), places: view(u32), found: view(TOKENS[type], 1, { disjoint: true }), last: fixed(bool) },
    ({ given, heads, places, found, last }, i) => {
      const next = Math.min(i + 1, given.length - 1);
      if (last ? next === i || heads[next] !== 0 : heads[i] !== 0) found[(places[i] | 0) - 1] = given[i];
    },
  );
const keepers = { f64: makeKeep("f64"), u32: makeKeep("u32") };

/** Adds the launch that keeps the first, or the last, element of each run. */
function planKeep(steps: PatternSteps, runs: Runs, given: View<NumberType, 1>, found: View<NumberType, 1>, last = false): void {
  const [from, to] = [moved(given), moved(found)];
  steps.launch(keepers[from.type], { ...runs, given: from, found: to, last }, range(given.length));
}

const keepStarts = kernel(
  "keepStarts",
  { heads: view(u32), places: view(u32), starts: view(i32, 1, { disjoint: true }) },
  ({ heads, places, starts }, i) => {
    if (heads[i] !== 0) starts[(places[i] | 0) - 1] = i;
  },
);
const countRuns = kernel(
  "countRuns",
  { starts: view(i32), count: view(i32), counts: view(i32), length: i32 },
  ({ starts, count, counts, length }, i) => {
    if (i < count[0]) counts[i] = (i + 1 < count[0] ? starts[Math.min(i + 1, length - 1)] : length) - starts[i];
  },
);
const invert = kernel(
  "invert",
  { order: view(i32), places: view(u32), inverse: view(i32, 1, { disjoint: true }) },
  ({ order, places, inverse }, i) => {
    inverse[order[i]] = (places[i] | 0) - 1;
  },
);
