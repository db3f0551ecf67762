import { unreachable } from "../../base/unreachable.js";
import { evaluateBinary } from "../../ir/evaluate.js";
import { isWide } from "../../ir/scalars.js";
import { combineFunction, jointFunction } from "../../ir/combine.js";
import { foldGroups } from "../../ir/joint.js";
import { foldLanes } from "../../ir/lanes.js";
import { chunksPerLine } from "../../ir/launch.js";
import {
  REDUCTION_CHUNK,
  REDUCTION_LANES,
  type BinaryFn,
  type NumberType,
  type ReduceParam,
  type NumericType,
  type ScatterOp,
} from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import { typedArray } from "../memory/view.js";
import { belowOf, hostArray, writeView } from "./host-view.js";

/*
 * The second half of a strict reduction (docs/determinism.md): kernels leave one partial for each chunk of REDUCTION_CHUNK elements of
 * a line, or for each team, and these are folded by the same rule until one is left.
 */

/** A value of a reduction; of i64 and u64 a bigint. */
export type FoldedValue = number | bigint;
export type FoldFunction = (a: FoldedValue, b: FoldedValue) => FoldedValue;
/** Partials in a row, such as a typed array. */
export interface PartialValues {
  [index: number]: FoldedValue;
}

const SUMS: Record<NumberType, (a: number, b: number) => number> = {
  f64: (a, b) => a + b,
  f32: (a, b) => Math.fround(a + b),
  i32: (a, b) => (a + b) | 0,
  u32: (a, b) => (a + b) >>> 0,
};

const OPERATORS: Record<ScatterOp, BinaryFn> = { sum: "add", min: "min", max: "max" };

/** How two values of a built-in reduction become one, rounded to its type. */
export function foldOf(op: ScatterOp, type: NumericType): FoldFunction {
  if (isWide(type)) return (a, b) => evaluateBinary(OPERATORS[op], type, a as bigint, b as bigint);
  return (op === "sum" ? SUMS[type] : op === "min" ? Math.min : Math.max) as FoldFunction;
}

/** How two values of a reduce parameter become one. */
export function foldOfParam(param: ReduceParam): FoldFunction {
  if (param.op === "joint") throw new Error(`${param.name} folds jointly with others`);
  return param.op === "custom" ? combineFunction<FoldedValue>(param.combine!) : foldOf(param.op, param.type);
}

/** Lanes of one fold at a time: of numbers, and of bigints. */
const numberLanes = new Float64Array(REDUCTION_LANES);
const wideLanes = new BigUint64Array(REDUCTION_LANES);
const signedLanes = new BigInt64Array(wideLanes.buffer);

function lanesOf(type: NumericType): { [index: number]: FoldedValue; fill(value: FoldedValue): unknown } {
  switch (type) {
    case "i64":
      return signedLanes as ReturnType<typeof lanesOf>;
    case "u64":
      return wideLanes as ReturnType<typeof lanesOf>;
    case "f64":
    case "f32":
    case "i32":
    case "u32":
      return numberLanes as ReturnType<typeof lanesOf>;
    default:
      return unreachable(type);
  }
}

/**
 * Folds the first `count` partials in place to the reduction's result: the strict tree, which is as good as any order in fast mode.
 * Without partials it is the identity.
 */
export function foldPartials(
  partials: PartialValues,
  count: number,
  param: Pick<ReduceParam, "identity" | "type">,
  fold: FoldFunction,
): FoldedValue {
  if (count === 0) return param.identity;
  const lanes = lanesOf(param.type);
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
  partials: readonly PartialValues[],
  count: number,
  parts: readonly Pick<ReduceParam, "identity" | "joint">[],
): number[] {
  const identity = parts.map((part) => part.identity as number);
  if (count === 0) return identity;
  const fold = jointFunction(parts[0].joint!);
  const at = (n: number): number[] => partials.map((part) => part[n] as number);
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
  readonly partials: PartialValues & { readonly length: number };
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
  const results: Record<string, FoldedValue> = {};
  const tell = (param: ReduceParam, value: FoldedValue): void => {
    results[param.name] = value;
    const output = outputs[param.name];
    if (output) (hostArray(output) as PartialValues)[belowOf(output)] = value;
  };
  const partialsOf = new Map(reduced.map(({ param, partials }) => [param, partials]));
  if (unfolded) {
    for (const { param, partials } of reduced) writeView(outputs[param.name]!, partials as ArrayLike<number>);
    return results as Record<string, number>;
  }
  for (const parts of foldGroups(reduced.map(({ param }) => param))) {
    const [param] = parts;
    const partials = parts.map((part) => partialsOf.get(part)!);
    const count = partials[0].length;
    if (param.joint) foldPartialsJointly(partials, count, parts).forEach((value, n) => tell(parts[n], value));
    else tell(param, foldPartials(partials[0], count, param, foldFor(param)));
  }
  return results as Record<string, number>;
}

/** The partials of a reduction that JavaScript's code has left: f64 for all numbers. */
export function partialArray(
  type: NumericType,
  memory: ArrayBufferLike,
  address: number,
  count: number,
): PartialValues & { readonly length: number } {
  const element: NumericType = isWide(type) ? type : "f64";
  return typedArray(element, memory, address, count) as PartialValues & { readonly length: number };
}

/** Sets number `n` of the scalars of JavaScript's code, each an f64 or the bits of an integer of 64. */
export function putScalar(slots: Float64Array, n: number, value: number | bigint | boolean): void {
  if (typeof value === "bigint") new BigInt64Array(slots.buffer, slots.byteOffset, slots.length)[n] = value;
  else slots[n] = Number(value);
}
