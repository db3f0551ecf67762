import type { Device, LayoutName, Precision, View } from "isoform";
import { LaunchError } from "isoform";
import type { DeviceSet } from "isoform/set";
import { devices, requireMemory } from "isoform/set";
import type { CheckpointedArray } from "isoform/io";
import type { Progress } from "isoform/portability";
import type { Part } from "./division.js";
import { divide, isTiled } from "./division.js";
import type { CoefficientType } from "./coefficients.js";
import { requireCoefficients } from "./coefficients.js";
import type { FormOptions, Sorted } from "./copies.js";
import { fusedFootprint, makeCopies } from "./copies.js";
import { Engine, shareOf } from "./engine.js";
import type { Norm } from "./fused.js";
import { fusedForm } from "./fused.js";
import type { Bidiagonalisation, LaunchStep, Solution, SolveOptions } from "./lsqr.js";
import { Lsqr } from "./lsqr.js";
import type { MemoryPlan } from "./memory.js";
import { planFor } from "./memory.js";
import { paperForm } from "./paper.js";
import type { Probes } from "./probes.js";
import { probeErrors, requireProbes, writeProbe } from "./probes.js";
import type { RefinementPlace } from "./refinement.js";
import { Refinement } from "./refinement.js";
import { orderRows } from "./row-order.js";
import type { ScanningOptions, ScanningSource } from "./scanning/index.js";
import { scanningRows } from "./scanning/index.js";
import type { Convergence } from "./section-steps.js";
import { SectionSteps, stepsFootprint } from "./section-steps.js";
import type { Globals, Shape } from "./shape.js";
import { publishedShape, requirePublishedSize, scaledShape, sections, sharedUnknowns } from "./shape.js";
import type { SimulatedName } from "./simulated.js";
import { SIMULATED, SMALLER, simulatedRows } from "./simulated.js";
import type { RowSource } from "./source.js";
import type { System } from "./system.js";
import { createSystems, readWhole, requireRoom } from "./system.js";
import type { Sides } from "./sides.js";
import type { Copies } from "./tiles.js";
import type { Deviation } from "./validate.js";
import { deviation } from "./validate.js";

/** How coefficients lie in memory: a row together, or each column of the row as a plane over all rows. */
export const LAYOUTS = { rows: "right", planes: "left" } as const satisfies Record<string, LayoutName>;
/** How coefficients lie in memory: `rows` keeps each row together, `planes` makes a plane over all rows of each column. */
export type Layout = keyof typeof LAYOUTS;

interface Form {
  layout(device: Device): Layout;
  /** Bytes of device memory beside the system and the solver's vectors. */
  footprint(shape: Shape): number;
  /** Sections that come from sorted copies; absent for the form that runs on one device. */
  readonly sorted?: Sorted;
}

const fused = (sorted: Sorted): Form => ({
  // Neighbouring threads of a GPU read neighbouring rows; a core reads one row after the other.
  layout: ({ memory, onHost }) => (memory.name === "cpu" || onHost ? "rows" : "planes"),
  footprint: (shape) => fusedFootprint(shape, sorted),
  sorted,
});

/** How the products with A and its transpose are cut into kernels: see paper.ts and fused.ts. */
export const FORMS = {
  paper: { layout: () => "rows", footprint: () => 0 },
  fused: fused({ attitude: "scattered", instrument: "scattered" }),
  sorted: fused({ attitude: "copied", instrument: "scattered" }),
  gathered: fused({ attitude: "copied", instrument: "copied" }),
  ordered: fused({ attitude: "ordered", instrument: "copied" }),
  factored: fused({ attitude: "ordered", instrument: "copied", factored: true }),
} satisfies Record<string, Form>;
/**
 * How the products with A and its transpose become kernels: `paper` has the kernels of the published program, `fused` does both in one sweep over the
 * rows, `sorted` sums up the attitude's part of A^T u from a sorted copy in place of atomic additions, `gathered` the instrument's part as well, and
 * `ordered` has rows in the order of the attitude's knots, and sorted copies for stars and instrument. `factored` is the same with rows as the few numbers
 * that their coefficients are made of, where the source has them.
 */
