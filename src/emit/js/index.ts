export { emitJs, rangeSlots } from "./kernel.js";
export { emitCombine } from "./fold.js";
export type { JsTarget, Allocation, AllocatedView } from "./target.js";
