import type { View } from "../../device/memory/view.js";
import { view, type ViewToken } from "../../kernel/declare/params.js";
import type { PatternSteps } from "../pattern.js";
import { FLOAT_TOKENS } from "../both-types.js";
import type { SparseType } from "../sparse/rows.js";

/*
 * SolverScalars of a solver stay on the device, each a view of one element, so that iterations follow each other without a wait. The host reads them all at once, with
 * the residuals of the last iterations.
 */

/** SolverScalars that all methods have, in the order in which they lie in memory. */
const COMMON = ["status", "count", "limit", "tolerance", "absolute", "bSquares", "threshold", "residual", "rr"] as const;

/** Reasons for which an iteration ends, by the number that kernels set. */
const STATUS = {
  running: 0,
  converged: 1,
  limit: 2,
  notFinite: 3,
  indefinite: 4,
  breakdown: 5,
  preconditioner: 6,
  normal: 7,
  underflow: 8,
  transposed: 9,
} as const;
export type EndStatus = Exclude<keyof typeof STATUS, "running">;

/** The state of a solve after some iterations. */
export interface SolverState {
  readonly status: keyof typeof STATUS;
  /** Iterations since the start. */
  readonly count: number;
  /** Norm of the residual, as the iteration knows it. */
  readonly residual: number;
  readonly threshold: number;
  readonly bNorm: number;
  /** Squares of the last residual that was computed from x, or by the iteration. */
  readonly rr: number;
  /** The last iterations' residuals, iteration n at place n modulo their number. */
  readonly log: ArrayLike<number>;
}

/** Least numbers that are not rounded like others. */
export const LEAST_NORMAL: Readonly<Record<SparseType, number>> = { f64: 2 ** -1022, f32: 2 ** -126 };

/** Distance of 1 to the next number. */
export const ROUNDING: Readonly<Record<SparseType, number>> = { f64: 2 ** -52, f32: 2 ** -23 };

/** Squares of an operator's norm from which on numbers whose squares underflow are below its rounding errors. */
export const leastOperatorSquares = (type: SparseType): number => LEAST_NORMAL[type] / ROUNDING[type] ** 2;

type Names<N extends string> = Readonly<Record<N | (typeof COMMON)[number], View<SparseType, 1>>>;

/** Views of a method's scalars, and of the log. */
export interface SolverScalars<N extends string> {
  readonly at: Names<N>;
  readonly log: View<SparseType, 1>;
  read(): Promise<SolverState>;
  /** Sets what a solve is asked for; begins with iteration 0. */
  begin(settings: { readonly limit: number; readonly tolerance: number; readonly absolute: number }): void;
}

/** Makes the scalars of a method. @param logged iterations that the log has room for */
export function makeScalars<N extends string>(
  steps: PatternSteps,
  type: SparseType,
  names: readonly N[],
  logged: number,
): SolverScalars<N> {
  const all = [...COMMON, ...names];
  const memory = steps.array(type, all.length + logged);
  const viewOf = (place: number): View<SparseType, 1> => memory.slice([place, place + 1]);
  const at = Object.fromEntries(all.map((name, place) => [name, viewOf(place)])) as unknown as Names<N>;
  const { queue } = steps.device;
  return {
    at,
    log: memory.slice([all.length, all.length + logged]),
    async read() {
      const values = await queue.read(memory);
      const value = (name: (typeof COMMON)[number]): number => values[COMMON.indexOf(name)];
      const status = (Object.keys(STATUS) as (keyof typeof STATUS)[]).find((name) => STATUS[name] === value("status"))!;
      return {
        status,
        count: value("count"),
        residual: value("residual"),
        threshold: value("threshold"),
        rr: value("rr"),
        bNorm: Math.sqrt(value("bSquares")),
        log: values.subarray(all.length),
      };
    },
    begin(settings) {
      queue.clear(memory);
      for (const name of ["limit", "tolerance", "absolute"] as const) queue.write(at[name], [settings[name]]);
    },
  };
}

type Token = ReturnType<typeof tokenOf>;
const tokenOf = (type: SparseType) => view(FLOAT_TOKENS[type]);

/** Parameters of a kernel over one element: a view for each scalar. */
export const scalarTokens = <const N extends readonly string[]>(type: SparseType, names: N): { readonly [K in N[number]]: Token } =>
  Object.fromEntries(names.map((name) => [name, tokenOf(type)])) as never;

/** Parameters of kernels that judge an iteration. */
export const judgeTokens = (type: SparseType) => ({
  ...scalarTokens(type, ["status", "count", "limit", "threshold", "residual"]),
  log: view(FLOAT_TOKENS[type], 1, { disjoint: true }) as ViewToken<"f64", 1>,
});

/** For kernels: the status after an iteration. The numbers are in STATUS. */
export const judged = (residual: number, threshold: number, count: number, limit: number): number =>
  Number.isFinite(residual) ? (residual <= threshold ? 1 : count >= limit ? 2 : 0) : 3;
