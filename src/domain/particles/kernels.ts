import type { NumberType } from "../../ir/types.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { bool, f32, f64, fixed, i32, u32, view } from "../../kernel/declare/params.js";
import { u8 } from "../../kernel/declare/storage.js";

/*
 * Kernels that bring particles to the members and into the order of the cells that they are in. Positions are in units of cells; a place in the
 * columns that holds no particle has EMPTY for the first coordinate.
 */

export const EMPTY = 1e30;

type Real = "f64" | "f32";
const REALS = { f64, f32: f32 as unknown as typeof f64 };
/** Types of columns. */
export const NUMBERS = { f64, f32, i32, u32 };

/** Categories of particles without a cell, which come after the cells in the sorted order. */
export const AFTER_CELLS = {
  /** On another member that is not a neighbour, or that has not taken it yet. */
  elsewhere: 0,
  /** Beyond an end of the grid, or in a cell that is not active. */
  outside: 1,
  /** A coordinate is not a number. */
  broken: 2,
  empty: 3,
} as const;

/** A coordinate, brought back between the ends of a periodic axis. */
function wrapped(at: number, length: number, periodic: number): number {
  if (periodic === 0 || (at >= 0 && at < length)) return at;
  const inside = at - length * Math.floor(at / length);
  // Rounding may reach the end from below.
  return inside >= length ? 0 : inside;
}

/** Facts that locate positions: the number of axes, the grid's cells along each, and which of them are periodic. */
const box = { axes: fixed(i32), extents: view(i32), periodic: view(i32), wrapped };

const makeFindCells = (type: Real) =>
  kernel(
    "findCells",
    {
      x: view(REALS[type], 2),
      key: view(i32),
      /** Bytes of the cells in the member's planes, in the order of the cells. */
      active: view(u8),
      masked: fixed(bool),
      firstPlane: i32,
      planes: i32,
      /** Rows of each plane that the member has; all in two dimensions, where planes are rows. */
      firstRow: i32,
      rows: i32,
      cells: i32,
      ...box,
    },
    ({ x, key, axes, extents, periodic, active, masked, firstPlane, planes, firstRow, rows, cells, wrapped }, i) => {
      const empty = x[i][0] === 1e30;
      let inside = true;
      let number = true;
      let here = true;
      let cell = 0;
      for (let n = 0; n < axes; n++) {
        const a = axes - 1 - n;
        const before = x[i][a];
        const at = empty ? before : wrapped(before, extents[a], periodic[a]);
        x[i][a] = at;
        if (at !== at) number = false;
        if (!(at >= 0 && at < extents[a])) inside = false;
        const whole = inside ? Math.floor(at) | 0 : 0;
        // Planes are compared, since the index of a cell far away may be beyond an i32.
        if (n === 0) here = whole >= firstPlane && whole - firstPlane < planes;
        if (axes === 3 && n === 1) here = here && whole >= firstRow && whole - firstRow < rows;
        const own = n === 0 ? whole - firstPlane : axes === 3 && n === 1 ? whole - firstRow : whole;
        cell = here ? cell * (axes === 3 && n === 1 ? rows : extents[a]) + own : 0;
      }
      let found = cell;
      if (!here) found = cells;
      else if (masked && active[cell] === 0) found = cells + 1;
      if (!inside) found = cells + 1;
      if (!number) found = cells + 2;
      key[i] = empty ? cells + 3 : found;
    },
  );
export const findCells = { f64: makeFindCells("f64"), f32: makeFindCells("f32") };

const makeFindLeaving = (type: Real) =>
  kernel(
    "findLeaving",
    {
      x: view(REALS[type], 2),
      /** 1 where the particle goes to the member that has the planes from `begin` to `end` - 1, where rows are cut of the rows from `beginRow` to `endRow` - 1. */
      goes: view(i32),
      begin: i32,
      end: i32,
      cutsRows: fixed(bool),
      beginRow: i32,
      endRow: i32,
      ...box,
    },
    ({ x, goes, axes, extents, periodic, begin, end, cutsRows, beginRow, endRow, wrapped }, i) => {
      const at = wrapped(x[i][axes - 1], extents[axes - 1], periodic[axes - 1]);
      const row = cutsRows ? wrapped(x[i][1], extents[1], periodic[1]) : 0;
      const inRows = !cutsRows || (row >= beginRow && row < endRow);
      goes[i] = x[i][0] !== 1e30 && at >= begin && at < end && inRows ? 1 : 0;
    },
  );
export const findLeaving = { f64: makeFindLeaving("f64"), f32: makeFindLeaving("f32") };

const makePack = (type: NumberType) =>
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
  kernel(
    "seal",
    { goes: view(i32), place: view(i32), x: view(REALS[type], 2), taken: view(i32, 1, { disjoint: true }) },
    ({ goes, place, x, taken }, n) => {
      const last = goes.length - 1;
      const count = place[last] + goes[last];
      if (n >= count) x[n][0] = 1e30;
      if (n === 0) taken[0] = Math.min(count, x.length);
    },
  );
/** Empties the places of an outbox that nobody took, and notes how many are taken. */
export const seal = { f64: makeSeal("f64"), f32: makeSeal("f32") };

const makeForget = (type: Real) =>
  kernel("forget", { goes: view(i32), place: view(i32), room: i32, x: view(REALS[type], 2) }, ({ goes, place, room, x }, i) => {
    if (goes[i] !== 0 && place[i] < room) x[i][0] = 1e30;
  });
/** Empties the places of packed particles. */
export const forget = { f64: makeForget("f64"), f32: makeForget("f32") };

const makeVacate = (type: Real) =>
  kernel("vacate", { x: view(REALS[type], 2) }, ({ x }, n) => {
    x[n][0] = 1e30;
  });
/** Empties the places of arrivals, once they are in their cells: of the next ones only the taken places come. */
export const vacate = { f64: makeVacate("f64"), f32: makeVacate("f32") };

const makeBury = (type: Real) =>
  kernel("bury", { offsets: view(i32), cells: i32, x: view(REALS[type], 2) }, ({ offsets, cells, x }, i) => {
    if (i >= offsets[cells + 1] && i < offsets[cells + 2]) x[i][0] = 1e30;
  });
/** Removes the particles that have left the grid. */
export const bury = { f64: makeBury("f64"), f32: makeBury("f32") };

/** Problems of particles of a member: the largest number so far, where `state` counts them. */
export const PARTICLE_STATE = { elsewhere: 0, outside: 1, broken: 2, crowded: 3, held: 4 } as const;

/** Notes how many particles are in no cell of the member, and how many it has no room for. */
export const noteState = kernel(
  "noteState",
  { offsets: view(i32), cells: i32, absorb: bool, room: i32, state: view(i32) },
  ({ offsets, cells, absorb, room, state }, k) => {
    if (k < 3) state[k] = Math.max(state[k], offsets[cells + k + 1] - offsets[cells + k]);
    else {
      const all = offsets[cells + (absorb ? 1 : 3)];
      if (k === 3) state[k] = Math.max(state[k], all - room);
      else state[k] = Math.min(all, room);
    }
  },
);
