export { emitJs } from "./kernel.js";
export { emitFold } from "./fold.js";
export type { JsTarget, Place, PlacedView } from "./target.js";
