import { LaunchError } from "../../base/errors.js";
import { requireOptions, requireThing } from "../../base/own.js";
import { unreachable } from "../../base/unreachable.js";
import type { Device, Graph } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import { makePattern, PatternSteps, requireSeparate, requireView, type PatternOptions } from "../pattern.js";
import { transposeRows, type SparseType } from "../sparse/rows.js";
import { SparseMatrix } from "../sparse/sparse-matrix.js";
import { BICGSTAB_SCALARS, bicgstabSteps } from "./bicgstab.js";
import { CG_SCALARS, cgSteps } from "./cg.js";
import { GMRES_SCALARS, gmresSteps } from "./gmres.js";
import { LSQR_SCALARS, lsqrSteps } from "./lsqr.js";
import { MINRES_SCALARS, minresSteps } from "./minres.js";
import { MATRIX_PRECONDITIONERS, preconditionerOf, type PreconditionerName } from "./preconditioners.js";
import { LEAST_NORMAL, makeScalars, type EndStatus, type SolverScalars, type SolverState } from "./scalars.js";
import { StepMaker, startSteps, type LinearFunction, type Method, type MethodParts, type SolverStep } from "./steps.js";

const METHODS = ["cg", "bicgstab", "gmres", "minres", "lsqr"] as const;
/** Iterative methods (docs/sparse.md). */
export type SolverMethod = (typeof METHODS)[number];

/** Arguments of `solver`. */
export interface LinearSystem<T extends SparseType = SparseType> {
  /** A, as a sparse matrix, or as a function that prepares y = A x for two views. */
  operator: SparseMatrix | LinearFunction<T>;
  /** y = A^T x as a function, for `lsqr` where the operator is one. */
  transposed?: LinearFunction<T>;
  b: View<T>;
  /** Holds the first guess, and takes the solution. */
  x: View<T>;
  method: SolverMethod;
  /** `jacobi`, `ssor` or `ilu0` of a sparse matrix, or a function that prepares z = M^-1 r for two views. Default: none */
  preconditioner?: PreconditionerName | LinearFunction<T>;
  /** The end: a residual of this times the norm of b. Default: 1e-6 for f64, 1e-4 for f32 */
  tolerance?: number;
  /** The end, too: a residual of this norm. Default: 0 */
  absolute?: number;
  /** Default: ten times the number of unknowns */
  maxIterations?: number;
  /** Directions that gmres keeps before it starts anew. Default: 20, or the unknowns if there are fewer */
  restart?: number;
  /** Iterations that are enqueued between two looks at the residual. Default: 8 */
  every?: number;
}

/** The end of a solve. */
export interface Solved {
  /** Iterations: applications of A, or pairs of them (bicgstab, lsqr). */
  readonly iterations: number;
  /** Norm of b - A x, computed anew from x, over the norm of b; the norm itself if b is 0. */
  readonly residual: number;
  readonly converged: boolean;
  /** Why it has ended, in words. */
  readonly reason: string;
  /** Residuals as the iteration knew them, over the norm of b: of the first guess, then after each iteration. */
  readonly history: Float64Array;
}

const REASONS: Readonly<Record<EndStatus, string>> = {
  converged: "the residual is within the tolerance",
  normal: "x is a least-squares solution: the residual of the normal equations is within the tolerance",
  limit: "maxIterations is reached: allow more, or give a preconditioner",
  notFinite:
    "a number is not finite: b, x, the operator or the preconditioner holds NaN or infinity, or squares overflow: scale the system",
  indefinite: "the operator has a direction of negative curvature, p . A p < 0: cg needs a positive definite one; take minres",
  breakdown:
    "the method broke down, as a divisor is 0: the operator may be singular, or so small that squares underflow; take another method, or another first guess",
  preconditioner: "r . M^-1 r is not positive: the preconditioner has to be symmetric and positive definite for this method",
  underflow: "the operator, or A^T b, is so small that squares underflow: scale the system",
  transposed: "u . A v and A^T u . v differ by more than rounding errors: transposed is not the transpose of the operator",
};

/** LSQR's rule for the residual, which allows for an error of A, too. */
const COMPATIBLE = "A x = b is solved within the tolerance of A and of b (Paige and Saunders 1982)";

const DISAGREES =
  "the iteration has met its rules, but b - A x is larger than it knows: transposed is not the transpose of the operator, or rounding errors have grown";

const UNDERFLOW = "b is so small that squares of residuals underflow, so the end could not be told: scale the system";

const STAGNATED =
  "the iteration has met the tolerance, but b - A x has not: the tolerance is below the rounding errors of this operator, or it is singular";

