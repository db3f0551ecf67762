import { type Command, InvalidArgumentError } from "commander";
import { IsoformError } from "../base/errors.js";
import { count, positive } from "./numbers.js";

/** Options of `isoform explain --as-ranks`. */
export interface AsRanks {
  readonly asRanks: number;
  readonly links?: string;
  readonly ranksPerNode?: number;
  /** All ranks together have the box; else each has one. */
  readonly strong?: boolean;
  /** Bytes a second of a rank's kernels. Default: a copy, measured. */
  readonly bandwidth?: number;
}

/** Ways to print a plan for ranks. */
export const RANK_FORMATS = ["text", "json", "messages"] as const;
/** One of `RANK_FORMATS`. */
export type RankFormat = (typeof RANK_FORMATS)[number];

/** Adds the options of plans for ranks that are not there. */
export function addRankOptions(command: Command): Command {
  return command
    .option(
      "--as-ranks <n>",
      "plan for this many ranks, which need not be there, and predict an iteration; --devices is one device then",
      count,
    )
    .option("--links <name>", "with --as-ranks: links of a machine (slingshot-11, slingshot-11-shared, hdr, nvlink-h100) or in a JSON file")
    .option("--ranks-per-node <n>", "with --as-ranks: ranks on each node; default: 1", count)
    .option("--strong", "with --as-ranks: all ranks share the box (strong scaling); by default each has one of its own (weak scaling)")
    .option(
      "--bandwidth <gigabytes>",
      "with --as-ranks: GB/s that a rank's kernels move; default: a copy, measured on the device",
      positive,
    );
}

/** The axes of a box: 2 or 3. */
export function boxDimension(text: string): 2 | 3 {
  if (text !== "2" && text !== "3") throw new InvalidArgumentError("It needs 2 or 3.");
  return text === "2" ? 2 : 3;
}

/** Refuses formats and options that belong to the other kind of explanation. */
export function requireRankOptions(format: string, options: Partial<AsRanks>): void {
  const isOf = (known: readonly string[]): boolean => known.includes(format);
  if (options.asRanks !== undefined) {
    if (!isOf(RANK_FORMATS)) throw new IsoformError(`--format ${format} does not show --as-ranks: choose ${RANK_FORMATS.join(", ")}`);
    return;
  }
  if (format === "json" || format === "messages")
    throw new IsoformError(`--format ${format} shows a plan for many ranks: give --as-ranks, too`);
  const names = { links: "--links", ranksPerNode: "--ranks-per-node", strong: "--strong", bandwidth: "--bandwidth" } as const;
  for (const [name, flag] of Object.entries(names))
    if (options[name as keyof AsRanks] !== undefined) throw new IsoformError(`${flag} is for plans of many ranks: give --as-ranks, too`);
}
