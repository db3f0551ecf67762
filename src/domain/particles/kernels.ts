import type { NumericType } from "../../ir/types.js";
import { kernel } from "../../kernel/kernel.js";
import { bool, f32, f64, i32, u32, u8, view } from "../../kernel/params.js";

/*
 * Kernels that bring particles to the members and into the order of the cells that they are in. Positions are in units of cells; a place in the
 * columns that holds no particle has EMPTY for the first coordinate.
 */

export const EMPTY = 1e30;

type Real = "f64" | "f32";
const REALS = { f64, f32: f32 as unknown as typeof f64 };
const NUMBERS = { f64, f32, i32, u32 };

/** What comes after the cells, where particles are sorted by the number of their cell. */
export const AFTER_CELLS = {
  /** On another member that is not a neighbour, or that has not taken it yet. */
  elsewhere: 0,
  /** Beyond an end of the grid, or in a cell that is not active. */
  outside: 1,
  /** A coordinate is not a number. */
  broken: 2,
  empty: 3,
} as const;

interface Row {
  [axis: number]: number;
  readonly length: number;
}

/** Brings a position back into the box along periodic axes. */
function wrap(position: Row, extents: Row, periodic: Row): void {
  for (let a = 0; a < position.length; a++)
    if (periodic[a] !== 0) {
      const length = extents[a];
      const inside = position[a] - length * Math.floor(position[a] / length);
      position[a] = inside < length ? inside : 0;
    }
}

const makeFindCells = (type: Real) =>
  kernel(
    "findCells",
    {
      x: view(REALS[type], 2),
      key: view(i32),
      extents: view(i32),
      periodic: view(i32),
      /** Bytes of the cells in the member's planes, in the order of the cells. */
      active: view(u8),
      masked: bool,
      firstPlane: i32,
      cells: i32,
      wrap,
    },
    ({ x, key, extents, periodic, active, masked, firstPlane, cells, wrap }, i) => {
      let found = cells + 3;
      if (!(x[i][0] >= 1e30)) {
        wrap(x[i], extents, periodic);
        let inside = true;
        let broken = false;
        let cell = 0;
        let last = 0;
        for (let a = x[0].length - 1; a >= 0; a--) {
          const at = x[i][a];
          if (at !== at) broken = true;
          if (!(at >= 0 && at < extents[a])) inside = false;
          const whole = inside ? Math.floor(at) | 0 : 0;
          if (a === x[0].length - 1) {
            last = whole - firstPlane;
            cell = last;
          } else cell = cell * extents[a] + whole;
        }
        if (broken) found = cells + 2;
        else if (!inside) found = cells + 1;
        else if (cell < 0 || cell >= cells) found = cells;
        else if (masked && active[cell] === 0) found = cells + 1;
        else found = cell;
      }
      key[i] = found;
    },
  );
export const findCells = { f64: makeFindCells("f64"), f32: makeFindCells("f32") };

const makeFindLeaving = (type: Real) =>
  kernel(
    "findLeaving",
    {
      x: view(REALS[type], 2),
      /** 1 where the particle goes to the member that has the planes from `begin` to `end` - 1. */
      goes: view(i32),
      extents: view(i32),
      periodic: view(i32),
      begin: i32,
      end: i32,
      wrap,
    },
    ({ x, goes, extents, periodic, begin, end, wrap }, i) => {
      let leaves = 0;
      if (!(x[i][0] >= 1e30)) {
        wrap(x[i], extents, periodic);
        const at = x[i][x[0].length - 1];
        if (at >= begin && at < end) leaves = 1;
      }
      goes[i] = leaves;
    },
  );
export const findLeaving = { f64: makeFindLeaving("f64"), f32: makeFindLeaving("f32") };

const makePack = (type: NumericType) =>
  kernel(
    "pack",
    { goes: view(i32), place: view(i32), from: view(NUMBERS[type], 2), to: view(NUMBERS[type], 2, { disjoint: true }) },
    ({ goes, place, from, to }, i, k) => {
      if (goes[i] !== 0 && place[i] < to.length) to[place[i]][k] = from[i][k];
    },
  );
/** Moves a column of those that leave to an outbox, in their order; what does not fit stays where it is. */
export const pack = { f64: makePack("f64"), f32: makePack("f32"), i32: makePack("i32"), u32: makePack("u32") };

const makeSeal = (type: Real) =>
  kernel("seal", { goes: view(i32), place: view(i32), x: view(REALS[type], 2) }, ({ goes, place, x }, n) => {
    const last = goes.length - 1;
    if (n >= place[last] + goes[last]) x[n][0] = 1e30;
  });
/** Empties the places of an outbox that nobody took. */
export const seal = { f64: makeSeal("f64"), f32: makeSeal("f32") };

const makeForget = (type: Real) =>
  kernel("forget", { goes: view(i32), place: view(i32), room: i32, x: view(REALS[type], 2) }, ({ goes, place, room, x }, i) => {
    if (goes[i] !== 0 && place[i] < room) x[i][0] = 1e30;
  });
/** Empties the places of those that were packed. */
export const forget = { f64: makeForget("f64"), f32: makeForget("f32") };

const makeBury = (type: Real) =>
  kernel("bury", { offsets: view(i32), cells: i32, x: view(REALS[type], 2) }, ({ offsets, cells, x }, i) => {
    if (i >= offsets[cells + 1] && i < offsets[cells + 2]) x[i][0] = 1e30;
  });
/** Takes those out that have left the grid. */
export const bury = { f64: makeBury("f64"), f32: makeBury("f32") };

/** What is wrong with some particles of a member: how many were, so far, where `state` counts them. */
export const STATE = { elsewhere: 0, outside: 1, broken: 2, crowded: 3, held: 4 } as const;

/** Notes how many particles are in no cell of the member, and how many it has no room for. */
export const noteState = kernel(
  "noteState",
  { offsets: view(i32), cells: i32, absorb: bool, room: i32, state: view(i32) },
  ({ offsets, cells, absorb, room, state }, k) => {
    if (k < 3) state[k] = state[k] + (offsets[cells + k + 1] - offsets[cells + k]);
    else {
      const all = offsets[cells + (absorb ? 1 : 3)];
      if (k === 3) state[k] = Math.max(state[k], all - room);
      else state[k] = Math.min(all, room);
    }
  },
);
