import type { Simulation } from "./simulation.js";

/** Called now and then: with the steps done, at most how many there will be, how the run stands, and the seconds since the last call. */
export type Report = (done: number, total: number, text: string, seconds: number) => void;

/** How a run is followed, and gone on with. */
export interface RunWatch<Sample> {
  readonly report?: Report;
  /** Results of intervals that are over, of a run that is gone on with. */
  readonly samples?: readonly Sample[];
  /** Awaited after each interval, with the results so far; what it throws ends the run. */
  readonly keep?: (samples: readonly Sample[], isLast: boolean) => Promise<void>;
}

/** How any run is followed; samples are as it wrote them. */
export type AnyWatch = Omit<RunWatch<unknown>, "samples"> & { readonly samples?: readonly never[] };

/** Length of a run. */
export interface Schedule {
  /** Steps from one check or sample to the next. */
  readonly interval: number;
  /** Steps of the run, or the most of them. */
  readonly steps?: number;
}

/** Values in the cells of a rectangle: width values a row, the row of y = 0 first; NaN where there are none. */
export interface Plane {
  readonly width: number;
  readonly height: number;
  readonly values: readonly number[];
}

const ENOUGH_INTERVALS = 1000;

/**
 * Runs until no component of the velocity changes by more than `tolerance` (cells a step) in an interval, or the steps are done (default: 1000
 * intervals). Returns the last change. Throws IsoformError once the flow has become NaN.
 */
export async function runToSteadyState(
  simulation: Simulation,
  { interval, tolerance, steps = ENOUGH_INTERVALS * interval }: Schedule & { readonly tolerance: number },
  { report, samples = [], keep }: RunWatch<number> = {},
): Promise<number> {
  let change = samples.at(-1) ?? Infinity;
  while (change > tolerance && simulation.steps < steps) {
    const seconds = await simulation.run(Math.min(interval, steps - simulation.steps));
    ({ change } = await simulation.measure());
    report?.(simulation.steps, steps, `steps, velocity changes by ${change.toExponential(1)}`, seconds);
    await keep?.([change], !(change > tolerance && simulation.steps < steps));
  }
  return change;
}

/** Runs the steps, and gives the force on walls at rest after each interval, in lattice units. */
export async function watchForce(
  simulation: Simulation,
  { interval, steps = 0 }: Schedule,
  { report, samples = [], keep }: RunWatch<readonly [number, number]> = {},
): Promise<(readonly [number, number])[]> {
  const forces = [...samples];
  while (simulation.steps < steps) {
    const seconds = await simulation.run(Math.min(interval, steps - simulation.steps));
    const force = await simulation.force();
    forces.push(force);
    report?.(simulation.steps, steps, `steps, force ${force.map((f) => f.toPrecision(4)).join(", ")}`, seconds);
    await keep?.(forces, simulation.steps >= steps);
  }
  return forces;
}

/**
 * The vorticity in each cell of a flow in two dimensions, times `unit`, by central differences of the velocity that `measure` found last; NaN beside
 * cells without fluid and at the sides.
 */
export async function vorticity({ velocity, grid }: Simulation, unit: number): Promise<Plane> {
  const [width, height] = grid.extents;
  const values = await velocity.download();
  const at = (x: number, y: number, axis: number): number => {
    const cell = y * width + x;
    return x < 0 || y < 0 || x >= width || y >= height || (grid.mask && !grid.mask[cell]) ? NaN : values[2 * cell + axis];
  };
  const curl = (x: number, y: number): number => (at(x + 1, y, 1) - at(x - 1, y, 1) - at(x, y + 1, 0) + at(x, y - 1, 0)) / 2;
  return {
    width,
    height,
    values: Array.from({ length: width * height }, (_, n) => unit * curl(n % width, Math.floor(n / width))),
  };
}

/** The speed that `measure` found last in each cell, divided by `unit`; in 3D of the plane in the middle of z. */
export async function plane({ velocity, grid }: Simulation, unit: number): Promise<Plane> {
  const [width, height, depth = 1] = grid.extents;
  const values = await velocity.download();
  const { cardinality } = velocity;
  const first = Math.floor(depth / 2) * width * height;
  const speed = (cell: number): number =>
    grid.mask && !grid.mask[cell]
      ? NaN
      : Math.hypot(...Array.from({ length: cardinality }, (_, axis) => values[cell * cardinality + axis])) / unit;
  return { width, height, values: Array.from({ length: width * height }, (_, n) => speed(first + n)) };
}
