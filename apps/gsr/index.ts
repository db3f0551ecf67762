/* Gaia's astrometric system and its solution by LSQR: `createSystem`, `Solver`. */
export * from "./solver.js";
export * from "./system.js";
