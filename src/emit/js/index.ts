export { emitJs, rangeSlots } from "./kernel.js";
export { emitFold } from "./fold.js";
export type { JsTarget, Allocation, AllocatedView } from "./target.js";
