/**
 * Conway's Game of Life: `new Life(set, settings, "glider")`, then `run` and `picture`.
 * @module
 */
export { DEFAULTS, Life, type LifeSettings } from "./life.js";
export { PATTERNS, type PatternName } from "./patterns.js";
