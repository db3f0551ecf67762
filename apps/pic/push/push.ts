import type { Device, Launch, Precision } from "isoform";
import { f64, open, View } from "isoform";
import { CASES } from "../simulation/cases.js";
import { dofs } from "../mesh/mesh.js";
import type { MemberPart } from "../simulation/part.js";
import { pushKernel } from "../particles/particles.js";
import { DEFAULTS } from "../simulation/problem.js";
import { Simulation } from "../simulation/simulation.js";
import { Sorting } from "../simulation/sorting.js";

/** How currents come together: a scatter strategy, the one that the library chooses, or particles sorted by cell and a team for each cell. */
export const DEPOSITS = ["auto", "atomic", "duplicated", "cached", "sorted", "cells"] as const;
export type DepositWay = (typeof DEPOSITS)[number];

/** How the values of a particle lie in memory. */
export const LAYOUTS = { soa: "left", aos: "right" } as const;
export type Layout = keyof typeof LAYOUTS;

export interface PushOptions {
  readonly deposit: DepositWay;
  readonly layout: Layout;
  readonly precision: Precision;
  readonly particles: number;
  /** Particles are so fast along axis 1 that every eighth one changes its cell. */
  readonly hot: boolean;
}

export const TIME_STEP = 0.05;

/**
 * Bytes of memory that a particle takes and gives back in a call: of columns x_1, v_2 and v_3 are written, of whole particles all is, for each line of
 * memory holds something that changes.
 */
export const BYTES_PER_PARTICLE = { soa: 80, aos: 112 } as const;

/** Result of a call: velocities 2 and 3 of all particles, and the current as [x_1][x_2][x_3]. */
interface PushResult {
  readonly v2: ArrayLike<number>;
  readonly v3: ArrayLike<number>;
  readonly current: ArrayLike<number>;
}

/** Result of one worker in element order. */
export interface Expected extends PushResult {
  /** The mean coefficient of the current if all particles flew forwards: what rounding errors are measured by. */
  readonly scale: number;
}

/** Result of `Push.inputs`. */
export interface PushInputs {
  readonly particles: Float64Array;
  readonly b2: ArrayLike<number>;
  readonly b3: ArrayLike<number>;
  readonly dt: number;
  readonly charge: number;
  readonly ratio: number;
  readonly length: number;
  readonly cells: readonly number[];
}

/**
 * Largest differences: of velocities, and of the current relative to the mean coefficient that it would have if all particles flew forwards.
 * Currents of a plasma at rest nearly cancel, the better the more particles there are; their rounding errors do not.
 */
export interface Difference {
  readonly velocity: number;
  readonly current: number;
}

/**
 * Differences that contraction and the order of additions may cause: of velocities in units of the speed of light, of the current as
 * `Difference` has it. A particle's integral is h (P(to) - P(from)) of primitives P <= 1, each 5 roundings off at most, so 10 u h, where
 * particles fly h / 160 on average. A coefficient gathers the particles of three cells, so it is 3 * 160 * 10 u = 5e-13 off if all errors
 * have one sign, however many particles there are. Additions round off less, because their terms nearly cancel.
 */
export function tolerances({ capabilities }: Device): Difference {
  // As many bits fewer as numbers have that are the sum of two f32.
  const coarser = 2 ** (53 - (capabilities.f64Bits ?? 53));
  return { velocity: 1e-16 * coarser, current: 1e-12 * coarser };
}

type PushArguments = ReturnType<MemberPart["pushArguments"]>;

function settingsOf({ particles, layout, precision, hot }: PushOptions) {
  const { problem, defaults } = CASES.find(({ name }) => name === (hot ? "3d3v-hot" : "3d3v"))!;
  return {
    problem: problem(defaults),
    settings: { ...DEFAULTS, count: particles, dt: TIME_STEP, layout: LAYOUTS[layout], precision },
  };
}

/** The operator H_p1 alone: the benchmark of Artigues, Kormann, Rampp and Reuter (2019), cubic splines on 16 x 8 x 8 cells. */
export class Push {
  /** A time step forwards, and one back, so that particles stay where they are in the course of many. */
  private readonly launches: readonly [forwards: Launch, back: Launch];

  private readonly args: PushArguments;

  private constructor(
    private readonly simulation: Simulation,
    readonly options: PushOptions,
    private readonly sorting?: Sorting,
  ) {
    const { deposit, precision } = options;
    const { mesh } = simulation.problem;
    const { device, species } = simulation;
    const prepare = (args: PushArguments): Launch => {
      if (sorting) return sorting.push(0, args);
      const scatter = deposit === "auto" || deposit === "cells" ? undefined : deposit;
      return device.prepare(pushKernel(mesh, 0), args, species[0].policy, { precision, scatter });
    };
    this.args = simulation.parts[0].pushArguments(species[0], 0, TIME_STEP);
    this.launches = [prepare(this.args), prepare({ ...this.args, dt: -TIME_STEP })];
  }