export type FormName = keyof typeof FORMS;

/** Forms that systems of every generator take: `factored` is for rows that have factors. */
export const GENERAL_FORMS: readonly FormName[] = Object.entries<Form>(FORMS)
  .filter(([, { sorted }]) => !sorted?.factored)
  .map(([name]) => name as FormName);

/**
 * Rows of a start knot, on average, from which on a team for each pays: on an H200 `ordered` takes 1.08 of the time of `gathered` with 19 rows, 0.88 with 200.
 * Between these nothing was measured.
 */
const FEWEST_OF_KNOT = 64;

/** A form whose iterations have coefficients of a type, with the memory of a record of its convergence where there is to be one. */
function formOf(name: FormName, coefficients: CoefficientType, convergence: boolean): Form {
  const plain: Form = FORMS[name];
  const form = coefficients === "f32" && plain.sorted ? fused({ ...plain.sorted, coefficients }) : plain;
  return convergence ? { ...form, footprint: (shape) => form.footprint(shape) + stepsFootprint(shape) } : form;
}

/** The fastest form, as measured, that a device has room for: the README of apps/gsr has the table. */
export function fastestForm(device: Device, source: RowSource, coefficients: CoefficientType = "f64", convergence = false): FormName {
  if (device.memory.name === "cpu") return "fused";
  const { observations, knots } = source.shape;
  const crowded = observations >= FEWEST_OF_KNOT * knots;
  const forms: readonly FormName[] = crowded ? [...(source.hasFactors ? (["factored"] as const) : []), "ordered"] : ["gathered"];
  return forms.find((form) => hasRoom(device, source, formOf(form, coefficients, convergence))) ?? "fused";
}

function hasRoom(device: Device, source: RowSource, form: Form): boolean {
  try {
    requireRoom(device, source, form.footprint(source.shape));
    return true;
  } catch {
    return false;
  }
}

/** Options of `Solver.create`. */
export interface SolverOptions {
  /** Seed of the generators that have one, a u32. Default: 0. */
  seed?: number;
  /** Default: `paper`; `fastest` takes what `fastestForm` says. */
  form?: FormName | "fastest";
  /** Layout of the coefficients. Default: the one that suits the form and the device. */
  layout?: Layout;
  /** Default: `fast`. */
  precision?: Precision;
  /** Type of the coefficients that iterations read; `f32` is for all forms but `paper`, in fast mode. Default: `f64`. */
  coefficients?: CoefficientType;
  /** Corrections of a solution with coefficients in f32, at most. Default: as many as the solution needs. */
  corrections?: number;
  /** How alpha is found; `merged` is for all forms but `paper`. Default: `separate`. */
  norm?: Norm;
  /**
   * Right-hand sides that probes are solved for together, in one pass over the matrix; all forms but `paper` can, with the norm `separate`. Default: `most`, as
   * many as fit.
   */
  sides?: Sides | "most";
  /** Told what memory the system needs, before any of it is allocated. */
  onPlan?(plan: MemoryPlan): void;
  /** Whether `solve` is to record its convergence, which takes one more vector of unknowns. Default: false. */
  convergence?: boolean;
}

/** A system of random coefficients with the structure of the published one. */
export interface SimulatedOptions {
  /** Size of the system in GiB, as the published program counts it: 0.001 to 460; with the generator `published`, 0.556 or more. */
  gib: number;
  /** Default: `parallel`. */
  generator?: SimulatedName;
  /** Number of global unknowns. Default: 0, as in production. */
  globals?: Globals;
}

/** A system of stars observed by the mission's scanning law. */
export interface ScanningSystemOptions extends ScanningOptions {
  generator: "scanning";
}

