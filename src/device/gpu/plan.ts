import type { Traversal } from "../../schedule/program.js";
import { REDUCTION_CHUNK, type NumericType } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import type { RangePolicy } from "../launch/policy.js";
import { residentTeams } from "../launch/team-rows.js";
import { chunksBefore, chunksOf, chunksOfLine, planFolds } from "./partials.js";
import { sortPasses, teamBatches, type SortPass, type Sorted } from "./sorted-contributions.js";
import type { WantedPart } from "./temporary.js";

/*
 * The plan of a launch on a GPU, whatever its language: which entries run over which grids, and what memory they need between them. It is made
 * of numbers alone, before there is any memory.
 */

/** Properties of a program that a plan needs; `E` is an entry of its language. */
interface PlannedProgram<E> {
  readonly main: E;
  readonly traversal: Traversal;
  readonly reduces: readonly { readonly name: string; readonly type: NumericType }[];
  readonly fold?: E;
  readonly finish?: E;
  readonly sorted: readonly { readonly name: string; readonly type: NumericType; readonly apply: E }[];
  /** Entries that go over a scatter target when all else has run. */
  readonly renormalised?: readonly { readonly name: string; readonly entry: E }[];
}

/** Numbers that slots of the same name are given in one run of an entry. */
type RunNumbers = Readonly<
  Partial<
    Record<
      | "elements"
      | "segment"
      | "chunks"
      | "chunksPerLine"
      | "firstTeam"
      | "league"
      | "rowBlocks"
      | "tile"
      | "planes"
      | "partialCount"
      | "contributionCount",
      number
    >
  >
>;

/** A piece of the range that runs at a time; `piece` numbers what a shader sees of memory, where that is limited. */
interface Batch {
  readonly policy: RangePolicy;
  readonly piece: number;
}

/** Values for the slots of one run, beside the arguments and the launch's memory. */
export interface RunValues {
  readonly numbers: RunNumbers;
  readonly batch?: Batch;
  /** Number of partials before this run's. */
  readonly partialsBefore?: number;
  /** Partials are where folds leave them, and folds go where partials were. */
  readonly swapped?: boolean;
  /** A target's sorted contributions. */
  readonly sorted?: Sorted;
}

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
  readonly remarks: readonly string[];
  /** Partials of each reduction that no step has folded. */
  readonly left?: number;
}

/** A grid over elements, and what the main entry knows of it. */
export interface Gridded<G> {
  readonly grid: G;
  /** Blocks of it. */
  readonly blocks: number;
  readonly numbers: RunNumbers;
}

/** Rules by which a language turns a plan's numbers into grids. */
export interface PlanRules<G> {
  /** Teams' blocks, in words: "blocks" or "workgroups". */
  readonly blocks: string;
  /** Bits of a digit of the sort, keys of a tile, and bits that tell apart the places of a target of `size` elements and unused slots. */
  readonly sortBits: number;
  readonly sortTile: number;
  keyBits(size: number): number;
  /** Contributions that are written and sorted at a time. */
  readonly sortedAtATime: number;
  /** Pieces of the range, if elements make at most `slots` sorted contributions. */
  batches(policy: RangePolicy, slots: number): readonly Batch[];
  /** Over the elements of the range, or of one of several batches. */
  overElements(policy: RangePolicy, whole: boolean): Gridded<G>;
  /** Grid for `chunks` chunks of elements, and of partials. */
  overChunks(chunks: number): G;
  overPartials(chunks: number): G;
  /** Grid for `teams` teams, with scratch for `rows` of them at a time. */
  overTeams(teams: number, rows: number): G;
  /** Grid with one thread for each of `count` contributions or elements of a target. */
  overItems(count: number): G;
  /** The block that folds the last partials. */
  readonly last: G;
  /** One thread. */
  readonly serial: G;
}

/** The code of a launch, as far as its plan depends on it. */
interface PlannedCode<E> {
  readonly program: PlannedProgram<E>;
  readonly serial: boolean;
  readonly members: number;
  /** Teams of a block. Default: 1. */
  readonly abreast?: number;
  /** Contributions of one element or team to each sorted target, at most. */
  readonly slots: Readonly<Record<string, number>>;
}

/** Plans a launch. */
export function planLaunch<E, G>(binding: Binding, code: PlannedCode<E>, rules: PlanRules<G>): LaunchPlan<E, G> {
  return new Planner(binding, code, rules).plan();
}

class Planner<E, G> {
  private readonly parts: WantedPart[] = [];
  private readonly steps: PlannedStep<E, G>[] = [];
  private readonly remarks: string[] = [];
  private left: number | undefined;
  /** There are results; else the partials, if any, lie in views. */
  private readonly folds: boolean;
  private readonly mostSlots: number;

  constructor(
    private readonly binding: Binding,
    private readonly code: PlannedCode<E>,
    private readonly rules: PlanRules<G>,
  ) {
    this.folds = code.program.reduces.length > 0 && !binding.partials;
    this.mostSlots = Math.max(0, ...Object.values(code.slots));
  }

  plan(): LaunchPlan<E, G> {
    const { policy } = this.binding;
    if (policy.kind === "team") this.teams(policy.league);
    else if (["elements", "strided", "segments"].includes(this.code.program.traversal)) this.elements(policy);
    else this.chunks(policy);
    return { parts: this.parts, steps: this.steps, remarks: this.remarks, left: this.left };
  }

  private elements(policy: RangePolicy): void {
    const { rules } = this;
    const whole = rules.overElements(policy, true);
    const partials = sizeOf(policy) === 0 ? 0 : whole.blocks;
    this.wantPartials(partials);
    this.range(policy, (batch) => (batch.policy === policy ? whole : rules.overElements(batch.policy, false)));
    this.foldPartials(partials);
  }

