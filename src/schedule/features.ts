import type { NumericType, ScatterOp } from "../ir/types.js";

/** Abilities of a target: all that schedules ask of it. */
export interface Features {
  /** Threads that read each other's registers; 0 where folds go through the block's memory. */
  readonly warp: number;
  /** Groups of lanes have names by which they wait for each other. */
  readonly namesLanes: boolean;
  /** Subgroups of any size fold values by functions of the language, which go by this operation and type. */
  readonly groupFolds: (op: ScatterOp, type: NumericType) => boolean;
  /** Threads of the block that folds the last partials. */
  readonly finishThreads: number;
  /** Threads of a block that folds a piece of the partials, where blocks find out which of them is the last. */
  readonly lastBlock: number;
  /** The same where blocks, on several GPUs as well, wait for what others of them store. */
  readonly peerAccess: number;
  /** Runs of neighbouring threads that fold into one element can be found. */
  readonly findsRuns: boolean;
  /** Bytes that a thread with little to compute is to move; 0 if one element each is best. */
  readonly bytesOfThread: number;
  /** An entry can say how many blocks a multiprocessor is to hold. */
  readonly holdsResidents: boolean;
  /** The compiler writes out as many turns of a loop as it is told, and was measured to gain by it. */
  readonly writesOutTurns: boolean;
  /** Threads read values that all elements need into the block's memory, which was measured to gain. */
  readonly stagesTurns: boolean;
  /** The compiler joins loads of neighbours where it is told how they lie. */
  readonly joinsLoads: boolean;
  /** Memory can be asked for ahead. */
  readonly asksAhead: boolean;
}

/** Threads of a block that folds a piece of the partials; 0 where one block folds them all. */
export const finalThreads = ({ peerAccess, lastBlock }: Pick<Features, "peerAccess" | "lastBlock">): number => peerAccess || lastBlock;
