import type { DeviceEvent, Launch, LaunchOptions, Queue, View } from "isoform";
import { atFirstUse, range } from "isoform";
import type { LocalMember } from "isoform/set";
import type { Ended, Norms } from "./norms.js";
import { Sides } from "./sides-in-work.js";
import type { ScalarName, Scalars } from "./scalars.js";
import { flat } from "./sides.js";
import { finish, firstDirection, rescale, update } from "./vectors.js";
import { turn } from "./turn.js";

/** One launch of an iteration; `name` is what its time is reported under. */
export interface LaunchStep {
  name: string;
  queue: Queue;
  launch: Launch;
}

/** One launch of an iteration, or copies and sums between members. */
export type Step = LaunchStep | { readonly name: string; readonly act: () => void };

/**
 * Operations of a matrix that LSQR needs: launches on the vectors `u` and `v` of all members, with the factors that the iteration left on the devices. `u`
 * may be kept unscaled between them (then it is beta times the u of these formulas).
 */
export interface Bidiagonalisation {
  /** v := A^T b / beta from u = b and v = 0: first |b|^2 to `betaSquared`, then, once beta is known, the rest with |v|^2 to `alphaSquared`. */
  start: { squares: Step[]; product: Step[] };
  /** u := A v - alpha u, and |u|^2 to `betaSquared`, with |w|^2 to `wSquares`. */
  forward: Step[];
  /** v := A^T u / beta - beta v, and |v|^2 to `alphaSquared`. */
  transpose: Step[];
  /** Finds `alphaSquared` anew, where `transpose` has set `doubt`. */
  anew?: Step[];
  /** Does what `update` does, with a v that `transpose` has not written. */
  advance?: Step[];
  /** The same with coefficients in f64, where the others are rounded: `forward`, and from u alone the parts of `start`. */
  exact?: { forward: Step[]; squares: Step[]; product: Step[] };
  /** Brings memory of its own into the state in which `start` expects it. */
  reset?(): void;
  free?(): void;
}

/** Vectors and scalars of a member. */
interface LsqrShare {
  readonly member: LocalMember;
  readonly vectors: Vectors;
  readonly scalars: Scalars;
}

/** Vectors of the solver on a member, [element][side]. `u` has a row's element each, the others one for each unknown. */
export interface Vectors {
  u: View<"f64">;
  v: View<"f64">;
  w: View<"f64">;
  x: View<"f64">;
  variance: View<"f64">;
  /** Memory in front of the scalars, and these, for forms that need another vector. */
  ahead?: View<"f64">;
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

/** Iterations whose steps are timed one after the other, at most, and at most half of all; the wall clock of the others counts. */
const TIMED = 10;

/** Milliseconds after which the program's events get a turn: on CPUs no wait in the loop lets them in. */
const SILENCE = 100;

/** Options of `Solver.solve`. */
export interface SolveOptions extends Partial<Tolerances> {
  /** The most iterations. */
  iterations: number;
  /** Also take the device's time of every step, in the first iterations. */
  timed?: boolean;
  /** Called after each iteration with the norms of the first side that still runs; the next one waits for a promise that it returns. */
  onIteration?(iteration: number, norms: Norms): void | Promise<void>;
  /** Goes on after this iteration, whose vectors and scalars are on the devices. */
  from?: number;
  /** Asked after each iteration, whose state it may then save: whether to go on. */
  pause?: Pause;
  /** Looks at x before and after each iteration. */
  watch?: IterationWatch;
}

/** Calls around an iteration, on the queues of its launches; kernels' times leave out what they submit. */
export interface IterationWatch {
  before(iteration: number): void;
  after(iteration: number): void;
  /** Reads what `after` has found; `norms` belong to the first side. */
  note(iteration: number, norms: Norms): Promise<void>;
}

/** Calls between iterations. */
export interface Pause {
  /** Whether `save` is to be called after this iteration: the devices then have its state, and wait. */
  isDue(iteration: number): boolean | Promise<boolean>;
  /** Saves the state; false ends the solution there. */
  save(iteration: number): Promise<boolean>;
}

/** Result of `Solver.solve`. */
export interface Solution extends Ended {
  /** Wall clock, mean over the iterations whose steps are not timed, if any. */
  secondsPerIteration: number;
  /** Device seconds of each step by itself, mean over the timed iterations; empty unless timed. */
  steps: Record<string, number>;
  /** Corrections of a solution with coefficients in f32. */
  corrections?: number;
}

/**
 * LSQR (Paige and Saunders 1982) with damp = 0 from x = 0. All launches are prepared once; an iteration submits them and copies the
 * scalars of the stopping rules, while the device begins the next one. All members have the same scalars.
 */
export class Lsqr {
  private readonly first: Step[];
  /** After the matrix's `forward`: up to alpha, and from there on. */
  private readonly rest: { readonly alpha: Step[]; readonly update: Step[] };
  /** Start of a correction. */
  private readonly again: Step[];
  private launches: Launch[];

