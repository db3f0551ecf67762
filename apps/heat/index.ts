/**
 * The heat equation on the unit square by explicit steps: `new Heat(set, settings)`, then `run` and `deviation`.
 * @module
 */
export { DEFAULTS, Heat, type Deviation, type HeatSettings } from "./heat.js";
