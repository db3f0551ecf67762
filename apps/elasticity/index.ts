/**
 * Linear elasticity on voxels, by conjugate gradients without a matrix: `Elasticity.create` lays out a `Solid` (`cube`, `tension`, `patch`, or your
 * own), `solve` finds its displacement.
 * @module
 */
export { Elasticity, DEFAULTS, type Settings, type Solution, type SolveOptions } from "./elasticity.js";
export { CASES, cube, patch, tension, type CaseName, type CubeOptions, type Solid } from "./solid.js";
export type { Material } from "./hexahedron.js";
export type { Preconditioner } from "./kernels.js";
