import { i32, table, type f32, type f64 } from "isoform";
import type { Cell, Field, Grid } from "isoform/grid";
import type { Lattice } from "./lattice.js";

/*
 * What containers of a lattice have in common, for two and three dimensions and both float types. Populations are kept as deviations from the
 * fluid at rest, f_q - w_q, which leaves f32 the digits that count (Skordos, Phys. Rev. E 48, 1993); the density is 1 plus their sum.
 */

export type Real = typeof f64 | typeof f32;
export type RealField = Field<"f64" | "f32", number>;

export interface Vector {
  readonly [n: number]: number;
  readonly length: number;
}
/** A private array. */
export interface Values {
  [n: number]: number;
  readonly length: number;
}
export interface Vectors {
  readonly [q: number]: Vector;
}
export interface Neighbours<V> {
  at(c: Cell, dx: number, dy: number, dz?: number): V;
}

export interface Cells<V> extends Neighbours<V> {
  readonly [cell: symbol]: V;
}

/* Links of a cell. Bit 0: it is not fluid; bit q: what comes in direction q comes back from a wall, or goes to fluid from a moving wall. */
export const hasLink = (links: number, q: number): boolean => (links & (1 << q)) !== 0;

/* The cell that populations of direction `e` come from. */
const origin2 = <V>(field: Neighbours<V>, c: Cell, e: Vector): V => field.at(c, -e[0], -e[1]);
const origin3 = <V>(field: Neighbours<V>, c: Cell, e: Vector): V => field.at(c, -e[0], -e[1], -e[2]);
/* Population that a cell sent last in direction `back`, the opposite of `e`, to a wall: it stays in the cell, or with one population waits in the wall's. */
const sentFromCell = (f: Cells<Vector>, c: Cell, _e: Vector, back: number): number => f[c][back];
const sentIntoWall2 = (f: Cells<Vector>, c: Cell, e: Vector, back: number): number => f.at(c, -e[0], -e[1])[back];
const sentIntoWall3 = (f: Cells<Vector>, c: Cell, e: Vector, back: number): number => f.at(c, -e[0], -e[1], -e[2])[back];
const left2 = <V>(field: Neighbours<V>, c: Cell): V => field.at(c, -1, 0);
const left3 = <V>(field: Neighbours<V>, c: Cell): V => field.at(c, -1, 0, 0);

export const dot = (e: Vector, u: Vector): number => e[0] * u[0] + e[1] * u[1] + e[2] * u[2];

/** Copies the components of a cell. */
export function take(field: { readonly [cell: symbol]: Vector }, c: Cell, u: Values): void {
  for (let axis = 0; axis < field[c].length; axis++) u[axis] = field[c][axis];
}

/** Puts the velocity into `u` and gives the density's deviation from 1. */
export function moments(own: Vector, u: Values, directions: Vectors): number {
  let density = own[0];
  for (let q = 1; q < own.length; q++) {
    density += own[q];
    for (let axis = 0; axis < 3; axis++) u[axis] += directions[q][axis] * own[q];
  }
  const inverse = 1 / (1 + density);
  for (let axis = 0; axis < 3; axis++) u[axis] *= inverse;
  return density;
}

export interface Populations {
  readonly f: RealField;
  /** Result of the pulling step; `f` itself where there is one population. */
  readonly g: RealField;
  readonly kind: Field<"u8", 1>;
  /** Found from `kind` by `connect`. */
  readonly links: Field<"i32", 1>;
}

export interface Macroscopic {
  readonly density: Field<"f64" | "f32", 1>;
  readonly velocity: RealField;
}

/** A lattice on a grid, as bodies of its containers take it. */
export type Stencil = ReturnType<typeof stencilOf>;

/** Tables of a lattice, and the ways to its neighbours. */
export function stencilOf(grid: Grid, { directions, weights, dimension }: Lattice, type: Real, populations: Populations) {
  const hasOnePopulation = populations.f === populations.g;
  return {
    grid,
    type,
    populations,
    hasOnePopulation,
    Real: type.type === "f64" ? Float64Array : Float32Array,
    e: table(i32, directions),
    w: table(type, weights),
    opposite: table(
      i32,
      weights.map((_, q) => (q === 0 ? 0 : q % 2 === 1 ? q + 1 : q - 1)),
    ),
    origin: dimension === 2 ? origin2 : origin3,
    left: dimension === 2 ? left2 : left3,
    sent: hasOnePopulation ? (dimension === 2 ? sentIntoWall2 : sentIntoWall3) : sentFromCell,
  };
}
