import { f16, f32, f64, i32, IsoformError, LaunchError, u8 } from "isoform";
import { makeGrid, type Container, type Field, type Grid } from "isoform/grid";
import type { Checkpointed } from "isoform/io";
import { requireMemory, type DeviceSet, type Scalar } from "isoform/set";
import {
  skeleton,
  swap,
  tuned,
  DEFAULT_SETTINGS,
  type GridSettings,
  type Resolved,
  type Skeleton,
  type SkeletonOptions,
  type SplitSetting,
  type Unresolved,
} from "isoform/skeleton";
import { storesAll } from "../grids.js";
import { kernelsOf } from "./kernels.js";
import { FLUID, KINDS, OUTLET, STREAM, WALL } from "./kinds.js";
import type { Lattice } from "./lattice.js";
import type { Macroscopic, Populations, Real, RealField } from "./stencil.js";
import type { Rates, Subgrid } from "./step-kernels.js";

/** Collision models: one relaxation time (BGK), or two (TRT). */
export const COLLISIONS = ["bgk", "trt"] as const;
/** `bgk`: one relaxation time; `trt`: two, which put walls half-way between cells whatever the viscosity. */
export type Collision = (typeof COLLISIONS)[number];
/** Two populations and one container a step, or one population and two containers for two steps. */
export const PATTERNS = ["pull", "aa"] as const;
/** `pull`: two populations, one container a step; `aa`: one population in half of the memory, for closed flows on a dense grid of one device. */
export type Pattern = (typeof PATTERNS)[number];
/** Places of walls at rest: half-way between cells, or where the flow has them. */
export const WALLS = ["halfway", "interpolated"] as const;
/** Place of walls at rest: `halfway` between cells, or `interpolated`, where the flow's `wallAt` has them. */
export type Wall = (typeof WALLS)[number];
/** Types of the populations, by name. */
export const TYPES = { f64, f32 } as const satisfies Record<string, Real>;

/** Types that populations of f32 may be stored as. */
export const STORAGES = ["f16"] as const;
/** `f16`: populations of f32 are stored in 16 bits. */
export type PopulationStorage = (typeof STORAGES)[number];
/** Populations, as deviations from the fluid at rest, times 2^15 reach to 65504 in f16. */
const SCALE = 2 ** -15;

/** Options of `Simulation.create`. */
export interface Settings extends Resolved<GridSettings>, SplitSetting {
  /** Type of populations, density and velocity. */
  type: "f64" | "f32";
  /** One relaxation time (`bgk`), or two (`trt`). */
  collision: Collision;
  /** Two populations (`pull`), or one (`aa`), which takes a closed flow on a dense grid of one device. */
  pattern: Pattern;
  /** `interpolated` takes a flow with `wallAt`, and the pattern `pull`. */
  wall: Wall;
  /** Stores populations in fewer bits than `type`, which must be f32. Default: in `type`. */
  storage?: PopulationStorage;
  /** Smagorinsky's constant, about 0.1 to 0.2; 0 is without a subgrid model. */
  smagorinsky: number;
}

/** Settings that 16-bit storage changes unless they are asked for: two relaxation times relax odd parts slowly, and rounding errors add up in them. */
export const STORED = { type: "f32", collision: "bgk" } as const satisfies Partial<Settings>;

/** The defaults of `Settings`. */
export const DEFAULTS: Settings = { ...DEFAULT_SETTINGS, type: "f64", collision: "trt", pattern: "pull", wall: "halfway", smagorinsky: 0 };

