/* Flows by the lattice Boltzmann method: `Simulation.create` for the flows `cavity`, `cylinder`, `sphere`, `vortex`, or one of your own. */
export * from "./simulation.js";
export * from "./cavity.js";
export * from "./obstacle.js";
export * from "./vortex.js";
export * from "./lattice.js";
export * from "./cylinder-references.js";
