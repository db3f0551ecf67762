/* Heat that spreads in a box: `Heat.create`, `makeSkeleton`. */
export * from "./heat.js";
