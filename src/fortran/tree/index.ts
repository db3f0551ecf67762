/** The syntax tree of Fortran: types alone. */
export * from "./declarations.js";
export * from "./directives.js";
export * from "./expressions.js";
export * from "./units.js";
export * from "./statements.js";
export * from "./use.js";
