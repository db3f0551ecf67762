import type { Device, Graph, Launch, LayoutName, Precision, View } from "isoform";
import { IsoformError } from "isoform";
import { partsOf, sequenceOf, type CompositionName, type Flow, type Part, type Sequence } from "./compositions.js";
import { Diagnostics, type Measures } from "./diagnostics.js";
import { findLost } from "./lost.js";
import { components, Maxwell } from "./maxwell.js";
import type { Mesh } from "./mesh.js";
import { along, cellSize, cyclic, eigenvalues, isPresent, massRow } from "./mesh.js";
import { depositKernel, kickKernel, pushKernel } from "./particles.js";
import { projectionMoments, type VectorField } from "./projection.js";
import { isSortable, Sorting } from "./sorting.js";
import { Particles, type Loading, type Species } from "./species.js";
import { Workspace, type Work } from "./workspace.js";

/** What is to be simulated: a periodic plasma at its start, in units of the electron's charge and mass, the plasma frequency and c = 1. */
export interface Problem {
  readonly mesh: Mesh;
  readonly species: readonly Species[];
  /** The magnetic field, projected as it is, or the vector potential, whose curl has no divergence at all. */
  readonly magnetic?: { readonly field: VectorField } | { readonly potential: VectorField };
}

export interface Settings {
  /** Particles of each species. */
  readonly count: number;
  readonly dt: number;
  readonly composition: CompositionName;
  readonly loading: Loading;
  /** Of the particles: `left` a column after the other, `right` a particle after the other. */
  readonly layout: LayoutName;
  readonly precision: Precision;
  /** Steps from one sort of the particles by cell to the next; 0 for never. */
  readonly sort: number;
}

export const DEFAULTS = {
  composition: "strang",
  loading: "sobol",
  layout: "left",
  precision: "fast",
  sort: 0,
} as const satisfies Partial<Settings>;

/** Steps since the start, what the steps that follow depend on beside the values, and the values of E, B and each species. */
export interface State {
  readonly steps: number;
  readonly about: Readonly<Record<string, string | number>>;
  readonly arrays: readonly ArrayLike<number>[];
}

/**
 * The largest step for which waves stay bounded: 2 / omega, omega^2 the square of the highest frequency of the discrete light waves, where
 * there are any, and that of the plasma.
 */
export function largestStep({ mesh: { axes, velocities }, species }: Problem): number {
  const light = axes.filter(isPresent).map((axis) => {
    const [upper, lower] = [axis.degree, axis.degree - 1].map((degree) => eigenvalues(massRow(axis, degree)));
    return Math.max(...lower.map((mu, m) => ((2 * Math.sin((Math.PI * m) / axis.cells)) / cellSize(axis)) ** 2 * (mu / upper[m])));
  });
  const plasma = species.map(({ charge, mass }) => charge ** 2 / mass);
  const squares = [...plasma, ...(velocities > 1 ? light : [])];
  return 2 / Math.sqrt(squares.reduce((a, b) => a + b, 0));
}

/** What a state depends on, name by name. */
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

const formulaOfLimit = ({ axes, velocities }: Mesh): string => {
  if (velocities === 1) return "2 / omega, omega^2 the sum of q^2 / m over the species";
  const sizes = axes.filter(isPresent).map((axis, a) => `h_${a + 1} = ${cellSize(axis).toPrecision(4)}`);
  const p = axes[0].degree;
  return (
    `2 / omega, omega^2 the sum of q^2 / m over the species and of the largest (2 sin(theta / 2) / h_a)^2 mu_${p - 1}(theta) / mu_${p}(theta) ` +
    `over the axes, mu_d(theta) the eigenvalues of the mass matrix of splines of degree d; ${sizes.join(", ")}`
  );
};

