import type { DeviceSet } from "../../src/set/index.js";
import type { OccLevel } from "../../src/skeleton/index.js";

/** Something to compute that a seed has drawn. */
export interface DrawnCase {
  /** The values that it leaves, by containers that run one after the other on a set of one member. */
  meaning(one: DeviceSet): Promise<unknown[]>;
  /** The values that its skeleton leaves on any set. */
  outcome(set: DeviceSet, occ: OccLevel): Promise<unknown[]>;
}