/** A flow in lattice units: cells, steps, density 1. Coordinates belong to cells' centres and begin at 0; z is 0 in 2D. */
export interface Flow {
  /** `D2Q9` or `D3Q19`. */
  readonly lattice: Lattice;
  /** Cells along x, y (and z), moving walls and outlets included. */
  readonly extents: readonly number[];
  /** All axes are periodic, or these, x first. */
  readonly periodic?: boolean | readonly boolean[];
  /** Default: all cells. Other cells are walls at rest, as is everything outside a box with ends. */
  readonly active?: (x: number, y: number, z: number) => boolean;
  /** Kind of a cell: `FLUID`, `OUTLET`, `STREAM`, `WALL` or `MOVING_WALL`. */
  readonly kind: (x: number, y: number, z: number) => number;
  /**
   * Place of interpolated walls at rest: the share, from 0 to 1, of the way from a cell of fluid in direction `e` to the cell beside it that lies before the
   * wall; undefined for a wall half-way. Asked for links from fluid to walls at rest only.
   */
  readonly wallAt?: (cell: readonly number[], e: readonly number[]) => number | undefined;
  /**
   * Velocity in cells a step: of moving walls, and at the start of fluid, streams and outlets. A component for each dimension of the lattice, or
   * more. Not asked for walls at rest, nor for inactive cells.
   */
  readonly velocity: (x: number, y: number, z: number) => readonly number[];
  /** Density of fluid and streams at the start. Default: 1. Not asked for other cells. */
  readonly density?: (x: number, y: number, z: number) => number;
  /** Kinematic, in cells^2 a step, above 0: (speed times length) by the Reynolds number. */
  readonly viscosity: number;
}

/** TRT's product of the two relaxation times less a half that puts walls half-way between cells (Ginzburg and d'Humieres, Phys. Rev. E 68, 2003). */
const MAGIC = 3 / 16;

/** Rates for a kinematic viscosity. Throws LaunchError for one that is not above 0. */
export function ratesOf(viscosity: number, collision: Collision): Rates {
  if (!(viscosity > 0)) throw new LaunchError(`a viscosity of ${viscosity}: the Reynolds number and the size must be above 0`);
  const even = 1 / (3 * viscosity + 0.5);
  return [even, collision === "bgk" ? even : 1 / (MAGIC / (3 * viscosity) + 0.5)];
}

/** Smagorinsky's model for a constant; undefined for 0. Throws LaunchError for one below 0. */
export function subgridOf(constant: number, collision: Collision): Subgrid | undefined {
  if (!(constant >= 0 && constant <= 1))
    throw new LaunchError(`a Smagorinsky constant of ${constant}: give one from 0 to 1; 0.1 to 0.2 is usual`);
  return constant === 0 ? undefined : { share: 18 * Math.SQRT2 * constant ** 2, magic: collision === "bgk" ? 0 : MAGIC };
}

const isPeriodic = (periodic: Flow["periodic"], axis: number): boolean =>
  typeof periodic === "object" ? periodic[axis] === true : periodic === true;

/** Requires walls around the fluid: with one population, their cells keep what is on its way back, and boundaries cannot be open. */
function requireWalls({ extents, periodic, active, kind }: Flow): void {
  const [nx, ny, nz = 1] = extents;
  const isBorder = (at: readonly number[]): boolean =>
    extents.some((n, axis) => !isPeriodic(periodic, axis) && (at[axis] === 0 || at[axis] === n - 1));
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++)
      for (let x = 0; x < nx; x++) {
        const found = kind(x, y, z);
        if (active || found === OUTLET || found === STREAM || (found === FLUID && isBorder([x, y, z])))
          throw new LaunchError(`the pattern "aa" takes fluid enclosed by cells of walls; use "pull" for streams and inactive cells`);
      }
}

/**
 * The share of each way to a wall at rest, for cells of fluid and directions from the wall. It is 0.5, half-way, for other walls, and where no cell of
 * fluid or stream lies beyond the first.
 */
function sharesOf({ lattice, extents, periodic, active, kind, wallAt }: Flow): (x: number, y: number, z: number, q: number) => number {
  if (!wallAt)
    throw new LaunchError(`walls cannot be interpolated in a flow without "wallAt": give it that function, or choose the wall "halfway"`);
  const kindAt = (at: readonly number[]): number => {
    const [x, y, z] = at.map((k, axis) => (isPeriodic(periodic, axis) ? (k + (extents[axis] ?? 1)) % (extents[axis] ?? 1) : k));
    const inside = [x, y, z].every((k, axis) => k >= 0 && k < (extents[axis] ?? 1));
    return inside && (active?.(x, y, z) ?? true) ? kind(x, y, z) : WALL;
  };
  return (x, y, z, q) => {
    const away = lattice.directions[q];
    const cell = [x, y, z];
    const hasWall = q > 0 && kindAt(cell) === FLUID && kindAt(cell.map((k, axis) => k - away[axis])) === WALL;
    if (!hasWall || kindAt(cell.map((k, axis) => k + away[axis])) >= WALL) return 0.5;
    const share = wallAt(
      cell,
      away.map((d) => 0 - d),
    );
    if (share === undefined) return 0.5;
    if (share >= 0 && share <= 1) return share;
    throw new LaunchError(
      `the wall beside cell ${cell.join(", ")} lies at ${share} of the way: "wallAt" has to return a share from 0 to 1`,
    );
  };
}

