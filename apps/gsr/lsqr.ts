import type { Device, DeviceEvent, Launch, LaunchOptions, View } from "isoform";
import { atFirstUse, IsoformError, range } from "isoform";
import { Scalars } from "./scalars.js";
import { finish, firstDirection, rescale, squaredNorm, update } from "./vectors.js";
import { turn } from "./turn.js";

/** One launch of an iteration; `name` is what its time is reported under. */
export interface Step {
  name: string;
  launch: Launch;
}

/**
 * Operations of a matrix that LSQR needs: launches on the vectors `u` and `v`, with the factors that the iteration left on the device. `u` may be
 * kept unscaled between them (then it is beta times the u of these formulas).
 */
export interface Bidiagonalisation {
  /** v := A^T b / beta from u = b and v = 0, and |v|^2 to `alphaSquared`. */
  start: Step[];
  /** u := A v - alpha u, and |u|^2 to `betaSquared`. */
  forward: Step[];
  /** v := A^T u / beta - beta v, and |v|^2 to `alphaSquared`. */
  transpose: Step[];
  /** Brings memory of its own into the state in which `start` expects it. */
  reset?(): void;
  free?(): void;
}

/** Vectors of the solver. `u` has a row's element each, the others one for each unknown. */
export interface Vectors {
  u: View<"f64">;
  v: View<"f64">;
  w: View<"f64">;
  x: View<"f64">;
  variance: View<"f64">;
}

/** When LSQR stops. */
export interface Tolerances {
  /** Relative error of A; 0 leaves it to machine precision. */
  atol: number;
  /** Relative error of b; 0 leaves it to machine precision. */
  btol: number;
  /** Stop where the estimate of cond(A) passes this; 0 for no limit. */
  conlim: number;
}

/** Tolerances of the published runs. */
export const PUBLISHED_TOLERANCES: Tolerances = { atol: 0, btol: 0, conlim: 1e13 };

/** Estimates of the iteration: norms of b, A, r = b - A x, A^T r and x, and of D = (d_1, ..., d_k), whose product with |A| is cond(A). */
export interface Norms {
  bnorm: number;
  anorm: number;
  rnorm: number;
  arnorm: number;
  xnorm: number;
  dnorm: number;
}

/** Why LSQR stopped, by `istop`, the number that Paige and Saunders (1982) gave the reason. */
export const STOP_REASONS = [
  "x = 0 is the exact solution",
  "A x = b is solved within atol and btol",
  "the least-squares solution is reached within atol",
  "the estimate of cond(A) passed conlim",
  "A x = b is solved as well as this precision can",
  "the least-squares solution is as good as this precision can",
  "cond(A) is too large for this precision",
  "the iteration limit was reached",
];

/**
 * The stopping rules of LSQR (Paige and Saunders, ACM TOMS 8, 1982, section 6): the least istop from 1 to 7 that applies, or undefined.
 */
export function stopRule(norms: Norms, { atol, btol, conlim }: Tolerances, iteration: number, limit: number): number | undefined {
  const { bnorm, anorm, rnorm, arnorm, xnorm, dnorm } = norms;
  const test1 = rnorm / bnorm;
  const test2 = rnorm > 0 ? arnorm / (anorm * rnorm) : 0;
  const test3 = 1 / (anorm * dnorm);
  const rules = [
    test1 <= btol + (atol * anorm * xnorm) / bnorm,
    test2 <= atol,
    conlim > 0 && test3 <= 1 / conlim,
    1 + test1 / (1 + (anorm * xnorm) / bnorm) <= 1,
    1 + test2 <= 1,
    1 + test3 <= 1,
    iteration >= limit,
  ];
  const first = rules.indexOf(true);
  return first < 0 ? undefined : first + 1;
}

/** Milliseconds after which the program's events get a turn: on CPUs no wait in the loop lets them in. */
const SILENCE = 100;

/** Options of `Solver.solve`. */
export interface SolveOptions extends Partial<Tolerances> {
  /** The most iterations. */
  iterations: number;
  /** Also take the device's time of every step. */
  timed?: boolean;
  /** Called after each iteration; the next one waits for a promise that it returns. */
  onIteration?(iteration: number, norms: Norms): void | Promise<void>;
}

/** Result of `Solver.solve`, with the norms at the end. */
export interface Solution extends Norms {
  /** The number of the reason in `STOP_REASONS`. */
  istop: number;
  iterations: number;
  /** Estimate of cond(A). */
  acond: number;
  /** Wall clock, mean over the iterations. */
  secondsPerIteration: number;
  /** Device seconds of each step, mean over the iterations; empty unless timed. */
  steps: Record<string, number>;
}

/**
 * LSQR (Paige and Saunders 1982) with damp = 0 from x = 0. All launches are prepared once; an iteration submits them and copies the
 * scalars of the stopping rules, while the device begins the next one.
 */
export class Lsqr {
  private readonly first: Step[];
  /** After the matrix's `forward`. */
  private readonly rest: Step[];
  private launches: Launch[];

