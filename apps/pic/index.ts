/* Plasmas by GEMPIC: `Simulation.create` for the problems of `CASES`, or one of your own. */
export * from "./simulation.js";
export * from "./problem.js";
export * from "./species.js";
export * from "./cases.js";
export * from "./mesh.js";
export * from "./distribution.js";
export * from "./distribution-file.js";
export * from "./judgement.js";
