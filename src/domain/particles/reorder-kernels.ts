import type { NumberType } from "../../ir/types.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { f32, f64, i32, u32, view } from "../../kernel/declare/params.js";

/* Kernels of `planReorder`, which see. */

interface Numbers {
  readonly [index: number]: number;
}

/** How many particles stay in a cell: `rank` counts those that do in all cells before. */
function staying(rank: Numbers, offsets: Numbers, cell: number, cells: number): number {
  return cell < cells ? rank[offsets[cell + 1]] - rank[offsets[cell]] : 0;
}

/** Tells those that are still in the cell of their list from those that have come to another one; places without a particle are neither. */
export const classify = kernel(
  "classify",
  {
    key: view(i32),
    cellOf: view(i32),
    /** Places of all; the own ones are `room` from `begin` on. */
    all: i32,
    begin: i32,
    room: i32,
    cells: i32,
    stays: view(i32, 1, { disjoint: true }),
    moves: view(i32, 1, { disjoint: true }),
  },
  ({ key, cellOf, all, begin, room, cells, stays, moves }, i) => {
    if (i < all) {
      const own = i - begin;
      let stay = 0;
      if (own >= 0 && own < room) {
        stay = cellOf[own] === key[i] && key[i] < cells ? 1 : 0;
        stays[own] = stay;
      }
      moves[i] = stay === 0 && key[i] !== cells + 3 ? 1 : 0;
    } else stays[room] = 0;
  },
);

/** Lists the particles that move, in their order, and their cells. */
export const listMoving = kernel(
  "listMoving",
  {
    key: view(i32),
    moves: view(i32),
    rank: view(i32),
    place: view(i32),
    keys: view(i32, 1, { disjoint: true }),
    sources: view(i32, 1, { disjoint: true }),
    count: view(i32, 1, { disjoint: true }),
  },
  ({ key, moves, rank, place, keys, sources, count }, i) => {
    if (moves[i] !== 0) {
      keys[place[i]] = key[i];
      sources[place[i]] = i;
    }
    if (i === moves.length - 1) count[0] = rank[i] + moves[i];
  },
);

/** How many are in each cell from now on. */
export const countAll = kernel(
  "countAll",
  { rank: view(i32), offsets: view(i32), arriving: view(i32), cells: i32, totals: view(i32), staying },
  ({ rank, offsets, arriving, cells, totals, staying }, c) => {
    totals[c] = c < cells + 3 ? staying(rank, offsets, c, cells) + (arriving[c + 1] - arriving[c]) : 0;
  },
);

/** The places that particles come to: of each place, where its particle is now, and its cell. */
const target = {
  starts: view(i32),
  order: view(i32, 1, { disjoint: true }),
  cellAt: view(i32, 1, { disjoint: true }),
};

export const moveStaying = kernel(
  "placeStaying",
  { stays: view(i32), rank: view(i32), cellOf: view(i32), offsets: view(i32), begin: i32, ...target },
  ({ stays, rank, cellOf, offsets, begin, starts, order, cellAt }, i) => {
    if (stays[i] !== 0) {
      const cell = cellOf[i];
      const slot = starts[cell] + (rank[i] - rank[offsets[cell]]);
      if (slot < order.length) {
        order[slot] = begin + i;
        cellAt[slot] = cell;
      }
    }
  },
);

/** Places particles that come to a cell after the ones that stay. */
export const moveMoving = kernel(
  "placeMoving",
  {
    count: view(i32),
    sorted: view(u32),
    permutation: view(i32),
    sources: view(i32),
    arriving: view(i32),
    rank: view(i32),
    offsets: view(i32),
    cells: i32,
    staying,
    ...target,
  },
  ({ count, sorted, permutation, sources, arriving, rank, offsets, cells, staying, starts, order, cellAt }, j) => {
    if (j < count[0]) {
      const cell = sorted[j] | 0;
      const slot = starts[cell] + staying(rank, offsets, cell, cells) + (j - arriving[cell]);
      if (slot < order.length) {
        order[slot] = sources[permutation[j]];
        cellAt[slot] = cell;
      }
    }
  },
);

/** The cells of the lists; -1 where a place has no particle. */
export const keepCells = kernel(
  "keepCells",
  { starts: view(i32), cells: i32, cellAt: view(i32), cellOf: view(i32) },
  ({ starts, cells, cellAt, cellOf }, i) => {
    cellOf[i] = i < starts[cells + 3] ? cellAt[i] : -1;
  },
);

const NUMBERS = { f64, f32, i32, u32 };
const makeBring = (type: NumberType) =>
  kernel(
    "bring",
    { starts: view(i32), cells: i32, order: view(i32), blank: NUMBERS[type], from: view(NUMBERS[type], 2), to: view(NUMBERS[type], 2) },
    ({ starts, cells, order, blank, from, to }, i, k) => {
      if (i < starts[cells + 3]) to[i][k] = from[order[i]][k];
      else to[i][k] = blank;
    },
  );
/** A column in its new order. */
export const bring = { f64: makeBring("f64"), f32: makeBring("f32"), i32: makeBring("i32"), u32: makeBring("u32") };
