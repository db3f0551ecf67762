export { devices, deviceShares, USUAL_LINK, type DeviceSet, type Link, type Member, type SetOptions } from "./device-set.js";
export { copyBetween } from "./copy.js";
export { deepCopy } from "./deep-copy.js";
export { mirror, type Mirror } from "./mirror.js";
export { Partitioned } from "./partitioned.js";
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
export { Scalar } from "./scalar.js";
