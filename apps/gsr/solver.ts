import type { Device, LaunchOptions, LayoutName, Precision, View } from "isoform";
import { f64 } from "isoform";
import { requireMemory } from "isoform/set";
import type { Progress } from "isoform/portability";
import { fusedForm, fusedFootprint, type Sorted } from "./fused.js";
import type { Bidiagonalisation, Solution, SolveOptions, Step, Vectors } from "./lsqr.js";
import { Lsqr } from "./lsqr.js";
import { paperForm } from "./paper.js";
import type { Probes } from "./probes.js";
import { probeErrors, requireProbes, writeProbe } from "./probes.js";
import { Scalars } from "./scalars.js";
import type { ScanningOptions, ScanningSource } from "./scanning/index.js";
import { scanningRows } from "./scanning/index.js";
import type { Shape } from "./shape.js";
import { publishedShape, requirePublishedSize, scaledShape, sections, sharedUnknowns } from "./shape.js";
import type { SimulatedName } from "./simulated.js";
import { SIMULATED, SMALLER, simulatedRows } from "./simulated.js";
import type { RowSource } from "./source.js";
import type { System } from "./system.js";
import { createSystem, requireRoom } from "./system.js";
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
  build(system: System, vectors: Vectors, scalars: Scalars, options: LaunchOptions): Bidiagonalisation | Promise<Bidiagonalisation>;
}

const fused = (sorted: Sorted): Form => ({
  // Neighbouring threads of a GPU read neighbouring rows; a core reads one row after the other.
  layout: ({ memory, onHost }) => (memory.name === "cpu" || onHost ? "rows" : "planes"),
  footprint: (shape) => fusedFootprint(shape, sorted),
  build: (...system) => fusedForm(...system, sorted),
});

/** How the products with A and its transpose are cut into kernels: see paper.ts and fused.ts. */
export const FORMS = {
  paper: { layout: () => "rows", footprint: () => 0, build: paperForm },
  fused: fused({ attitude: false, instrument: false }),
  sorted: fused({ attitude: true, instrument: false }),
  gathered: fused({ attitude: true, instrument: true }),
} satisfies Record<string, Form>;
/**
 * How the products with A and its transpose become kernels: `paper` has the kernels of the published program, `fused` does both in one sweep over the
 * rows, `sorted` sums up the attitude's part of A^T u from a sorted copy in place of atomic additions, `gathered` the instrument's part as well.
 */
export type FormName = keyof typeof FORMS;