/** The generators by name. */
export const GENERATORS = ["scanning", ...SIMULATED] as const;
/** `scanning`: stars observed by the mission's scanning law; `parallel` and `published`: random coefficients, see `SimulatedName`. */
export type GeneratorName = (typeof GENERATORS)[number];

/** Numbers of stars, observations and unknowns for a size and a generator of random coefficients. Throws LaunchError for a size that it does not make. */
export function shapeOf({ gib, generator = "parallel", globals }: SimulatedOptions): Shape {
  if (generator === "parallel") return scaledShape(gib, globals);
  requirePublishedSize(gib, globals);
  return publishedShape(gib, globals);
}

/** A set, or one device as a set. */
const setOf = async (on: DeviceSet | Device): Promise<DeviceSet> => ("members" in on ? on : devices(on));

/**
 * Whether copies of what members share must be computed in strict mode to stay alike: devices of other kinds round otherwise, and processes decide by their
 * own copies when to end. Devices of one kind in one process leave the same, or differ in a last bit, and the first one decides. Strict sums over shared
 * unknowns take .4 ms of an iteration on an H200.
 */
const mayDiffer = ({ ranks, locals: [first, ...others] }: DeviceSet): boolean =>
  ranks !== undefined || others.some(({ device }) => device.label !== first.device.label);

/** Results of probes that were solved for together. */
interface ProbesTogether {
  /** A draw of the errors by each; none where `pause` has ended the solution. */
  readonly draws: readonly Float64Array[];
  /** How each has ended. */
  readonly solutions: readonly Solution[];
}

/** A system on a set of devices, with the solver for it: `solve` may be called again. In several processes all call each function. */
export class Solver {
  private more?: Engine;
  private refinement?: Refinement;

  private constructor(
    readonly set: DeviceSet,
    readonly form: FormName,
    /** The same for the whole system. */
    readonly shape: Shape,
    /** Stars, times and sizes of the system, with the generator `scanning`. */
    readonly scanning: ScanningSource | undefined,
    private readonly seed: number,
    /** Stars of each member. */
    readonly parts: readonly Part[],
    /** Right-hand sides that probes are solved for together. */
    readonly sides: Sides,
    private readonly one: Engine,
    /** Makes another engine. */
    private readonly engineOf: (sides: number) => Promise<Engine>,
    private readonly owned: readonly { free(): void }[],
  ) {}

  /** Generates and scales the system and prepares the solver. Throws LaunchError for a size that does not fit, or leaves unknowns undetermined. */
  static async create(
    on: DeviceSet | Device,
    options: SolverOptions & (SimulatedOptions | ScanningSystemOptions),
    progress?: Progress,
  ): Promise<Solver> {
    const { seed = 0 } = options;
    const source =
      options.generator === "scanning" ? await scanningRows(on, options, seed) : simulatedSource(on, options as SimulatedOptions, seed);
    return Solver.of(on, source, options, progress);
  }

