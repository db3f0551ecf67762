/* Linear elasticity on voxels: `Elasticity.create`, `solve`, `makeSkeleton`. */
export * from "./elasticity.js";
export * from "./solid.js";