const ABOUT_SYSTEM = ["operator", "transposed", "b", "x"];
const OPTIONS = [...ABOUT_SYSTEM, "method", "preconditioner", "tolerance", "absolute", "maxIterations", "restart", "every"];

/** Prepares a solver of A x = b, or of min |b - A x| for `lsqr`, on vectors of the device. */
export function solver<T extends SparseType>(device: Device, system: LinearSystem<T>, options: PatternOptions = {}): KrylovSolver {
  requireOptions("solver", system, OPTIONS);
  const what = system as unknown as LinearSystem;
  requireArguments(what);
  const parts: { made?: Omit<Prepared, "pattern"> } = {};
  const pattern = makePattern(device, options, (steps) => {
    parts.made = prepare(steps as PatternSteps, what, options);
  });
  return new KrylovSolver(device, { ...parts.made!, pattern }, what);
}

function requireArguments(what: LinearSystem): void {
  const { operator, transposed, b, x, method, preconditioner } = what;
  requireThing("solver, for method,", method, METHODS.includes(method), `give ${METHODS.join(", ")}`);
  const isOperator = operator instanceof SparseMatrix || typeof operator === "function";
  requireThing("solver, for operator,", operator, isOperator, "give a sparse matrix, or a function (x, y) => pattern");
  for (const name of ["b", "x"] as const) {
    requireView(`solver, for ${name},`, what[name]);
    if (what[name].rank !== 1) throw new LaunchError(`solver: ${name} has shape [${what[name].shape}]: give a view of rank 1`);
  }
  if (b.type !== "f64" && b.type !== "f32") throw new LaunchError(`solver: b is of ${String(b.type)}: give f64 or f32`);
  if (x.type !== b.type) throw new LaunchError(`solver: x is of ${String(x.type)} and b of ${b.type}: types must be equal`);
  requireSeparate("solver", [["x", x]], [["b", b]]);
  if (operator instanceof SparseMatrix) {
    if (operator.type !== b.type)
      throw new LaunchError(`solver: the operator is of ${operator.type} and b of ${b.type}: types must be equal`);
    if (operator.shape[0] !== b.length || operator.shape[1] !== x.length)
      throw new LaunchError(
        `solver: the operator is ${operator.shape.join(" x ")}, b has ${b.length} elements and x ${x.length}: give b a row's each, and x a column's`,
      );
  }
  if (method === "lsqr") requireForLsqr(what);
  else {
    if (x.length !== b.length)
      throw new LaunchError(`solver: ${method} needs a square operator, and b has ${b.length} elements, x ${x.length}: take lsqr`);
    if (transposed !== undefined) throw new LaunchError(`solver: ${method} does not use the transposed operator: leave it out`);
  }
  if (typeof preconditioner !== "function" && preconditioner !== undefined) {
    const known = MATRIX_PRECONDITIONERS.includes(preconditioner);
    requireThing(
      "solver, for preconditioner,",
      preconditioner,
      known,
      `give ${MATRIX_PRECONDITIONERS.join(", ")}, or a function (r, z) => pattern`,
    );
    if (!(operator instanceof SparseMatrix))
      throw new LaunchError(
        `solver: the preconditioner ${preconditioner} is made of a sparse matrix, and the operator is a function: give a function, too`,
      );
  }
  requireNumbers(what);
  requireNormal(what);
}

function requireForLsqr({ operator, transposed, preconditioner }: LinearSystem): void {
  if (preconditioner !== undefined)
    throw new LaunchError("solver: lsqr takes no preconditioner: scale the columns of the operator instead");
  if (operator instanceof SparseMatrix && transposed !== undefined)
    throw new LaunchError("solver: lsqr transposes a sparse matrix itself: leave transposed out");
  if (!(operator instanceof SparseMatrix))
    requireThing(
      "solver, for transposed,",
      transposed,
      typeof transposed === "function",
      "lsqr needs the function of A^T, (x, y) => pattern",
    );
}

function requireNumbers({ tolerance = 1, absolute = 0, maxIterations = 1, restart = 1, every = 1 }: LinearSystem): void {
  for (const [name, value] of Object.entries({ tolerance, absolute }))
    requireThing(`solver, for ${name},`, value, Number.isFinite(value) && value >= 0, "give a number that is not negative");
  for (const [name, value, most] of [
    ["maxIterations", maxIterations, MOST_ITERATIONS],
    ["restart", restart, 1000],
    ["every", every, 1000],
  ] as const)
    requireThing(
      `solver, for ${name},`,
      value,
      Number.isInteger(value) && value >= 1 && value <= most,
      `give a whole number from 1 to ${most}`,
    );
}

