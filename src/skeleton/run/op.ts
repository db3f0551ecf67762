import type { Launch } from "../../device/device.js";
import type { HaloCopy } from "../../domain/grid/parts.js";
import type { Node } from "../plan/nodes.js";

/** Work of one member for one task, in one of its streams. */
export interface Op {
  readonly node: Node;
  readonly member: number;
  readonly stream: number;
  readonly launches: readonly Launch[];
  /** From this member to others. */
  readonly copies: readonly HaloCopy[];
  /** The exchange that its copies belong to, which the copies of other members share; undefined where it has none. */
  readonly exchange?: object;
  /** Operations of other streams or members that are waited for. */
  readonly waits: readonly Op[];
  /** Operations of other members that it waits for while it runs, without an event. */
  readonly exchangesWith: readonly Op[];
}
