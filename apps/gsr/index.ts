/**
 * The astrometric system of the Gaia mission and its solution by LSQR, on one device: `Solver.create` generates a system of a given size, `solve`
 * solves it, `deviation` compares the solution with the exact one.
 * @module
 */
export { fastestForm, shapeOf, Solver, type FormName, type GeneratorName, type Layout, type SolverOptions } from "./solver.js";
export type { ScanningSystemOptions, SimulatedOptions } from "./solver.js";
export type { ScanningOptions, ScanningSource } from "./scanning/index.js";
export { simulatedRows, type SimulatedName } from "./simulated.js";
export type { Constraints, Observations, RowSource } from "./source.js";
export { solveRobustly, weightOf, type RobustSolution, type Turn } from "./robust.js";
export { starCorrelations, STAR_CORRELATIONS, type Probes } from "./probes.js";
export { scanningRows } from "./scanning/index.js";
export { STOP_REASONS, type Solution, type SolveOptions, type Step, type Tolerances } from "./lsqr.js";
export type { Norms } from "./norms.js";
export { createSystem, type System, type SystemOptions, type Unknowns } from "./system.js";
export type { Shape } from "./shape.js";
export type { Deviation } from "./validate.js";
