/* Poisson's equation by conjugate gradients: `makePoisson`, `makeSkeleton`. */
export * from "./poisson.js";