/** A plasma on a device: particles and fields, and the launches of a time step. */
export class Simulation {
  readonly maxwell: Maxwell;
  readonly species: readonly Particles[];
  /** Steps since the start. */
  steps = 0;
  /** The step at which `requireSound` last found all particles sound. */
  private soundAt = 0;
  /** Of each species, where they are sorted. */
  private readonly sortings: readonly Sorting[];
  private readonly deposits: Work[];
  private readonly diagnostics: Diagnostics;
  /** The work of steps in a row, and the graphs that it is captured in. */
  private readonly sequence: Record<keyof Sequence, Work[]>;
  private readonly graphs: Partial<Record<keyof Sequence, Graph>> = {};

  private constructor(
    private readonly work: Workspace,
    readonly device: Device,
    readonly problem: Problem,
    readonly settings: Settings,
  ) {
    const { mesh, species } = problem;
    this.maxwell = new Maxwell(this.work, mesh);
    this.species = species.map((each) => new Particles(this.work, mesh, each, settings));
    this.sortings = settings.sort > 0 ? this.species.map((each) => work.own(new Sorting(device, mesh, each, settings.precision))) : [];
    this.deposits = this.depositCharge();
    this.diagnostics = new Diagnostics(work, this.maxwell, this.species, this.deposits);
    this.sequence = this.prepareSteps();
  }

  /** Loads particles, solves for the fields at the start and prepares the step. Throws IsoformError for a step that is too long. */
  static async create(device: Device, problem: Problem, settings: Settings): Promise<Simulation> {
    const limit = largestStep(problem);
    if (!(Math.abs(settings.dt) < limit))
      throw new IsoformError(
        `pic: a time step of ${settings.dt} makes waves grow without bounds: it must be less than ${limit.toPrecision(4)}, which is ${formulaOfLimit(problem.mesh)}`,
      );
    if (settings.sort > 0 && !isSortable(problem.mesh))
      throw new IsoformError("pic: particles are sorted by cell in three dimensions only: leave out --sort");
    const work = new Workspace(device, settings.precision);
    try {
      const simulation = new Simulation(work, device, problem, settings);
      for (const particles of simulation.species) await particles.load();
      await simulation.start();
      await work.tune();
      simulation.capture();
      return simulation;
    } catch (error) {
      work.free();
      throw error;
    }
  }

  get time(): number {
    return this.steps * this.settings.dt;
  }

  /** Goes on by some steps. Halves of flows that meet between two of them are done at once, so two runs round otherwise than one. */
  async run(steps: number): Promise<void> {
    const { queue } = this.device;
    const { start, between, end } = this.graphs;
    for (let n = 0; n < steps; n++) {
      if ((this.steps + n) % this.settings.sort === 0) for (const sorting of this.sortings) sorting.sort(queue);
      queue.submit(n === 0 ? start! : between!);
    }
    if (end && steps > 0) queue.submit(end);
    await queue.finish();
    this.steps += steps;
  }

  /** Energies, momentum, and how well Gauss' law and div B = 0 are kept. */
  measure(): Promise<Measures> {
    return this.diagnostics.measure(this.time);
  }

  /** Throws IsoformError where a particle has left the box or has become no number: which one, and between which steps. */
  async requireSound(): Promise<void> {
    const { mesh } = this.problem;
    for (const particles of this.species) {
      const lost = await findLost(this.work, mesh, this.settings.dt, particles);
      if (!lost) continue;
      const { count, index, x, v } = lost;
      const when = this.steps === 0 ? "at the start" : `between steps ${this.soundAt} and ${this.steps}`;
      throw new IsoformError(
        `pic: ${count} of ${particles.options.count} particles of species "${particles.species.name}" were lost ${when}; the first of them, ` +
          `particle ${index}, has x = [${x.join(", ")}], v = [${v.join(", ")}]: ask for a smaller --dt or --amplitude`,
      );
    }
    this.soundAt = this.steps;
  }

