import type { Device, Graph, Queue, View } from "isoform";
import { IsoformError } from "isoform";
import { devices, ofFirstRank, onAnyRank, requireMemory, spansProcesses, type DeviceSet } from "isoform/set";
import { flowShares, sequenceOf, type SubFlow, type FlowShare as FlowPart, type Sequence } from "./compositions.js";
import { Diagnostics, type Measures } from "./diagnostics.js";
import { SumExchange, synchronise, type ExchangeStep } from "./exchange.js";
import { findLost } from "../particles/lost.js";
import type { Maxwell } from "../fields/maxwell.js";
import { joinedParts, MemberPart, type ReadValues } from "./part.js";
import { dimension, dofs } from "../mesh/mesh.js";
import type { Problem, Settings } from "./problem.js";
import { projectionMoments, type VectorField } from "../mesh/projection.js";
import { isSortable } from "./sorting.js";
import { loadSpecies, sharesOf, type Particles } from "../particles/species.js";
import { requireStep } from "./step-limit.js";
import type { QueueWork } from "../fields/workspace.js";

/**
 * State that a simulation goes on from: steps since the start, the settings on which later steps depend, and the values of E, B and each species; in
 * several processes, of the particles of this one.
 */
export interface State {
  readonly steps: number;
  readonly about: Readonly<Record<string, string | number>>;
  readonly arrays: readonly ReadValues[];
  /** The piece of each array that this is, in several processes; absent where it is whole. */
  readonly pieces?: readonly (Piece | undefined)[];
}

/** A piece of an array: its first value in the whole, and the length of that. */
interface Piece {
  readonly first: number;
  readonly whole: number;
}

/** Settings on which a state depends, name by name. */
function describe({ mesh: { axes, velocities }, species }: Problem, settings: Settings): State["about"] {
  const { count, dt, composition, layout, precision, sort } = settings;
  const each = species.map(({ name, charge, mass }) => [`species ${name}`, `of charge ${charge} and mass ${mass}`] as const);
  return {
    cells: axes.map(({ cells }) => cells).join(" x "),
    lengths: axes.map(({ length }) => length).join(" x "),
    degrees: axes.map(({ degree }) => degree).join(", "),
    velocities,
    ...Object.fromEntries(each),
    particles: count,
    "time step": dt,
    composition,
    layout,
    precision,
    "steps between sorts": sort,
  };
}

/**
 * Bytes of E, B, the current and two scratch fields of each member, and of all particles: positions, velocities and weight, and where they are sorted
 * six numbers and a copy of one column.
 */
function footprint({ mesh, species }: Problem, { count, sort }: Settings, members: number): number {
  const particle = 8 * (dimension(mesh) + mesh.velocities + 1) + (sort > 0 ? 6 * 4 + 8 : 0);
  return 8 * members * 9 * dofs(mesh) + species.length * count * particle;
}

/** Steps in a row that a graph has, or one that waits for other processes. */
type Stretch = Graph | ExchangeStep;

/**
 * A plasma on one or several devices. Each has all fields and its share of the particles; the currents are added up over all of them in the middle
 * of each motion. In strict mode bits depend on how many devices there are, for sums are in another order, and not on the processes that they
 * belong to. Several processes each create, run and measure it.
 */
export class Simulation {
  /** Steps since the start. */
  steps = 0;
  /** The step at which `requireSound` last found all particles sound. */
  private soundAt = 0;
  private readonly exchange?: SumExchange;
  private readonly diagnostics: Diagnostics;
  /** The work of steps in a row, and the graphs that it is captured in. */
  private readonly sequence: Record<keyof Sequence, ExchangeStep[]>;
  private readonly stretches: Partial<Record<keyof Sequence, readonly Stretch[]>> = {};

  private constructor(
    readonly set: DeviceSet,
    /** By member of this process. @internal */
    readonly parts: readonly MemberPart[],
    readonly problem: Problem,
    readonly settings: Settings,
  ) {
    const currents: View<"f64">[] = [];
    for (const { member, maxwell } of parts) currents[member.index] = maxwell.current;
    if (set.members.length > 1) this.exchange = new SumExchange(set, currents, settings.precision);
    this.diagnostics = new Diagnostics(set, parts, () => this.deposit());
    this.sequence = this.prepareSteps();
  }

