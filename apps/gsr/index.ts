/**
 * The astrometric system of the Gaia mission and its solution by LSQR, on one device: `Solver.create` generates a system of a given size, `solve`
 * solves it, `deviation` compares the solution with the exact one.
 * @module
 */
export { fastestForm, shapeOf, Solver, type FormName, type Layout, type SolverOptions } from "./solver.js";
export { STOP_REASONS, type Norms, type Solution, type SolveOptions, type Step, type Tolerances } from "./lsqr.js";
export { createSystem, type GeneratorName, type System, type SystemOptions, type Unknowns } from "./system.js";
export type { Shape } from "./shape.js";
export type { Deviation } from "./validate.js";
