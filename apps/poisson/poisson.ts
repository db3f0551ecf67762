import { f64, LaunchError } from "isoform";
import { dot, GRID_KINDS, makeGrid, type DenseGrid, type Field } from "isoform/grid";
import { requireMemory, type DeviceSet } from "isoform/set";
import {
  skeleton,
  swap,
  tuned,
  DEFAULT_SETTINGS,
  type GridSettings,
  type Resolved,
  type Skeleton,
  type SkeletonOptions,
  type SkeletonSettings,
  type SplitSetting,
  type Step,
  type Storage,
  type Unresolved,
} from "isoform/skeleton";
import { askedBox } from "../box.js";
import { deviation, direction, laplace, residual, solution, type Grid3, type Real, type Value } from "./kernels.js";
import { jacobi, levelsOf, vCycle } from "./multigrid.js";
import { Manufactured } from "./problem.js";

/** The preconditioners by name. */
export const PRECONDITIONERS = ["none", "jacobi", "multigrid"] as const;
/** `none`, `jacobi` (sweeps of Jacobi's method) or `multigrid` (a V-cycle). */
export type Preconditioner = (typeof PRECONDITIONERS)[number];

/** Options of `makePoisson`; `DEFAULTS` has a value for each but `levels`. */
export interface PoissonSettings extends Resolved<GridSettings>, SplitSetting {
  /** Cells along each axis. */
  size: number;
  /** Cells along z, if they are other than along x and y. */
  planes?: number;
  /** Preconditioner of the conjugate gradients. */
  preconditioner: Preconditioner;
  /** Sweeps of Jacobi's method; with multigrid, this many both before and after each coarser level. */
  sweeps: number;
  /** Coarser levels of multigrid. Default: down to 4 cells along each axis. */
  levels?: number;
}

/** The defaults of `PoissonSettings`. */
export const DEFAULTS: PoissonSettings = { ...DEFAULT_SETTINGS, size: 64, preconditioner: "none", sweeps: 1 };

/** Solution, residual, direction and its second buffer, and one more for the check. */
export const BYTES_PER_CELL = 5 * 8;

/** Options of `solve`. */
export interface SolveOptions {
  /** The run stops once the norm of the residual, divided by the norm of the right-hand side, is this small. Default: 1e-10. */
  tolerance?: number;
  /** Most iterations. Default: 10000. */
  iterations?: number;
  /** Iterations from one check of the residual to the next. Default: 1. */
  every?: number;
}

/** Result of `solve`. */
export interface Solution {
  readonly iterations: number;
  readonly converged: boolean;
  /** Norm of the residual that the iteration has updated, relative to the right-hand side. */
  readonly residual: number;
  /** Wall-clock time of all iterations. */
  readonly seconds: number;
}

/** Result of `Poisson.errors`. */
export interface Errors {
  /** Largest difference from the manufactured solution, relative to its largest value. */
  readonly greatest: number;
  /** Root of the mean square of the difference, relative to the solution. */
  readonly mean: number;
}

/** Damping that smooths best in three dimensions: 6/7 (U. Trottenberg et al., Multigrid, 2001, section 2.9). */
const SMOOTHING = 6 / 7;
/** Each is a container of its own. */
const MOST_SWEEPS = 1000;
const COARSEST_SIZE = 4;

/**
 * -(d2/dx2 + d2/dy2 + d2/dz2) u = f on the unit cube, u = 0 on its faces, by 7-point differences and conjugate gradients from u = 0. `makePoisson` makes
 * one that is ready; f belongs to the manufactured solution `problem`.
 */
export class Poisson {
  readonly grid: Grid3;
  /** The solution. */
  readonly x: Real;
  /** Sequence of one iteration. */
  readonly skeleton: Skeleton;
  /** The exact solution and its right-hand side. */
  readonly problem: Manufactured;
  private readonly grids: readonly Grid3[];
  private readonly r: Real;
  private readonly p: Real;
  private readonly s: Real;
  private readonly scalars: Readonly<Record<"rr" | "rz" | "before" | "ps", Value>>;
  private readonly start: Skeleton;
  private norm = 0;

