import { ELEMENTS } from "../ir/scalars.js";
import type { NumberType, ScatterOp } from "../ir/types.js";
import { bool, f32, f64, fixed, i32, u32, view } from "../kernel/declare/params.js";

/** Elements of a block, which are scanned in order; odd, so that members of a team meet in no bank of scratch memory. */
const BLOCK = 15;
/** Blocks of a tile. */
export const BLOCKS = 64;
/** Elements of a tile. */
export const TILE = BLOCK * BLOCKS;
/** Constants that kernels know. */
export const TILE_SHAPE = { BLOCK, BLOCKS };

/** Element types by name. */
export const TOKENS = { f64, f32, i32, u32 };
const SUMS = {
  f64: (a: number, b: number) => a + b,
  f32: (a: number, b: number) => Math.fround(a + b),
  i32: (a: number, b: number) => (a + b) | 0,
  u32: (a: number, b: number) => (a + b) >>> 0,
};
const least = (a: number, b: number): number => Math.min(a, b);
const greatest = (a: number, b: number): number => Math.max(a, b);

/**
 * Parameters of a kernel that scans tiles. With `onlyTotals` a tile's sum is stored, otherwise its prefixes, added to the sum of the tiles before
 * if it is `carried`; with `keepsTotal` the first element of `totals` takes the prefix that has the last element. With `segmented` nothing is carried over an element whose flag is not 0, and a tile's sum counts from its last
 * such element.
 */
export const tileParams = (type: NumberType, op: ScatterOp, written: { disjoint?: boolean } = {}) => ({
  input: view(TOKENS[type]),
  flags: view(u32),
  /** The scanned sums of the tiles. */
  carries: view(TOKENS[type]),
  output: view(TOKENS[type], 1, written),
  totals: view(TOKENS[type], 1, { disjoint: true }),
  totalFlags: view(u32),
  identity: TOKENS[type],
  onlyTotals: fixed(bool),
  carried: fixed(bool),
  segmented: fixed(bool),
  exclusive: fixed(bool),
  keepsTotal: fixed(bool),
  combine: op === "sum" ? SUMS[type] : op === "min" ? least : greatest,
  Values: ELEMENTS[type].array,
  BLOCK: fixed(i32),
  BLOCKS: fixed(i32),
});

/** A kernel for each type and operation, made when it is first asked for. */
export function forEachType<K>(make: (type: NumberType, op: ScatterOp) => K): (type: NumberType, op: ScatterOp) => K {
  const made = new Map<string, K>();
  return (type, op) => {
    const key = `${type} ${op}`;
    if (!made.has(key)) made.set(key, make(type, op));
    return made.get(key)!;
  };
}
