import { kernel } from "../kernel/declare/kernel.js";
import { fixed, i32 } from "../kernel/declare/params.js";
import { forEachType, tileParams } from "./scan-shape.js";

const scanTiles = (block: typeof i32 | ReturnType<typeof fixed<typeof i32>>) =>
  forEachType((type, op) =>
    kernel(
      "scanTiles",
      { ...tileParams(type, op, { disjoint: true }), BLOCK: block },
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
          keepsTotal,
          combine,
          Values,
          BLOCK,
          BLOCKS,
        },
        tile,
      ) => {
        const sums = new Values(BLOCKS);
        const begunBlocks = new Uint32Array(BLOCKS);
        // One block needs no sum for those after it.
        if (onlyTotals || BLOCKS > 1)
          for (let b = 0; b < BLOCKS; b++) {
            let sum = identity;
            let begun = 0 >>> 0;
            const begin = (tile * BLOCKS + b) * BLOCK;
            for (let i = begin; i < Math.min(begin + BLOCK, input.length); i++) {
              if (segmented && flags[i] !== 0) {
                sum = input[i];
                begun = 1;
              } else sum = combine(sum, input[i]);
            }
            sums[b] = sum;
            if (segmented) begunBlocks[b] = begun;
          }
        // From the last block down, so that each still finds the sums of the round before.
        for (let distance = 1; distance < BLOCKS; distance *= 2) {
          for (let b = BLOCKS - 1; b >= distance; b--) {
            if (!(segmented && begunBlocks[b] !== 0)) {
              sums[b] = combine(sums[b - distance], sums[b]);
              if (segmented) begunBlocks[b] = begunBlocks[b - distance];
            }
          }
        }
        if (onlyTotals) {
          totals[tile] = sums[BLOCKS - 1];
          if (segmented) totalFlags[tile] = begunBlocks[BLOCKS - 1];
        } else {
          let before = identity;
          if (carried && tile > 0) before = carries[tile - 1];
          for (let b = 0; b < BLOCKS; b++) {
            let base = before;
            if (b > 0) base = segmented && begunBlocks[b - 1] !== 0 ? sums[b - 1] : combine(before, sums[b - 1]);
            let sum = identity;
            let begun = 0 >>> 0;
            let prefix = base;
            const begin = (tile * BLOCKS + b) * BLOCK;
            for (let i = begin; i < Math.min(begin + BLOCK, input.length); i++) {
              const begins = segmented && flags[i] !== 0;
              if (exclusive) output[i] = begins ? identity : prefix;
              if (begins) {
                sum = input[i];
                begun = 1;
              } else sum = combine(sum, input[i]);
              prefix = segmented && begun !== 0 ? sum : combine(base, sum);
              if (!exclusive) output[i] = prefix;
            }
            if (keepsTotal && begin < input.length && input.length <= begin + BLOCK) totals[0] = prefix;
          }
        }
      },
    ),
  );

/** One tile an element of the range, with the same operations as by teams: what a single worker does best, without scratch memory. */
export const scanTilesInOrder = scanTiles(fixed(i32));

/** The same for tiles of any length. */
export const scanLongTilesInOrder = scanTiles(i32);
