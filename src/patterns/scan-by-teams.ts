import { teamKernel } from "../kernel/declare/kernel.js";
import { forEachType, tileParams } from "./scan-shape.js";

/**
 * One tile a team: each block is scanned by one member, in scratch memory; the blocks' sums by doubling the distance (Hillis and Steele, Data
 * parallel algorithms, CACM 29, 1986).
 */
export const scanTilesByTeams = forEachType((type, op) =>
  teamKernel(
    "scanTiles",
    tileParams(type, op),
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
        const end = input.length - 1 - first;
        if (keepsTotal && end < BLOCK * BLOCKS) {
          const b = (end / BLOCK) | 0;
          totals[0] = combine(b > 0 ? combine(before, sums[b - 1]) : before, values[end]);
        }
      }
    },
  ),
);