  /** @throws LaunchError for settings that make no grid, and for a grid that does not fit the devices' memory */
  constructor(
    set: DeviceSet,
    readonly settings: PoissonSettings,
    options: SkeletonOptions = {},
  ) {
    const { size, planes = size, sweeps, occ, precision, preconditioner } = settings;
    if (sweeps > MOST_SWEEPS) throw new LaunchError(`${sweeps} sweeps of Jacobi's method are too many: choose at most ${MOST_SWEEPS}`);
    if (!(size >= 2 && planes >= 2)) throw new LaunchError(`a grid of ${size} cells along each axis is too small: it needs at least 2`);
    requireMemory(set, {
      what: `poisson on ${size} x ${size} x ${planes} cells`,
      bytes: BYTES_PER_CELL * size ** 2 * planes,
      choose: "a smaller --size",
    });
    this.problem = new Manufactured(size, planes);
    this.grid = gridOf(set, settings);
    const { grid } = this;
    const [x, r, p, s] = ["x", "r", "p", "s"].map((name): Real => grid.field(name, f64));
    const [rr, rz, before, ps] = ["rr", "rz", "before", "ps"].map((name): Value => grid.scalar(name, f64));
    [this.x, this.r, this.p, this.s, this.scalars] = [x, r, p, s, { rr, rz, before, ps }];

    const plain = preconditioner === "none";
    const { z, steps, spare, grids } = plain ? { z: r, steps: [], spare: [], grids: [grid] } : precondition(grid, r, settings);
    this.grids = grids;
    const norm = dot(r, r, rr, "norm");
    // Without a preconditioner <r, z> is the norm.
    const product = plain ? dot(r, r, rz, "norm") : dot(r, z, rz, "product");
    const shared = { occ, precision, ...options };
    this.start = skeleton(set, "poisson start", plain ? [product] : [norm, ...steps, product], shared);
    this.skeleton = skeleton(
      set,
      "poisson",
      [
        direction(grid, p, z, rz, before),
        laplace(grid, p, s),
        dot(p, s, ps, "curvature"),
        solution(grid, x, p, rz, ps),
        residual(grid, r, s, rz, ps),
        ...(plain ? [] : [norm, ...steps]),
        swap(rz, before),
        product,
      ],
      { ...shared, temporary: [s, ...spare] },
    );
  }

  /** Starts again from u = 0. */
  async reset(): Promise<void> {
    const { x, r, p, scalars } = this;
    for (const field of [x, p]) field.fill(0);
    r.fill(this.problem.rightSide);
    scalars.before.set(1);
    await this.start.run(1);
    this.norm = Math.sqrt(await this.residualSquared.getNumber("poisson, right-hand side"));
  }

  /** Iterates from u = 0. Throws IsoformError if the residual becomes NaN. */
  async solve({ tolerance = 1e-10, iterations = 10000, every = 1 }: SolveOptions = {}): Promise<Solution> {
    await this.reset();
    const enough = (tolerance * this.norm) ** 2;
    const {
      iterations: done,
      stopped,
      seconds,
    } = await this.skeleton.run(iterations, {
      scalar: this.residualSquared,
      until: (value) => value <= enough,
      every,
    });
    const left = Math.sqrt(await this.residualSquared.getNumber(`poisson, iteration ${done}`));
    return { iterations: done, converged: stopped || left <= tolerance * this.norm, residual: left / this.norm, seconds };
  }

  /** Deviation of u from the manufactured solution. */
  async errors(): Promise<Errors> {
    const { size, planes = size } = this.settings;
    const values = await this.x.download();
    let [worst, largest, squares, total] = [0, 0, 0, 0];
    for (let z = 0, n = 0; z < planes; z++)
      for (let y = 0; y < size; y++)
        for (let x = 0; x < size; x++, n++) {
          const exact = this.problem.solution(x, y, z);
          const error = Math.abs(values[n] - exact);
          // A NaN must not be lost.
          if (!(error <= worst)) worst = error;
          largest = Math.max(largest, Math.abs(exact));
          squares += error * error;
          total += exact * exact;
        }
    return { greatest: worst / largest, mean: Math.sqrt(squares / total) };
  }

