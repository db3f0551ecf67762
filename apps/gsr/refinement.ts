import type { CheckpointedArray } from "isoform/io";
import type { DeviceSet } from "isoform/set";
import type { Engine } from "./engine.js";
import type { Solution, SolveOptions, Tolerances } from "./lsqr.js";
import { PUBLISHED_TOLERANCES, stopRule } from "./lsqr.js";
import { countedFrom } from "./section-steps.js";
import type { Norms } from "./norms.js";

/*
 * Iterative refinement for coefficients in f32: LSQR solves with them, and corrections are solved for with residuals of the coefficients in f64. The gradient
 * A^T (b - A x) is made of those in f64 as well: a rounded A^T would leave x off by its rounding times the residual.
 */

/** Least atol of a solution with coefficients in f32, whose rounding errors are 3e-8: corrections bring the rest. */
const LEAST_ATOL = 5e-9;
/** Share of the tolerance up to which LSQR goes with coefficients in f32, so that rounding them does not ask for a correction more. */
const SHARE = 0.5;
/** Share of the gradient that a correction leaves: more is lost to the rounding of coefficients anyway. */
const CORRECTED = 1e-8;
/** Share of the gradient that a correction has to take away, else it is the last one. */
const LEAST_GAIN = 0.5;
/** Relative error up to which a solution is as good as f64 can, as a residual has some rounding errors; and where corrections gain nothing. */
const ROUNDING = { solved: 2 ** -51, stays: 1e-13 };
/** Length of a correction, in terms of the solution's, above which coefficients in f32 do not determine it; usual ones have 1e-5 and less. */
const LARGEST = 1e-3;
/** Reason to stop there. */
const TOO_COARSE = 6;
/** Reasons to stop for such an error, in place of those for tolerances. */
const AS_GOOD = new Map([
  [1, 4],
  [2, 5],
]);

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
   * stopping rules hold for the residual of the coefficients in f64, where corrections gain nothing more, and after as many as there may be. Where those in f32
   * do not determine the solution, the reason is 6, cond(A).
   * @param b copies the known terms to `u`
   */
  async solve(options: SolveOptions, b: () => void): Promise<Solution> {
    const { lsqr } = this.engine;
    const tolerances = { ...PUBLISHED_TOLERANCES, ...options };
    let from = options.from;
    if (!this.place || from === undefined) {
      this.place = undefined;
      const atol = this.most > 0 ? Math.max(SHARE * tolerances.atol, LEAST_ATOL) : tolerances.atol;
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
      const found = await this.correct(options, tolerances, from);
      if (found.istop < 0) return found;
      if (found.istop === TOO_COARSE) return this.end(await this.begin(b), TOO_COARSE);
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
    return { ...first, rnorm, arnorm, xnorm: length(x) };
  }

  /** The reason for x to be the last one, if there is one. */
  private stop(norms: Norms, tolerances: Tolerances, limit: number): number | undefined {
    const { corrections, first, iterations, arnorm } = this.place!;
    if (this.most === 0) return first.istop;
    const within = (atol: number): number | undefined => stopRule(norms, { ...tolerances, atol }, iterations, limit);
    const solved = within(tolerances.atol);
    if (solved !== undefined) return solved;
    const gains = norms.arnorm <= LEAST_GAIN * arnorm;
    const asGood = within(gains ? ROUNDING.solved : ROUNDING.stays);
    if (asGood !== undefined) return AS_GOOD.get(asGood) ?? asGood;
    if (!gains) return TOO_COARSE;
    return corrections >= this.most ? 7 : undefined;
  }

  /** Solves for a correction, or goes on after the iteration `from`, and adds it to x, unless it is too large; returns how it has ended. */
  private async correct(options: SolveOptions, tolerances: Tolerances, from: number | undefined): Promise<Solution> {
    const { engine, x } = this;
    const place = this.place!;
    const { first, iterations, rnorm, arnorm } = place;
    const { onIteration, watch } = options;
    const atol = Math.max(SHARE * tolerances.atol, (CORRECTED * arnorm) / (first.anorm * rnorm));
    const [found] = await engine.lsqr.solve(
      {
        ...options,
        iterations: options.iterations - iterations,
        atol,
        btol: 0,
        timed: false,
        from,
        watch: watch && countedFrom(watch, iterations),
        onIteration: onIteration && ((done, norms) => onIteration(iterations + done, { ...norms, bnorm: first.bnorm })),
      },
      from === undefined,
    );
    if (found.istop < 0) return found;
    const factor = (found.bnorm / found.rnorm) ** 2;
    const y = await engine.whole("x");
    const isSmall = factor * length(y) <= LARGEST * length(x);
    if (isSmall) for (let j = 0; j < x.length; j++) x[j] -= factor * y[j];
    const all = iterations + found.iterations;
    const seconds = iterations * place.secondsPerIteration + found.iterations * found.secondsPerIteration;
    this.place = { ...place, iterations: all, secondsPerIteration: seconds / Math.max(1, all) };
    return isSmall ? found : { ...found, istop: TOO_COARSE };
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

const length = (x: Float64Array): number => Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
