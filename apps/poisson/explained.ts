/* For `isoform explain`. */

export { makeSkeleton } from "./poisson.js";