  /** The amplitude of a Fourier mode along axis 1 of one component of E or B, constant along the others: that of the field, not of its coefficients. */
  async mode(form: "e" | "b", component: number, mode: number): Promise<number> {
    const values = await this.device.queue.read(this.maxwell[form].at(0, component));
    const [{ cells, degree }] = this.problem.mesh.axes;
    let [re, im] = [0, 0];
    for (const [id, value] of values.entries()) {
      const angle = (2 * Math.PI * ((mode * id) % cells)) / cells;
      re += value * Math.cos(angle);
      im -= value * Math.sin(angle);
    }
    // A spline of degree d is d + 1 boxes folded into each other.
    const half = (Math.PI * mode) / cells;
    const box = mode === 0 ? 1 : Math.sin(half) / half;
    const boxes = (component === 0) === (form === "e") ? degree : degree + 1;
    return (2 / values.length) * Math.hypot(re, im) * box ** boxes;
  }

  /** The charge density of all species against the splines of V0, in `maxwell.current` and on the host. */
  async density(): Promise<Float64Array> {
    this.work.do(this.deposits);
    return (await this.device.queue.read(this.maxwell.current)) as Float64Array;
  }

  /** All that the next steps depend on. */
  async state(): Promise<State> {
    const { queue } = this.device;
    return {
      steps: this.steps,
      about: describe(this.problem, this.settings),
      arrays: await Promise.all(this.saved.map((view) => queue.read(view))),
    };
  }

  /** What the arrays of a state hold. */
  private get saved(): readonly View[] {
    const { e, b } = this.maxwell;
    return [e, b, ...this.species.map(({ storage }) => storage), ...this.sortings.map(({ start }) => start)];
  }

  /**
   * Goes back to a state of a simulation of the same problem and settings: the steps that follow give the same bits. Throws IsoformError for a
   * state of another one, with what differs.
   */
  restore({ steps, about, arrays }: State): void {
    const { queue } = this.device;
    const here = describe(this.problem, this.settings);
    const differs = Object.keys({ ...about, ...here }).filter((name) => about[name] !== here[name]);
    if (differs.length > 0) {
      const each = differs.map((name) => `${name} ${about[name] ?? "absent"} there, ${here[name] ?? "absent"} here`);
      throw new IsoformError(`pic: the saved state is of another run: ${each.join("; ")}: restart with what that run had`);
    }
    this.saved.forEach((view, n) => queue.write(view, arrays[n]));
    this.steps = steps;
    this.soundAt = steps;
  }

  free(): void {
    this.work.free();
  }

  private async start(): Promise<void> {
    const { maxwell, work, problem, device } = this;
    const { magnetic, mesh } = problem;
    const { queue } = device;
    const project = (form: "e" | "b", field: VectorField): void => {
      for (let k = 0; k < 3; k++) {
        queue.write(maxwell.current, projectionMoments(mesh, form, k, field));
        work.do(maxwell.mass(form, k, maxwell.current, maxwell[form].at(0, k), true));
      }
    };
    if (magnetic && "field" in magnetic) project("b", magnetic.field);
    if (magnetic && "potential" in magnetic) {
      project("e", magnetic.potential);
      work.do(maxwell.faraday(-1));
    }
    work.do([...this.deposits, ...maxwell.poisson(maxwell.current)]);
    await queue.finish();
  }

  /** current := rho of all species */
  private depositCharge(): Work[] {
    const { mesh } = this.problem;
    const rho = this.maxwell.current;
    const [ha, hb, hc] = mesh.axes.map(cellSize);
    const [na, nb, nc] = mesh.axes.map(({ cells }) => cells);
    const kernel = depositKernel(mesh);
    return [
      (queue) => queue.clear(rho),
      ...this.species.map(({ species: { charge }, x: [xa, xb, xc], w, policy }) =>
        this.work.work(kernel, { ha, hb, hc, na, nb, nc, xa, xb, xc, charge, w, rho: along(rho, 0) }, policy),
      ),
    ];
  }

