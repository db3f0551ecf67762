import { f32, f64, type Precision } from "isoform";
import { dense, type Container, type DenseGrid, type Split, type Side } from "isoform/grid";
import type { CheckpointedSequence } from "isoform/io";
import type { DeviceSet, Scalar } from "isoform/set";
import { skeleton, type OccLevel, type Skeleton, type Storage } from "isoform/skeleton";
import { cellsOf, placeOf, type Axis } from "../equations/axes.js";
import type { OpenEdge } from "../boundaries/characteristic-edge.js";
import { openSides, SIDES } from "../boundaries/sides.js";
import { diagnosticsOf, type Diagnostics } from "../measures/diagnostics.js";
import { divergence } from "../steps/divergence.js";
import { forcingOf, type Forcing } from "../steps/forcing.js";
import { temperatureAt, type Gas } from "../equations/gas.js";
import { metricsOf } from "../equations/metrics.js";
import { ghostsOf, modelOf, type Model, type Reference, type Scheme } from "../equations/model.js";
import type { Progress } from "./progress-line.js";
import type { Sampled } from "../measures/sampled.js";
import { spectraOf, type Spectra, type Spectral, type Spectrum } from "../measures/spectra.js";
import { fieldsOf, type Fields } from "../equations/state.js";
import { statisticsOf, type MeanAxes, type Means, type Statistics } from "../measures/statistics.js";
import { sequenceOf, type TimeStep } from "../steps/step.js";
import { chooseStep } from "../steps/time-step.js";

/** Types of the fields, by name. */
export const TYPES = { f64, f32 } as const;

/**
 * A flow in units of the gas: R = 1, and density and temperature of reference are 1. `flowOf` makes one of a configuration; the files of
 * apps/navier-stokes have the parts for others.
 */
export interface Flow {
  readonly axes: readonly [Axis, Axis, Axis];
  readonly gas: Gas;
  readonly scheme: Scheme;
  readonly reference: Reference;
  readonly step: TimeStep;
  /** Conserved values at the start: component k at a place. */
  readonly initial: (x: number, y: number, z: number, k: number) => number;
  /** Gives `w` the same bits on devices with f64, and sooner. */
  readonly initialOnDevices?: (model: Model) => Container;
  /** Containers that give the ghosts beyond a side their conserved values, and with a thermally perfect gas their temperatures. */
  readonly boundary?: (model: Model, side: Side) => readonly Container[];
  /** Open sides through which waves leave by their characteristics. */
  readonly edges?: readonly OpenEdge[];
  /** Boundaries change cells, too. */
  readonly writesCells?: boolean;
  /** Given for a channel along x between walls across y: its bulk flow is kept, and the bulk temperature too where one is given. */
  readonly channel?: { readonly targetTemperature?: number };
  /** Temperature of the walls across y; for a layer, also the temperature of a wall without heat flux. */
  readonly wall?: { readonly temperature: number; readonly recovery?: number };
}

/** Options of `Simulation.create`; `DEFAULTS` has a value for each. */
export interface Settings {
  /** Type of fields and time steps; sums over all cells are f64. */
  readonly type: keyof typeof TYPES;
  readonly precision: Precision;
  /** Layout of fields: components of a cell apart, or together. */
  readonly layout: Storage["layout"];
  /** How the box is cut among several devices. Default: by planes. */
  readonly split?: Split;
  /** Overlap of computation and communication, on several devices. */
  readonly occ: OccLevel | "auto";
  /** Whether containers are merged. */
  readonly fuse: boolean;
  /** Steps that are planned together. */
  readonly unroll: number;
  /** Steps from one sample of the statistics to the next; none are taken where it is 0. */
  readonly statsEvery: number;
  /** The same of the spectra. */
  readonly spectraEvery: number;
}

/** The defaults of `Settings`. */
export const DEFAULTS: Settings = {
  type: "f64",
  precision: "fast",
  layout: "soa",
  occ: "standard",
  fuse: true,
  unroll: 1,
  statsEvery: 0,
  spectraEvery: 0,
};

