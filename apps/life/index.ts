/* Conway's game of life: `Life.create`, `PATTERNS`. */
export * from "./life.js";
export * from "./patterns.js";
