import { LaunchError, f64, max } from "isoform";
import { makeGrid, type Container, type Field, type Grid } from "isoform/grid";
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
  type SkeletonSettings,
} from "isoform/skeleton";
import { askedBox } from "../box.js";

/** Options of `Heat`; `DEFAULTS` has a value for each. */
export interface HeatSettings extends Resolved<GridSettings> {
  /** Cells along each axis. */
  size: number;
  /** Cells along y, if they are other than along x: a rectangle of sides 1 and (planes + 1) h, or planes h where it is periodic. */
  planes?: number;
  /** dt / h^2, above 0: steps are stable up to 1/4. */
  ratio: number;
  /** The domain is periodic. */
  periodic: boolean;
}

/** The defaults of `HeatSettings`. */
export const DEFAULTS: HeatSettings = { ...DEFAULT_SETTINGS, size: 512, ratio: 0.2, periodic: false };

/** Three fields. */
const BYTES_PER_CELL = 3 * 8;

/** Result of `Heat.deviation`. */
export interface Deviation {
  /** Time since the start. */
  readonly time: number;
  /** Deviation from the exact solution of the steps, relative to its amplitude: round-off alone. */
  readonly discrete: number;
  /** Deviation from the solution of the equation, relative to its amplitude: it falls with the square of the cell size. */
  readonly continuous: number;
}

/**
 * du/dt = d2u/dx2 + d2u/dy2 on the unit square, u = 0 on its sides, by explicit steps on cells whose centres are h = 1 / (size + 1) apart:
 * the cells outside lie on the sides. It starts as sin(pi x) sin(pi y), which keeps its form and decays. Where the domain is periodic, h is
 * 1 / size, and the start sin(2 pi x) sin(2 pi y).
 */
export class Heat {
  readonly grid: Grid<2>;
  readonly u: Field<"f64", 1, 2>;
  /** Steps done. */
  steps = 0;
  private readonly next: Field<"f64", 1, 2>;
  private readonly mode: Field<"f64", 1, 2>;
  private readonly amplitude: Scalar<"f64">;
  private readonly difference: Scalar<"f64">;
  private readonly compare: Container;
  /** Sequence of one step. */
  readonly skeleton: Skeleton;

  /** @throws LaunchError for a ratio at which steps are not stable, and for a grid that does not fit the devices' memory */
  constructor(
    set: DeviceSet,
    readonly settings: HeatSettings,
    options: SkeletonOptions = {},
  ) {
    const { size, planes = size, ratio, periodic, occ, precision } = settings;
    if (!(ratio > 0 && ratio <= 0.25))
      throw new LaunchError(`a ratio dt / h^2 of ${ratio} is not stable: choose one above 0, at most 0.25`);
    requireMemory(set, { what: `heat on ${size} x ${planes} cells`, bytes: BYTES_PER_CELL * size * planes, choose: "a smaller --size" });
    this.grid = makeGrid(set, [size, planes], { kind: settings.grid, layout: settings.layout, periodic });
    const { grid } = this;
    [this.u, this.next, this.mode] = ["u", "next", "mode"].map((name) => grid.field(name, f64));
    [this.amplitude, this.difference] = ["amplitude", "difference"].map((name) => grid.scalar(name, f64));
    const { u, next, mode, amplitude, difference } = this;

    const step = grid.container("step", { u, next, ratio }, ({ u, next, ratio }, c) => {
      next[c] = u[c] + ratio * (u.at(c, 1, 0) + u.at(c, -1, 0) + u.at(c, 0, 1) + u.at(c, 0, -1) - 4 * u[c]);
    });
    this.compare = grid.container("compare", { u, mode, amplitude, difference: max(difference) }, ({ u, mode, amplitude, difference }, c) =>
      difference.max(Math.abs(u[c] - amplitude * mode[c])),
    );
    this.skeleton = skeleton(set, "heat", [step, swap(u, next)], { occ, precision, ...options });

    const { waves, h } = this.modes;
    const [alongX, alongY] = grid.extents.map((length, axis) =>
      Float64Array.from({ length }, (_, n) => Math.sin(waves[axis] * h * (periodic ? n : n + 1))),
    );
    for (const start of [u, mode]) start.fill((x, y) => alongX[x] * alongY[y]);
  }

  /** Wave numbers of the start by axis, and cell size. */
  private get modes(): { waves: readonly number[]; h: number } {
    const { periodic } = this.settings;
    const { extents } = this.grid;
    const [wave, intervals] = periodic ? [2 * Math.PI, extents] : [Math.PI, extents.map((n) => n + 1)];
    return { waves: intervals.map((n) => wave * (intervals[0] / n)), h: 1 / intervals[0] };
  }

  /** Runs steps; returns the seconds that they took. */
  async run(steps: number): Promise<number> {
    const { seconds } = await this.skeleton.run(steps);
    this.steps += steps;
    return seconds;
  }

  /** Deviation of the solution from the known ones. */
  async deviation(): Promise<Deviation> {
    const { ratio } = this.settings;
    const { waves, h } = this.modes;
    const time = this.steps * ratio * h * h;
    // Each step multiplies the mode by this: it is an eigenvector of the differences, too.
    const factor = 1 - 4 * ratio * waves.reduce((sum, k) => sum + Math.sin((k * h) / 2) ** 2, 0);
    return {
      time,
      discrete: await this.distance(factor ** this.steps),
      continuous: await this.distance(Math.exp(-waves.reduce((sum, k) => sum + k ** 2, 0) * time)),
    };
  }

  /** The plan of a step, as text. */
  explain(): Promise<string> {
    return this.skeleton.explain();
  }

  /** Frees the memory on the devices. */
  free(): void {
    this.skeleton.free();
    this.grid.free();
    this.amplitude.free();
    this.difference.free();
  }

  private async distance(amplitude: number): Promise<number> {
    this.amplitude.set(amplitude);
    await this.grid.run(this.compare, this.settings);
    return (await this.difference.getNumber(`heat, step ${this.steps}`)) / amplitude;
  }
}

/** For `isoform explain`. */
export async function makeSkeleton(set: DeviceSet, asked: SkeletonSettings): Promise<Skeleton> {
  const { fuse, unroll } = asked;
  const box = askedBox(asked, 2, 64);
  return (await tuned(asked, (settings) => new Heat(set, { ...DEFAULTS, ...settings, ...box }, { fuse, unroll }))).skeleton;
}
