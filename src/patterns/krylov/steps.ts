import { LaunchError } from "../../base/errors.js";
import { describe } from "../../base/describe.js";
import type { Args, Launch, PolicyOf, Queue } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import { range } from "../../device/launch/policy.js";
import { kernel, type Kernel, type PolicyKind } from "../../kernel/declare/kernel.js";
import { sum, view, type Params } from "../../kernel/declare/params.js";
import type { Pattern, PatternSteps } from "../pattern.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";
import type { SparseType } from "../sparse/rows.js";
import { judgeTokens, judged, scalarTokens, type SolverScalars } from "./scalars.js";

/** Work that a function of the user's gives: y becomes A x, in this order. */
export type LinearWork = Pattern | Launch | readonly (Pattern | Launch)[];
/** Computes y from x: called once for each pair of views, when the solver is prepared. */
export type LinearFunction<T extends SparseType = SparseType> = (x: View<T, 1>, y: View<T, 1>) => LinearWork;

/** A part of an iteration: it enqueues launches that were prepared. */
export type SolverStep = (queue: Queue) => void;

/** Parts of a method. */
export interface Method {
  /** From x to the first residual. */
  readonly start: readonly SolverStep[];
  /** Iterations that belong together, in pieces; the scalars are read after each piece. */
  readonly cycle: readonly { readonly steps: readonly SolverStep[]; readonly iterations: number }[];
  /** Brings x up to date after a cycle, also after one that ended early. */
  readonly finish?: readonly SolverStep[];
}

/** Vectors and operations from which a method is made. */
export interface MethodParts<N extends string> {
  readonly maker: StepMaker;
  readonly scalars: SolverScalars<N>;
  readonly b: View<SparseType, 1>;
  readonly x: View<SparseType, 1>;
  readonly apply: LinearFunction;
  /** z becomes M^-1 r. Undefined without a preconditioner. */
  readonly precondition?: LinearFunction;
  /** y becomes A^T x. For lsqr. */
  readonly applyTransposed?: LinearFunction;
  /** Iterations between two readings. */
  readonly every: number;
  /** Iterations of a cycle of gmres. */
  readonly restart: number;
}

/** Makes steps and vectors of one type, which are freed with the solver. */
export class StepMaker {
  constructor(
    readonly steps: PatternSteps,
    readonly type: SparseType,
  ) {}

  vector(length: number): View<SparseType, 1> {
    return this.steps.array(this.type, length);
  }

  /** A launch of a kernel of this type. */
  launch<P extends Params, K extends PolicyKind>(
    kernels: Readonly<Record<SparseType, Kernel<P, K>>>,
    args: Record<string, unknown>,
    policy: PolicyOf<K>,
  ): SolverStep {
    const before = this.steps.launches.length;
    this.steps.launch(kernels[this.type], args as Args<P>, policy);
    const launch = this.steps.launches[before];
    return (queue) => queue.submit(launch);
  }

  /** A kernel over one element, for scalars. */
  scalar<P extends Params>(kernels: Readonly<Record<SparseType, Kernel<P, "range">>>, args: Record<string, unknown>): SolverStep {
    return this.launch(kernels, args, range(1));
  }

  /** Prepares the work of a user's function. Throws LaunchError where it returns something else. */
  linear(what: string, of: LinearFunction, x: View<SparseType, 1>, y: View<SparseType, 1>): SolverStep {
    const work = of(x, y);
    const parts = (Array.isArray(work) ? work : [work]) as readonly (Pattern | Launch)[];
    const all = parts.map((part): SolverStep => {
      if (isPattern(part)) {
        this.steps.own(part);
        return (queue) => part.submit(queue);
      }
      if (typeof part !== "object" || part === null || !("kernel" in part))
        throw new LaunchError(
          `solver, for ${what}, its function returns ${describe(part)}: return a pattern or a launch, or a list of them`,
        );
      this.steps.own(part);
      return (queue) => queue.submit(part);
    });
    return (queue) => all.forEach((step) => step(queue));
  }
}

