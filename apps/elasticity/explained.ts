/* For `isoform explain`. */

export { makeSkeleton } from "./elasticity.js";
