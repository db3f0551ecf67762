import { i32, max, sum, table, type f32, type f64 } from "isoform";
import type { Cell, Container, Field, Grid } from "isoform/grid";
import type { Scalar } from "isoform/set";
import type { Lattice } from "./lattice.js";

/*
 * The containers, for lattices of two and three dimensions and both float types. Populations are kept as deviations from the
 * fluid at rest, f_q - w_q, which leaves f32 the digits that count (Skordos, Phys. Rev. E 48, 1993); the density is 1 plus their sum.
 */

export type Real = typeof f64 | typeof f32;
export type RealField = Field<"f64" | "f32", number>;

/* Kinds of cells. Inactive cells are walls at rest. */
/** A cell of fluid. */
export const FLUID = 0;
/** A cell that holds the equilibrium of density 1 at the velocity of its neighbour of lower x. */
export const OUTLET = 1;
/** A cell that keeps the equilibrium that it began with: an undisturbed stream, which takes in waves that reach it. */
export const STREAM = 2;
/** A wall at rest, which bounces populations back: half-way between its cell and the fluid's, the velocity is 0. */
export const WALL = 3;
/** A wall that moves at the flow's `velocity` there. */
export const MOVING_WALL = 4;
/** Every kind of cell, by name. */
export const KINDS = { FLUID, OUTLET, STREAM, WALL, MOVING_WALL } as const;

interface Vector {
  readonly [n: number]: number;
  readonly length: number;
}
/** A private array. */
interface Values {
  [n: number]: number;
  readonly length: number;
}
interface Vectors {
  readonly [q: number]: Vector;
}
interface Neighbours<V> {
  at(c: Cell, dx: number, dy: number, dz?: number): V;
}

interface Cells<V> extends Neighbours<V> {
  readonly [cell: symbol]: V;
}

/* Links of a cell. Bit 0: it is not fluid; bit q: what comes in direction q comes back from a wall, or goes to fluid from a moving wall. */
const hasLink = (links: number, q: number): boolean => (links & (1 << q)) !== 0;

const isFluid = (kind: number): boolean => kind === 0;
const isOutlet = (kind: number): boolean => kind === 1;
const isWall = (kind: number): boolean => kind === 3;
const isMoving = (kind: number): boolean => kind === 4;
const sendsBack = (kind: number): boolean => kind >= 3;

/* The cell that populations of direction `e` come from. */
const origin2 = <V>(field: Neighbours<V>, c: Cell, e: Vector): V => field.at(c, -e[0], -e[1]);
const origin3 = <V>(field: Neighbours<V>, c: Cell, e: Vector): V => field.at(c, -e[0], -e[1], -e[2]);
/* Population that a cell sent last in direction `back`, the opposite of `e`, to a wall: it stays in the cell, or with one population waits in the wall's. */
const sentFromCell = (f: Cells<Vector>, c: Cell, _e: Vector, back: number): number => f[c][back];
const sentIntoWall2 = (f: Cells<Vector>, c: Cell, e: Vector, back: number): number => f.at(c, -e[0], -e[1])[back];
const sentIntoWall3 = (f: Cells<Vector>, c: Cell, e: Vector, back: number): number => f.at(c, -e[0], -e[1], -e[2])[back];
const left2 = <V>(field: Neighbours<V>, c: Cell): V => field.at(c, -1, 0);
const left3 = <V>(field: Neighbours<V>, c: Cell): V => field.at(c, -1, 0, 0);

/**
 * Population that comes back from a wall that cuts the way to it at this share: linear interpolation on the side of the fluid, Bouzidi, Firdaouss and
 * Lallemand, Phys. Fluids 13 (2001), eq. (5).
 * @param sent towards the wall
 * @param before sent towards it by the next cell away from the wall
 * @param away sent from this cell away from the wall
 */
function returned(share: number, sent: number, before: number, away: number): number {
  return share < 0.5 ? before + 2 * share * (sent - before) : away + (sent - away) / (2 * share);
}