const isPattern = (part: unknown): part is Pattern => typeof part === "object" && part !== null && "launches" in part && "submit" in part;

const vectorsOf = <const N extends readonly string[]>(type: SparseType, names: N) => scalarTokens(type, names);

/** r = b - s, where s is A x, with the squares of r and b. */
const residualKernel = bothTypes((type) =>
  kernel(
    "krylovResidual",
    { ...vectorsOf(type, ["b", "s", "r"]), rr: sum(FLOAT_TOKENS[type]), bSquares: sum(FLOAT_TOKENS[type]) },
    ({ b, s, r, rr, bSquares }, i) => {
      const rest = b[i] - s[i];
      r[i] = rest;
      rr.add(rest * rest);
      bSquares.add(b[i] * b[i]);
    },
  ),
);

/** The first judgement: iteration 0, or a start anew, which keeps the count. */
const judgeStart = bothTypes((type) =>
  kernel(
    "krylovStart",
    { ...judgeTokens(type), ...scalarTokens(type, ["tolerance", "absolute", "bSquares", "rr"]) },
    ({ status, count, limit, threshold, residual, log, tolerance, absolute, bSquares, rr }, i) => {
      threshold[i] = Math.max(tolerance[i] * Math.sqrt(bSquares[i]), absolute[i]);
      residual[i] = Math.sqrt(rr[i]);
      if (count[i] === 0) log[i] = residual[i];
      status[i] = judged(residual[i], threshold[i], count[i], limit[i]);
    },
    () => [judged],
  ),
);

const dotKernel = bothTypes((type) =>
  kernel("krylovDot", { ...vectorsOf(type, ["x", "y"]), result: sum(FLOAT_TOKENS[type]) }, ({ x, y, result }, i) => {
    result.add(x[i] * y[i]);
  }),
);

const copyKernel = bothTypes((type) =>
  kernel("krylovCopy", { from: view(FLOAT_TOKENS[type]), to: view(FLOAT_TOKENS[type]) }, ({ from, to }, i) => {
    to[i] = from[i];
  }),
);

/** result = x . y */
export const dotStep = (maker: StepMaker, x: View<SparseType, 1>, y: View<SparseType, 1>, result: View<SparseType, 1>): SolverStep =>
  maker.launch(dotKernel, { x, y, result }, range(x.length));

export const copyStep = (maker: StepMaker, from: View<SparseType, 1>, to: View<SparseType, 1>): SolverStep =>
  maker.launch(copyKernel, { from, to }, range(from.length));

/** Steps that make r = b - A x, the squares of both r and b, and judge it; `s` takes A x. */
export function startSteps<N extends string>(
  { maker, scalars, b, x, apply }: MethodParts<N>,
  r: View<SparseType, 1>,
  s: View<SparseType, 1>,
): SolverStep[] {
  const { at } = scalars;
  return [
    maker.linear("operator", apply, x, s),
    maker.launch(residualKernel, { b, s, r, rr: at.rr, bSquares: at.bSquares }, range(b.length)),
    maker.scalar(judgeStart, { ...judgeArgs(scalars), tolerance: at.tolerance, absolute: at.absolute, bSquares: at.bSquares, rr: at.rr }),
  ];
}

/** Arguments of kernels with `judgeTokens`. */
export const judgeArgs = <N extends string>({ at, log }: SolverScalars<N>) => ({
  status: at.status,
  count: at.count,
  limit: at.limit,
  threshold: at.threshold,
  residual: at.residual,
  log,
});

/** The scalars of a list as arguments. */
export const argsOf = <N extends string>(
  { at }: SolverScalars<N>,
  names: readonly (keyof SolverScalars<N>["at"])[],
): Record<string, View<SparseType, 1>> => Object.fromEntries(names.map((name) => [name, at[name]]));

/** A cycle of equal iterations. */
export const repeated = (steps: readonly SolverStep[], every: number): Method["cycle"] => [
  { steps: Array.from({ length: every }, () => steps).flat(), iterations: every },
];
