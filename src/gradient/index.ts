/** `isoform/gradient`: derivatives of kernels (docs/gradients.md). */
export { GradientError } from "../base/errors.js";
export { checkGradient, type CheckOptions, type GradientCheck } from "./check.js";
export { jvp } from "./jvp.js";
export { vjp, type VjpOptions } from "./vjp.js";
export type { Derivative, DerivativeArgs, DerivativeOptions, PreparedDerivative } from "./derivative.js";
