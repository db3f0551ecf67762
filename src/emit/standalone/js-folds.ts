import { REDUCTION_CHUNK, REDUCTION_LANES, type ReduceParam } from "../../ir/types.js";
import { emitCombine } from "../js/fold.js";
import { combineBuiltIn } from "../js/reduction.js";

/** Problem and remedy where a target's host has no fold of several parts. */
export const NO_JOINT_FOLDS = [
  "it folds a value together with its place, for which this target's host has no fold",
  "emit js, c, cuda or wgsl",
] as const;

/** JavaScript for the function that folds two values of a reduction. */
export function foldFunction({ name, op, type, combine }: ReduceParam): string {
  if (op === "joint") throw new Error(`${name} is one part of a joint reduction`);
  if (op !== "custom") return `(a, b) => ${combineBuiltIn(op, type, "a", "b")}`;
  return `(() => { ${emitCombine(combine!).replaceAll("\n", " ")} })()`;
}

/** JavaScript of `$foldPartials`, which folds what chunks or teams have left. */
export const FOLD_PARTIALS = `// Folds the partial results of chunks: ${REDUCTION_CHUNK} at a time in ${REDUCTION_LANES} lanes, level after level.
function $foldPartials(partials, fold, identity) {
  if (partials.length === 0) return identity;
  while (partials.length > 1) {
    const folded = [];
    for (let first = 0; first < partials.length; first += ${REDUCTION_CHUNK}) {
      const lanes = new Array(${REDUCTION_LANES}).fill(identity);
      for (let n = first; n < Math.min(first + ${REDUCTION_CHUNK}, partials.length); n++) lanes[n % ${REDUCTION_LANES}] = fold(lanes[n % ${REDUCTION_LANES}], partials[n]);
      for (let step = ${REDUCTION_LANES / 2}; step >= 1; step /= 2) for (let k = 0; k < step; k++) lanes[k] = fold(lanes[k], lanes[k + step]);
      folded.push(lanes[0]);
    }
    partials = folded;
  }
  return partials[0];
}`;

/** JavaScript of `$foldJointly`, the same for the parts of a joint reduction. */
export const FOLD_JOINTLY = `// Folds the partial results of chunks of several parts: ${REDUCTION_CHUNK} at a time in ${REDUCTION_LANES} lanes, level after level.
function $foldJointly(partials, folds, identity) {
  let values = partials[0].map((_, n) => partials.map((part) => part[n]));
  const fold = (a, b) => folds.map((one) => one(...a, ...b));
  if (values.length === 0) return identity;
  while (values.length > 1) {
    const folded = [];
    for (let first = 0; first < values.length; first += ${REDUCTION_CHUNK}) {
      const lanes = new Array(${REDUCTION_LANES}).fill(identity);
      for (let n = first; n < Math.min(first + ${REDUCTION_CHUNK}, values.length); n++) lanes[n % ${REDUCTION_LANES}] = fold(lanes[n % ${REDUCTION_LANES}], values[n]);
      for (let step = ${REDUCTION_LANES / 2}; step >= 1; step /= 2) for (let k = 0; k < step; k++) lanes[k] = fold(lanes[k], lanes[k + step]);
      folded.push(lanes[0]);
    }
    values = folded;
  }
  return values[0];
}`;
