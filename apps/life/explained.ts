/* For `isoform explain`. */

export { makeSkeleton } from "./life.js";
