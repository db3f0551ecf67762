/* Compressible flows: `Simulation.create` for the flows of `flowOf`. */
export * from "./simulation.js";
export * from "./cases.js";
