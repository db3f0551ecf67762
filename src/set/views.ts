/** Tools for views: parts, records, host mirrors, copies. */
export { BlockedView } from "../device/memory/blocked-view.js";
export { all, subview, type Part } from "../device/memory/subview.js";
export { deepCopy } from "./deep-copy.js";
export { mirror, type Mirror } from "./mirror.js";
export {
  aosoa,
  records,
  type BlockLayout,
  type Component,
  type Components,
  type RecordLayout,
  type Records,
  type RecordViews,
} from "./records.js";
