import type { Policy, RangePolicy } from "../../ir/launch.js";
import type { KernelIR } from "../../ir/types.js";

/*
 * Code that knows its range is hardly faster along one axis, and takes down to half of the time along short lines in several dimensions
 * (bench/results/ranges-epyc.json); it takes hundreds of microseconds to make. So kernels whose ranges change from launch to launch, as along the diagonals of a matrix, get code for any
 * range, which has it as arguments.
 */

/** Sets of views and options whose ranges are counted for a kernel; more, as of a program that makes new arrays for each launch, begin anew. */
const KEPT = 64;

/** Indices below which all ranges are enclosed by one. */
const NEAR = 4096;

/**
 * Ranges for which a kernel has code of its own, on views of the same shapes. What is prepared is run often; for what runs once the inner cells
 * and the boundaries of a grid are enough.
 */
let ownRanges = { prepared: 64, once: 4 };

/** Runs `run`, in which a kernel gets `count` of them, as tests of the others need. */
export async function withOwnRanges<Result>(count: number, run: () => Promise<Result>): Promise<Result> {
  const before = ownRanges;
  ownRanges = { prepared: count, once: count };
  try {
    return await run();
  } finally {
    ownRanges = before;
  }
}

/** Remark on a launch with such code. */
export const ANY_RANGE = "code: for any range, as the kernel is launched over many";

/** A launch, as far as code may be for its range alone. */
interface Ranged {
  readonly ir: KernelIR;
  readonly policy: Policy;
  readonly scatter: Readonly<Record<string, unknown>>;
}

/** Ranges that code was made for. */
export class SeenRanges {
  /** How many, by what else code is specialised on. */
  private readonly counts = new WeakMap<KernelIR, Map<string, number>>();

  /**
   * To be asked before code is made for a range: true where the kernel has as many of its own as it gets, and code for any range is wanted. `rest`
   * is what else code is specialised on, as text, and `isOnce` says that the launch runs once.
   */
  areMany({ ir, policy, scatter }: Ranged, rest: string, isOnce: boolean): boolean {
    if (policy.kind !== "range" || policy.tile || Object.keys(scatter).length > 0) return false;
    let counts = this.counts.get(ir);
    if (!counts || (counts.size >= KEPT && !counts.has(rest))) this.counts.set(ir, (counts = new Map()));
    const count = counts.get(rest) ?? 0;
    if (count >= ownRanges[isOnce ? "once" : "prepared"]) return true;
    counts.set(rest, count + 1);
    return false;
  }
}

/** One of few ranges that contains this one, for code that must know how far indices go: from 0 or minus a power of two to another. */
export function enclosing({ begin, extents }: RangePolicy): RangePolicy {
  const power = (n: number): number => Math.max(NEAR, 2 ** Math.ceil(Math.log2(Math.max(1, n))));
  const first = begin.map((b) => (b >= 0 ? 0 : Math.max(-(2 ** 31), -power(-b))));
  const last = begin.map((b, axis) => Math.min(2 ** 31, power(b + extents[axis])));
  return { kind: "range", begin: first, extents: last.map((end, axis) => end - first[axis]) };
}
