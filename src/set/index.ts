export { devices, subDevices, DEFAULT_LINK, type DeviceSet, type Link, type Member, type SetOptions } from "./device-set.js";
export { copyBetween } from "./copy.js";
export { memoryOf, requireMemory, type MemoryNeed } from "./memory.js";
export { Partitioned } from "./partitioned.js";
export { Scalar } from "./scalar.js";