/** State of the flow at one time. */
export interface State {
  /**
   * Sum of the density's deviations from 1 in the fluid; with the pattern `aa`, what is on its way back from walls included. A closed flow keeps it
   * to round-off.
   */
  readonly mass: number;
  /** Since the state before: the most that a component of the velocity has changed. */
  readonly change: number;
}

/** Further options of the planner. */
export type PlanOptions = Pick<SkeletonOptions, "fuse" | "unroll">;

/**
 * Fills what cells are, and their density and velocity at the start; walls at rest have density 1 and velocity 0. Returns whether there are outlets.
 * The flow's functions are asked for the cells that they apply to.
 * @throws LaunchError for an unknown kind, and for a velocity or density that is not a number
 */
function fillAtStart(
  { extents, kind, velocity, density = () => 1 }: Flow,
  kindField: Populations["kind"],
  macroscopic: Macroscopic,
): boolean {
  const [nx, ny, nz = 1] = extents;
  const kinds = new Uint8Array(nx * ny * nz);
  const known: readonly number[] = Object.values(KINDS);
  const placeOf = (x: number, y: number, z: number): string => `cell ${[x, y, z].slice(0, extents.length).join(", ")}`;
  const numberAt = (name: string, value: number, x: number, y: number, z: number): number => {
    if (Number.isFinite(value)) return value;
    throw new LaunchError(`the ${name} of ${placeOf(x, y, z)} is ${String(value)}: "${name}" has to return numbers there`);
  };
  kindField.fill((x, y, z) => {
    const found = kind(x, y, z);
    if (!known.includes(found))
      throw new LaunchError(
        `${placeOf(x, y, z)} has the kind ${String(found)}: "kind" has to return one of ${Object.entries(KINDS)
          .map(([name, value]) => `${name} (${value})`)
          .join(", ")}`,
      );
    return (kinds[(z * ny + y) * nx + x] = found);
  });
  const kindAt = (x: number, y: number, z: number): number => kinds[(z * ny + y) * nx + x];
  macroscopic.density.fill((x, y, z) => {
    const at = kindAt(x, y, z);
    return at === FLUID || at === STREAM ? numberAt("density", density(x, y, z), x, y, z) : 1;
  });
  macroscopic.velocity.fill((x, y, z, axis) => (kindAt(x, y, z) === WALL ? 0 : numberAt("velocity", velocity(x, y, z)[axis], x, y, z)));
  return kinds.includes(OUTLET);
}

/** Bytes of populations, density, velocity, kinds and links. */
function bytesPerCell(
  { weights, dimension }: Lattice,
  { type, pattern, wall, storage }: Pick<Settings, "type" | "pattern" | "wall" | "storage">,
): number {
  const bytes = type === "f64" ? 8 : 4;
  const populations = weights.length * (pattern === "aa" ? 1 : 2) * (storage ? 2 : bytes);
  const shares = wall === "interpolated" ? weights.length * bytes : 0;
  return populations + shares + (1 + dimension) * bytes + 5;
}

/** A flow on a set of devices. */
export class Simulation {
  /** Velocity in cells a step, as `measure` found it last. */
  readonly velocity: RealField;
  /** Density, as `measure` found it last. */
  readonly density: Macroscopic["density"];
  /** Steps done. */
  steps = 0;
  /** Steps that come together. */
  private readonly stride: number;
  /** Sequence of one step; of two with the pattern `aa`. */
  readonly skeleton: Skeleton;

