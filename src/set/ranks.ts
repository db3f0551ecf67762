/**
 * The processes that a set spans; each has the same script, and calls these functions in the same order. `what` tells what a call is for: it must be the same
 * on all ranks, or they throw an IsoformError, all alike, that names both.
 */
export interface Ranks {
  /** Number of this process, from 0. */
  readonly rank: number;
  readonly count: number;
  /** Rank 0's value, on every rank. Values are copied as by `structuredClone`. */
  agree<T>(value: T, what?: string): Promise<T>;
  /**
   * Does work that leaves something on disk, such as compiled kernels: one rank of each node first, then its other ranks, which find it.
   * @throws IsoformError on every rank if `work` throws on one, with that rank and its message
   */
  first<T>(work: () => T | Promise<T>): Promise<T>;
  /**
   * The values of all ranks, by rank, on every rank. They are copied as by `agree`. Calls count in the order in which they are made, so a value that takes
   * longer on some ranks is given as a promise, which must not wait for a later call of all ranks: the job ends with a message then.
   */
  gather<T>(value: T | Promise<T>, what?: string): Promise<T[]>;
  /**
   * Compares a content of all ranks, a text or parts, which must be the same on each; the thread waits for the others.
   * @param what the content tells, for the message: `the plan of skeleton "cg"`
   * @throws IsoformError on every rank for a content that differs from rank 0's, naming the ranks
   */
  requireAlike(what: string, content: string | Iterable<string | Uint8Array>): void;
  /** Returns once every rank has come here. */
  barrier(what?: string): Promise<void>;
}