/** Limits that are 0 in the vectors' type, or rounded to few digits, would not be the ones that were given. */
function requireNormal({ b, tolerance = 0, absolute = 0 }: LinearSystem): void {
  const type = b.type as SparseType;
  for (const [name, value] of Object.entries({ tolerance, absolute }))
    if (value > 0 && value < LEAST_NORMAL[type])
      throw new LaunchError(
        `solver: ${name} ${value} is below the least number of ${type}, ${LEAST_NORMAL[type].toPrecision(2)}: give a greater one, or 0`,
      );
}

/** f32 counts up to this number. */
const MOST_ITERATIONS = 2 ** 24;

interface Prepared {
  readonly pattern: { free(): void };
  readonly scalars: SolverScalars<string>;
  readonly method: Method;
  /** Takes values that the operator got since the last run. */
  readonly renew: () => void;
  /** Steps that find the residual of x. */
  readonly check: readonly SolverStep[];
  readonly limits: { readonly limit: number; readonly tolerance: number; readonly absolute: number };
}

function prepare(steps: PatternSteps, what: LinearSystem, options: PatternOptions): Omit<Prepared, "pattern"> {
  const { operator, transposed, method, preconditioner, absolute = 0 } = what;
  const [b, x] = [what.b as View<SparseType, 1>, what.x as View<SparseType, 1>];
  const tolerance = what.tolerance ?? (b.type === "f64" ? 1e-6 : 1e-4);
  const limit = what.maxIterations ?? Math.min(MOST_ITERATIONS, Math.max(10, 10 * x.length));
  const every = Math.min(what.every ?? 8, limit);
  const restart = Math.max(1, Math.min(what.restart ?? 20, x.length));
  const maker = new StepMaker(steps, b.type as SparseType);
  const functionOf =
    (matrix: SparseMatrix): LinearFunction =>
    (from, to) =>
      matrix.apply({ x: from, y: to }, options);
  const flipped = method === "lsqr" && operator instanceof SparseMatrix ? transposeOf(steps, operator) : undefined;
  const common = {
    maker,
    b,
    x,
    every,
    restart,
    apply: operator instanceof SparseMatrix ? functionOf(operator) : operator,
    applyTransposed: flipped ? functionOf(flipped.matrix) : transposed,
    precondition: typeof preconditioner === "string" ? preconditionerOf(preconditioner, operator as SparseMatrix, options) : preconditioner,
  };
  const partsOf = <N extends string>(names: readonly N[]): MethodParts<N> => ({
    ...common,
    scalars: makeScalars(steps, maker.type, names, every + 1),
  });
  const { parts, plan } = planOf(method, partsOf);
  const check = startSteps(parts, maker.vector(b.length), maker.vector(b.length)).slice(0, -1);
  return { scalars: parts.scalars, method: plan, check, renew: flipped?.renew ?? (() => {}), limits: { limit, tolerance, absolute } };
}

/** A transpose that belongs to the solver, and follows `update` of the matrix. */
function transposeOf(steps: PatternSteps, of: SparseMatrix): { readonly matrix: SparseMatrix; readonly renew: () => void } {
  const matrix = steps.own(of.transpose());
  let { values } = of.elements;
  const renew = (): void => {
    if (of.elements.values === values) return;
    ({ values } = of.elements);
    matrix.update(transposeRows(of.elements, of.type).values);
  };
  return { matrix, renew };
}

/** The scalars and the steps of a method. */
function planOf(method: SolverMethod, partsOf: <N extends string>(names: readonly N[]) => MethodParts<N>) {
  const of = <N extends string>(names: readonly N[], make: (parts: MethodParts<N>) => Method) => {
    const parts = partsOf(names);
    return { parts: parts as unknown as MethodParts<string>, plan: make(parts) };
  };
  switch (method) {
    case "cg":
      return of(CG_SCALARS, cgSteps);
    case "bicgstab":
      return of(BICGSTAB_SCALARS, bicgstabSteps);
    case "gmres":
      return of(GMRES_SCALARS, gmresSteps);
    case "minres":
      return of(MINRES_SCALARS, minresSteps);
    case "lsqr":
      return of(LSQR_SCALARS, lsqrSteps);
    default:
      return unreachable(method);
  }
}

/** The end of a solve whose numbers are too small. */
const untold = (residual: number): Solved => ({
  iterations: 0,
  residual,
  converged: false,
  reason: UNDERFLOW,
  history: Float64Array.of(residual),
});

/** A prepared iteration: `run` solves from what x holds, as often as wanted. Made by `solver`. */
export class KrylovSolver {
  private readonly graphs = new Map<readonly SolverStep[], Graph>();
  private running = false;