  constructor(
    private readonly device: Device,
    private readonly scalars: Scalars,
    private readonly vectors: Vectors,
    private readonly matrix: Bidiagonalisation,
    private readonly options: LaunchOptions = {},
  ) {
    const { u, v, w, x, variance } = vectors;
    const { start, forward, transpose } = matrix;
    const at = (name: Parameters<Scalars["at"]>[0]) => scalars.at(name);
    const one = (scalarStep: Launch): Step => ({ name: scalarStep.kernel.name, launch: scalarStep });
    const s = scalars.prepare(options);
    const normOfB = device.prepare(squaredNorm, { x: u, result: at("betaSquared") }, range(u.length), options);
    const direction = device.prepare(firstDirection, { inverseAlpha: at("inverseAlpha"), v, w }, range(v.length), options);
    const advance = device.prepare(
      update,
      {
        inverseAlpha: at("inverseAlpha"),
        inverseRho: at("inverseRho"),
        xStep: at("xStep"),
        wStep: at("wStep"),
        v,
        w,
        x,
        variance,
        squaredStep: at("squaredStep"),
      },
      range(v.length),
      options,
    );
    this.first = [one(normOfB), one(s.norm), ...start, one(s.start), one(direction)];
    this.rest = [one(s.norm), ...transpose, one(s.rotate), { name: "update", launch: advance }, one(s.monitor)];
    this.launches = [...new Set([...this.first, ...forward, ...this.rest].map((step) => step.launch))];
  }

  /** Work of one iteration and of each of its steps. */
  get steps(): readonly Step[] {
    return [...this.matrix.forward, ...this.rest];
  }

  /** Solves A x = b, with b in `u` (overwritten); x and the variances belong to the scaled matrix. Throws where b is not finite. */
  async solve({ iterations: limit, timed = false, onIteration, ...options }: SolveOptions): Promise<Solution> {
    const { atol, btol, conlim } = { ...PUBLISHED_TOLERANCES, ...options };
    const { scalars } = this;
    const { queue } = this.device;
    scalars.write({ cs2: -1 });
    for (const vector of [this.vectors.v, this.vectors.x, this.vectors.variance]) queue.clear(vector);
    this.matrix.reset?.();
    await this.tune();
    for (const { launch } of this.first) queue.submit(launch);
    let state = await scalars.read();
    requireFinite(state);

    const seconds = new Map<string, number>();
    let istop = state.arnorm === 0 ? 0 : limit <= 0 ? 7 : undefined;
    let done = 0;
    const begin = performance.now();
    let lastReport = begin;
    let marks: DeviceEvent[] = [];
    const submit = (steps: readonly Step[]): void => {
      if (timed && marks.length === 0) marks.push(queue.record());
      for (const { launch } of steps) {
        queue.submit(launch);
        if (timed) marks.push(queue.record());
      }
    };
    if (istop === undefined) submit(this.matrix.forward);
    while (istop === undefined) {
      submit(this.rest);
      const norms = scalars.read();
      const passed = marks;
      marks = [];
      // It leaves x and the norms alone: the device does not wait for the stopping rules.
      if (++done < limit) submit(this.matrix.forward);
      state = await norms;
      if (timed) await this.addTimes(seconds, passed);
      requireFinite(state);
      istop = stopRule(state, { atol, btol, conlim }, done, limit);
      await onIteration?.(done, state);
      if (performance.now() - lastReport > SILENCE) {
        await turn();
        lastReport = performance.now();
      }
    }
    const { bnorm, anorm, rnorm, arnorm, xnorm, dnorm } = state;
    return {
      istop,
      iterations: done,
      bnorm,
      anorm,
      rnorm,
      arnorm,
      xnorm,
      dnorm,
      acond: anorm * dnorm,
      secondsPerIteration: (performance.now() - begin) / 1000 / Math.max(1, done),
      steps: Object.fromEntries([...seconds].map(([name, total]) => [name, total / done])),
    };
  }

  /** Replaces launches that the device has not measured yet by the fastest variant, where the device is asked to tune. */
  private async tune(): Promise<void> {
    const faster = new Map<Launch, Launch>();
    for (const launch of this.launches) faster.set(launch, await atFirstUse(this.device, launch));
    for (const step of new Set([...this.first, ...this.steps])) step.launch = faster.get(step.launch)!;
    this.launches = [...faster.values()];
  }

  /** Adds each step's time between the marks before and after it, which have happened. */
  private async addTimes(seconds: Map<string, number>, marks: readonly DeviceEvent[]): Promise<void> {
    for (const [k, { name }] of this.steps.entries()) seconds.set(name, (seconds.get(name) ?? 0) + (await marks[k + 1].since(marks[k])));
  }

  /**
   * Undoes the column scaling `p` and turns variances into standard errors, rnorm / sqrt(degrees of freedom) * sqrt(variance).
   * Call it once, after `solve`.
   */
  async finish(p: View<"f64">, rnorm: number, freedom: number): Promise<void> {
    const { x, variance } = this.vectors;
    await this.device.run(finish, { p, sigma: rnorm / Math.sqrt(freedom), x, variance }, range(x.length), this.options);
  }

  /**
   * |b - A x| of the solution that `finish` has unscaled by `p`, computed anew with b in `u`. Leaves A x - b in `u`; `v` is lost.
   */
  async residual(p: View<"f64">): Promise<number> {
    const { x, v } = this.vectors;
    await this.device.run(rescale, { p, x, v }, range(x.length), this.options);
    this.scalars.write({ minusAlpha: -1, minusRatio: -1 });
    for (const { launch } of this.matrix.forward) this.device.queue.submit(launch);
    const { betaSquared, betaSquaredConstraints } = await this.scalars.read();
    return Math.sqrt(betaSquared + betaSquaredConstraints);
  }

  free(): void {
    for (const launch of this.launches) launch.free();
    this.matrix.free?.();
  }
}

function requireFinite({ bnorm, rnorm, arnorm }: Norms): void {
  if (!Number.isFinite(bnorm + rnorm + arnorm))
    throw new IsoformError(
      `the system has coefficients or known terms that are not finite: |b| = ${bnorm}, |b - A x| = ${rnorm}, |A^T (b - A x)| = ${arnorm}`,
    );
}