  private chunks(policy: RangePolicy): void {
    const { rules, code } = this;
    this.wantPartials(chunksOf(policy));
    this.range(policy, (batch) => {
      const chunks = chunksOf(batch.policy);
      return {
        grid: code.serial ? rules.serial : rules.overChunks(chunks),
        numbers: { chunks, chunksPerLine: chunksOfLine(policy) },
        partialsBefore: chunksBefore(batch.policy, policy),
      };
    });
    this.foldPartials(chunksOf(policy));
  }

  private teams(league: number): void {
    const { binding, rules } = this;
    const { serial, members, abreast = 1, program } = this.code;
    const wish = binding.policy.kind === "team" ? binding.policy.size : undefined;
    this.remarks.push(
      serial
        ? "teams: one after the other, of one member"
        : `teams: ${rules.blocks} of ${abreast > 1 ? `${abreast} times ` : ""}${members} members${wish === undefined || wish === members ? "" : `, for the ${wish} asked for`}`,
    );
    const rows = residentTeams(binding);
    if (rows < league) this.remarks.push(`scratch: ${rows} teams at a time`);
    this.wantPartials(league);
    this.batches(
      teamBatches(league, this.mostSlots, rules.sortedAtATime),
      ({ size }) => size,
      ({ first, size }) =>
        this.run(program.main, rules.overTeams(serial ? 1 : size / abreast, rows), {
          numbers: { firstTeam: first, league: first + size },
        }),
    );
    this.foldPartials(league);
  }

  /** The main entry over the range. */
  private range(policy: RangePolicy, of: (batch: Batch) => { grid: G; numbers: RunNumbers; partialsBefore?: number }): void {
    this.batches(
      this.rules.batches(policy, this.mostSlots),
      (batch) => sizeOf(batch.policy),
      (batch) => {
        const { grid, numbers, partialsBefore } = of(batch);
        this.run(this.code.program.main, grid, { numbers, batch, partialsBefore });
      },
    );
  }

  /** Runs batches of elements or teams, and after each sorts and adds what they have contributed. */
  private batches<B>(batches: readonly B[], size: (batch: B) => number, run: (batch: B) => void): void {
    const { program, slots } = this.code;
    for (const { name, type } of program.sorted) this.wantContributions(name, type, slots[name] * Math.max(0, ...batches.map(size)));
    // An element may never come to scatter at all.
    const contributed = program.sorted.filter(({ name }) => slots[name] > 0);
    for (const batch of batches) {
      if (size(batch) === 0) continue;
      for (const { name } of contributed) this.steps.push({ kind: "clear", name, count: slots[name] * size(batch) });
      run(batch);
      for (const { name, apply } of contributed) this.sort(name, apply, slots[name] * size(batch));
    }
    if (batches.some((batch) => size(batch) > 0))
      for (const { name, entry } of program.renormalised ?? [])
        this.run(entry, this.rules.overItems(this.binding.views[name].size), { numbers: {} });
  }

  private wantContributions(name: string, type: NumericType, most: number): void {
    for (const kind of ["keys", "sortedKeys", "order", "sortedOrder"] as const)
      this.want({ part: { kind, name }, type: "u32", count: most });
    const { sortBits, sortTile } = this.rules;
    this.want({ part: { kind: "values", name }, type, count: most });
    this.want({ part: { kind: "counts", name }, type: "u32", count: 2 ** sortBits * Math.ceil(most / sortTile) });
    this.want({ part: { kind: "totals", name }, type: "u32", count: 2 ** sortBits });
  }

  /** Sorts `count` contributions by target and adds them up. */
  private sort(name: string, apply: E, count: number): void {
    const { rules } = this;
    const tiles = Math.ceil(count / rules.sortTile);
    const { passes, last } = sortPasses(rules.keyBits(this.binding.views[name].size), rules.sortBits);
    for (const pass of passes) this.steps.push({ kind: "sort", name, pass, count, tiles });
    this.run(apply, rules.overItems(count), { numbers: { contributionCount: count }, sorted: last });
  }

  private wantPartials(count: number): void {
    if (!this.folds) return;
    const { reduces, fold } = this.code.program;
    this.want({ part: { kind: "results" }, type: "f64", count: reduces.length });
    for (const { name, type } of reduces) {
      this.want({ part: { kind: "partials", name }, type, count: Math.max(1, count) });
      if (fold) this.want({ part: { kind: "folded", name }, type, count: Math.max(1, Math.ceil(count / REDUCTION_CHUNK)) });
    }
  }

  /** Folds `count` partials to the results, and into the views that were bound for them; leaves them where no entry folds chunk by chunk. */
  private foldPartials(count: number): void {
    const { fold, finish } = this.code.program;
    if (!finish || !this.folds) return;
    if (!fold) {
      this.left = count;
      return;
    }
    const { rules } = this;
    planFolds(
      count,
      (partialCount, swapped) =>
        this.run(fold, rules.overPartials(Math.ceil(partialCount / REDUCTION_CHUNK)), { numbers: { partialCount }, swapped }),
      (partialCount, swapped) => this.run(finish, rules.last, { numbers: { partialCount }, swapped }),
    );
  }

  private want(part: WantedPart): void {
    this.parts.push(part);
  }

  private run(entry: E, grid: G, values: RunValues): void {
    this.steps.push({ kind: "run", entry, grid, values });
  }
}

export const sizeOf = ({ extents }: RangePolicy): number => extents.reduce((a, b) => a * b, 1);
