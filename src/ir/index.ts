/** The public face of the IR: for people who write a backend or a pass. */
export * from "./types.js";
export * from "./access.js";
export * as affine from "./affine.js";
export { affineOf, definitionsOf } from "./affine.js";
export type { Affine, Definitions, Interval } from "./affine.js";
export { costOf } from "./cost.js";
export type { Sizes, WorkCost } from "./cost.js";
export * as evaluate from "./evaluate.js";
export { fold } from "./fold.js";
export { forward } from "./forward.js";
export { optimise } from "./optimise.js";
export { print, printExpr } from "./print.js";
export { checkRaces } from "./races.js";
export { relax } from "./relax.js";
export { scalarise } from "./scalarise.js";
export { unroll } from "./unroll.js";
export { verify } from "./verify.js";
export * from "./walk.js";