  private prepareSteps(): Record<keyof Sequence, Work[]> {
    const { composition, dt } = this.settings;
    const made = new Map<string, Work[]>();
    const workOf = ({ flow, share }: Part): Work[] => {
      const key = `${flow} ${share}`;
      const works = made.get(key) ?? this.workOf(flow, share * dt);
      made.set(key, works);
      return works;
    };
    const { start, between, end } = sequenceOf(partsOf(composition, this.flows()));
    return { start: start.flatMap(workOf), between: between.flatMap(workOf), end: end.flatMap(workOf) };
  }

  private capture(): void {
    const { queue } = this.device;
    for (const [name, works] of Object.entries(this.sequence) as [keyof Sequence, Work[]][])
      if (works.length > 0) this.graphs[name] = this.work.own(queue.capture(() => works.forEach((work) => work(queue))));
  }

  /** Those flows that change something. */
  private flows(): Flow[] {
    const { velocities } = this.problem.mesh;
    const motions = (["p1", "p2", "p3"] as const).slice(0, velocities);
    return ["E", ...(velocities > 1 ? (["B"] as const) : []), ...motions];
  }

  private workOf(flow: Flow, dt: number): Work[] {
    if (flow === "E") return [...this.kick(dt), ...this.maxwell.faraday(dt)];
    if (flow === "B") return this.maxwell.ampere(dt);
    return this.push(Number(flow[1]) - 1, dt);
  }

  private kick(dt: number): Work[] {
    const { mesh } = this.problem;
    const [ha, hb, hc] = mesh.axes.map(cellSize);
    const [e1, e2, e3] = [0, 1, 2].map((a) => along(this.maxwell.e.at(0, a), 0));
    const kernel = kickKernel(mesh);
    return this.species.map(({ species: { charge, mass }, x: [xa, xb, xc], v: [v1, v2, v3], policy }, n) => {
      const particles = { xa, xb, xc, v1, v2, v3, velocities: mesh.velocities, factor: (dt * charge) / mass };
      const args = { ...particles, ha, hb, hc, e1, e2, e3 };
      return this.work.submits(this.sortings[n]?.kick(args) ?? this.work.launch(kernel, args, policy));
    });
  }

  private push(direction: number, dt: number): Work[] {
    const { current } = this.maxwell;
    return [
      (queue) => queue.clear(current),
      ...this.species.map((particles, n) => {
        const sorted = this.sortings[n]?.push(direction, this.pushArguments(particles, direction, dt));
        return this.work.submits(sorted ?? this.pushLaunch(particles, direction, dt));
      }),
      ...this.maxwell.absorbCurrent(direction),
    ];
  }

  /** A launch, the caller's, that moves a species along one axis, 0 to 2, over dt, and adds to `maxwell.current`. */
  pushLaunch(particles: Particles, direction: number, dt: number): Launch {
    const kernel = pushKernel(this.problem.mesh, direction);
    return this.work.launch(kernel, this.pushArguments(particles, direction, dt), particles.policy);
  }

  /** Those of `pushKernel`. */
  pushArguments({ species, x, v, w }: Particles, direction: number, dt: number) {
    const { mesh } = this.problem;
    const { b: field, current } = this.maxwell;
    const { magnetic } = components(mesh.velocities);
    const { charge, mass } = species;
    const [a, b, c] = cyclic(direction);
    const [ha, hb, hc] = [a, b, c].map((axis) => cellSize(mesh.axes[axis]));
    return {
      dt,
      charge,
      ratio: charge / mass,
      ha,
      hb,
      hc,
      length: mesh.axes[a].length,
      xa: x[a],
      xb: x[b],
      xc: x[c],
      va: v[a],
      vb: v[b],
      vc: v[c],
      w,
      fieldB: along(field.at(0, b), a),
      fieldC: along(field.at(0, c), a),
      turnsC: magnetic.includes(b),
      turnsB: magnetic.includes(c),
      j: along(current, a),
    };
  }
}