  /** Loads particles, and sorts them where they are to be. Throws LaunchError for a strategy that the device has not. */
  static async create(device: Device, options: PushOptions): Promise<Push> {
    const { problem, settings } = settingsOf(options);
    const simulation = await Simulation.create(device, problem, settings);
    try {
      const sorting = options.deposit === "cells" ? new Sorting(device, problem.mesh, simulation.species[0], options.precision) : undefined;
      sorting?.sort();
      return new Push(simulation, options, sorting);
    } catch (error) {
      simulation.free();
      throw error;
    }
  }

  /** Decisions about the launch, a line each. */
  get remarks(): readonly string[] {
    return this.launches[0].remarks;
  }

  /** For other implementations: the particles, [7][particles] or, as `aos`, [particles][7], fields as [x_3][x_2][x_1], and numbers. */
  async inputs(): Promise<PushInputs> {
    const { device, species, maxwell } = this.simulation;
    const [{ storage }] = species;
    const [count, width] = storage.shape;
    const particles = new Float64Array(new SharedArrayBuffer(8 * count * width));
    if (this.options.layout === "aos") particles.set(await device.queue.read(storage));
    else for (let k = 0; k < width; k++) particles.set(await device.queue.read(storage.at(1, k)), k * count);
    const [b2, b3] = [await device.queue.read(maxwell.b.at(0, 1)), await device.queue.read(maxwell.b.at(0, 2))];
    const { dt, charge, ratio, length, fieldB } = this.args;
    return { particles, b2, b3, dt, charge, ratio, length, cells: fieldB.shape };
  }

  /** Some calls, forwards and back by turns. Returns the device's seconds of each, including the clearing of the current. */
  async run(calls: number): Promise<number[]> {
    return this.secondsOf(calls, (n) => this.submit(n % 2 === 0));
  }

  /** Sorts the particles again, some times. Returns the device's seconds of each; undefined if they are not sorted. */
  async sort(times: number): Promise<number[] | undefined> {
    const { sorting } = this;
    return sorting && this.secondsOf(times, () => sorting.sort());
  }

  /** Result of one call. */
  async result(): Promise<PushResult> {
    this.submit(true);
    const result = await read(this.simulation.device, this.args);
    this.submit(false);
    return result;
  }

  /** The same by one worker of the device `js`, in element order. */
  async expected(): Promise<Expected> {
    const { simulation, args } = this;
    const { queue } = simulation.device;
    queue.clear(simulation.maxwell.current);
    const host = await open("js");
    try {
      const copies: Record<string, unknown> = { ...args };
      for (const [name, value] of Object.entries(args))
        if (value instanceof View) copies[name] = host.from(f64, await queue.read(value), value.shape);
      const same = copies as typeof args;
      const { policy } = simulation.species[0];
      await host.run(pushKernel(simulation.problem.mesh, 0), same, policy, { precision: "strict", scatter: "sorted" });
      const [v, w] = [await queue.read(args.va), await queue.read(args.w)];
      let moved = 0;
      for (let i = 0; i < w.length; i++) moved += Math.abs(args.charge * w[i] * args.dt * v[i]);
      return { ...(await read(host, same)), scale: moved / dofs(simulation.problem.mesh) };
    } finally {
      await host.close();
    }
  }

  free(): void {
    for (const launch of this.launches) launch.free();
    this.sorting?.free();
    this.simulation.free();
  }

  private async secondsOf(times: number, submit: (n: number) => void): Promise<number[]> {
    const { queue } = this.simulation.device;
    const marks = [queue.record()];
    for (let n = 0; n < times; n++) {
      submit(n);
      marks.push(queue.record());
    }
    return Promise.all(marks.slice(1).map((mark, n) => mark.since(marks[n])));
  }

  private submit(forwards: boolean): void {
    const { device, maxwell } = this.simulation;
    device.queue.clear(maxwell.current);
    device.queue.submit(this.launches[forwards ? 0 : 1]);
  }
}

async function read({ queue }: Device, { vb, vc, j }: PushArguments): Promise<PushResult> {
  return { v2: await queue.read(vb), v3: await queue.read(vc), current: await queue.read(j) };
}

export function difference(result: PushResult, expected: Expected): Difference {
  const most = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
    let off = 0;
    for (let i = 0; i < a.length; i++) off = Math.max(off, Math.abs(a[i] - b[i]));
    return off;
  };
  return {
    velocity: Math.max(most(result.v2, expected.v2), most(result.v3, expected.v3)),
    current: most(result.current, expected.current) / expected.scale,
  };
}

/** False for NaN, too. */
export const agrees = (off: Difference, most: Difference): boolean => off.velocity <= most.velocity && off.current <= most.current;
