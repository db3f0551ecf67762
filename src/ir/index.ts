/** The IR: what it is, how it is built, printed, checked, walked and changed. */
export * from "./types.js";
export { KernelBuilder, type KernelOptions, type LocalRef, type ReduceTarget, type Rows } from "./builder.js";
export {
  add,
  and,
  binary,
  call,
  cast,
  compare,
  constant,
  div,
  element,
  entry,
  eq,
  extent,
  ge,
  gt,
  index,
  int,
  le,
  load,
  logical,
  lt,
  mul,
  ne,
  neg,
  not,
  or,
  rem,
  select,
  sub,
  teamSize,
  truth,
  unary,
  type ArrayRef,
  type Operand,
  type Typed,
  type ValueOf,
} from "./expressions.js";
export { localOf, paramOf } from "./by-name.js";
export { IRError } from "../base/errors.js";
export { changedBy } from "./atomic.js";
export { identityOf } from "./identity.js";
export { inclusiveStop, lastOf } from "./loop-stops.js";
export { analyseAccess, outside, takenRange, type Access, type AccessAnalysis, type LoopRange, type ViewUse } from "./analysis/access.js";
export { affineOf, definitionsOf } from "./analysis/affine.js";
export type { Affine, Definitions, Interval } from "./analysis/affine.js";
export { costOf } from "./analysis/cost.js";
export type { Sizes, WorkCost } from "./analysis/cost.js";
export * as evaluate from "./evaluation.js";
export { foldConstants } from "./constant-folding.js";
export { combineFunction, jointFunction } from "./combine.js";
export { foldGroups } from "./joint.js";
export { forwardStores } from "./passes/forward-stores.js";
export { optimise } from "./passes/optimise.js";
export { printKernel, printExpr } from "./kernel-text.js";
export { checkRaces } from "./analysis/races.js";
export { relax } from "./passes/relax.js";
export { labelled, leave, RETURN, structure, type Jump, type Labelled } from "./structure.js";
export { scalarise } from "./passes/scalarise.js";
export { unroll } from "./passes/unroll.js";
export { verify } from "./verify.js";
export {
  blocksOf,
  changedIn,
  changeOf,
  children,
  declares,
  exprsOf,
  flatMapStmts,
  isLoop,
  mapBlocks,
  mapChildren,
  mapExpr,
  mapKernel,
  mapOwnExprs,
  mapStmts,
  readOf,
  sizeOf,
  someExpr,
  walkExpr,
  walkExprs,
  walkStmts,
  type StmtMapper,
  type Touched,
} from "./walk.js";
export { BINARY, COMPARE, MATH, UNARY } from "./operators.js";
export { ELEMENTS } from "./scalars.js";
export { unreachable } from "../base/unreachable.js";
