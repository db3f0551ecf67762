import type { Device, LaunchOptions, LayoutName, Precision, View } from "isoform";
import { f64 } from "isoform";
import { requireMemory } from "isoform/set";
import type { Progress } from "isoform/portability";
import { fusedForm, fusedFootprint, type Sorted } from "./fused.js";
import type { Bidiagonalisation, Solution, SolveOptions, Step, Vectors } from "./lsqr.js";
import { Lsqr } from "./lsqr.js";
import { paperForm } from "./paper.js";
import { Scalars } from "./scalars.js";
import type { Shape } from "./shape.js";
import { publishedShape, requirePublishedSize, scaledShape, sections, sharedUnknowns } from "./shape.js";
import type { GeneratorName, System } from "./system.js";
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

/** The fastest form, as measured, that a device has room for: the README of apps/gsr has the table. Throws LaunchError for a size that there is not. */
export function fastestForm(device: Device, options: SolverOptions): FormName {
  if (device.memory.name === "cpu") return "fused";
  const shape = shapeOf(options);
  try {
    requireRoom(device, shape, FORMS.gathered.footprint(shape));
    return "gathered";
  } catch {
    return "fused";
  }
}

/** Options of `Solver.create`. */
export interface SolverOptions {
  /** Size of the system in GiB, as the published program counts it: 0.001 to 460; with the generator `published`, 0.556 or more. */
  gib: number;
  /** Default: `parallel`. */
  generator?: GeneratorName;
  /** Of the parallel generator, a u32. Default: 0. */
  seed?: number;
  /** Default: `paper`. */
  form?: FormName;
  /** Of the coefficients. Default: what suits the form and the device. */
  layout?: Layout;
  /** Default: `fast`. */
  precision?: Precision;
}

/** How many stars, observations and unknowns a size and a generator give. Throws LaunchError for a size that the generator does not make. */
export function shapeOf({ gib, generator = "parallel" }: SolverOptions): Shape {
  if (generator === "parallel") return scaledShape(gib);
  requirePublishedSize(gib);
  return publishedShape(gib);
}

/** A system on a device, with the solver for it: `solve` may be called again. */
export class Solver {
  private constructor(
    readonly system: System,
    private readonly vectors: Vectors,
    private readonly scalars: Scalars,
    private readonly lsqr: Lsqr,
  ) {}

  /** Generates and scales the system and prepares the solver. Throws LaunchError for a size that does not fit. */
  static async create(device: Device, options: SolverOptions, progress?: Progress): Promise<Solver> {
    const { generator = "parallel", seed = 0, form = "paper", precision } = options;
    const { layout, footprint, build }: Form = FORMS[form];
    const launch: LaunchOptions = { precision };
    const { gib } = options;
    // As the program counts it, which is nearly all: the exact size of a large system takes long to find.
    requireMemory(device, { what: `a system of ${gib} GiB`, bytes: 0.9 * gib * 2 ** 30, choose: "a smaller --gib" });
    const shape = shapeOf(options);
    requireRoom(device, shape, footprint(shape));
    const system = await createSystem(
      device,
      shape,
      { generator, seed, layout: LAYOUTS[options.layout ?? layout(device)], precision },
      progress,
    );
    const vector = (): View<"f64"> => device.array(f64, sections(shape).unknowns);
    const vectors: Vectors = { u: device.array(f64, system.knownTerms.length), v: vector(), w: vector(), x: vector(), variance: vector() };
    const scalars = new Scalars(device);
    const lsqr = new Lsqr(device, scalars, vectors, await build(system, vectors, scalars, launch), launch);
    return new Solver(system, vectors, scalars, lsqr);
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

  /** The unknowns found by the last `solve`: those of the stars, five each, then attitude, then instrument. */
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

  /** How far the last solution is from x = 1, which the identity test makes exact. */
  async deviation(): Promise<Deviation> {
    return deviation(await this.solution(), sharedUnknowns(this.system.shape));
  }

  /** Frees the memory on the device. */
  free(): void {
    this.lsqr.free();
    this.scalars.free();
    for (const vector of Object.values(this.vectors)) vector.free();
    this.system.free();
  }
}