  /**
   * Loads particles, solves for the fields at the start and prepares the step.
   * @throws IsoformError for a time step that is too long for the mesh, for settings that do not fit the problem, and for processes that do not agree
   * @throws LaunchError for what does not fit the devices' memory
   */
  static async create(on: Device | DeviceSet, problem: Problem, settings: Settings): Promise<Simulation> {
    requireMemory(on, {
      what: `pic with ${settings.count} particles and ${dofs(problem.mesh)} cells`,
      bytes: footprint(problem, settings, "members" in on ? on.members.length : 1),
      choose: "fewer --particles or --cells",
    });
    requireStep(problem, settings.dt);
    if (settings.sort > 0 && !isSortable(problem.mesh))
      throw new IsoformError("pic: particles are sorted by cell in three dimensions only: leave out --sort");
    const set = "members" in on ? on : await devices([on]);
    set.ranks?.requireAlike("the plasma of pic", JSON.stringify([describe(problem, settings), settings, problem.species]));
    const shares = sharesOf(settings, problem.mesh, set.members.length);
    const parts: MemberPart[] = [];
    try {
      for (const member of set.locals) parts.push(new MemberPart(member, problem, settings, shares[member.index]));
      const simulation = new Simulation(set, parts, problem, settings);
      const own = problem.species.map((_, n) => parts.map(({ species }) => species[n]));
      for (const shares of own) await loadSpecies(shares, set.ranks);
      await simulation.start();
      for (const { work } of parts) await work.tune();
      simulation.capture();
      return simulation;
    } catch (error) {
      for (const part of parts) part.free();
      throw error;
    }
  }

  /** Simulated time since the start. */
  get time(): number {
    return this.steps * this.settings.dt;
  }

  /** The first of the devices. */
  get device(): Device {
    return this.parts[0].member.device;
  }
  /** The fields on the first device. */
  get maxwell(): Maxwell {
    return this.parts[0].maxwell;
  }
  /** The particles on the first device. */
  get species(): readonly Particles[] {
    return this.parts[0].species;
  }

  /** Runs steps. Half steps of a flow that meet between two steps are done at once, so two runs round differently from one. */
  async run(steps: number): Promise<void> {
    this.set.ranks?.requireAlike("the steps of a run of pic", `${this.steps} ${steps}`);
    for (let n = 0; n < steps; n++) {
      if ((this.steps + n) % this.settings.sort === 0) this.sort();
      this.submit(n === 0 ? "start" : "between");
    }
    if (steps > 0) this.submit("end");
    await this.finish();
    this.steps += steps;
  }

  /** Energies, momentum, and how well Gauss' law and div B = 0 hold. */
  measure(): Promise<Measures> {
    return this.diagnostics.measure(this.time);
  }

  /** Throws IsoformError if a particle has left the box or has become no number: which one, and between which steps, or where. */
  async requireSound(where?: string): Promise<void> {
    const lost = await ofFirstRank(this.set, this.findLost(), "lost particles of pic");
    if (lost !== undefined) {
      const when =
        where ??
        (this.steps === 0
          ? "at the start"
          : this.soundAt === this.steps - 1
            ? `in step ${this.steps}`
            : `between steps ${this.soundAt} and ${this.steps} (--every 1 finds the step)`);
      throw new IsoformError(
        `pic: ${lost.some} were lost ${when}; the first of them, ${lost.first}: ask for a smaller --dt or --amplitude`,
      );
    }
    this.soundAt = this.steps;
  }

  /** Lost particles of this process, in words. */
  private async findLost(): Promise<{ readonly some: string; readonly first: string } | undefined> {
    for (const { work, species } of this.parts)
      for (const particles of species) {
        const lost = await findLost(work, this.problem.mesh, this.settings.dt, particles);
        if (!lost) continue;
        const { count, index, x, v } = lost;
        const { share, species: of } = particles;
        return {
          some: `${count} of ${share.count} particles of species "${of.name}"`,
          first: `particle ${share.first + index}, has x = [${x.join(", ")}], v = [${v.join(", ")}]`,
        };
      }
    return undefined;
  }

  /**
   * The amplitude of a Fourier mode along axis 1 of one component of E or B, constant along the others: of the field, not of its coefficients.
   * @param component from 0 on
   * @param mode waves along the axis
   */
  async mode(form: "e" | "b", component: number, mode: number): Promise<number> {
    return (await this.modes(form, component, [mode]))[0];
  }

  /** The amplitudes of several modes, as `mode` has them. */
  async modes(form: "e" | "b", component: number, modes: readonly number[]): Promise<number[]> {
    const values = await this.device.queue.read(this.maxwell[form].at(0, component));
    const amplitudes = modes.map((mode) => this.amplitude(values, (component === 0) === (form === "e"), mode));
    return (await this.set.ranks?.agree(amplitudes, "modes of pic")) ?? amplitudes;
  }

