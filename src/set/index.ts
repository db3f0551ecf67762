export { devices, subDevices, DEFAULT_LINK, type DeviceSet, type Link, type SetOptions } from "./device-set.js";
export { byLocal, ifLocal, isLocal, localOf, type LocalMember, type Member } from "./member.js";
export type { Carried, CarriedEnd, Carrier } from "./carrier.js";
export {
  carriedEnd,
  copyLocally,
  Exchange,
  exchangeNow,
  isMessage,
  messagesOf,
  numberIn,
  partnersOf,
  type MemberCopy,
} from "./exchange.js";
export { deliver, postMessages, type StagedMessage } from "./staging.js";
export { ofFirstRank, onAnyRank, requireAlike, requireOneProcess, spansProcesses } from "./one-process.js";
export { onAllRanks } from "./together.js";
export { inTurn, isAtWork } from "./in-turn.js";
export { copyBetween } from "./copy.js";
export { memoryOf, requireMemory, type MemoryNeed } from "./memory.js";
export { Partitioned } from "./partitioned.js";
export { readPieces } from "./pieces.js";
export { TreeSum, type TreeSumOptions } from "./tree-sum.js";
export { Scalar } from "./scalar.js";
export type { Message, Transport } from "./transport.js";
export type { Ranks } from "./ranks.js";
