/**
 * Compressible flows by high-order finite differences: `configOf` completes a configuration, `flowOf` makes a `Flow` of it, `Simulation.create` lays
 * it out on devices, and `follow` runs it with a sample now and then.
 * @module
 */
export { DEFAULTS, Simulation, type Flow, type Settings } from "./simulation.js";
export { flowOf } from "./cases.js";
export { configOf } from "./config.js";
export type { CaseName, Config, Given } from "./config-keys.js";
export { FlowError, follow, type Course } from "./run.js";
export type { ChannelProgress, Extremes, Progress } from "./progress-line.js";
export type { MeanAxes, Means } from "./statistics.js";
export type { Spectral, Spectrum } from "./spectra.js";