  private constructor(
    readonly flow: Flow,
    readonly settings: Settings,
    readonly grid: Grid,
    /** @internal */
    readonly populations: Populations,
    macroscopic: Macroscopic,
    /**
     * Containers that are repeated, in order.
     * @internal
     */
    readonly containers: readonly Container[],
    options: PlanOptions,
    private readonly measures: {
      readonly macroscopic: Container;
      readonly force: Container;
      /** With the pattern `aa`. */
      readonly returning: Container | undefined;
      readonly scalars: Readonly<Record<"mass" | "returning" | "change" | "x" | "y", Scalar<"f64">>>;
    },
  ) {
    const { f, g } = populations;
    const { occ, precision, pattern } = settings;
    [this.density, this.velocity] = [macroscopic.density, macroscopic.velocity];
    this.stride = pattern === "aa" ? 2 : 1;
    this.skeleton = skeleton(grid.set, "lbm", pattern === "aa" ? containers : [...containers, swap(f, g)], { ...options, occ, precision });
  }

  /**
   * Lays out the flow on a set of devices at its start; what is `auto` is measured.
   * @throws LaunchError for options that do not fit the flow, and for a flow that does not fit the devices' memory
   */
  static create(set: DeviceSet, flow: Flow, options: Partial<Unresolved<Settings>> = {}, plan: PlanOptions = {}): Promise<Simulation> {
    const asked = { ...DEFAULTS, ...(options.storage && STORED), ...options };
    if (asked.storage && asked.type !== "f32")
      throw new LaunchError(
        `populations of ${asked.type} are not stored as ${asked.storage}, which is rounded from f32: choose the type f32`,
      );
    // One population is written across cells, which takes a dense grid.
    return tuned(asked, (settings) => Simulation.make(set, flow, settings, plan), asked.pattern === "aa" ? ["dense"] : undefined);
  }

  private static async make(set: DeviceSet, flow: Flow, settings: Settings, plan: PlanOptions): Promise<Simulation> {
    const { lattice, extents, periodic, active, viscosity } = flow;
    const rates = ratesOf(viscosity, settings.collision);
    const type: Real = TYPES[settings.type];
    const inPlace = settings.pattern === "aa";
    const interpolated = settings.wall === "interpolated";
    const shareOf = interpolated ? sharesOf(flow) : undefined;
    const what = `lbm on ${extents.join(" x ")} cells`;
    const cells = extents.reduce((product, n) => product * n);
    requireMemory(set, {
      what,
      bytes: cells * (storesAll(settings, flow) ? bytesPerCell(lattice, settings) : 1),
      choose: "a smaller --size",
    });
    if (inPlace) {
      if (settings.grid !== "dense" || set.members.length > 1)
        throw new LaunchError(
          `the pattern "aa" takes a dense grid on one device, and this is a ${settings.grid} grid on ${set.name}: choose these, or the pattern "pull"`,
        );
      if (interpolated)
        throw new LaunchError(`the pattern "aa" has its walls half-way between cells: choose the wall "halfway", or the pattern "pull"`);
      requireWalls(flow);
    }
    const grid = makeGrid(set, extents, { kind: settings.grid, layout: settings.layout, active, periodic, split: settings.split });
    const cardinality = lattice.weights.length;
    const population = (name: string): RealField =>
      settings.storage
        ? (grid.field(name, f32, { cardinality, storage: f16, scale: SCALE }) as unknown as RealField)
        : grid.field(name, type, { cardinality });
    const f = population("f");
    const populations: Populations = {
      f,
      g: inPlace ? f : population("g"),
      kind: grid.field("kind", u8, { fillValue: WALL }),
      links: grid.field("links", i32),
    };
    const macroscopic: Macroscopic = {
      density: grid.field("density", type),
      velocity: grid.field("velocity", type, { cardinality: lattice.dimension as number }),
    };
    const [mass, returning, change, x, y] = ["mass", "returning mass", "change", "force along x", "force along y"].map((name) =>
      grid.scalar(name, f64),
    );
    const kernels = kernelsOf(grid, lattice, type, populations, subgridOf(settings.smagorinsky, settings.collision));
    const shares: RealField | undefined = shareOf && grid.field("shares", type, { cardinality });
    const preparations = [kernels.connect(), kernels.initialise(macroscopic)];
    const step = (): Container => (shares ? kernels.interpolatedStep(rates, shares) : kernels.step(rates));
    const containers: Container[] = inPlace ? [...kernels.inPlace(rates, macroscopic)] : [step()];
    const hasOutlet = fillAtStart(flow, populations.kind, macroscopic);
    if (hasOutlet) containers.push(kernels.outlet());
    const measures = {
      macroscopic: kernels.macroscopic(macroscopic, mass, change),
      force: shares ? kernels.interpolatedForce(x, y, shares) : kernels.force(x, y),
      returning: inPlace ? kernels.returning(returning) : undefined,
      scalars: { mass, returning, change, x, y },
    };
    if (shareOf) shares?.fill(shareOf);
    const simulation = new Simulation(flow, settings, grid, populations, macroscopic, containers, plan, measures);
    simulation.skeleton.compile([...preparations, measures.macroscopic, measures.force]);
    for (const preparation of preparations) await grid.run(preparation, settings);
    return simulation;
  }