const dot = (e: Vector, u: Vector): number => e[0] * u[0] + e[1] * u[1] + e[2] * u[2];

/** Copies the components of a cell. */
function take(field: { readonly [cell: symbol]: Vector }, c: Cell, u: Values): void {
  for (let axis = 0; axis < field[c].length; axis++) u[axis] = field[c][axis];
}

/** Puts the velocity into `u` and gives the density's deviation from 1. */
function moments(own: Vector, u: Values, directions: Vectors): number {
  let density = own[0];
  for (let q = 1; q < own.length; q++) {
    density += own[q];
    for (let axis = 0; axis < 3; axis++) u[axis] += directions[q][axis] * own[q];
  }
  const inverse = 1 / (1 + density);
  for (let axis = 0; axis < 3; axis++) u[axis] *= inverse;
  return density;
}

/** Relaxes populations towards their equilibrium. `u` is zero, and becomes the velocity. */
function collide(own: Values, u: Values, e: Vectors, w: Vector, rate: Vector): void {
  const density = moments(own, u, e);
  const square = 1.5 * dot(u, u);
  own[0] -= rate[0] * (own[0] - w[0] * (density - (1 + density) * square));
  for (let q = 1; q < own.length; q += 2) {
    const along = dot(e[q], u);
    const even = rate[0] * (0.5 * (own[q] + own[q + 1]) - w[q] * (density + (1 + density) * (4.5 * along * along - square)));
    const odd = rate[1] * (0.5 * (own[q] - own[q + 1]) - w[q] * (1 + density) * 3 * along);
    own[q] -= even + odd;
    own[q + 1] -= even - odd;
  }
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

/** Rates of relaxation of the even and the odd parts of populations (Ginzburg's two relaxation times); equal ones are BGK. */
export type Rates = readonly [even: number, odd: number];

/** The containers of a lattice on a grid. */
export function kernelsOf(grid: Grid, { directions, weights, dimension }: Lattice, type: Real, populations: Populations) {
  const Real = type.type === "f64" ? Float64Array : Float32Array;
  const e = table(i32, directions);
  const w = table(type, weights);
  const opposite = table(
    i32,
    weights.map((_, q) => (q === 0 ? 0 : q % 2 === 1 ? q + 1 : q - 1)),
  );
  const origin = dimension === 2 ? origin2 : origin3;
  const left = dimension === 2 ? left2 : left3;
  const hasOnePopulation = populations.f === populations.g;
  const sent = hasOnePopulation ? (dimension === 2 ? sentIntoWall2 : sentIntoWall3) : sentFromCell;
  const captured = () => [Real, e, w, opposite, origin, left, sent, moments, take, dot, isFluid, isOutlet, isWall, isMoving, sendsBack];

  return {
    /**
     * Gives cells the equilibrium of their `density` and `velocity`, which is 0 in walls at rest (density 1, velocity 0), and moving walls what
     * they add: 6 w_q (e_q . u), Ladd, J. Fluid Mech. 271 (1994). With one population, walls begin empty: their cells hold what is on its way back.
     */
    initialise({ density, velocity }: Macroscopic): Container {
      const added = table(type, [hasOnePopulation ? 0 : 6]);
      return grid.container(
        "initialise",
        { density, velocity, added, ...populations },
        ({ density, velocity, added, f, g, kind }, c) => {
          const u = new Real(3);
          take(velocity, c, u);
          const square = 1.5 * dot(u, u);
          const deviation = density[c] - 1;
          for (let q = 0; q < w.length; q++) {
            const along = dot(e[q], u);
            const fluid = deviation + (1 + deviation) * (3 * along + 4.5 * along * along - square);
            f[c][q] = w[q] * (isMoving(kind[c]) ? added[0] * along : fluid);
            g[c][q] = f[c][q];
          }
        },
        captured,
      );
    },

    /**
     * Notes which populations of each cell of fluid come back from walls, and in which directions moving walls have fluid beside them, so
     * that steps look at no neighbour's kind.
     */
    connect(): Container {
      return grid.container(
        "connect",
        { ...populations },
        ({ kind, links }, c) => {
          let found = isFluid(kind[c]) ? 0 : 1;
          for (let q = 1; q < w.length; q++) {
            const returns = isFluid(kind[c]) && sendsBack(origin(kind, c, e[q]));
            const pushes = isMoving(kind[c]) && isFluid(origin(kind, c, e[opposite[q]]));
            if (returns || pushes) found |= 1 << q;
          }
          links[c] = found;
        },
        captured,
      );
    },

    /** Streams from `f` and collides into `g`: both hold populations after the collision. */
    step(rates: Rates): Container {
      const rate = table(type, rates);
      const listed = () => [e, w, opposite, rate, Real, origin, collide, moments, dot, hasLink];
      return grid.container(
        "stream and collide",
        { ...populations },
        ({ f, g, links }, c) => {
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = origin(f, c, e[q])[q];
          const found = links[c];
          if (found !== 0) for (let q = 1; q < w.length; q++) if (hasLink(found, q)) own[q] += f[c][opposite[q]];
          collide(own, new Real(3), e, w, rate);
          if (hasLink(found, 0)) for (let q = 0; q < w.length; q++) own[q] = f[c][q];
          for (let q = 0; q < w.length; q++) g[c][q] = own[q];
        },
        listed,
      );
    },

    /** The same step with walls at rest where `shares` has them: component q on the way against direction q; 0.5 is half-way. */
    interpolatedStep(rates: Rates, shares: RealField): Container {
      const rate = table(type, rates);
      const listed = () => [e, w, opposite, rate, Real, origin, collide, moments, dot, hasLink, returned];
      return grid.container(
        "stream and collide between curved walls",
        { ...populations, shares },
        ({ f, g, links, shares }, c) => {
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = origin(f, c, e[q])[q];
          const found = links[c];
          if (found !== 0)
            for (let q = 1; q < w.length; q++)
              if (hasLink(found, q))
                own[q] += returned(shares[c][q], f[c][opposite[q]], origin(f, c, e[opposite[q]])[opposite[q]], f[c][q]);
          collide(own, new Real(3), e, w, rate);
          if (hasLink(found, 0)) for (let q = 0; q < w.length; q++) own[q] = f[c][q];
          for (let q = 0; q < w.length; q++) g[c][q] = own[q];
        },
        listed,
      );
    },

    /**
     * The two steps of the AA pattern (Bailey, Myre, Walsh, Lilja and Saar, ICPP 2009), which need no second population. The first finds
     * what has arrived in a cell and leaves the results there, each in the opposite's place; the second takes what arrives from there, and
     * puts its results where they are to arrive. What meets a wall stays in the wall's cell, or in its own, until it has come back: one step
     * later than with two populations.
     */
    inPlace(rates: Rates, { velocity }: Macroscopic): readonly [even: Container, odd: Container] {
      const rate = table(type, rates);
      const listed = () => [e, w, opposite, rate, Real, origin, collide, moments, take, dot, hasLink];
      const even = grid.container(
        "collide in place",
        { ...populations, velocity },
        ({ f, links, velocity }, c) => {
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = f[c][q];
          collide(own, new Real(3), e, w, rate);
          const found = links[c];
          if (hasLink(found, 0)) {
            const u = new Real(3);
            if (found !== 1) take(velocity, c, u);
            for (let q = 0; q < w.length; q++) own[q] = f[c][opposite[q]] + (hasLink(found, q) ? 6 * w[q] * dot(e[q], u) : 0);
          }
          for (let q = 0; q < w.length; q++) f[c][opposite[q]] = own[q];
        },
        listed,
      );
      const odd = grid.container(
        "stream, collide and stream",
        { ...populations, velocity },
        ({ f, links, velocity }, c) => {
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = origin(f, c, e[q])[opposite[q]];
          collide(own, new Real(3), e, w, rate);
          const found = links[c];
          if (hasLink(found, 0)) {
            const u = new Real(3);
            if (found !== 1) take(velocity, c, u);
            for (let q = 0; q < w.length; q++) own[q] = origin(f, c, e[opposite[q]])[q] + (hasLink(found, q) ? 6 * w[q] * dot(e[q], u) : 0);
          }
          for (let q = 0; q < w.length; q++) origin(f, c, e[opposite[q]])[q] = own[q];
        },
        listed,
      );
      return [even, odd];
    },

    /** Gives outlet cells the equilibrium of density 1 and their neighbour's velocity. */
    outlet(): Container {
      return grid.container(
        "outlet",
        { ...populations },
        ({ f, g, kind }, c) => {
          if (!isOutlet(kind[c])) return;
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = left(f, c)[q];
          const u = new Real(3);
          moments(own, u, e);
          const square = 1.5 * dot(u, u);
          for (let q = 0; q < w.length; q++) {
            const along = dot(e[q], u);
            g[c][q] = w[q] * (3 * along + 4.5 * along * along - square);
          }
        },
        captured,
      );
    },

    /** Density and velocity of the fluid, its mass beyond density 1, and the most by which a component of the velocity has changed. */
    macroscopic({ density, velocity }: Macroscopic, mass: Scalar<"f64">, change: Scalar<"f64">): Container {
      const params = { density, velocity, mass: sum(mass), change: max(change), ...populations };
      return grid.container(
        "macroscopic",
        params,
        ({ density, velocity, mass, change, f, kind }, c) => {
          if (!isFluid(kind[c])) return;
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = f[c][q];
          const u = new Real(3);
          const deviation = moments(own, u, e);
          mass.add(deviation);
          density[c] = 1 + deviation;
          for (let axis = 0; axis < velocity[c].length; axis++) {
            change.max(Math.abs(u[axis] - velocity[c][axis]));
            velocity[c][axis] = u[axis];
          }
        },
        captured,
      );
    },

    /** Adds up what is on its way back from walls, which wait one step in the walls' cells where there is one population. */
    returning(mass: Scalar<"f64">): Container {
      return grid.container(
        "mass on its way back from walls",
        { mass: sum(mass), ...populations },
        ({ mass, f, kind }, c) => {
          if (!sendsBack(kind[c])) return;
          let total = f[c][0];
          for (let q = 1; q < w.length; q++) total += f[c][q];
          mass.add(total);
        },
        captured,
      );
    },

    /**
     * The force on walls at rest along x and y, by the momentum that populations exchange (Ladd): of the next step, and with one population of the
     * last.
     */
    force(alongX: Scalar<"f64">, alongY: Scalar<"f64">): Container {
      return grid.container(
        "force",
        { x: sum(alongX), y: sum(alongY), ...populations },
        ({ x, y, f, kind }, c) => {
          if (!isFluid(kind[c])) return;
          for (let q = 1; q < w.length; q++) {
            const twice = isWall(origin(kind, c, e[q])) ? 2 * sent(f, c, e[q], opposite[q]) : 0;
            x.add(-e[q][0] * twice);
            y.add(-e[q][1] * twice);
          }
        },
        captured,
      );
    },

    /** The same of the interpolated step: what is sent to the wall and what comes back differ (Mei, Yu, Shyy and Luo, Phys. Rev. E 65, 2002). */
    interpolatedForce(alongX: Scalar<"f64">, alongY: Scalar<"f64">, shares: RealField): Container {
      const listed = () => [w, e, opposite, origin, isFluid, isWall, returned];
      return grid.container(
        "force on curved walls",
        { x: sum(alongX), y: sum(alongY), ...populations, shares },
        ({ x, y, f, kind, shares }, c) => {
          if (!isFluid(kind[c])) return;
          for (let q = 1; q < w.length; q++) {
            const sent = f[c][opposite[q]];
            const back = returned(shares[c][q], sent, origin(f, c, e[opposite[q]])[opposite[q]], f[c][q]);
            const both = isWall(origin(kind, c, e[q])) ? sent + back : 0;
            x.add(-e[q][0] * both);
            y.add(-e[q][1] * both);
          }
        },
        listed,
      );
    },
  };
}
