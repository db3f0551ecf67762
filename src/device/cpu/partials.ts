import { combineFunction } from "../../ir/combine.js";
import { chunksPerLine } from "../../ir/launch.js";
import { REDUCTION_CHUNK, REDUCTION_LANES, type ReduceOp, type ReduceParam, type NumericType } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import { belowOf, hostArray, writeView } from "./host-view.js";

/*
 * The second half of a strict reduction (docs/determinism.md): kernels leave one partial for each chunk of REDUCTION_CHUNK elements of
 * a line, or for each team, and these are folded by the same rule until one is left.
 */

export type FoldFunction = (a: number, b: number) => number;

const OPS: Record<Exclude<ReduceOp, "custom">, Record<NumericType, FoldFunction>> = {
  sum: {
    f64: (a, b) => a + b,
    f32: (a, b) => Math.fround(a + b),
    i32: (a, b) => (a + b) | 0,
    u32: (a, b) => (a + b) >>> 0,
  },
  min: { f64: Math.min, f32: Math.min, i32: Math.min, u32: Math.min },
  max: { f64: Math.max, f32: Math.max, i32: Math.max, u32: Math.max },
};

/** How two values of a built-in reduction become one, rounded to its type. */
export function foldOf(op: Exclude<ReduceOp, "custom">, type: NumericType): FoldFunction {
  return OPS[op][type];
}

/** How two values of a reduce parameter become one. */
export function foldOfParam(param: ReduceParam): FoldFunction {
  return param.op === "custom" ? combineFunction(param.combine!) : foldOf(param.op, param.type);
}

/** Lanes of one fold at a time. */
const lanes = new Float64Array(REDUCTION_LANES);

/**
 * Folds the first `count` partials in place to the reduction's result: the strict tree, which is as good as any order in fast mode.
 * Without partials it is the identity.
 */
export function foldPartials(
  partials: { [index: number]: number },
  count: number,
  param: Pick<ReduceParam, "identity">,
  fold: FoldFunction,
): number {
  if (count === 0) return param.identity;
  for (let left = count; left > 1; left = chunksPerLine(left)) {
    for (let chunk = 0; chunk * REDUCTION_CHUNK < left; chunk++) {
      lanes.fill(param.identity);
      const end = Math.min(left, (chunk + 1) * REDUCTION_CHUNK);
      for (let n = chunk * REDUCTION_CHUNK; n < end; n++) lanes[n % REDUCTION_LANES] = fold(lanes[n % REDUCTION_LANES], partials[n]);
      for (let step = REDUCTION_LANES / 2; step >= 1; step /= 2) for (let k = 0; k < step; k++) lanes[k] = fold(lanes[k], lanes[k + step]);
      partials[chunk] = lanes[0];
    }
  }
  return partials[0];
}

/**
 * Leaves a reduce parameter's partials in the view that takes them, or folds them to its value: into `results`, and the view that takes it.
 */
export function finishReduction(
  { outputs, partials: unfolded }: Pick<Binding, "outputs" | "partials">,
  param: ReduceParam,
  fold: FoldFunction,
  partials: Float64Array,
  results: Record<string, number>,
): void {
  const output = outputs[param.name];
  if (unfolded) return writeView(output!, partials);
  const value = foldPartials(partials, partials.length, param, fold);
  results[param.name] = value;
  if (output) hostArray(output)[belowOf(output)] = value;
}