  /** Prepares the solver for rows that exist. Throws LaunchError for a size that does not fit, and for `paper` on several devices. */
  static async of(
    on: DeviceSet | Device,
    source: RowSource | ScanningSource,
    options: SolverOptions,
    progress?: Progress,
  ): Promise<Solver> {
    const set = await setOf(on);
    const { seed = 0, norm = "separate" } = options;
    const [{ device }] = set.locals;
    const precision = options.precision ?? device.precision;
    const { coefficients = "f64", convergence = false } = options;
    const form = options.form === "fastest" ? fastestFormOn(set, source, coefficients, convergence) : (options.form ?? "paper");
    const made = formOf(form, coefficients, convergence);
    const { layout, sorted } = made;
    requireForm(set, form, norm);
    if (precision === "strict") requireGathered(set, source.shape, form, made);
    requireCoefficients(coefficients, precision, form, "transits" in source ? source.frameIsFixed : true);
    if (sorted?.factored && !source.hasFactors)
      throw new LaunchError("rows of this system are not made of factors: take the form ordered in place of factored");
    const parts = divide(source.starRow, set.members.length, isTiled(precision, form));
    const plan = await planFor({ set, source, parts, form }, made, options.sides ?? "most", norm);
    options.onPlan?.(plan);
    const launch: FormOptions = { rows: { precision }, alike: { precision: mayDiffer(set) ? "strict" : precision } };
    const layoutOn = (on: Device): LayoutName => LAYOUTS[options.layout ?? layout(on)];
    const systems = await createSystems(
      set,
      source,
      parts,
      (on) => ({ layout: layoutOn(on), precision, factors: sorted?.factored }),
      progress,
    );
    const ordered = sorted?.attitude === "ordered" ? await Promise.all(systems.map((system) => orderRows(system, launch.rows))) : [];
    const inOrder = systems.map((system, n): System => ({ ...system, rowOrder: ordered[n]?.order }));
    const copies: Copies[] = [];
    if (sorted) for (const [n, system] of inOrder.entries()) copies.push(await makeCopies(system, sorted, launch, ordered[n]?.knotRows));
    const leaves = parts.map(({ tiles }) => tiles.length);
    const engineOf = async (sides: number): Promise<Engine> => {
      const shares = inOrder.map((system, n) => shareOf(set.locals[n], system, sorted ? norm : undefined, sides));
      const matrix: Bidiagonalisation = sorted
        ? await fusedForm(set, shares, { copies, leaves, launch, sorted, norm })
        : paperForm(shares[0], launch.rows);
      // Copies of the devices' own queues end before other queues use what they wrote.
      for (const { device: each } of set.locals) await each.queue.finish();
      return new Engine(set, parts, source.shape, shares, new Lsqr(shares, matrix, launch.alike));
    };
    const scanning = "transits" in source ? source : undefined;
    const owned = [...systems, ...ordered.map(({ order }) => order), ...copies];
    const one = await engineOf(1);
    const solver = new Solver(set, form, source.shape, scanning, seed, parts, plan.sides, one, engineOf, owned);
    if (coefficients === "f32") solver.refinement = new Refinement(one, options.corrections);
    return solver;
  }

  /** The part of the system that the first member of this process has: all of it on one device. */
  get system(): System {
    return this.one.shares[0].system;
  }

  /** The parts of the system that this process has, in the order of its members. */
  get systems(): readonly System[] {
    return this.one.shares.map(({ system }) => system);
  }

  /** The solution that the known terms were made for; undefined where it is 1 for all unknowns. */
  get exact(): Float64Array | undefined {
    return this.system.exact;
  }

  /** The launches of an iteration, of all members of this process. */
  get steps(): readonly LaunchStep[] {
    return this.one.lsqr.steps;
  }

  /** Runs LSQR from x = 0, or on from a restored state; the solution and standard errors of the unscaled system stay on the devices. */
  async solve({ convergence, ...given }: SolveOptions & { compatibleErrors?: boolean; convergence?: Convergence }): Promise<Solution> {
    if (given.from === undefined) this.copyKnownTerms();
    const { refinement, shape } = this;
    const watch = convergence && new SectionSteps(this.set, this.one.shares, convergence);
    const options = { ...given, watch };
    const solution = refinement ? await refinement.solve(options, () => this.copyKnownTerms()) : (await this.one.lsqr.solve(options))[0];
    watch?.free();
    const counted = options.compatibleErrors ? sharedUnknowns(shape) : sections(shape).unknowns;
    if (solution.istop >= 0) await this.one.lsqr.finish(this.scalings, solution.rnorm, shape.observations - counted);
    return solution;
  }

  private copyKnownTerms(): void {
    for (const { member, system, vectors } of this.one.shares) member.queue(0).copy(system.knownTerms, vectors.u.at(1, 0));
  }

