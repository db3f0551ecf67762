import { f64, u8 } from "isoform";
import type { Container, Grid } from "isoform/grid";
import type { DeviceSet } from "isoform/set";
import { skeleton, swap, type Skeleton, type SkeletonOptions } from "isoform/skeleton";
import { makeGrid, USUAL_SETTINGS, type GridSettings } from "../grids.js";
import { Kernels, type Fields, type Iteration, type Preconditioner, type Scalars } from "./kernels.js";
import type { Solid } from "./solid.js";

export interface Settings extends GridSettings {
  preconditioner: Preconditioner;
}

export const DEFAULTS: Settings = { ...USUAL_SETTINGS, preconditioner: "none" };

export interface SolveOptions {
  /** The run stops when the norm of the (preconditioned) residual has fallen by this factor. */
  tolerance?: number;
  /** At most. */
  iterations?: number;
  /** Iterations between two looks at the residual. */
  every?: number;
}

export interface Solution {
  readonly iterations: number;
  readonly converged: boolean;
  /** Norm of the (preconditioned) residual over that at the start. */
  readonly residual: number;
  readonly seconds: number;
}

const TOLERANCE = 1e-8;
const ITERATIONS = 10_000;

/** The displacement of a solid under its load, by conjugate gradients without a matrix. */
export class Elasticity {
  readonly fields: Fields;
  readonly skeleton: Skeleton;
  /** One iteration, in order. */
  readonly containers: readonly Container[];
  private readonly scalars: Scalars;
  private readonly iteration: Iteration;
  private readonly forces: Container;
  private readonly residual: Container;
  /** Residual times preconditioned residual at the start. */
  private start = 0;

  private constructor(
    readonly solid: Solid,
    readonly settings: Settings,
    readonly grid: Grid<3>,
    fields: Fields,
    kernels: Kernels,
    options: SkeletonOptions,
  ) {
    const scalar = (name: string) => grid.scalar(name, f64);
    this.fields = fields;
    this.scalars = { rz: scalar("r.z"), before: scalar("r.z before"), ps: scalar("p.s") };
    const { rz, before } = this.scalars;
    this.iteration = kernels.iteration(this.scalars, settings.preconditioner);
    this.forces = kernels.multiply(fields.displacement, fields.product);
    this.residual = kernels.residual();
    const { advance, square, turn } = this.iteration;
    this.containers = [...advance, square, turn];
    this.skeleton = skeleton(grid.set, "elasticity", [...advance, swap(rz, before), square, turn], {
      occ: settings.occ,
      precision: settings.precision,
      temporary: [fields.product],
      ...options,
    });
  }

  /** Lays out the solid on a set of devices, ready to be solved. */
  static async create(set: DeviceSet, solid: Solid, options: Partial<Settings> = {}, plan: SkeletonOptions = {}): Promise<Elasticity> {
    const settings = { ...DEFAULTS, ...options };
    const grid = makeGrid(set, solid.extents, settings, solid.active) as Grid<3>;
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

  /** Begins anew at the displacement 0, but for what is given. */
  async restart(): Promise<void> {
    const { fixed, displacement } = this.solid;
    const given = (x: number, y: number, z: number, axis: number) => ((fixed(x, y, z) >> axis) & 1 ? displacement!(x, y, z, axis) : 0);
    this.fields.displacement.fill(displacement ? given : 0);
    await this.run(this.forces, this.residual);
    // From 0, the direction becomes the preconditioned residual.
    this.fields.direction.fill(0);
    this.scalars.before.set(1);
    await this.run(this.iteration.square, this.iteration.turn);
    this.start = await this.scalars.rz.getNumber("elasticity, at the start");
  }

  /** Iterates until the residual is small against that at the start. Throws IsoformError where it becomes NaN. */
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
   * The forces that hold the given displacements, summed up along each axis: reactions and what is left of the residual. Overwrites
   * `product`.
   */
  async reaction(): Promise<readonly number[]> {
    await this.run(this.forces);
    const [product, load] = [await this.fields.product.download(), await this.fields.load.download()];
    return [0, 1, 2].map((axis) => {
      let sum = 0;
      for (let n = axis; n < product.length; n += 3) sum += product[n] - load[n];
      return sum;
    });
  }

  private async run(...containers: readonly Container[]): Promise<void> {
    for (const container of containers) await this.grid.run(container, this.settings);
  }

  free(): void {
    this.skeleton.free();
    this.grid.free();
    for (const scalar of Object.values(this.scalars)) scalar.free();
  }
}