  /** @param options of launches on vectors and scalars, which must come out alike on all members */
  constructor(
    private readonly shares: readonly LsqrShare[],
    private readonly matrix: Bidiagonalisation,
    private readonly options: LaunchOptions = {},
  ) {
    const { start, forward, transpose, anew = [], advance, exact } = matrix;
    const scalars = shares.map((share) => ({ share, launches: share.scalars.prepare(options) }));
    const one = (which: keyof ReturnType<Scalars["prepare"]>): Step[] =>
      scalars.map(({ share, launches }) => ({ name: launches[which].kernel.name, queue: share.member.queue(0), launch: launches[which] }));
    const begin = ({ squares, product }: Bidiagonalisation["start"]): Step[] => [
      ...squares,
      ...one("norm"),
      ...product,
      ...one("start"),
      ...shares.map((share) => this.direction(share)),
    ];
    this.first = begin(start);
    this.again = exact ? begin(exact) : [];
    this.rest = {
      alpha: [...one("norm"), ...transpose],
      update: [...one("rotate"), ...(advance ?? shares.map((share) => this.update(share))), ...one("monitor")],
    };
    const ofExact = [...this.again, ...(exact?.forward ?? [])];
    const all = [...this.first, ...ofExact, ...forward, ...this.rest.alpha, ...anew, ...this.rest.update];
    this.launches = [...new Set(all.flatMap((step) => ("launch" in step ? [step.launch] : [])))];
  }

  private direction({ member, vectors, scalars }: LsqrShare): Step {
    const [v, w] = [flat(vectors.v), flat(vectors.w)];
    const kernel = firstDirection(scalars.sides);
    const launch = member.device.prepare(kernel, { inverseAlpha: scalars.at("inverseAlpha"), v, w }, range(v.length), this.options);
    return { name: kernel.name, queue: member.queue(0), launch };
  }

  private update({ member, vectors, scalars }: LsqrShare): Step {
    const [v, w, x, variance] = [flat(vectors.v), flat(vectors.w), flat(vectors.x), flat(vectors.variance)];
    const at = (name: ScalarName) => scalars.at(name);
    const steps = { inverseRho: at("inverseRho"), xStep: at("xStep"), wStep: at("wStep") };
    const factors = { runs: at("runs"), inverseAlpha: at("inverseAlpha"), ...steps };
    const launch = member.device.prepare(update(scalars.sides), { ...factors, v, w, x, variance }, range(v.length), this.options);
    return { name: "update", queue: member.queue(0), launch };
  }

  /** Work of one iteration and of each of its steps. */
  private get all(): readonly Step[] {
    return [...this.matrix.forward, ...this.rest.alpha, ...this.rest.update];
  }

  /** Launches of one iteration. */
  get steps(): readonly LaunchStep[] {
    return this.all.filter((step) => "launch" in step);
  }

