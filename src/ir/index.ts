/** The public face of the IR: for people who write a backend or a pass. */
export * from "./types.js";
export * from "./analysis/access.js";
export * as affine from "./analysis/affine.js";
export { affineOf, definitionsOf } from "./analysis/affine.js";
export type { Affine, Definitions, Interval } from "./analysis/affine.js";
export { costOf } from "./analysis/cost.js";
export type { Sizes, WorkCost } from "./analysis/cost.js";
export * as evaluate from "./evaluate.js";
export { fold } from "./passes/fold.js";
export { forward } from "./passes/forward.js";
export { optimise } from "./passes/optimise.js";
export { print, printExpr } from "./print.js";
export { checkRaces } from "./analysis/races.js";
export { relax } from "./passes/relax.js";
export { scalarise } from "./passes/scalarise.js";
export { unroll } from "./passes/unroll.js";
export { verify } from "./verify.js";
export * from "./walk.js";
