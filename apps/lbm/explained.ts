/* For `isoform explain`. */

export { makeSkeleton } from "./cavity.js";
