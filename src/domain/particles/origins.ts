import { kernel } from "../../kernel/declare/kernel.js";
import { i32, view } from "../../kernel/declare/params.js";

/*
 * The order in which all particles were, where grids are cut along y: cells of one member then do not all come before the cells of the next one, so that
 * particles travel with the cell in whose list they were, and lists of arrivals are merged by it.
 */

/** Column with the plane of that cell, and its place in the plane. */
export const ORIGIN = " origin";

/** Cells of a member. */
const box = {
  firstPlane: i32,
  planes: i32,
  firstRow: i32,
  rows: i32,
  /** Cells along x. */
  width: i32,
};

/** Notes the cell in whose list each own particle is; the ones in no list come last. */
export const noteOrigins = kernel(
  "noteOrigins",
  { cellOf: view(i32), origin: view(i32, 2), ...box },
  ({ cellOf, origin, firstPlane, firstRow, rows, width }, i) => {
    const cell = cellOf[i];
    const plane = Math.floor(cell / (rows * width)) | 0;
    origin[i][0] = cell < 0 ? 2147483647 : firstPlane + plane;
    origin[i][1] = cell < 0 ? 0 : firstRow * width + (cell - plane * rows * width);
  },
);

/**
 * Ranks of the particles that move among all that do: by the cells in whose lists they were, then by their order there. Each of the lists, the own places
 * and the arrivals from each member, is in that order; arrivals have nothing after the first place without a particle.
 */
export const mergeRanks = kernel(
  "mergeRanks",
  {
    moves: view(i32),
    /** Particles that move at all places before. */
    rank: view(i32),
    origin: view(i32, 2),
    /** The first place of each list, and the end of all. */
    lists: view(i32),
    /** Which of the lists has the own places. */
    own: i32,
    /** Starts of the lists of the own cells. */
    offsets: view(i32),
    merged: view(i32, 1, { disjoint: true }),
    ...box,
  },
  ({ moves, rank, origin, lists, own, offsets, merged, firstPlane, planes, firstRow, rows, width }, i) => {
    let total = rank[i];
    if (moves[i] !== 0) {
      total = 0;
      const plane = origin[i][0];
      const at = origin[i][1];
      for (let n = 0; n + 1 < lists.length; n++) {
        const begin = lists[n];
        const last = lists[n + 1] - 1;
        const count = rank[last] + moves[last] - rank[begin];
        if (i >= begin && i <= last) total += rank[i] - rank[begin];
        else if (n === own) {
          // The first own cell that comes after the particle's.
          const row = (Math.floor(at / width) | 0) - firstRow;
          const inPlane = row < 0 ? 0 : row >= rows ? rows * width : at - firstRow * width;
          const cell =
            plane < firstPlane ? 0 : plane - firstPlane >= planes ? planes * rows * width : (plane - firstPlane) * rows * width + inPlane;
          const before = begin + offsets[cell];
          total += before > last ? count : rank[before] - rank[begin];
        } else {
          let low = begin;
          let high = begin + count;
          while (low < high) {
            const middle = (low + high) >> 1;
            if (origin[middle][0] < plane || (origin[middle][0] === plane && origin[middle][1] < at)) low = middle + 1;
            else high = middle;
          }
          total += low - begin;
        }
      }
    }
    merged[i] = total;
  },
);
