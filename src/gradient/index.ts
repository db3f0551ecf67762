/** `isoform/gradient`: derivatives of kernels (docs/gradients.md). */
export { GradientError } from "../base/errors.js";
export { checkGradient, type CheckOptions, type GradientCheck } from "./check.js";
export { jvp } from "./jvp.js";
export { rule, type KernelRule } from "./rule.js";
export { vjp, type VjpOptions } from "./vjp.js";
export type { Derivative, DerivativeArgs, DerivativeOptions, PreparedDerivative } from "./derivative.js";
export { gradient, type FieldSeed, type GradientOptions, type GradientRun, type SkeletonGradient } from "./skeleton-gradient.js";
export { tape, type Seed, type Tape, type TapeArgs, type TapeResults } from "./tape.js";
export type { TapeGradients } from "./backward.js";
export type { TapeScalar } from "./tape-scalar.js";
