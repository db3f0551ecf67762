/* For `isoform explain`. */

export { makeSkeleton } from "./heat.js";