  /** Content of a checkpoint: all that further steps depend on, and what `measure` found last. */
  checkpointed(): Checkpointed {
    const { skeleton: sequence } = this;
    const others = [this.populations.kind, this.populations.links, this.density, this.velocity];
    return [sequence, ...others.filter((field) => !sequence.fields.includes(field))];
  }

  /** Runs steps; with the pattern `aa` an even number of them, so one more than asked for if that is odd. Returns the seconds that they took. */
  async run(steps: number): Promise<number> {
    const times = Math.ceil(steps / this.stride);
    const { seconds } = await this.skeleton.run(times);
    this.steps += times * this.stride;
    return seconds;
  }

  /** Brings `density` and `velocity` up to date. Throws IsoformError once the flow has become NaN. */
  async measure(): Promise<State> {
    const { macroscopic, returning, scalars } = this.measures;
    for (const container of returning ? [macroscopic, returning] : [macroscopic]) await this.grid.run(container, this.settings);
    const mass = (await this.numberIn(scalars.mass)) + (returning ? await this.numberIn(scalars.returning) : 0);
    return { mass, change: await this.numberIn(scalars.change) };
  }

  /**
   * The force on walls at rest, in lattice units, by exchange of momentum: in the next step, or with the pattern `aa` in the last. Throws
   * IsoformError once the flow has become NaN.
   */
  async force(): Promise<readonly [x: number, y: number]> {
    const { force, scalars } = this.measures;
    await this.grid.run(force, this.settings);
    return [await this.numberIn(scalars.x), await this.numberIn(scalars.y)];
  }

  private async numberIn(scalar: Scalar<"f64">): Promise<number> {
    const value = await scalar.get();
    if (!Number.isNaN(value)) return value;
    const { viscosity } = this.flow;
    throw new IsoformError(
      `lbm: the flow (field "${this.populations.f.name}") is NaN after ${this.steps} steps; its viscosity of ${viscosity.toPrecision(2)} cells^2 a step is too low for this grid: ` +
        `ask for a larger size, a smaller Reynolds number or the collision model bgk`,
    );
  }

  /** Bytes moved and operations done in a step, or two that come together, by the counting rule. */
  work(): { readonly bytes: number; readonly flops: number } {
    const { precision } = this.settings;
    const launches = this.containers.flatMap((container) =>
      this.grid.partitions.flatMap(({ device }) => this.grid.prepare(container, device, "standard", { precision })),
    );
    const total = { bytes: 0, flops: 0 };
    for (const launch of launches) {
      total.bytes += launch.cost.bytes;
      total.flops += launch.cost.flops;
      launch.free();
    }
    return total;
  }

  /** Frees the memory on the devices. */
  free(): void {
    this.skeleton.free();
    this.grid.free();
    for (const scalar of Object.values(this.measures.scalars)) scalar.free();
  }
}

/** The values of one component of a field in `count` cells of a line, from cell `from` on along `axis` (0, 1 or 2). */
export async function profile(field: Field, from: readonly number[], axis: number, count: number, component: number): Promise<number[]> {
  const cells = Array.from({ length: count }, (_, n) => from.map((at, k) => (k === axis ? at + n : at)));
  return Promise.all(cells.map((cell) => field.get(cell, component)));
}
