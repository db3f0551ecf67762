/**
 * Compressible flows by high-order finite differences: `configOf` completes a configuration, `flowOf` makes a `Flow` of it, `Simulation.create` lays
 * it out on devices, and `follow` runs it with a sample now and then.
 * @module
 */
export { DEFAULTS, Simulation, type Flow, type Settings } from "./simulation/simulation.js";
export { flowOf } from "./cases/cases.js";
export { configOf } from "./config/config.js";
export type { CaseName, Config, Given } from "./config/config-keys.js";
export { FlowError, follow, type Course } from "./simulation/run.js";
export type { ChannelProgress, Extremes, Progress } from "./simulation/progress-line.js";
export type { MeanAxes, Means } from "./measures/statistics.js";
export type { Spectral, Spectrum } from "./measures/spectra.js";
