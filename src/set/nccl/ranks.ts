import { IsoformError } from "../../base/errors.js";

/** Facts by which ranks decide whether NCCL can carry their messages. */
export interface NcclFacts {
  /** Why not, by what this rank knows. */
  readonly problem?: string;
  readonly version?: string;
  /** Host and place of the GPU, which two ranks must not share. */
  readonly gpu?: string;
}

/**
 * Why NCCL cannot carry the messages of some ranks; undefined where it can.
 * @param all the facts of each rank
 */
export function whyNotNccl(all: readonly NcclFacts[]): string | undefined {
  const problem = all.findIndex((facts) => facts.problem !== undefined);
  if (problem >= 0) return `rank ${problem}: ${all[problem].problem}`;
  const version = all.findIndex((facts) => facts.version !== all[0].version);
  if (version > 0) return `rank 0 has NCCL ${all[0].version}, and rank ${version} ${all[version].version}`;
  const twice = all.findIndex(({ gpu }, rank) => all.findIndex((other) => other.gpu === gpu) < rank);
  if (twice > 0) return `ranks ${all.findIndex(({ gpu }) => gpu === all[twice].gpu)} and ${twice} share a GPU`;
  return undefined;
}

/** Refuses what was asked for and cannot be. */
export const noNccl = (why: string): IsoformError => new IsoformError(`link "nccl": ${why}`);
