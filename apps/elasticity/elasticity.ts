import { f64, LaunchError, u8 } from "isoform";
import { makeGrid, type Container, type Grid } from "isoform/grid";
import { askedBox } from "../box.js";
import { storesAll } from "../grids.js";
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
  type Unresolved,
} from "isoform/skeleton";
import { Kernels, type Fields, type Iteration, type Preconditioner, type Scalars } from "./kernels.js";
import { CASES, type Solid } from "./solid.js";

/** Options of `Elasticity.create`. */
export interface Settings extends Resolved<GridSettings>, SplitSetting {
  /** Preconditioner of the conjugate gradients. */
  preconditioner: Preconditioner;
}

/** The defaults of `Settings`. */
export const DEFAULTS: Settings = { ...DEFAULT_SETTINGS, preconditioner: "none" };

/** Options of `solve`. */
export interface SolveOptions {
  /** The run stops when the norm of the (preconditioned) residual has fallen by this factor. Default: 1e-8. */
  tolerance?: number;
  /** Most iterations. Default: 10,000. */
  iterations?: number;
  /** Iterations from one check of the residual to the next. Default: 10. */
  every?: number;
}

/** Result of `solve`. */
export interface Solution {
  readonly iterations: number;
  readonly converged: boolean;
  /** Norm of the (preconditioned) residual over that at the start. */
  readonly residual: number;
  /** Wall-clock time of all iterations. */
  readonly seconds: number;
}

/** Load, displacement, residual, direction and product, and two fields of bits. */
export const BYTES_PER_NODE = 5 * 3 * 8 + 2;

/** The default tolerance of `solve`. */
export const TOLERANCE = 1e-8;
/** The most iterations of `solve` where nothing else is asked for. */
export const ITERATIONS = 10_000;

/** The displacement of a solid under its load, by conjugate gradients without a matrix. */
export class Elasticity {
  /** The displacement, the load and the rest, on the devices. */
  readonly fields: Fields;
  /** Sequence of one iteration. */
  readonly skeleton: Skeleton;
  private readonly scalars: Scalars;
  private readonly iteration: Iteration;
  private readonly forces: Container;
  /** Residual times preconditioned residual at the start. */
  private start = 0;

  private constructor(
    readonly solid: Solid,
    readonly settings: Settings,
    readonly grid: Grid<3>,
    fields: Fields,
    private readonly kernels: Kernels,
    options: SkeletonOptions,
  ) {
    const scalar = (name: string) => grid.scalar(name, f64);
    this.fields = fields;
    this.scalars = { rz: scalar("r.z"), before: scalar("r.z before"), ps: scalar("p.s") };
    const { rz, before } = this.scalars;
    this.iteration = kernels.iteration(this.scalars, settings.preconditioner);
    this.forces = kernels.multiply(fields.displacement, fields.product);
    const { advance, square, turn } = this.iteration;
    this.skeleton = skeleton(grid.set, "elasticity", [...advance, swap(rz, before), square, turn], {
      occ: settings.occ,
      precision: settings.precision,
      temporary: [fields.product],
      ...options,
    });
  }

  /**
   * Lays out the solid on a set of devices, ready to be solved; what is `auto` is measured.
   * @throws LaunchError for a material that is not stable, and for a solid that does not fit the devices' memory
   */
  static create(
    set: DeviceSet,
    solid: Solid,
    options: Partial<Unresolved<Settings>> = {},
    plan: SkeletonOptions = {},
  ): Promise<Elasticity> {
    return tuned({ ...DEFAULTS, ...options }, (settings) => Elasticity.make(set, solid, settings, plan));
  }

  private static async make(set: DeviceSet, solid: Solid, settings: Settings, plan: SkeletonOptions): Promise<Elasticity> {
    const [nx, ny, nz] = solid.extents;
    const what = `elasticity on ${nx} x ${ny} x ${nz} nodes`;
    requireMemory(set, { what, bytes: nx * ny * nz * (storesAll(settings, solid) ? BYTES_PER_NODE : 1), choose: "a smaller --size" });
    const grid = makeGrid(set, solid.extents, {
      kind: settings.grid,
      layout: settings.layout,
      active: solid.active,
      split: settings.split,
    });
    const vectors = (name: string) => grid.field(name, f64, { cardinality: 3 });
    const bits = (name: string) => grid.field(name, u8);
    const fields: Fields = {
      elements: bits("elements"),
      fixed: bits("fixed"),
      load: vectors("load"),
      displacement: vectors("displacement"),
      residual: vectors("residual"),
      direction: vectors("direction"),
      product: vectors("product"),
    };
    const kernels = new Kernels(grid, fields, solid.material, solid.edge);
    const elasticity = new Elasticity(solid, settings, grid, fields, kernels, plan);
    fields.fixed.fill(solid.fixed);
    fields.load.fill(solid.load ?? 0);
    await grid.run(kernels.findElements(), settings);
    await elasticity.restart();
    return elasticity;
  }