/** A flow on a set of devices. */
export class Simulation {
  readonly grid: DenseGrid<3>;
  /** Conserved values (`w`: rho, rho u, rho v, rho w, rho E) and the temperature, on the devices. */
  readonly fields: Fields;
  /** Sequence of one step. */
  readonly skeleton: Skeleton;
  readonly model: Model;
  /** The time step, in units of the gas. */
  readonly dt: Scalar;
  /** Simulated time since the start, in units of the gas. */
  readonly time: Scalar<"f64">;
  /** Along a channel averages are over x, too. */
  readonly statistics: Statistics | undefined;
  readonly spectra: Spectra | undefined;
  private presentStatistics: Statistics | undefined;
  private presentSpectra: Spectra | undefined;
  private readonly boundaries: readonly Container[];
  private readonly forcing: Forcing | undefined;
  private readonly diagnostics: Diagnostics;

  /** Lays a flow out on a set of devices, at its start. */
  static async create(set: DeviceSet, flow: Flow, settings: Partial<Settings> = {}): Promise<Simulation> {
    const simulation = new Simulation(set, flow, { ...DEFAULTS, ...settings });
    await simulation.restart();
    return simulation;
  }

  private constructor(
    readonly set: DeviceSet,
    readonly flow: Flow,
    readonly settings: Settings,
  ) {
    const { axes, scheme, boundary, channel, step } = flow;
    const real = TYPES[settings.type];
    const extents = axes.map(cellsOf) as [number, number, number];
    const sides = openSides(axes);
    const ghosts = sides.length > 0 ? { ghosts: ghostsOf(scheme) } : {};
    const { layout, split } = settings;
    const grid = dense(set, extents, { periodic: axes.map(({ periodic }) => periodic), layout, split, ...ghosts });
    this.grid = grid;
    this.fields = fieldsOf(grid, real);
    const metrics = axes.map((axis, n) => {
      const edges = flow.edges?.some((side) => SIDES.indexOf(side) === 2 * n + 1) ? [extents[n] - 1] : [];
      const reaches = { order: scheme.order, weno: scheme.weno?.halfWidth ?? 0, edges };
      return metricsOf(grid, (["x", "y", "z"] as const)[n], axis, reaches, real);
    });
    const model = modelOf(grid, real, this.fields, metrics, flow);
    this.model = model;
    this.dt = grid.scalar("dt", real);
    this.time = grid.scalar("time", f64);
    this.boundaries = sides.flatMap((side) => boundary!(model, side));
    this.forcing = channel && forcingOf(model, axes[1].faces!, channel.targetTemperature);
    const target = channel?.targetTemperature;
    this.diagnostics = diagnosticsOf(model, target === undefined ? undefined : { bulk: this.forcing!.bulk, target });
    const { statsEvery, spectraEvery } = settings;
    this.statistics = statsEvery > 0 ? statisticsOf(model, this.meanAxes) : undefined;
    this.spectra = spectraEvery > 0 ? spectraOf(model, axes) : undefined;
    const sampled = [
      ...(this.statistics ? [{ every: statsEvery, steps: this.statistics.sample }] : []),
      ...(this.spectra ? [{ every: spectraEvery, steps: this.spectra.sample }] : []),
    ];
    const { dt, time, boundaries, forcing } = this;
    const { precision, occ, fuse, unroll } = settings;
    const residual = flow.writesCells ? this.diagnostics.residual : undefined;
    this.skeleton = skeleton(
      set,
      "navier-stokes",
      sequenceOf(model, { dt, time, step, sides, boundaries, edges: flow.edges, residual, forcing, sampled }),
      { precision, occ, fuse, unroll },
    );
  }

  private get meanAxes(): MeanAxes {
    return this.flow.channel ? ["y"] : ["x", "y"];
  }

  /** Steps done. */
  get steps(): number {
    return this.skeleton.iteration;
  }

  /** Brings the flow back to its start. */
  async restart(): Promise<void> {
    const { model, fields, flow, settings } = this;
    const { axes, initial, initialOnDevices, step, gas } = flow;
    if (initialOnDevices && this.set.locals.every(({ device }) => device.capabilities.f64 && device.capabilities.f64Bits === undefined))
      await this.grid.run(initialOnDevices(model), { ...settings, precision: "strict" });
    else fields.w.fill((x, y, z, k) => initial(placeOf(axes[0], x), placeOf(axes[1], y), placeOf(axes[2], z), k));
    if (gas.heat)
      fields.T.fill((x, y, z) => {
        const [rho, mx, my, mz, E] = [0, 1, 2, 3, 4].map((k) => initial(placeOf(axes[0], x), placeOf(axes[1], y), placeOf(axes[2], z), k));
        return temperatureAt(gas, (E - (0.5 * (mx ** 2 + my ** 2 + mz ** 2)) / rho) / rho);
      });
    this.time.set(0);
    this.statistics?.clear();
    this.spectra?.clear();
    if ("dt" in step) this.dt.set(step.dt);
    const first = "dt" in step ? [] : chooseStep(model, this.dt, step.courant);
    const sense = model.isHybrid ? [divergence(model, true)] : [];
    for (const container of [...this.boundaries, ...sense, ...first]) await this.grid.run(container, settings);
  }

