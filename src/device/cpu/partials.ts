import { combineFunction, jointFunction } from "../../ir/combine.js";
import { foldGroups } from "../../ir/joint.js";
import { foldLanes } from "../../ir/lanes.js";
import { chunksPerLine } from "../../ir/launch.js";
import { REDUCTION_CHUNK, REDUCTION_LANES, type ReduceParam, type NumericType, type ScatterOp } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import { belowOf, hostArray, writeView } from "./host-view.js";

/*
 * The second half of a strict reduction (docs/determinism.md): kernels leave one partial for each chunk of REDUCTION_CHUNK elements of
 * a line, or for each team, and these are folded by the same rule until one is left.
 */

export type FoldFunction = (a: number, b: number) => number;

const OPS: Record<ScatterOp, Record<NumericType, FoldFunction>> = {
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
export function foldOf(op: ScatterOp, type: NumericType): FoldFunction {
  return OPS[op][type];
}

/** How two values of a reduce parameter become one. */
export function foldOfParam(param: ReduceParam): FoldFunction {
  if (param.op === "joint") throw new Error(`${param.name} folds jointly with others`);
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

/** The same for the parts of a joint reduction, whose partials are given in their order. */
export function foldPartialsJointly(
  partials: readonly { [index: number]: number }[],
  count: number,
  parts: readonly Pick<ReduceParam, "identity" | "joint">[],
): number[] {
  const identity = parts.map((part) => part.identity);
  if (count === 0) return identity;
  const fold = jointFunction(parts[0].joint!);
  const at = (n: number): number[] => partials.map((part) => part[n]);
  for (let left = count; left > 1; left = chunksPerLine(left)) {
    for (let chunk = 0; chunk * REDUCTION_CHUNK < left; chunk++) {
      const values = Array.from({ length: REDUCTION_LANES }, () => identity);
      const end = Math.min(left, (chunk + 1) * REDUCTION_CHUNK);
      for (let n = chunk * REDUCTION_CHUNK; n < end; n++) values[n % REDUCTION_LANES] = fold(values[n % REDUCTION_LANES], at(n));
      foldLanes(values, fold).forEach((value, k) => (partials[k][chunk] = value));
    }
  }
  return at(0);
}

/** A reduce parameter, and the partials that a launch has left. */
interface ReducedParam {
  readonly param: ReduceParam;
  readonly partials: Float64Array;
}

/**
 * Leaves reduce parameters' partials in the views that take them, or folds them to their values: into the results, and the views that take these.
 *
 * @param foldFor the fold of a parameter that folds alone
 */
export function finishReductions(
  { outputs, partials: unfolded }: Pick<Binding, "outputs" | "partials">,
  reduced: readonly ReducedParam[],
  foldFor: (param: ReduceParam) => FoldFunction = foldOfParam,
): Record<string, number> {
  const results: Record<string, number> = {};
  const tell = (param: ReduceParam, value: number): void => {
    results[param.name] = value;
    const output = outputs[param.name];
    if (output) hostArray(output)[belowOf(output)] = value;
  };
  const partialsOf = new Map(reduced.map(({ param, partials }) => [param, partials]));
  if (unfolded) {
    for (const { param, partials } of reduced) writeView(outputs[param.name]!, partials);
    return results;
  }
  for (const parts of foldGroups(reduced.map(({ param }) => param))) {
    const [param] = parts;
    const partials = parts.map((part) => partialsOf.get(part)!);
    const count = partials[0].length;
    if (param.joint) foldPartialsJointly(partials, count, parts).forEach((value, n) => tell(parts[n], value));
    else tell(param, foldPartials(partials[0], count, param, foldFor(param)));
  }
  return results;
}
