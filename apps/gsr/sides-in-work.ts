import { IsoformError } from "isoform";
import type { Ended, Norms } from "./norms.js";
import type { ScalarName } from "./scalars.js";

/** Sides of a solution on the host: sides that still run, and how the others have ended. */
export class Sides {
  private readonly ended: (Ended | undefined)[];
  private states: readonly Record<ScalarName, number>[];

  /**
   * @param states scalars of each side as the devices have them: a side that has ended before says so
   * @param tell tells the devices that a side ends
   */
  constructor(
    states: readonly Record<ScalarName, number>[],
    private readonly tell: (side: number, end: { readonly istop: number; readonly iterations: number }) => void,
  ) {
    this.states = states;
    this.ended = states.map((state) => (state.runs > 0 ? undefined : ended(state, state.istop, state.iterations)));
    for (const state of states) requireFinite(state);
  }

  /** Whether any side runs. */
  get run(): boolean {
    return this.ended.includes(undefined);
  }

  /** Takes the scalars after an iteration; returns the norms of the first side that runs. Throws where one that runs is not finite. */
  take(states: readonly Record<ScalarName, number>[]): Norms {
    this.states = states;
    const running = states.filter((_, side) => !this.ended[side]);
    running.forEach(requireFinite);
    return running[0];
  }

  /** Ends the sides for which `rule` has a reason. */
  end(iterations: number, rule: (norms: Norms) => number | undefined): void {
    for (const [side, state] of this.states.entries()) {
      const istop = this.ended[side] ? undefined : rule(state);
      if (istop === undefined) continue;
      this.ended[side] = ended(state, istop, iterations);
      if (this.states.length > 1) this.tell(side, { istop, iterations });
    }
  }

  /** How each side has ended; those that still run were paused. */
  results(iterations: number): Ended[] {
    return this.states.map((state, side) => this.ended[side] ?? ended(state, -1, iterations));
  }
}

function ended({ bnorm, anorm, rnorm, arnorm, xnorm, dnorm }: Norms, istop: number, iterations: number): Ended {
  return { istop, iterations, bnorm, anorm, rnorm, arnorm, xnorm, dnorm, acond: anorm * dnorm };
}

function requireFinite({ bnorm, rnorm, arnorm }: Norms): void {
  if (!Number.isFinite(bnorm + rnorm + arnorm))
    throw new IsoformError(
      `the system has coefficients or known terms that are not finite: |b| = ${bnorm}, |b - A x| = ${rnorm}, |A^T (b - A x)| = ${arnorm}`,
    );
}
