import type { NumericType } from "../../ir/types.js";
import type { GridNumbers } from "./grids.js";
import type { Numbers } from "./numbers.js";

/** A piece of a launch's own memory: partials and contributions as the slots of that name, what a sort moves between, and the results. */
export type MemoryPart =
  | {
      readonly kind: "partials" | "folded" | "keys" | "sortedKeys" | "order" | "sortedOrder" | "values" | "counts" | "totals";
      readonly name: string;
    }
  | { readonly kind: "results" };

/** Numbers that slots of the same name are given in one run of an entry. */
export type RunNumbers<N> = GridNumbers<N> &
  Readonly<Partial<Record<"chunks" | "chunksPerLine" | "firstTeam" | "league" | "partialCount" | "contributionCount", N>>>;

/** Values for the slots of one run, beside the arguments and the launch's memory; `B` is a piece of the range. */
export interface RunValues<N, B> {
  readonly numbers: RunNumbers<N>;
  readonly batch?: B;
  /** Partials are where folds leave them, and folds go where partials were. */
  readonly swapped?: boolean;
  /** The target whose contributions, which are sorted, the entry adds up. */
  readonly sorted?: string;
}

/** A sort of the contributions to a target of `size` elements. */
export interface SortRun<N> {
  readonly name: string;
  readonly size: N;
  readonly count: N;
  readonly tiles: N;
}

/**
 * Takes a plan as it is made: which entries run over which grids, in order, and what memory they need between them. Devices collect it; launch functions are
 * written as it comes. `E` is an entry, `G` a grid of the language.
 */
export interface PlanSink<N, E, G, B> {
  readonly on: Numbers<N>;
  want(part: MemoryPart, type: NumericType, count: N): void;
  run(entry: E, grid: G, values: RunValues<N, B>): void;
  /** Marks the first `count` slots of a target's contributions as unused. */
  clear(name: string, count: N): void;
  sort(run: SortRun<N>): void;
  /** Partials and what is folded from them change places, for what runs next in the same loop. */
  swap(): void;
  /** Runs the plan that `make` makes where there is something to do. */
  when(count: N, make: () => void): void;
  /** Turns of `make`, which gives the next number, as long as the number, which is kept by a name, is above `most`; gives the last one. */
  whileAbove(wish: string, start: N, most: number, make: (count: N) => N): N;
}
