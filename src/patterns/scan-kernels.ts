import type { NumericType } from "../ir/types.js";
import { kernel, teamKernel } from "../kernel/kernel.js";
import { bool, f32, f64, fixed, i32, scatter, u32, view } from "../kernel/params.js";

/** Elements of a block, which one member goes through in order; odd, so that members meet in no bank of scratch memory. */
const BLOCK = 15;
/** Blocks of a tile. */
export const BLOCKS = 64;
/** Elements that a team scans. */
export const TILE = BLOCK * BLOCKS;

export type ScanOp = "sum" | "min" | "max";

const TOKENS = { f64, f32, i32, u32 };
const ARRAYS = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array };
const SUMS = {
  f64: (a: number, b: number) => a + b,
  f32: (a: number, b: number) => Math.fround(a + b),
  i32: (a: number, b: number) => (a + b) | 0,
  u32: (a: number, b: number) => (a + b) >>> 0,
};
const least = (a: number, b: number): number => Math.min(a, b);
const greatest = (a: number, b: number): number => Math.max(a, b);

/**
 * One tile a team. Blocks are scanned each by one member; their sums by doubling the distance (Hillis and Steele, Data parallel algorithms,
 * CACM 29, 1986). With `onlyTotals` the tile's sum is stored, else the tile's prefixes, behind what the tiles before add up to. With
 * `segmented` nothing is carried over an element whose flag is not 0, and a tile's sum is that since its last such element.
 */
function makeScanTiles(type: NumericType, op: ScanOp) {
  return teamKernel(
    "scanTiles",
    {
      input: view(TOKENS[type]),
      flags: view(u32),
      /** The scanned sums of the tiles. */
      carries: view(TOKENS[type]),
      output: view(TOKENS[type]),
      totals: view(TOKENS[type]),
      totalFlags: view(u32),
      identity: TOKENS[type],
      onlyTotals: fixed(bool),
      carried: fixed(bool),
      segmented: fixed(bool),
      exclusive: fixed(bool),
      combine: op === "sum" ? SUMS[type] : op === "min" ? least : greatest,
      Values: ARRAYS[type],
      BLOCK: fixed(i32),
      BLOCKS: fixed(i32),
    },
    (
      {
        input,
        flags,
        carries,
        output,
        totals,
        totalFlags,
        identity,
        onlyTotals,
        carried,
        segmented,
        exclusive,
        combine,
        Values,
        BLOCK,
        BLOCKS,
      },
      team,
    ) => {
      const first = team.index * BLOCK * BLOCKS;
      const values = team.scratch(Values, BLOCK * BLOCKS);
      const begun = team.scratch("u32", BLOCK * BLOCKS);
      const sums = team.scratch(Values, BLOCKS);
      const otherSums = team.scratch(Values, BLOCKS);
      const begunBlocks = team.scratch("u32", BLOCKS);
      const otherBegun = team.scratch("u32", BLOCKS);
      team.range(BLOCK * BLOCKS, (j) => {
        if (first + j < input.length) {
          values[j] = input[first + j];
          if (segmented) begun[j] = flags[first + j];
        } else {
          values[j] = identity;
          if (segmented) begun[j] = 0;
        }
      });
      team.range(BLOCKS, (b) => {
        let sum = identity;
        let hasBegun = 0 >>> 0;
        for (let k = 0; k < BLOCK; k++) {
          const j = BLOCK * b + k;
          if (segmented && begun[j] !== 0) {
            sum = values[j];
            hasBegun = 1;
          } else sum = combine(sum, values[j]);
          values[j] = sum;
          if (segmented) begun[j] = hasBegun;
        }
        sums[b] = sum;
        if (segmented) begunBlocks[b] = hasBegun;
      });
      for (let distance = 1; distance < BLOCKS; distance *= 4) {
        team.range(BLOCKS, (b) => {
          const joined = b >= distance && !(segmented && begunBlocks[b] !== 0);
          otherSums[b] = joined ? combine(sums[b - distance], sums[b]) : sums[b];
          if (segmented) otherBegun[b] = joined ? begunBlocks[b - distance] : begunBlocks[b];
        });
        team.range(BLOCKS, (b) => {
          const joined = b >= 2 * distance && !(segmented && otherBegun[b] !== 0);
          sums[b] = joined ? combine(otherSums[b - 2 * distance], otherSums[b]) : otherSums[b];
          if (segmented) begunBlocks[b] = joined ? otherBegun[b - 2 * distance] : otherBegun[b];
        });
      }
      if (onlyTotals) {
        totals[team.index] = sums[BLOCKS - 1];
        if (segmented) totalFlags[team.index] = begunBlocks[BLOCKS - 1];
      } else {
        let before = identity;
        if (carried && team.index > 0) before = carries[team.index - 1];
        team.range(BLOCK * BLOCKS, (j) => {
          const i = first + j;
          if (i < output.length) {
            const b = (j / BLOCK) | 0;
            let base = before;
            if (b > 0) base = segmented && begunBlocks[b - 1] !== 0 ? sums[b - 1] : combine(before, sums[b - 1]);
            if (exclusive && segmented && flags[i] !== 0) output[i] = identity;
            else {
              const last = exclusive ? j - 1 : j;
              if (last < BLOCK * b) output[i] = base;
              else output[i] = segmented && begun[last] !== 0 ? values[last] : combine(base, values[last]);
            }
          }
        });
      }
    },
  );
}

/** What the kernel is told of its own shape. */
export const TILE_SHAPE = { BLOCK, BLOCKS };

const made = new Map<string, ReturnType<typeof makeScanTiles>>();

/** The kernel for elements of a type; one for each type and operation. */
export function scanTiles(type: NumericType, op: ScanOp): ReturnType<typeof makeScanTiles> {
  const key = `${type} ${op}`;
  if (!made.has(key)) made.set(key, makeScanTiles(type, op));
  return made.get(key)!;
}

/** Sets the flag of each segment's first element; segments that begin behind the end have none. */
export const flagOffsets = kernel(
  "flagOffsets",
  { offsets: view(i32), flags: scatter(u32, 1, "max"), count: i32 },
  ({ offsets, flags, count }, k) => {
    if (offsets[k] < count) flags.max(offsets[k], 1);
  },
);