  /**
   * Solves A x = b for each side, with b in `u` (overwritten); x and the variances belong to the scaled matrix. A side ends as it would by itself, and keeps x
   * while others go on. Throws where b is not finite.
   * @param begun whether `beginCorrection` has begun the solution
   */
  async solve(
    { iterations: limit, timed = false, onIteration, from, pause, watch, ...options }: SolveOptions,
    begun = false,
  ): Promise<Solution[]> {
    const tolerances = { ...PUBLISHED_TOLERANCES, ...options };
    const [{ scalars, member }] = this.shares;
    const queue = member.queue(0);
    const states = await this.begin(begun ? 0 : from);
    const sides = new Sides(states, (side, end) => this.shares.forEach((share) => share.scalars.set(side, { runs: 0, ...end })));
    sides.end(from ?? 0, (state) => (state.arnorm === 0 ? 0 : (from ?? 0) >= limit ? 7 : undefined));
    const seconds = new Map<string, number>();
    let done = from ?? 0;
    const timedEnd = timed ? done + Math.min(TIMED, Math.ceil((limit - done) / 2)) : done;
    let [began, counted] = [performance.now(), 0];
    let lastReport = began;
    let marks: DeviceEvent[] = [];
    const submit = (steps: readonly Step[]): void => {
      if (done >= timedEnd) return run(steps);
      if (marks.length === 0) marks.push(queue.record());
      for (const step of steps) {
        if ("launch" in step) step.queue.submit(step.launch);
        else step.act();
        marks.push(queue.record());
      }
    };
    const begin = (): void => {
      watch?.before(done + 1);
      submit(this.matrix.forward);
    };
    if (sides.run) begin();
    while (sides.run) {
      submit(this.rest.alpha);
      if (this.matrix.anew && (await scalars.read()).some(({ doubt }) => doubt > 0)) run(this.matrix.anew);
      submit(this.rest.update);
      const norms = scalars.read();
      const passed = marks;
      marks = [];
      done++;
      watch?.after(done);
      const due = await pause?.isDue(done);
      // The wall clock begins between iterations.
      const holds = due || (timed && done === timedEnd);
      // It leaves x and the norms alone: the device does not wait for the stopping rules.
      if (done < limit && !holds) begin();
      const state = sides.take(await norms);
      await watch?.note(done, state);
      if (passed.length > 0) await this.addTimes(seconds, passed);
      counted++;
      sides.end(done, (norms) => stopRule(norms, tolerances, done, limit));
      await onIteration?.(done, state);
      if (due && sides.run && !(await pause!.save(done))) break;
      if (holds && sides.run) {
        if (done === timedEnd) [began, counted] = [performance.now(), 0];
        begin();
      }
      if (performance.now() - lastReport > SILENCE) {
        await turn();
        lastReport = performance.now();
      }
    }
    const measured = Math.max(1, Math.min(timedEnd, done) - (from ?? 0));
    const secondsPerIteration = (performance.now() - began) / 1000 / Math.max(1, counted);
    const steps = Object.fromEntries([...seconds].map(([name, total]) => [name, total / measured]));
    return sides.results(done).map((ended) => ({ ...ended, secondsPerIteration, steps }));
  }

  /** Brings vectors and scalars to where the first iteration begins, or the one after `from`, whose state is on the devices. */
  private async begin(from: number | undefined): Promise<Record<ScalarName, number>[]> {
    await this.tune();
    this.matrix.reset?.();
    if (from === undefined) {
      for (const { member, vectors, scalars } of this.shares) {
        // With v = 0 and this ratio a sweep keeps u, and leaves A^T u.
        scalars.write({ cs2: -1, minusRatio: 1, runs: 1 });
        for (const vector of [vectors.v, vectors.x, vectors.variance]) member.queue(0).clear(vector);
      }
      run(this.first);
    }
    return this.shares[0].scalars.read();
  }

