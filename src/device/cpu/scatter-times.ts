import { cyclesOfElement, cycleTurns } from "../../ir/analysis/cycles.js";
import type { ScatterParam, Stmt } from "../../ir/types.js";
import { blocksOf } from "../../ir/walk.js";
import type { Binding } from "../launch/binding.js";
import { BYTES } from "../memory/view.js";
import { spanOf } from "./host-view.js";
import { elementsIn } from "./work-like.js";

/*
 * Estimated times of the ways to bring a scatter parameter's updates together. The constants are nanoseconds, by times on 2, 16 and 32 cores
 * (bench/results/many-cores-xeon.json) of kernels with targets in caches and in memory: good enough to tell ways apart that differ by half.
 */

/** Bytes of a target that stays in the cache nearest to a core. */
const NEAR_BYTES = 1 << 20;

/** An addition by one thread to a target in the caches, or in memory. */
const UPDATE = { near: 0.4, far: 1.5 };
/** Time of an element of a private copy for all `threads` together: it is cleared, and read by another thread. */
const COPIED = { near: (threads: number) => 0.1 + 0.6 / threads, far: (threads: number) => 0.2 + 3.4 / threads };
/** An atomic addition: the more threads, the more often its cache line is in another core. */
const ATOMIC = { near: (threads: number) => 8 + 2 * threads, far: (threads: number) => 8 + 0.75 * threads };
/** A cycle of other work of an element. */
const CYCLE = 0.35;
/** Time to bring threads together, for each of them. */
const TOGETHER = 300;

/** Nanoseconds of a scatter parameter's updates. */
export interface ScatterTimes {
  /** Updates of the target, about. */
  readonly updates: number;
  /** By one thread, in order. */
  readonly alone: number;
  /** By several threads, into private copies that are then folded. */
  readonly duplicated: number;
  /** By several threads, each update an atomic one. */
  readonly atomic: number;
}

/** Times on `threads` threads; an atomic update takes `slower` times as long as in compiled code. */
export function scatterTimes(binding: Binding, { name, element }: ScatterParam, threads: number, slower: number): ScatterTimes {
  const span = spanOf(binding.views[name]);
  const where = span * BYTES[element] <= NEAR_BYTES ? "near" : "far";
  const updates = updateCount(binding, name);
  const alone = updates * UPDATE[where];
  return {
    updates,
    alone,
    duplicated: alone / threads + span * (threads - 1) * COPIED[where](threads),
    atomic: (updates * slower * ATOMIC[where](threads)) / threads,
  };
}

/** Nanoseconds of a launch by one thread and by several, where each target is updated in the faster way. */
export function launchTimes(binding: Binding, targets: readonly ScatterTimes[], threads: number): { alone: number; together: number } {
  const { policy, ir } = binding;
  const elements = policy.kind === "team" ? policy.league : elementsIn(policy);
  const others = elements * cyclesOfElement(ir) * CYCLE;
  let [alone, together] = [others, others / threads + TOGETHER * threads];
  for (const times of targets) {
    alone += times.alone;
    together += Math.min(times.duplicated, times.atomic);
  }
  return { alone, together };
}

/** Updates of a target; of teams, whose inner loops are known only by the bytes that they move, at least one for each. */
function updateCount({ policy, cost, ir }: Binding, name: string): number {
  if (policy.kind === "team") return Math.max(policy.league, Math.round(cost().bytes / 16));
  const inBlock = (list: readonly Stmt[]): number =>
    list.reduce((sum, stmt) => {
      const own = stmt.kind === "scatter" && stmt.target === name ? 1 : 0;
      return sum + own + cycleTurns(stmt) * blocksOf(stmt).reduce((inner, block) => inner + inBlock(block), 0);
    }, 0);
  return inBlock(ir.body) * elementsIn(policy);
}
