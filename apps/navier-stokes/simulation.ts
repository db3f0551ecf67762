import { f32, f64 } from "isoform";
import { dense, type Grid } from "isoform/grid";
import type { DeviceSet, Scalar } from "isoform/set";
import { skeleton, swap, type Skeleton } from "isoform/skeleton";
import { cellsOf, placeOf, type Axis } from "./axes.js";
import { divergence } from "./divergence.js";
import { fluxes } from "./fluxes.js";
import type { Gas } from "./gas.js";
import { metricsOf } from "./metrics.js";
import { modelOf, type Model, type Reference, type Scheme } from "./model.js";
import { stage, STAGES } from "./stage.js";
import { fieldsOf, type Fields } from "./state.js";
import { chooseStep } from "./time-step.js";

export const TYPES = { f64, f32 } as const;

/** A flow in units of the gas: density, temperature and the gas constant are 1. */
export interface Flow {
  readonly axes: readonly [Axis, Axis, Axis];
  readonly gas: Gas;
  readonly scheme: Scheme;
  readonly reference: Reference;
  /** A fixed time step, or the Courant number by which it is found. */
  readonly step: { readonly dt: number } | { readonly courant: number };
  /** Conserved values at the start: component k at the points of a cell. */
  readonly initial: (x: number, y: number, z: number, k: number) => number;
}

export interface Settings {
  readonly type: keyof typeof TYPES;
  readonly precision: "strict" | "fast";
}

export const DEFAULTS: Settings = { type: "f64", precision: "fast" };

/** Whether a sensor chooses between central fluxes and WENO. */
const isHybrid = ({ weno }: Scheme): boolean => weno !== undefined && weno.threshold >= 0;

/** A flow on a set of devices. */
export class Simulation {
  readonly grid: Grid<3>;
  readonly fields: Fields;
  readonly skeleton: Skeleton;
  readonly dt: Scalar;
  readonly model: Model;
  steps = 0;

  /** Lays a flow out on a set of devices, at its start. */
  static async create(set: DeviceSet, flow: Flow, settings: Partial<Settings> = {}): Promise<Simulation> {
    const simulation = new Simulation(set, flow, { ...DEFAULTS, ...settings });
    await simulation.prepare();
    return simulation;
  }

  private constructor(
    readonly set: DeviceSet,
    readonly flow: Flow,
    readonly settings: Settings,
  ) {
    const { axes, scheme } = flow;
    const real = TYPES[settings.type];
    const extents = axes.map(cellsOf) as [number, number, number];
    const grid = dense(set, extents, { periodic: axes.map(({ periodic }) => periodic) });
    this.grid = grid;
    this.fields = fieldsOf(grid, real);
    const reaches = { order: scheme.order, weno: scheme.weno?.halfWidth ?? 0 };
    const metrics = axes.map((axis, n) => metricsOf(grid, (["x", "y", "z"] as const)[n], axis, reaches, real));
    this.dt = grid.scalar("dt", real);
    this.model = modelOf(grid, real, this.fields, metrics, flow);
    this.skeleton = skeleton(set, "navier-stokes", this.sequence(), { precision: settings.precision });
    const { w } = this.fields;
    const { initial } = flow;
    w.fill((x, y, z, k) => initial(placeOf(axes[0], x), placeOf(axes[1], y), placeOf(axes[2], z), k));
  }

  /** What a step finds of the one before it. */
  private async prepare(): Promise<void> {
    const { model, settings, flow } = this;
    if (isHybrid(flow.scheme)) await this.grid.run(divergence(model, true), settings);
  }

  /** A step. */
  private sequence() {
    const { model, dt, flow } = this;
    const { scheme, step } = flow;
    const { w, next } = this.fields;
    const convection = scheme.weno ? [0, 1, 2].slice(0, model.axes).flatMap((axis) => fluxes(model, axis)) : [];
    const third = scheme.viscous === "none" ? [] : [divergence(model, false)];
    const sensor = isHybrid(scheme) ? [divergence(model, true)] : third;
    const stages = Array.from({ length: STAGES }, (_, n) => [
      // The sensor of a step is that of the last stage before.
      ...(n === STAGES - 1 ? [...convection, ...sensor] : [...third, ...convection]),
      stage(model, dt, n),
      swap(w, next),
    ]);
    return [...("courant" in step ? chooseStep(model, dt, step.courant) : []), ...stages.flat()];
  }

  async run(steps: number): Promise<number> {
    const { step } = this.flow;
    if ("dt" in step) this.dt.set(step.dt);
    const { seconds } = await this.skeleton.run(steps);
    this.steps += steps;
    return seconds;
  }

  free(): void {
    this.skeleton.free();
    this.grid.free();
  }
}