  constructor(
    private readonly device: Device,
    private readonly prepared: Prepared,
    private readonly what: LinearSystem,
  ) {}

  private get type(): SparseType {
    return this.what.b.type;
  }

  /**
   * Solves from what x holds to the tolerance, and reads a few scalars each few iterations. An iteration that ends without meeting the tolerance says so: `converged` is
   * false, and `reason` says why. Throws LaunchError while another run of the same solver is under way.
   */
  async run(): Promise<Solved> {
    if (this.running) throw new LaunchError("solver.run: the last run is under way, on the same vectors: await it first");
    this.running = true;
    try {
      return await this.solve();
    } finally {
      this.running = false;
    }
  }

  private async solve(): Promise<Solved> {
    const { scalars, method, limits, renew } = this.prepared;
    renew();
    scalars.begin(limits);
    this.submit(method.start);
    let state = await scalars.read();
    const { bNorm } = state;
    if (bNorm === 0 && limits.absolute === 0) return this.zero();
    const history = [state.residual];
    const threshold = Math.max(limits.tolerance * bNorm, limits.absolute);
    if (threshold > 0 && threshold ** 2 < LEAST_NORMAL[this.type]) return untold(bNorm > 0 ? state.residual / bNorm : NaN);
    let before = state.residual;
    for (;;) {
      while (state.status === "running") state = await this.cycle(state, history);
      const rest = await this.residual();
      const met = Number.isFinite(threshold) && rest <= threshold;
      const stagnates = state.status === "converged" && this.what.method !== "lsqr" && !met;
      if (!stagnates || !(rest < before / 2)) return this.ended(state, { rest, met, stagnates, history });
      // Rounding errors of the iteration: begin anew from the true residual.
      before = rest;
      this.submit(method.start);
      state = await scalars.read();
    }
  }

  /** A cycle, and all that follows before the next one. */
  private async cycle(from: SolverState, history: number[]): Promise<SolverState> {
    const { scalars, method } = this.prepared;
    let state = from;
    for (const { steps } of method.cycle) {
      this.submit(steps);
      const next = await scalars.read();
      for (let n = state.count + 1; n <= next.count; n++) history.push(next.log[n % next.log.length]);
      state = next;
      if (state.status !== "running") break;
    }
    if (!method.finish) return state;
    this.submit(method.finish);
    if (state.status !== "running") return state;
    this.submit(method.start);
    return scalars.read();
  }

  private async residual(): Promise<number> {
    const { scalars, check } = this.prepared;
    this.submit(check);
    return Math.sqrt((await scalars.read()).rr);
  }

  private ended(
    state: SolverState,
    { rest, met, stagnates, history }: { rest: number; met: boolean; stagnates: boolean; history: readonly number[] },
  ): Solved {
    const { status, count, bNorm } = state;
    const relative = (value: number): number => (bNorm > 0 ? value / bNorm : value);
    const rules = this.what.method === "lsqr" && (status === "converged" || status === "normal");
    const agrees = rest <= 2 * Math.max(state.residual, state.threshold);
    const solved = rules && agrees;
    const reason = solved && !met && status === "converged" ? COMPATIBLE : REASONS[met ? "converged" : (status as EndStatus)];
    return {
      iterations: count,
      residual: relative(rest),
      converged: met || solved,
      reason: stagnates ? STAGNATED : rules && !agrees && !met ? DISAGREES : reason,
      history: Float64Array.from(history, relative),
    };
  }

  /** The squares of b add up to 0: if b is 0, so is the solution. */
  private async zero(): Promise<Solved> {
    const { b, x } = this.what;
    if ((await this.device.queue.read(b)).some((value) => value !== 0)) return untold(NaN);
    this.device.queue.write(x, new Float64Array(x.length));
    await this.device.queue.finish();
    return { iterations: 0, residual: 0, converged: true, reason: "b is 0, and so is x", history: Float64Array.of(0) };
  }

  /** Enqueues steps as one graph, captured when they come for the first time. */
  private submit(steps: readonly SolverStep[]): void {
    const { queue } = this.device;
    let graph = this.graphs.get(steps);
    if (!graph) {
      graph = queue.capture(() => steps.forEach((step) => step(queue)));
      this.graphs.set(steps, graph);
    }
    queue.submit(graph);
  }

  /** Throws LaunchError: a solver is not a promise. */
  then(): never {
    throw new LaunchError("a solver was awaited before it ran: write await solver.run(); an async function returns { solver }");
  }

  /** Gives back the solver's memory, and what the operator's and the preconditioner's functions have returned. The operator and the views stay. */
  free(): void {
    for (const graph of this.graphs.values()) graph.free();
    this.graphs.clear();
    this.prepared.pattern.free();
  }
}