  /** Replaces launches that the device has not measured yet by the fastest variant, where the device is asked to tune. */
  private async tune(): Promise<void> {
    const faster = new Map<Launch, Launch>();
    const { anew = [] } = this.matrix;
    const launched = new Set([...this.first, ...this.again, ...this.all, ...anew].filter((step) => "launch" in step));
    for (const { launch, queue } of launched) if (!faster.has(launch)) faster.set(launch, await atFirstUse(queue.device, launch));
    for (const step of launched) step.launch = faster.get(step.launch)!;
    this.launches = [...faster.values()];
  }

  /** Adds each step's time between the marks before and after it, which have happened. */
  private async addTimes(seconds: Map<string, number>, marks: readonly DeviceEvent[]): Promise<void> {
    for (const [k, { name }] of this.all.entries()) seconds.set(name, (seconds.get(name) ?? 0) + (await marks[k + 1].since(marks[k])));
  }

  /**
   * Undoes the column scaling `p` of each member and turns variances into standard errors, rnorm / sqrt(degrees of freedom) * sqrt(variance).
   * Call it once, after `solve`; for one side.
   */
  async finish(p: readonly View<"f64">[], rnorm: number, freedom: number): Promise<void> {
    const sigma = rnorm / Math.sqrt(freedom);
    for (const [n, { member, vectors }] of this.shares.entries()) {
      const [x, variance] = [vectors.x.at(1, 0), vectors.variance.at(1, 0)];
      await member.queue(0).finish();
      await member.device.run(finish, { p: p[n], sigma, x, variance }, range(x.length), this.options);
    }
  }

  /**
   * |b - A x| of the solution that `finish` has unscaled by `p`, computed anew with b in `u`. Leaves A x - b in `u`; `v` is lost. For one side.
   */
  async residual(p: readonly View<"f64">[]): Promise<number> {
    for (const [n, { member, vectors, scalars }] of this.shares.entries()) {
      const [x, v] = [vectors.x.at(1, 0), vectors.v.at(1, 0)];
      await member.queue(0).finish();
      await member.device.run(rescale, { p: p[n], x, v }, range(x.length), this.options);
      scalars.write({ minusAlpha: -1, minusRatio: -1 });
    }
    run(this.matrix.exact?.forward ?? this.matrix.forward);
    const [{ betaSquared, betaSquaredConstraints }] = await this.shares[0].scalars.read();
    return Math.sqrt(betaSquared + betaSquaredConstraints);
  }

  /**
   * Begins to solve for a correction of the scaled solution in `x`, with b in `u`: from r = b - A x and g = A^T r with coefficients in f64, the solution y of
   * min |C y|^2 / 2 + g.y for the coefficients C of an iteration, such that x - y is the better solution. It is LSQR's for C and one more row g^T / |r|,
   * whose known term is |r|, so that its stopping rules mean what they mean for x; the row only scales y, by |r'|^2 / |r|^2 for LSQR's residual r' (the
   * formula of Sherman and Morrison), and no vector needs an element for it: u is 0 after its first step. For one side.
   * @returns the norms of r and g
   */
  async beginCorrection(): Promise<{ rnorm: number; arnorm: number }> {
    const { exact, reset } = this.matrix;
    reset?.();
    for (const { member, vectors, scalars } of this.shares) {
      member.queue(0).copy(vectors.x, vectors.v);
      scalars.write({ minusAlpha: -1, minusRatio: -1 });
    }
    run(exact!.forward);
    reset?.();
    for (const { member, vectors, scalars } of this.shares) {
      scalars.write({ cs2: -1, minusRatio: 1, runs: 1 });
      for (const vector of [vectors.v, vectors.x, vectors.variance]) member.queue(0).clear(vector);
    }
    run(this.again);
    for (const { member, vectors } of this.shares) member.queue(0).clear(vectors.u);
    const [{ rnorm, arnorm }] = await this.shares[0].scalars.read();
    return { rnorm, arnorm };
  }

  free(): void {
    for (const launch of this.launches) launch.free();
    this.matrix.free?.();
  }
}

function run(steps: readonly Step[]): void {
  for (const step of steps) {
    if ("launch" in step) step.queue.submit(step.launch);
    else step.act();
  }
}