  /** Unknowns found by the last `solve`: five for each star, then attitude, then instrument. */
  solution(): Promise<Float64Array> {
    return this.one.whole("x");
  }

  /** The standard errors of the unknowns, in the same order. */
  standardErrors(): Promise<Float64Array> {
    return this.one.whole("variance");
  }

  /** Factors of the columns of the whole system, 0 for unknowns that have left it. */
  scaling(): Promise<Float64Array> {
    return readWhole(this.set, this.parts, this.shape, this.scalings);
  }

  /** Known terms of all rows: observations, then constraints. */
  knownTerms(): Promise<Float64Array> {
    return this.one.wholeRows(({ system }) => system.knownTerms);
  }

  /** |b - A x| of the last solution, computed anew, and the residuals b - A x of some rows (constraints follow the observations). */
  async residual(rows: readonly (readonly [first: number, end: number])[] = []): Promise<{ norm: number; rows: ArrayLike<number>[] }> {
    this.copyKnownTerms();
    const norm = await this.one.lsqr.residual(this.scalings);
    if (rows.length === 0) return { norm, rows: [] };
    const negative = await this.one.wholeU();
    return { norm, rows: rows.map(([first, end]) => negative.slice(first, end).map((value) => -value)) };
  }

  /** Residuals b - A x of all observations for any x; replaces the last solution. */
  async residualsOf(x: ArrayLike<number>): Promise<Float64Array> {
    this.one.writeWhole("x", x);
    const { rows } = await this.residual([[0, this.shape.observations]]);
    return Float64Array.from(rows[0]);
  }

  /** Deviation of the last solution from the one that the known terms were made for, 1 but for a `truth`. */
  async deviation(): Promise<Deviation> {
    return deviation(await this.solution(), sharedUnknowns(this.shape), this.exact);
  }

  /**
   * Standard errors by `count` random probes, each of which is solved like the system itself; the last solution is kept. Throws LaunchError where the
   * frame is free, and for fewer than two probes.
   */
  async probes(count: number, options: SolveOptions, onProbe?: (done: number) => void): Promise<Probes> {
    requireProbes(count, this.scanning?.frameIsFixed ?? true);
    const kept = [await this.solution(), await this.standardErrors()];
    const all: Float64Array[] = [];
    while (all.length < count) {
      const { draws } = await this.probesFrom(all.length, count, options);
      for (const draw of draws) {
        all.push(draw);
        onProbe?.(all.length);
      }
    }
    this.put(kept[0], kept[1]);
    return probeErrors(all);
  }

  /**
   * Solves for the signs of the next probes of `count` from number `first` on, as many as there are sides, or goes on; with one side this replaces the last
   * solution. Where `pause` has ended it there are no draws.
   */
  async probesFrom(first: number, count: number, options: SolveOptions): Promise<ProbesTogether> {
    const sides = this.sidesFrom(first, count);
    const number = Math.min(sides, count - first);
    const engine = await this.engineFor(sides);
    if (options.from === undefined)
      for (const { member, system, vectors } of engine.shares) {
        member.queue(0).clear(vectors.u);
        for (let side = 0; side < number; side++)
          await writeProbe(system, member.queue(0), vectors.u.at(1, side), { seed: this.seed, probe: first + side });
      }
    const solutions = await engine.lsqr.solve(options);
    if (solutions.some(({ istop }) => istop < 0)) return { draws: [], solutions };
    const p = await this.scaling();
    const draws: Float64Array[] = [];
    for (let side = 0; side < number; side++) draws.push((await engine.whole("x", side)).map((value, j) => value * p[j]));
    return { draws, solutions: solutions.slice(0, number) };
  }

  /** Sides of the solution for the probes of `count` from number `first` on: a last probe is solved for alone. */
  sidesFrom(first: number, count: number): Sides {
    return count - first === 1 ? 1 : this.sides;
  }

