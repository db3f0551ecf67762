import type { Device } from "../device/device.js";
import { range } from "../device/launch/policy.js";
import { View } from "../device/memory/view.js";
import type { NumberType } from "../ir/types.js";
import { describe } from "../base/describe.js";
import { LaunchError } from "../base/errors.js";
import { own, requireOptions, requireThing } from "../base/own.js";
import { kernel } from "../kernel/declare/kernel.js";
import { bool, fixed, i32, u32, view } from "../kernel/declare/params.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions, type PatternSteps } from "./pattern.js";
import { planGather } from "./permute.js";
import { TOKENS } from "./scan-shape.js";
import { planSort } from "./sort.js";
import { copyKeys } from "./sort-kernels.js";

/** Arguments of `argsort`. */
export interface Argsort {
  /** Integers or floats. NaN counts as greater than all else, and -0 equals 0, as NumPy has it. */
  keys: View<NumberType, 1>;
  /** Takes for each place of the sorted order the index of the key that belongs there; as long as the keys. */
  order: View<"i32", 1>;
  /** The greatest key comes first; NaN still comes last, and equal keys keep their order. */
  descending?: boolean;
}

/**
 * Prepares the stable order of numbers, as NumPy's `argsort(keys, stable=True)`: a radix sort of words with the keys' order, 8 bits a pass on CPUs and with CUDA, 4 on
 * other GPUs; keys of f64 are sorted by their low words, then by the high ones. All devices give the same order. Throws LaunchError
 * where lengths or types do not fit, and where views share memory.
 */
export function argsort(device: Device, what: Argsort, options: PatternOptions = {}): Pattern {
  requireOptions("argsort", what, ["keys", "order", "descending"]);
  const { keys, order, descending = false } = what;
  requireKeys("argsort", device, keys);
  requireView("argsort, for its order,", order);
  requireThing("argsort, for descending,", descending, typeof descending === "boolean", "give true or false");
  if (order.length !== keys.length || order.type !== "i32")
    throw new LaunchError(
      `argsort of ${keys.length} keys with an order of ${order.length} ${order.type}: give a view of ${keys.length} i32`,
    );
  requireSeparate("argsort", [["order", order]], [["keys", keys]]);
  return makePattern(device, options, (steps) => planArgsort(steps, { keys, order, descending }));
}

/** Throws LaunchError for keys that are not a view of rank 1 of numbers, and for f64 without its bits. */
export function requireKeys(pattern: string, device: Device, keys: View<NumberType, 1>): void {
  requireView(`${pattern}, for its keys,`, keys);
  if (!own(TOKENS, keys.type) || keys.rank !== 1)
    throw new LaunchError(`${pattern} is given ${describe(keys)} for its keys: give a view of rank 1 of f64, f32, i32 or u32`);
  if (keys.type === "f64" && device.capabilities?.f64Bits)
    throw new LaunchError(
      `${pattern} of f64 keys needs the words of an f64, and ${device.name} emulates them: use f32 keys, or another device`,
    );
}

/** Words of 32 bits of a view whose elements have that many, or a word of f64. */
export const words = ({ buffer, shape, strides, offset }: View<NumberType, 1>, each: 1 | 2, at: 0 | 1): View<"u32", 1> =>
  new View(buffer, "u32", shape, [each * strides[0]], each * offset + at);

/*
 * Bits of a positive float rise with the number, and bits of a negative one fall. So all bits of a negative number are turned over, and the sign
 * of a positive one. All zeros become one word, and all NaNs the greatest.
 */
const singleWords = kernel(
  "singleWords",
  { bits: view(u32), sorted: view(u32), descending: fixed(bool) },
  ({ bits, sorted, descending }, i) => {
    const b = bits[i];
    const size = b & 0x7fffffff;
    let word = (b | 0x80000000) >>> 0;
    if (b >>> 31 !== 0 && size !== 0) word = ~b >>> 0;
    if (descending) word = ~word >>> 0;
    sorted[i] = size > 0x7f800000 ? 0xffffffff : word;
  },
);
const doubleWords = kernel(
  "doubleWords",
  { low: view(u32), high: view(u32), sortedLow: view(u32), sortedHigh: view(u32), descending: fixed(bool) },
  ({ low, high, sortedLow, sortedHigh, descending }, i) => {
    const [l, h] = [low[i], high[i]];
    const size = h & 0x7fffffff;
    let [first, second] = [(h | 0x80000000) >>> 0, l];
    if (h >>> 31 !== 0 && (size !== 0 || l !== 0)) [first, second] = [~h >>> 0, ~l >>> 0];
    if (descending) [first, second] = [~first >>> 0, ~second >>> 0];
    const isNaN = size > 0x7ff00000 || (size === 0x7ff00000 && l !== 0);
    sortedHigh[i] = isNaN ? 0xffffffff : first;
    sortedLow[i] = isNaN ? 0xffffffff : second;
  },
);

/** The order of an order: `order[i] = first[then[i]]`. */
const compose = kernel("compose", { first: view(i32), then: view(i32), order: view(i32) }, ({ first, then, order }, i) => {
  order[i] = first[then[i]];
});

/** Adds the launches of an argsort. */
export function planArgsort(steps: PatternSteps, { keys, order: permutation, descending = false }: Argsort): void {
  const all = range(keys.length);
  const bits = 32;
  if (keys.type === "f64") {
    const [sortedLow, sortedHigh, moved] = [0, 1, 2].map(() => steps.array("u32", keys.length));
    const [first, then] = [steps.array("i32", keys.length), steps.array("i32", keys.length)];
    steps.launch(doubleWords, { low: words(keys, 2, 0), high: words(keys, 2, 1), sortedLow, sortedHigh, descending }, all);
    planSort(steps, { keys: sortedLow, permutation: first, bits });
    planGather(steps, first, sortedHigh, moved);
    planSort(steps, { keys: moved, permutation: then, bits });
    steps.launch(compose, { first, then, order: permutation }, all);
    return;
  }
  const own = words(keys, 1, 0);
  const flip = (keys.type === "i32" ? 0x80000000 : 0) ^ (descending ? -1 : 0);
  if (keys.type !== "f32" && flip === 0) return planSort(steps, { keys: own, permutation, bits });
  const sorted = steps.array("u32", keys.length);
  if (keys.type === "f32") steps.launch(singleWords, { bits: own, sorted, descending }, all);
  else steps.launch(copyKeys.u32, { keys: own, copied: sorted, flip: flip >>> 0 }, all);
  planSort(steps, { keys: sorted, permutation, bits });
}