  /** Starts again from the displacement 0, except where the solid gives it. */
  async restart(): Promise<void> {
    const { fixed, displacement } = this.solid;
    const given = (x: number, y: number, z: number, axis: number) => ((fixed(x, y, z) >> axis) & 1 ? displacement!(x, y, z, axis) : 0);
    this.fields.displacement.fill(displacement ? given : 0);
    await this.run(this.forces, this.kernels.residual());
    // From 0, the direction becomes the preconditioned residual.
    this.fields.direction.fill(0);
    this.scalars.before.set(1);
    await this.run(this.iteration.square, this.iteration.turn);
    this.start = await this.scalars.rz.getNumber("elasticity, at the start");
  }

  /** Iterates until the residual is small against that at the start. Throws IsoformError if it becomes NaN. */
  async solve({ tolerance = TOLERANCE, iterations = ITERATIONS, every }: SolveOptions = {}): Promise<Solution> {
    const { rz } = this.scalars;
    const small = (value: number) => value <= tolerance ** 2 * this.start;
    const before = await rz.get();
    const run = await this.skeleton.run(small(before) ? 0 : iterations, { scalar: rz, until: small, every });
    const after = await rz.getNumber("elasticity, at the end");
    return {
      iterations: run.iterations,
      converged: small(after),
      residual: this.start > 0 ? Math.sqrt(after / this.start) : 0,
      seconds: run.seconds,
    };
  }

  /**
   * How far the residual that the iterations update is from f - K u of the displacement, relative to the largest force on a node,
   * reactions included. Leaves K u in `product`.
   */
  async drift(): Promise<number> {
    const [difference, largest] = ["difference", "largest force"].map((name) => this.grid.scalar(name, f64));
    await this.run(this.forces, this.kernels.drift(difference, largest));
    const drift = (await difference.getNumber("elasticity, f - K u")) / (await largest.get());
    for (const scalar of [difference, largest]) scalar.free();
    return drift;
  }

  /** The largest deviation from the exact displacement of nodes with elements, relative to the largest displacement; undefined if none is known. */
  async deviation(): Promise<number | undefined> {
    const { exact } = this.solid;
    if (!exact) return undefined;
    const [found, elements] = [await this.fields.displacement.download(), await this.fields.elements.download()];
    let [largest, deviation] = [0, 0];
    this.eachNode((x, y, z, place) => {
      if (elements[place / 3] === 0) return;
      for (let axis = 0; axis < 3; axis++) {
        const expected = exact(x, y, z, axis);
        largest = Math.max(largest, Math.abs(expected));
        deviation = Math.max(deviation, Math.abs(found[place + axis] - expected));
      }
    });
    return deviation / largest;
  }

  /** The forces by which the given displacements are held, and the loads, each summed up along x, y and z. Overwrites `product`. */
  async forceBalance(): Promise<{ readonly held: readonly number[]; readonly loads: readonly number[] }> {
    await this.run(this.forces);
    const { product, load, fixed } = this.fields;
    const [forces, given, bits] = [await product.download(), await load.download(), await fixed.download()];
    const [held, loads] = [
      [0, 0, 0],
      [0, 0, 0],
    ];
    this.eachNode((_x, _y, _z, place) => {
      for (let axis = 0; axis < 3; axis++) {
        loads[axis] += given[place + axis];
        if ((bits[place / 3] >> axis) & 1) held[axis] += forces[place + axis] - given[place + axis];
      }
    });
    return { held, loads };
  }

  /** Visits active nodes, with the place of each one's first component in a host array. */
  private eachNode(visit: (x: number, y: number, z: number, place: number) => void): void {
    const { mask } = this.grid;
    const [nx, ny, nz] = this.solid.extents;
    for (let z = 0, node = 0; z < nz; z++)
      for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++, node++) if (mask === undefined || mask[node]) visit(x, y, z, 3 * node);
  }

  private async run(...containers: readonly Container[]): Promise<void> {
    for (const container of containers) await this.grid.run(container, this.settings);
  }

  /** Frees the memory on the devices. */
  free(): void {
    this.skeleton.free();
    this.grid.free();
    for (const scalar of Object.values(this.scalars)) scalar.free();
  }
}

/** For `isoform explain`. */
export async function makeSkeleton(set: DeviceSet, settings: SkeletonSettings): Promise<Skeleton> {
  const { fuse, unroll } = settings;
  const { size, planes } = askedBox(settings, 3, 16);
  if (planes !== size)
    throw new LaunchError(`elasticity has cubes only, not ${size} x ${size} x ${planes} elements: choose another application`);
  const solid = CASES.cube({ size, material: { young: 1, poisson: 0.3 }, pressure: 0.01 });
  return (await Elasticity.create(set, solid, settings, { fuse, unroll })).skeleton;
}