  /** @param isLower whether the splines along axis 1 are of the lower degree */
  private amplitude(values: ArrayLike<number>, isLower: boolean, mode: number): number {
    const [{ cells, degree }] = this.problem.mesh.axes;
    let [re, im] = [0, 0];
    for (let id = 0; id < values.length; id++) {
      const angle = (2 * Math.PI * ((mode * id) % cells)) / cells;
      re += values[id] * Math.cos(angle);
      im -= values[id] * Math.sin(angle);
    }
    // A spline of degree d is d + 1 boxes folded into each other.
    const half = (Math.PI * mode) / cells;
    const box = mode === 0 ? 1 : Math.sin(half) / half;
    const boxes = isLower ? degree : degree + 1;
    return (2 / values.length) * Math.hypot(re, im) * box ** boxes;
  }

  /** The charge density of all species against the splines of V0, in `maxwell.current` and on the host. */
  async density(): Promise<Float64Array> {
    await this.deposit();
    return (await this.parts[0].queue.read(this.maxwell.current)) as Float64Array;
  }

  /** Whether some process asks to stop; all of them ask. */
  stops(asked: boolean): Promise<boolean> {
    return onAnyRank(this.set, asked, "the end of a run of pic");
  }

  /**
   * Everything on which the next steps depend; in several processes, of this one. Particles of all devices come one after the other, so the state fits any
   * number of devices.
   */
  async state(): Promise<State> {
    const fields = this.parts[0].fields.map((view) => this.parts[0].queue.read(view));
    const own = this.parts[0].own.map((_, n) => joinedParts(this.parts.map((part) => part.queue.read(part.own[n]))));
    const { steps, about, pieces } = this;
    return { steps, about, arrays: await Promise.all([...fields, ...own]), ...(pieces && { pieces }) };
  }

  /** Values of each array of a state of this process. */
  get lengths(): readonly number[] {
    const [{ fields, own }] = this.parts;
    const sizes = own.map((_, n) => this.parts.reduce((sum, part) => sum + part.own[n].size, 0));
    return [...fields.map(({ size }) => size), ...sizes];
  }

  /** The piece of each array of a state that this process has, in several processes. */
  get pieces(): State["pieces"] {
    if (!spansProcesses(this.set)) return undefined;
    const { members } = this.set;
    const [{ fields, species, sortings, member }] = this.parts;
    const storages = species.map(({ storage, options, share }) => ({
      first: share.first * storage.shape[1],
      whole: options.count * storage.shape[1],
    }));
    const starts = sortings.map(({ start }) => ({ first: member.index * start.size, whole: members.length * start.size }));
    return [...fields.map(() => undefined), ...storages, ...starts];
  }

  /**
   * Goes back to a state of a simulation of the same problem and settings: the steps that follow give the same bits on as many devices. Throws
   * IsoformError for a state of another one, with what differs.
   */
  restore({ steps, about, arrays }: State): void {
    const here = this.about;
    const differs = Object.keys({ ...about, ...here }).filter((name) => about[name] !== here[name]);
    if (differs.length > 0) {
      const each = differs.map((name) => `${name} ${about[name] ?? "absent"} there, ${here[name] ?? "absent"} here`);
      throw new IsoformError(`pic: the saved state is of another run: ${each.join("; ")}: restart with what that run had`);
    }
    this.requireValues(arrays);
    const from = arrays.map(() => 0);
    for (const { fields, own, queue } of this.parts) {
      fields.forEach((view, n) => queue.write(view, arrays[n]));
      for (const [k, view] of own.entries()) {
        const n = fields.length + k;
        queue.write(view, arrays[n].subarray(from[n], (from[n] += view.size)));
      }
    }
    this.steps = steps;
    this.soundAt = steps;
  }

  /** Throws IsoformError for values that cannot be a state of these particles and fields: kernels do not check them. */
  private requireValues(arrays: State["arrays"]): void {
    const refuse = (problem: string): never => {
      throw new IsoformError(`pic: the saved state is damaged: ${problem}`);
    };
    const [{ fields, species }] = this.parts;
    const sizes = this.lengths;
    if (arrays.length !== sizes.length) refuse(`it has ${arrays.length} arrays in place of ${sizes.length}`);
    for (const [n, array] of arrays.entries()) {
      if (array.length !== sizes[n]) refuse(`array ${n} has ${array.length} values in place of ${sizes[n]}`);
      const odd = array.findIndex((value) => !Number.isFinite(value));
      if (odd >= 0) refuse(`value ${odd} of array ${n} is ${array[odd]}`);
    }
    for (const [n, starts] of arrays.slice(fields.length + species.length).entries()) {
      let at = 0;
      for (const part of this.parts) {
        const view = part.sortings[n].start;
        const own = starts.slice(at, (at += view.size));
        const rises = own.every((start, k) => Number.isInteger(start) && start >= (k === 0 ? 0 : own[k - 1]));
        if (!rises || own[own.length - 1] > part.species[n].share.count) refuse("cells begin beyond the particles");
      }
    }
  }

