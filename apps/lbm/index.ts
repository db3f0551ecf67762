/**
 * Flows by the lattice Boltzmann method, in lattice units (cells, steps, density 1): `Simulation.create` takes a `Flow` from `cavity`, `cylinder`,
 * `sphere` or `vortex`, or one of your own, whose cells are `FLUID`, `WALL`, `MOVING_WALL`, `STREAM` or `OUTLET`.
 * @module
 */
export { DEFAULTS, profile, Simulation, type Flow, type PlanOptions, type Settings, type State } from "./simulation.js";
export type { Collision, Pattern, PopulationStorage, Wall } from "./simulation.js";
export { D2Q9, D3Q19, type Lattice } from "./lattice.js";
export { FLUID, MOVING_WALL, OUTLET, STREAM, WALL } from "./kinds.js";
export { cavity, compareWithGhia, LID_SPEED, type CavityOptions, type Compared, type Comparison } from "./cavity.js";
export type { Reynolds } from "./ghia.js";
export { cylinder, CYLINDER_BOX, sphere, SPHERE_BOX, STREAM_SPEED, wayToSphere, type Box, type ObstacleOptions } from "./obstacle.js";
export { coefficients, cylinderSchedule, sphereSchedule, streetOf, type Coefficients, type Street } from "./obstacle.js";
export { schillerNaumann, williamson } from "./obstacle.js";
export { publishedCylinders, type PublishedCylinder } from "./cylinder-references.js";
export { decayRate, vortex, watchDecay, type Decay, type VortexOptions } from "./vortex.js";
export { plane, runToSteadyState, vorticity, watchForce, type Plane, type Report, type Schedule } from "./run.js";