  private async engineFor(sides: number): Promise<Engine> {
    return sides === 1 ? this.one : (this.more ??= await this.engineOf(sides));
  }

  /** Makes a solution and its errors the last ones. */
  put(x: ArrayLike<number>, standardErrors: ArrayLike<number>): void {
    this.one.writeWhole("x", x);
    this.one.writeWhole("variance", standardErrors);
  }

  /**
   * State that an iteration for some sides depends on, for a checkpoint, as whole arrays: any number of members goes on with it. Several sides are as
   * `probesFrom` solves for.
   */
  async state(sides = 1): Promise<CheckpointedArray[]> {
    const state = (await this.engineFor(sides)).state();
    const { refinement, set, shape } = this;
    return refinement && sides === 1 ? [...state, ...refinement.state(set, sections(shape).unknowns)] : state;
  }

  /** Place of the correction in work, for a checkpoint; to go on with one, set it before the state is restored. */
  get refinementPlace(): RefinementPlace | undefined {
    return this.refinement?.place;
  }

  set refinementPlace(place: RefinementPlace | undefined) {
    if (this.refinement) this.refinement.place = place;
  }

  /** Frees the memory on the devices. */
  free(): void {
    this.one.free();
    this.more?.free();
    for (const one of this.owned) one.free();
  }

  private get scalings(): View<"f64">[] {
    return this.systems.map(({ scaling }) => scaling.all);
  }
}

/** Rows from which on strict sums that are scattered take too long on a GPU: 87 to 393 times the time of fast ones with 10 GiB on an H100. */
const MOST_SCATTERED = 2 ** 20;

/** Throws LaunchError where a GPU would add the scattered sums of many rows in order. */
function requireGathered({ locals, members }: DeviceSet, { observations }: Shape, name: FormName, { sorted }: Form): void {
  const isScattered = sorted?.attitude === "scattered" || sorted?.instrument === "scattered";
  const gpu = locals.find(({ device }) => device.memory.name !== "cpu" && !device.onHost);
  if (!isScattered || !gpu || observations / members.length < MOST_SCATTERED) return;
  throw new LaunchError(
    `the form ${name} in strict mode adds to shared unknowns in the order of the rows, which takes ${gpu.device.name} a hundred times as long as fast mode: take the form gathered or ordered, or --precision fast`,
  );
}

/** Throws LaunchError for a form, or a norm, that does not go with a set. */
function requireForm({ members, name }: DeviceSet, form: FormName, norm: Norm): void {
  if (form !== "paper") return;
  if (members.length > 1)
    throw new LaunchError(
      `the form paper runs on one device, and ${name} has ${members.length} members: take the form fused, gathered or ordered`,
    );
  if (norm === "merged") throw new LaunchError("the form paper has no merged norm: take another form, or the norm separate");
}

/** The fastest form of all devices: each must have room for its part. */
export function fastestFormOn(set: DeviceSet, source: RowSource, coefficients: CoefficientType = "f64", convergence = false): FormName {
  const count = set.members.length;
  if (count === 1) return fastestForm(set.locals[0].device, source, coefficients, convergence);
  const part: RowSource = {
    ...source,
    shape: { ...source.shape, stars: Math.ceil(source.shape.stars / count), observations: Math.ceil(source.shape.observations / count) },
  };
  const forms = new Set(set.locals.map(({ device }) => fastestForm(device, part, coefficients, convergence)));
  return forms.size === 1 ? [...forms][0] : "fused";
}

function simulatedSource(on: DeviceSet | Device, options: SimulatedOptions, seed: number): RowSource {
  const { gib, generator = "parallel" } = options;
  // The program's own count comes close; the exact size of a large system takes long to find.
  requireMemory(on, { what: `a system of ${gib} GiB`, bytes: 0.9 * gib * 2 ** 30, choose: SMALLER });
  return simulatedRows(shapeOf(options), generator, seed);
}