  /** Largest difference between the residual that the iteration has updated and b - A x, relative to the largest of b. */
  async drift(): Promise<number> {
    const { grid, x, r, s, settings } = this;
    const [largest, difference] = ["largest of b", "difference"].map((name): Value => grid.scalar(name, f64));
    s.fill(this.problem.rightSide);
    await grid.run(deviation(grid, x, r, s, largest, difference), settings);
    const drift = (await difference.getNumber("poisson, b - A x")) / (await largest.get());
    for (const scalar of [largest, difference]) scalar.free();
    return drift;
  }

  /** Frees the memory on the devices. */
  free(): void {
    this.skeleton.free();
    this.start.free();
    for (const grid of this.grids) grid.free();
    for (const scalar of Object.values(this.scalars)) scalar.free();
  }

  private get residualSquared(): Value {
    return this.settings.preconditioner === "none" ? this.scalars.rz : this.scalars.rr;
  }
}

/** Coarser levels of multigrid. */
function levelsWanted({ size, levels }: PoissonSettings): number {
  return levels ?? Math.max(0, Math.floor(Math.log2(size / COARSEST_SIZE)));
}

const HAS_LEVELS: Record<Storage["grid"], boolean> = { dense: true, sparse: true, bricks: false };
/** Kinds of grids that can be coarsened. */
const REFINED = GRID_KINDS.filter((kind) => HAS_LEVELS[kind]);

function gridOf(set: DeviceSet, settings: PoissonSettings): Grid3 {
  const { size, planes = size, preconditioner, grid: kind, layout, split } = settings;
  const extents = [size, size, planes] as const;
  if (preconditioner !== "multigrid") return makeGrid(set, extents, { kind, layout, split });
  if (!REFINED.includes(kind))
    throw new LaunchError(
      `the preconditioner multigrid takes a grid that is ${REFINED.join(" or ")}, and the grid chosen is ${kind}: choose another --grid or --preconditioner`,
    );
  const levels = levelsWanted(settings);
  const coarsest = Math.ceil(planes / 2 ** levels);
  // Grids that are cut along y say themselves what they lack.
  if ((split ?? "z") === "z" && coarsest < set.members.length)
    throw new LaunchError(
      `multigrid with ${levels} coarser levels leaves ${coarsest} planes to ${set.members.length} devices: ask for fewer levels or devices`,
    );
  return makeGrid(set, extents, { kind, layout, levels, split });
}

/** Steps that put an approximate solution of A z = r into z, with the fields that are temporary, and all grids. */
function precondition(grid: Grid3, r: Real, settings: PoissonSettings): { z: Real; steps: Step[]; spare: Field[]; grids: Grid3[] } {
  const { preconditioner, sweeps: count } = settings;
  const [z, t] = ["z", "t"].map((name): Real => grid.field(name, f64));
  if (preconditioner === "jacobi") {
    const level = { grid, f: r, e: z, t, wall: 1 };
    return { z, steps: jacobi(level, { count, weight: 1 }), spare: [t], grids: [grid] };
  }
  const levels = levelsOf(grid as DenseGrid<3>, r, z, t, levelsWanted(settings));
  const spare = levels.flatMap((level, n) => (n === 0 ? [t] : [level.f, level.e, level.t]));
  return { z, steps: vCycle(levels, { count, weight: SMOOTHING }), spare, grids: levels.map((level) => level.grid) };
}

/**
 * A problem that is ready to be solved; what is `auto` is measured.
 * @throws LaunchError for settings that make no grid, and for a grid that does not fit the devices' memory
 */
export function makePoisson(set: DeviceSet, asked: Unresolved<PoissonSettings>, options: SkeletonOptions = {}): Promise<Poisson> {
  const make = async (settings: PoissonSettings): Promise<Poisson> => {
    const poisson = new Poisson(set, settings, options);
    await poisson.reset();
    return poisson;
  };
  return tuned(asked, make, asked.preconditioner === "multigrid" ? REFINED : undefined);
}

/** For `isoform explain`. */
export async function makeSkeleton(set: DeviceSet, settings: SkeletonSettings): Promise<Skeleton> {
  const { fuse, unroll } = settings;
  return (await makePoisson(set, { ...DEFAULTS, ...settings, ...askedBox(settings, 3, 64) }, { fuse, unroll })).skeleton;
}