/** The fastest form, as measured, that a device has room for: the README of apps/gsr has the table. */
export function fastestForm(device: Device, source: RowSource): FormName {
  if (device.memory.name === "cpu") return "fused";
  try {
    requireRoom(device, source, FORMS.gathered.footprint(source.shape));
    return "gathered";
  } catch {
    return "fused";
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
}

/** A system of random coefficients with the structure of the published one. */
export interface SimulatedOptions {
  /** Size of the system in GiB, as the published program counts it: 0.001 to 460; with the generator `published`, 0.556 or more. */
  gib: number;
  /** Default: `parallel`. */
  generator?: SimulatedName;
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
export function shapeOf({ gib, generator = "parallel" }: SimulatedOptions): Shape {
  if (generator === "parallel") return scaledShape(gib);
  requirePublishedSize(gib);
  return publishedShape(gib);
}

/** A system on a device, with the solver for it: `solve` may be called again. */
export class Solver {
  private constructor(
    readonly system: System,
    readonly form: FormName,
    /** Stars, times and sizes of the system, with the generator `scanning`. */
    readonly scanning: ScanningSource | undefined,
    private readonly seed: number,
    private readonly vectors: Vectors,
    private readonly scalars: Scalars,
    private readonly lsqr: Lsqr,
  ) {}

  /** Generates and scales the system and prepares the solver. Throws LaunchError for a size that does not fit, or leaves unknowns undetermined. */
  static async create(
    device: Device,
    options: SolverOptions & (SimulatedOptions | ScanningSystemOptions),
    progress?: Progress,
  ): Promise<Solver> {
    const { seed = 0 } = options;
    const scanning = options.generator === "scanning";
    const source = scanning ? await scanningRows(device, options, seed) : simulatedSource(device, options as SimulatedOptions, seed);
    return Solver.of(device, source, options, progress);
  }

  /** Prepares the solver for rows that exist. Throws LaunchError for a size that does not fit. */
  static async of(device: Device, source: RowSource | ScanningSource, options: SolverOptions, progress?: Progress): Promise<Solver> {
    const { seed = 0, precision } = options;
    const scanning = "transits" in source ? source : undefined;
    const { shape } = source;
    const form = options.form === "fastest" ? fastestForm(device, source) : (options.form ?? "paper");
    const { layout, footprint, build }: Form = FORMS[form];
    const launch: LaunchOptions = { precision };
    requireRoom(device, source, footprint(shape));
    const system = await createSystem(device, source, { layout: LAYOUTS[options.layout ?? layout(device)], precision }, progress);
    const vector = (): View<"f64"> => device.array(f64, sections(shape).unknowns);
    const vectors: Vectors = { u: device.array(f64, system.knownTerms.length), v: vector(), w: vector(), x: vector(), variance: vector() };
    const scalars = new Scalars(device);
    const lsqr = new Lsqr(device, scalars, vectors, await build(system, vectors, scalars, launch), launch);
    return new Solver(system, form, scanning, seed, vectors, scalars, lsqr);
  }

  /** The launches of an iteration. */
  get steps(): readonly Step[] {
    return this.lsqr.steps;
  }

  /** Runs LSQR from x = 0; the solution and standard errors of the unscaled system stay on the device. */
  async solve(options: SolveOptions & { compatibleErrors?: boolean }): Promise<Solution> {
    const { system, vectors } = this;
    system.device.queue.copy(system.knownTerms, vectors.u);
    const solution = await this.lsqr.solve(options);
    const { shape } = system;
    const counted = options.compatibleErrors ? sharedUnknowns(shape) : sections(shape).unknowns;
    await this.lsqr.finish(system.scaling.all, solution.rnorm, shape.observations - counted);
    return solution;
  }

  /** Unknowns found by the last `solve`: five for each star, then attitude, then instrument. */
  solution(): Promise<ArrayLike<number>> {
    return this.system.device.queue.read(this.vectors.x);
  }

  /** The standard errors of the unknowns, in the same order. */
  standardErrors(): Promise<ArrayLike<number>> {
    return this.system.device.queue.read(this.vectors.variance);
  }

  /** |b - A x| of the last solution, computed anew, and the residuals b - A x of some rows (constraints follow the observations). */
  async residual(rows: readonly (readonly [first: number, end: number])[] = []): Promise<{ norm: number; rows: ArrayLike<number>[] }> {
    const { system, vectors } = this;
    const { queue } = system.device;
    queue.copy(system.knownTerms, vectors.u);
    const norm = await this.lsqr.residual(system.scaling.all);
    const negative = await Promise.all(rows.map((window) => queue.read(vectors.u.slice(window))));
    return { norm, rows: negative.map((values) => values.map((value) => -value)) };
  }

  /** Residuals b - A x of all observations for any x; replaces the last solution. */
  async residualsOf(x: ArrayLike<number>): Promise<Float64Array> {
    this.system.device.queue.write(this.vectors.x, x);
    const { rows } = await this.residual([[0, this.system.shape.observations]]);
    return Float64Array.from(rows[0]);
  }

  /** Deviation of the last solution from the one that the known terms were made for, 1 but for a `truth`. */
  async deviation(): Promise<Deviation> {
    const { shape, exact } = this.system;
    return deviation(await this.solution(), sharedUnknowns(shape), exact);
  }

  /**
   * Standard errors by `count` random probes, each of which is solved like the system itself; the last solution is kept. Throws LaunchError where the
   * frame is free, and for fewer than two probes.
   */
  async probes(count: number, options: SolveOptions, onProbe?: (done: number) => void): Promise<Probes> {
    const { system, vectors } = this;
    const { device, shape, scaling } = system;
    requireProbes(count, this.scanning?.frameIsFixed ?? true);
    const kept = [vectors.x, vectors.variance].map((vector) => ({ vector, copy: device.array(f64, vector.length) }));
    for (const { vector, copy } of kept) device.queue.copy(vector, copy);
    const p = await device.queue.read(scaling.all);
    const draws: Float64Array[] = [];
    for (let probe = 0; probe < count; probe++) {
      await writeProbe(device, vectors.u, shape.observations, this.seed, probe);
      await this.lsqr.solve(options);
      const y = await device.queue.read(vectors.x);
      draws.push(Float64Array.from(y, (value, j) => value * p[j]));
      onProbe?.(probe + 1);
    }
    for (const { vector, copy } of kept) {
      device.queue.copy(copy, vector);
      copy.free();
    }
    return probeErrors(draws);
  }

  /** Frees the memory on the device. */
  free(): void {
    this.lsqr.free();
    this.scalars.free();
    for (const vector of Object.values(this.vectors)) vector.free();
    this.system.free();
  }
}

function simulatedSource(device: Device, options: SimulatedOptions, seed: number): RowSource {
  const { gib, generator = "parallel" } = options;
  // The program's own count comes close; the exact size of a large system takes long to find.
  requireMemory(device, { what: `a system of ${gib} GiB`, bytes: 0.9 * gib * 2 ** 30, choose: SMALLER });
  return simulatedRows(shapeOf(options), generator, seed);
}
