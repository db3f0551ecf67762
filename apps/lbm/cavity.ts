import { LaunchError } from "isoform";
import type { DeviceSet } from "isoform/set";
import type { Skeleton, SkeletonSettings } from "isoform/skeleton";
import { isMisprint, U_ALONG_Y, V_ALONG_X, type Reynolds } from "./ghia.js";
import { FLUID, MOVING_WALL, WALL } from "./kinds.js";
import { D2Q9, D3Q19, type Lattice } from "./lattice.js";
import { profile, Simulation, type Flow } from "./simulation.js";

/** Options of `cavity`. */
export interface CavityOptions {
  /** Reynolds number of the lid's speed and the cavity's length. */
  reynolds: number;
  /** Cells of fluid along each axis, at least 2. */
  size: number;
  /** Cells of fluid along the last axis, if they are other than along the others. */
  planes?: number;
  /** Default: `D2Q9`. */
  lattice?: Lattice;
  /** Axes without walls: beyond the last cell comes the first. `x` makes it a channel whose wall drags the fluid along (Couette flow). Default: none. */
  periodic?: readonly ("x" | "z")[];
  /** Speed of the lid, in cells a step; compressibility errors grow with its square. Default: `LID_SPEED`. */
  speed?: number;
}

/** The lid's speed where none is given, in cells a step. */
export const LID_SPEED = 0.1;

/**
 * A square or cube of fluid between walls one cell thick; the wall at the greatest y moves along x.
 * @throws LaunchError for fewer than 2 cells
 */
export function cavity({ reynolds, size, planes = size, lattice = D2Q9, periodic = [], speed = LID_SPEED }: CavityOptions): Flow {
  const least = Math.min(size, planes);
  if (least < 2) throw new LaunchError(`a cavity of ${least} cells is too small: it needs at least 2`);
  const [height, depth] = lattice.dimension === 2 ? [planes, size] : [size, planes];
  const inside = (at: number, length: number): boolean => at >= 1 && at <= length;
  const [open, endless] = [periodic.includes("x"), lattice.dimension === 2 || periodic.includes("z")];
  const between = (x: number, z: number): boolean => (open || inside(x, size)) && (endless || inside(z, depth));
  const kind = (x: number, y: number, z: number): number => {
    if (!between(x, z)) return WALL;
    return inside(y, height) ? FLUID : y > height ? MOVING_WALL : WALL;
  };
  return {
    lattice,
    extents:
      lattice.dimension === 2 ? [open ? size : size + 2, height + 2] : [open ? size : size + 2, height + 2, endless ? depth : depth + 2],
    ...(periodic.length > 0 && { periodic: [open, false, endless].slice(0, lattice.dimension) }),
    kind,
    velocity: (x, y, z) => [kind(x, y, z) === MOVING_WALL ? speed : 0, 0, 0],
    viscosity: (speed * size) / reynolds,
  };
}

/** The skeleton of a small cavity, for `isoform explain`. */
export async function makeSkeleton(
  set: DeviceSet,
  { fuse, unroll, size = 64, planes, dimension, grid, layout, occ, precision, split }: SkeletonSettings,
): Promise<Skeleton> {
  const flow = cavity({ reynolds: 100, size, planes, lattice: dimension === 3 ? D3Q19 : D2Q9 });
  return (await Simulation.create(set, flow, { grid, layout, occ, precision, split }, { fuse, unroll })).skeleton;
}

/** A point of a published profile, and what was computed there, in lid speeds. */
export interface Compared {
  /** Along the line, from 0 to 1. */
  readonly at: number;
  readonly published: number;
  readonly computed: number;
  /** The published value is taken for a misprint, and left out of `errors`. */
  readonly misprint: boolean;
}

/** Result of `compareWithGhia`: u along the vertical, v along the horizontal centre line. */
export interface Comparison {
  readonly u: readonly Compared[];
  readonly v: readonly Compared[];
  /** The largest difference on each line, in lid speeds. */
  readonly errors: readonly [u: number, v: number];
}

/** The velocity along the centre lines of a D2Q9 cavity beside tables I and II of Ghia, Ghia and Shin, J. Comput. Phys. 48 (1982). */
export async function compareWithGhia(simulation: Simulation, reynolds: Reynolds, speed = LID_SPEED): Promise<Comparison> {
  const size = simulation.flow.extents[0] - 2;
  const lines = [
    [U_ALONG_Y, 1, 0, 1],
    [V_ALONG_X, 0, 1, 0],
  ] as const;
  const [u, v] = await Promise.all(
    lines.map(async ([line, axis, component, end]) => {
      const values = (await centreLine(simulation, axis, component, size)).map((value) => value / speed);
      return line.at.map((at, n): Compared => ({
        at,
        published: line.values[reynolds][n],
        computed: between(at * size - 0.5, values, end),
        misprint: isMisprint(line, reynolds, n),
      }));
    }),
  );
  const worst = (points: readonly Compared[]): number =>
    Math.max(...points.filter((p) => !p.misprint).map((p) => Math.abs(p.computed - p.published)));
  return { u, v, errors: [worst(u), worst(v)] };
}

/** The velocity's component along the line of one axis through the centre: the mean of two lines of cells where there is none in the middle. */
async function centreLine({ velocity }: Simulation, axis: 0 | 1, component: 0 | 1, size: number): Promise<number[]> {
  const middle = [Math.floor((size + 1) / 2), Math.ceil((size + 1) / 2)];
  const [a, b] = await Promise.all(middle.map((at) => profile(velocity, axis === 1 ? [at, 1] : [1, at], axis, size, component)));
  return a.map((value, n) => (value + b[n]) / 2);
}

/** Cubic interpolation of values in the cells 0, 1, ... between a wall at rest at -1/2 and one of speed `end` after the last. */
function between(at: number, values: readonly number[], end: number): number {
  const nodes = [-0.5, ...values.keys(), values.length - 0.5];
  const known = [0, ...values, end];
  const above = nodes.findIndex((node) => node >= at);
  const first = Math.min(Math.max(above - 2, 0), nodes.length - 4);
  const near = [first, first + 1, first + 2, first + 3];
  return near.reduce((sum, i) => {
    const factor = near.filter((j) => j !== i).reduce((product, j) => (product * (at - nodes[j])) / (nodes[i] - nodes[j]), 1);
    return sum + known[i] * factor;
  }, 0);
}