  /** Frees the memory on the devices. */
  free(): void {
    for (const stretch of Object.values(this.stretches).flat()) if ("free" in stretch) stretch.free();
    this.exchange?.free();
    for (const part of this.parts) part.free();
  }

  /** Sorted particles know where the particles of their device begin. */
  private get about(): State["about"] {
    const { length } = this.set.members;
    const sorted = this.settings.sort > 0 && length > 1;
    return { ...describe(this.problem, this.settings), ...(sorted && { devices: length }) };
  }

  private get queues(): Queue[] {
    return this.parts.map(({ queue }) => queue);
  }

  private async finish(): Promise<void> {
    for (const queue of this.queues) await queue.finish();
  }

  private submit(name: keyof Sequence): void {
    for (const stretch of this.stretches[name] ?? this.sequence[name])
      if ("do" in stretch) stretch.do();
      else this.queues[0].submit(stretch);
  }

  private sort(): void {
    synchronise(this.queues);
    for (const { sortings, queue } of this.parts) for (const sorting of sortings) sorting.sort(queue);
    synchronise(this.queues);
  }

  /** current := rho of all species on all devices */
  private async deposit(): Promise<void> {
    for (const part of this.parts) part.do(part.deposits);
    for (const step of this.exchange?.steps ?? []) step.do();
    await this.finish();
  }

  private async start(): Promise<void> {
    const { magnetic, mesh } = this.problem;
    for (const part of this.parts) {
      const { maxwell, queue } = part;
      const project = (form: "e" | "b", field: VectorField): void => {
        for (let k = 0; k < 3; k++) {
          queue.write(maxwell.current, projectionMoments(mesh, form, k, field));
          part.do(maxwell.mass(form, k, maxwell.current, maxwell[form].at(0, k), true));
        }
      };
      if (magnetic && "field" in magnetic) project("b", magnetic.field);
      if (magnetic && "potential" in magnetic) {
        project("e", magnetic.potential);
        part.do(maxwell.faraday(-1));
      }
    }
    await this.deposit();
    for (const part of this.parts) part.do(part.maxwell.poisson(part.maxwell.current));
    await this.finish();
  }

  private prepareSteps(): Record<keyof Sequence, ExchangeStep[]> {
    const { composition, dt } = this.settings;
    const made = new Map<string, ExchangeStep[]>();
    const stepsOf = ({ flow, share }: FlowPart): ExchangeStep[] => {
      const key = `${flow} ${share}`;
      const steps = made.get(key) ?? this.stepsOf(flow, share * dt);
      made.set(key, steps);
      return steps;
    };
    const { start, between, end } = sequenceOf(flowShares(composition, this.flows()));
    return { start: start.flatMap(stepsOf), between: between.flatMap(stepsOf), end: end.flatMap(stepsOf) };
  }

  /** One flow on all devices. */
  private stepsOf(flow: SubFlow, dt: number): ExchangeStep[] {
    const flows = this.parts.map((part) => ({ part, ...part.flow(flow, dt) }));
    const doing = (worksOf: (each: (typeof flows)[number]) => readonly QueueWork[]): ExchangeStep[] =>
      flows.map((each) => ({ do: () => each.part.do(worksOf(each)) }));
    const before = doing((each) => each.before);
    if (!flows[0].after) return before;
    return [...before, ...(this.exchange?.steps ?? []), ...doing(({ after = [] }) => after)];
  }

  /** Devices of one kind take a step as one graph, or as one from each wait for other processes to the next. */
  private capture(): void {
    const [first, ...others] = this.queues;
    if (others.some(({ device }) => device.backend !== first.device.backend)) return;
    for (const [name, steps] of Object.entries(this.sequence) as [keyof Sequence, ExchangeStep[]][]) {
      if (steps.length === 0) continue;
      this.stretches[name] = betweenWaits(steps).flatMap((list): Stretch[] =>
        list[0].waits ? list : [first.capture(() => list.forEach((step) => step.do()), others)],
      );
    }
  }

  /** Flows that change something. */
  private flows(): SubFlow[] {
    const { velocities } = this.problem.mesh;
    const motions = (["p1", "p2", "p3"] as const).slice(0, velocities);
    return ["E", ...(velocities > 1 ? (["B"] as const) : []), ...motions];
  }
}

/** Lists of steps without waits in between; a step that waits has a list of its own. */
function betweenWaits(steps: readonly ExchangeStep[]): ExchangeStep[][] {
  const lists: ExchangeStep[][] = [];
  for (const [n, step] of steps.entries())
    if (n === 0 || step.waits || steps[n - 1].waits) lists.push([step]);
    else lists.at(-1)!.push(step);
  return lists;
}
