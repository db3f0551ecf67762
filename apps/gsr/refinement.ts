import type { CheckpointedArray } from "isoform/io";
import type { DeviceSet } from "isoform/set";
import type { Engine } from "./engine.js";
import type { Solution, SolveOptions, Tolerances } from "./lsqr.js";
import { PUBLISHED_TOLERANCES, stopRule } from "./lsqr.js";
import type { Norms } from "./norms.js";

/*
 * Iterative refinement for coefficients in f32: LSQR solves with them, and corrections are solved for with residuals of the coefficients in f64. The gradient
 * A^T (b - A x) is f64's as well: that of the rounded coefficients would leave x off by their rounding times the residual.
 */

/** Least atol of a solution with coefficients in f32, whose rounding errors are 3e-8: corrections bring the rest. */
const LEAST_ATOL = 1e-9;
/** Share of the gradient that a correction leaves: more is lost to the rounding of coefficients anyway. */
const CORRECTED = 1e-8;
/** Share of the gradient that a correction has to take away, else it is the last one. */
const LEAST_GAIN = 0.5;
/** Relative error up to which a solution that gets no better is as good as f64 can. */
const ROUNDING = 1e-13;

/** Place of a solution between its corrections, for a checkpoint. */
export interface RefinementPlace {
  /** Corrections that have begun. */
  readonly corrections: number;
  /** LSQR's solution with coefficients in f32. */
  readonly first: Solution;
  /** Iterations before the correction in work, and their mean time. */
  readonly iterations: number;
  readonly secondsPerIteration: number;
  /** |b - A x| and |A^T (b - A x)| before the correction in work. */
  readonly rnorm: number;
  readonly arnorm: number;
}

/** Solution of a system whose iterations have coefficients in f32, with its corrections. */
export class Refinement {
  /** Set while a correction is in work. */
  place?: RefinementPlace;
  /** The scaled solution up to now, and LSQR's sums of squares. */
  private x: Float64Array = new Float64Array(0);
  private variance: Float64Array = new Float64Array(0);

  /** @param most corrections, at most; by default as many as the solution needs */
  constructor(
    private readonly engine: Engine,
    private readonly most = Infinity,
  ) {}

  /** State of a correction in work beside the iteration's; none between solutions. `length` is the number of unknowns. */
  state(set: DeviceSet, length: number): CheckpointedArray[] {
    if (!this.place) return [];
    if (this.x.length !== length) [this.x, this.variance] = [new Float64Array(length), new Float64Array(length)];
    return (["x", "variance"] as const).map((name) => ({
      name: `corrected ${name}`,
      type: "f64",
      length,
      set,
      read: async () => this[name],
      write: async (stored: ArrayLike<number>) => this[name].set(stored),
    }));
  }

  /**
   * Solves from x = 0 with b in `u`, or goes on from a restored state; leaves the scaled solution and variances as `Lsqr.solve` does. It ends where LSQR's
   * stopping rules hold for the residual of the coefficients in f64, where corrections gain nothing more, and after as many as there may be.
   * @param b copies the known terms to `u`
   */
  async solve(options: SolveOptions, b: () => void): Promise<Solution> {
    const { lsqr } = this.engine;
    const tolerances = { ...PUBLISHED_TOLERANCES, ...options };
    let from = options.from;
    if (!this.place || from === undefined) {
      this.place = undefined;
      const atol = this.most > 0 ? Math.max(tolerances.atol, LEAST_ATOL) : tolerances.atol;
      const [first] = await lsqr.solve({ ...options, atol });
      if (first.istop <= 0) return first;
      const { iterations, secondsPerIteration } = first;
      [this.x, this.variance] = [await this.engine.whole("x"), await this.engine.whole("variance")];
      this.place = { corrections: 0, first, iterations, secondsPerIteration, rnorm: Infinity, arnorm: Infinity };
      from = undefined;
    }
    for (;;) {
      if (from === undefined) {
        const norms = await this.begin(b);
        const istop = this.stop(norms, tolerances, options.iterations);
        if (istop !== undefined) return this.end(norms, istop);
        this.place = { ...this.place, corrections: this.place.corrections + 1, rnorm: norms.rnorm, arnorm: norms.arnorm };
      }
      const paused = await this.correct(options, tolerances, from);
      if (paused) return paused;
      from = undefined;
    }
  }

  /** Brings x to where a correction begins; returns the norms of its residual. */
  private async begin(b: () => void): Promise<Norms> {
    const { engine, x } = this;
    const { first } = this.place!;
    engine.writeWhole("x", x);
    b();
    const { rnorm, arnorm } = await engine.lsqr.beginCorrection();
    return { ...first, rnorm, arnorm, xnorm: Math.sqrt(x.reduce((sum, value) => sum + value * value, 0)) };
  }

  /** The reason for x to be the last one, if there is one. */
  private stop(norms: Norms, tolerances: Tolerances, limit: number): number | undefined {
    const { corrections, first, iterations, arnorm } = this.place!;
    if (this.most === 0) return first.istop;
    const istop = stopRule(norms, tolerances, iterations, limit);
    if (istop !== undefined) return istop;
    const gains = norms.arnorm <= LEAST_GAIN * arnorm;
    if (!gains) return stopRule(norms, { ...tolerances, atol: ROUNDING }, iterations, limit) === undefined ? 6 : 5;
    return corrections >= this.most ? 7 : undefined;
  }

  /** Solves for a correction, or goes on after the iteration `from`, and adds it to x; returns a solution that was paused. */
  private async correct(options: SolveOptions, tolerances: Tolerances, from: number | undefined): Promise<Solution | undefined> {
    const { engine, x } = this;
    const place = this.place!;
    const { first, iterations, rnorm, arnorm } = place;
    const { onIteration } = options;
    const atol = Math.max(tolerances.atol / 2, (CORRECTED * arnorm) / (first.anorm * rnorm));
    const [found] = await engine.lsqr.solve(
      {
        ...options,
        ...{ iterations: options.iterations - iterations, atol, btol: 0, timed: false, from },
        onIteration: onIteration && ((done, norms) => onIteration(iterations + done, { ...norms, bnorm: first.bnorm })),
      },
      from === undefined,
    );
    if (found.istop < 0) return found;
    const factor = (found.bnorm / found.rnorm) ** 2;
    const y = await engine.whole("x");
    for (let j = 0; j < x.length; j++) x[j] -= factor * y[j];
    const all = iterations + found.iterations;
    const seconds = iterations * place.secondsPerIteration + found.iterations * found.secondsPerIteration;
    this.place = { ...place, iterations: all, secondsPerIteration: seconds / Math.max(1, all) };
    return undefined;
  }

  /** Leaves the solution on the devices. */
  private end(norms: Norms, istop: number): Solution {
    const { engine } = this;
    const { first, iterations, secondsPerIteration, corrections } = this.place!;
    engine.writeWhole("x", this.x);
    engine.writeWhole("variance", this.variance);
    this.place = undefined;
    return { ...first, ...norms, istop, iterations, secondsPerIteration, corrections };
  }
}