  /** Content for a checkpoint: all that further steps depend on, and the samples, unless they are left out. */
  checkpointed({ statistics = true, spectra = true }: { statistics?: boolean; spectra?: boolean } = {}): CheckpointedSequence {
    const { skeleton } = this;
    const left = [...(statistics ? [] : [this.statistics]), ...(spectra ? [] : [this.spectra])].filter((each) => each !== undefined);
    if (left.length === 0) return skeleton;
    const { name, state } = skeleton;
    const sums = new Set(left.flatMap((each) => each.sums));
    const counts = new Set<Scalar>(left.map(({ samples }) => samples));
    return {
      name,
      get iteration() {
        return skeleton.iteration;
      },
      set iteration(step) {
        skeleton.iteration = step;
      },
      state: {
        ...state,
        folded: state.folded.filter((each) => !sums.has(each)),
        scalars: state.scalars.filter((each) => !counts.has(each)),
      },
    };
  }

  /** Means of the samples over time; without samples, of the flow as it is now. */
  means(): Promise<Means> {
    return this.sampledOrNow(this.statistics, () => (this.presentStatistics ??= statisticsOf(this.model, this.meanAxes)));
  }

  /** Spectra of the velocity along x and z, where these are periodic: means of the samples; without samples, of the flow as it is now. */
  velocitySpectra(): Promise<ReadonlyMap<Spectral, Spectrum>> {
    return this.sampledOrNow(this.spectra, () => (this.presentSpectra ??= spectraOf(this.model, this.flow.axes)));
  }

  private async sampledOrNow<T>(sampled: Sampled<T> | undefined, present: () => Sampled<T>): Promise<T> {
    if (sampled && (await sampled.samples.get()) > 0) return sampled.read();
    const now = sampled ?? present();
    now.clear();
    for (const step of now.sample) await this.grid.run(step, this.settings);
    const found = await now.read();
    now.clear();
    return found;
  }

  /** Runs steps. Returns the seconds that they took. */
  async run(steps: number): Promise<number> {
    const { seconds } = await this.skeleton.run(steps);
    return seconds;
  }

  /** State of the flow after the last step. */
  async progress(): Promise<Progress> {
    const { grid, flow, forcing, settings, diagnostics } = this;
    const { containers, residual: sum } = diagnostics;
    for (const container of [...containers, ...(flow.writesCells ? [] : [sum])]) await grid.run(container, settings);
    const { minRho, maxRho, minT, maxT, minP, maxP, residual } = diagnostics.scalars;
    const dt = await this.dt.get();
    const square = flow.reference.speed ** 2;
    const cells = grid.extents.reduce((product, n) => product * n, 1);
    const extremes = async (least: Scalar, most: Scalar) => [await least.get(), await most.get()] as const;
    return {
      step: this.steps,
      dt,
      time: await this.time.get(),
      residual: Math.sqrt((await residual.get()) / cells) / dt / square,
      ...(forcing && { channel: await this.bulk(forcing, dt * square) }),
      density: await extremes(minRho, maxRho),
      temperature: await extremes(minT, maxT),
      pressure: await extremes(minP, maxP),
    };
  }

  /** Number of cells whose density or temperature is not above 0. */
  async brokenCells(): Promise<number> {
    const { cells, count } = this.diagnostics.broken;
    await this.grid.run(count, this.settings);
    return cells.get();
  }

  private async bulk({ bulk }: Forcing, scale: number): Promise<Progress["channel"]> {
    const [density, momentum] = [await bulk.density.get(), await bulk.momentum.get()];
    return {
      pressureGradient: -(await bulk.pressure.get()) / scale,
      density,
      velocity: momentum / density,
      temperature: (await bulk.heat.get()) / momentum,
    };
  }

  /** Frees the memory on the devices. */
  free(): void {
    this.skeleton.free();
    this.grid.free();
  }
}
