import type { NumericType } from "../../ir/types.js";
import { NUMBERS, type Numbers } from "../../schedule/plan/numbers.js";
import { planLaunch, type PlannedCode, type PlannedLaunch, type PlanRules, type RangeBatch } from "../../schedule/plan/launch.js";
import type { PlanSink, RunValues as RunOf, SortRun } from "../../schedule/plan/sink.js";
import type { Binding } from "../launch/binding.js";
import type { RangePolicy } from "../launch/policy.js";
import { residentTeams } from "../launch/team-rows.js";
import { chunksBefore } from "./partials.js";
import { sortPasses, type SortPass, type Sorted } from "./sorted-contributions.js";
import type { Part, WantedPart } from "./temporary.js";

/** A piece of the range that runs at a time; `piece` numbers what a shader sees of memory, where that is limited. */
export interface Batch extends RangeBatch<number> {
  readonly policy: RangePolicy;
  readonly piece: number;
  /** Partials of the range before this piece's. */
  readonly partialsBefore: number;
}

/** Values for the slots of one run, beside the arguments and the launch's memory. */
export type RunValues = Omit<RunOf<number, Batch>, "sorted"> & {
  /** A target's sorted contributions. */
  readonly sorted?: Sorted;
};

/** A step of a plan; `G` is a grid of the language. */
export type PlannedStep<E, G> =
  | { readonly kind: "run"; readonly entry: E; readonly grid: G; readonly values: RunValues }
  /** Marks the first `count` slots of a target's contributions as unused. */
  | { readonly kind: "clear"; readonly name: string; readonly count: number }
  /** One pass of the sort of `count` contributions to a target, in `tiles`. */
  | { readonly kind: "sort"; readonly name: string; readonly pass: SortPass; readonly count: number; readonly tiles: number };

export interface LaunchPlan<E, G> {
  readonly parts: readonly WantedPart[];
  readonly steps: readonly PlannedStep<E, G>[];
  /** Partials of each reduction that no step has folded. */
  readonly left?: number;
}

/** How a language sorts contributions: bits of a digit, and bits that tell apart the places of a target of `size` elements and unused slots. */
export interface SortRules {
  readonly digitBits: number;
  keyBits(size: number): number;
}

/** The plan of a launch. */
export function planOf<E, G>(
  binding: Binding,
  code: PlannedCode<E>,
  rules: PlanRules<number, G, Batch>,
  sort: SortRules,
): LaunchPlan<E, G> {
  const { policy, partials, views } = binding;
  const plan = new CollectedPlan<E, G>(sort);
  const launch: PlannedLaunch<number> = {
    extents: policy.kind === "range" ? policy.extents : [],
    league: policy.kind === "team" ? policy.league : 0,
    rows: policy.kind === "team" ? residentTeams(binding) : 0,
    folds: !partials,
    sizeOf: (target) => views[target].size,
  };
  const left = planLaunch(plan, launch, code, rules);
  return { parts: plan.parts, steps: plan.steps, left };
}

/** Pieces of a range as batches; `pieces` numbers what a shader sees of memory for each. */
export const batchesOf = (whole: RangePolicy, policies: readonly RangePolicy[], pieces = false): Batch[] =>
  policies.map((policy, n) => ({
    policy,
    piece: pieces ? n : 0,
    extents: policy.extents,
    partialsBefore: policies.length > 1 ? chunksBefore(policy, whole) : 0,
  }));

/** Remarks on teams: how many members and at a time; `blocks` are what runs them, in words. */
export function teamRemarks(binding: Binding, code: { serial: boolean; members: number; abreast?: number }, blocks: string): string[] {
  const { policy } = binding;
  if (policy.kind !== "team") return [];
  const { serial, members, abreast = 1 } = code;
  const { league, size } = policy;
  const rows = residentTeams(binding);
  return [
    serial
      ? "teams: one after the other, of one member"
      : `teams: ${blocks} of ${abreast > 1 ? `${abreast} times ` : ""}${members} members${size === undefined || size === members ? "" : `, for the ${size} asked for`}`,
    ...(rows < league ? [`scratch: ${rows} teams at a time`] : []),
  ];
}

/** Collects a plan, which is made of numbers alone, before there is any memory. */
class CollectedPlan<E, G> implements PlanSink<number, E, G, Batch> {
  readonly on: Numbers<number> = NUMBERS;
  readonly parts: WantedPart[] = [];
  readonly steps: PlannedStep<E, G>[] = [];
  private readonly sortedBy = new Map<string, Sorted>();

  constructor(private readonly rules: SortRules) {}

  want(part: Part, type: NumericType, count: number): void {
    this.parts.push({ part, type, count });
  }

  run(entry: E, grid: G, { sorted, ...values }: RunOf<number, Batch>): void {
    this.steps.push({ kind: "run", entry, grid, values: sorted === undefined ? values : { ...values, sorted: this.sortedBy.get(sorted) } });
  }

  clear(name: string, count: number): void {
    this.steps.push({ kind: "clear", name, count });
  }

  sort({ name, size, count, tiles }: SortRun<number>): void {
    const { passes, last } = sortPasses(this.rules.keyBits(size), this.rules.digitBits);
    for (const pass of passes) this.steps.push({ kind: "sort", name, pass, count, tiles });
    this.sortedBy.set(name, last);
  }

  /** Runs tell themselves where partials are. */
  swap(): void {}

  when(count: number, make: () => void): void {
    if (count > 0) make();
  }

  whileAbove(_wish: string, start: number, most: number, make: (count: number) => number): number {
    let count = start;
    while (count > most) count = make(count);
    return count;
  }
}
