import { IsoformError } from "../base/errors.js";
import { agreedByAll } from "./job.js";
import type { Ranks } from "./ranks.js";

/** Ranks that exchange values. */
interface Exchanging {
  readonly count: number;
  exchange<T>(value: T, what: string): Promise<T[]>;
}

/**
 * Does work in each process of a set, without messages between them, and compares how it ended; all processes call it.
 * @throws IsoformError on all ranks alike where it failed on some: it names the first of them with its message, and the others
 */
export function onAllRanks<T>({ ranks }: { readonly ranks?: Ranks }, work: () => Promise<T>): Promise<T> {
  return ranks ? together({ count: ranks.count, exchange: (value, what) => ranks.gather(value, what) }, work) : work();
}

/**
 * Does work on every rank, and compares how it ended.
 * @param undo frees what the work has made, where it failed on another rank
 * @throws IsoformError on all ranks alike where it failed on some: it names the first of them with its message, and the others
 */
export async function together<T>(ranks: Exchanging, work: () => Promise<T>, undo?: (result: T) => Promise<void>): Promise<T> {
  const [ended] = await Promise.allSettled([work()]);
  if (ranks.count === 1) return resultOf(ended);
  const problems = await ranks.exchange(
    ended.status === "fulfilled" ? undefined : textOf(ended.reason),
    "the end of work that all ranks do",
  );
  const failed = problems.flatMap((problem, rank) => (problem === undefined ? [] : [rank]));
  if (failed.length === 0) return resultOf(ended);
  if (ended.status === "fulfilled") await undo?.(ended.value);
  const others = failed.length > 1 ? ` (and on ${failed.length - 1} other ranks: ${listed(failed.slice(1))})` : "";
  const cause = ended.status === "rejected" ? ended.reason : undefined;
  throw agreedByAll(new IsoformError(`rank ${failed[0]} of ${ranks.count}: ${problems[failed[0]]}${others}`, { cause }));
}

/** Ranks that a message names. */
const NAMED = 8;

/** The first ranks of a list, in words. */
export const listed = (ranks: readonly number[]): string => `${ranks.slice(0, NAMED).join(", ")}${ranks.length > NAMED ? ", ..." : ""}`;

const textOf = (error: unknown): string =>
  error instanceof IsoformError ? error.message : error instanceof Error ? `${error.name}: ${error.message}` : String(error);

function resultOf<T>(ended: PromiseSettledResult<T>): T {
  if (ended.status === "rejected") throw ended.reason;
  return ended.value;
}
