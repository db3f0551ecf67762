import { REDUCTION_CHUNK, type NumericType } from "../../ir/types.js";
import { FINISH_LIMIT } from "../constants.js";
import type { Traversal } from "../program.js";
import type { Numbers } from "./numbers.js";
import type { PlanSink, RunNumbers } from "./sink.js";

/*
 * The plan of a launch on a GPU, whatever its language: which entries run over which grids, and what memory they need between them. Devices evaluate it for
 * a launch; the same plan is written into files, as a function for launches of any size.
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

/** The code of a launch, as far as its plan depends on it. */
export interface PlannedCode<E> {
  readonly program: PlannedProgram<E>;
  readonly serial: boolean;
  /** Teams of a block. */
  readonly abreast: number;
  /** Contributions of one element or team to each sorted target, at most. */
  readonly slots: Readonly<Record<string, number>>;
}

/** Arguments of a launch, as far as its plan depends on them. */
export interface PlannedLaunch<N> {
  /** Indices of the range along each axis; empty for teams. */
  readonly extents: readonly N[];
  /** Teams, and those for which there is scratch at a time. */
  readonly league: N;
  readonly rows: N;
  /** There are results; else the partials, if any, lie in views. */
  readonly folds: boolean;
  /** Elements of a scatter target. */
  sizeOf(target: string): N;
}

/** A piece of the range that runs at a time. */
export interface RangeBatch<N> {
  readonly extents: readonly N[];
}

/** Rules by which a language turns a plan's numbers into grids. */
export interface PlanRules<N, G, B extends RangeBatch<N>> {
  /** Keys of a tile of the sort, and values of a digit. */
  readonly sortTile: number;
  readonly sortDigits: number;
  /** Pieces of the range, if elements make at most `slots` sorted contributions; and of the teams. */
  batches(slots: number): readonly B[];
  teamBatches(slots: number): readonly { readonly first: N; readonly size: N }[];
  /** Over the elements of the range, or of one of several batches: the grid, its blocks, and what the entry knows of it. */
  overElements(batch: B | undefined): { readonly grid: G; readonly blocks: N; readonly numbers: RunNumbers<N> };
  /** Grid for `chunks` chunks of elements, and of partials. */
  overChunks(chunks: N): G;
  overPartials(chunks: N): G;
  /** Grid for `blocks` blocks of teams, with scratch for `rows` teams at a time. */
  overTeams(blocks: N, rows: N): G;
  /** Grid with one thread for each of `count` contributions or elements of a target. */
  overItems(count: N): G;
  /** The block that folds the last partials. */
  readonly last: G;
  /** One thread. */
  readonly serial: G;
}

/** Plans a launch. Gives the partials of each reduction that nothing has folded, where no entry folds them chunk by chunk. */
export function planLaunch<N, E, G, B extends RangeBatch<N>>(
  sink: PlanSink<N, E, G, B>,
  launch: PlannedLaunch<N>,
  code: PlannedCode<E>,
  rules: PlanRules<N, G, B>,
): N | undefined {
  return new Planner(sink, launch, code, rules).plan();
}

class Planner<N, E, G, B extends RangeBatch<N>> {
  private readonly on: Numbers<N>;
  private left: N | undefined;
  private readonly folds: boolean;
  private readonly mostSlots: number;

  constructor(
    private readonly sink: PlanSink<N, E, G, B>,
    private readonly launch: PlannedLaunch<N>,
    private readonly code: PlannedCode<E>,
    private readonly rules: PlanRules<N, G, B>,
  ) {
    this.on = sink.on;
    this.folds = code.program.reduces.length > 0 && launch.folds;
    this.mostSlots = Math.max(0, ...Object.values(code.slots));
  }

  plan(): N | undefined {
    const { traversal } = this.code.program;
    switch (traversal) {
      case "teams":
        this.teams();
        break;
      case "elements":
      case "strided":
      case "segments":
        this.elements();
        break;
      case "chunks":
      case "serial":
        if (this.launch.extents.length === 0) this.teams();
        else this.chunks();
        break;
      default:
        return traversal satisfies never;
    }
    return this.left;
  }

  private elements(): void {
    const { on, rules, launch } = this;
    const whole = rules.overElements(undefined);
    const partials = this.folds ? on.keep("partial_blocks", on.ifSome(this.sizeOf(launch.extents), whole.blocks)) : on.of(0);
    this.wantPartials(partials);
    this.range((batch) => (batch.extents === launch.extents ? whole : rules.overElements(batch)));
    this.foldPartials(partials);
  }

  private chunks(): void {
    const { rules, code, launch, on } = this;
    const chunksPerLine = on.keep("chunks_per_line", this.chunksOfLine(launch.extents));
    const all = on.keep("chunks", this.chunksOf(launch.extents, chunksPerLine));
    this.wantPartials(all);
    this.range((batch) => {
      const chunks = batch.extents === launch.extents ? all : this.chunksOf(batch.extents, this.chunksOfLine(batch.extents));
      return { grid: code.serial ? rules.serial : rules.overChunks(chunks), numbers: { chunks, chunksPerLine } };
    });
    this.foldPartials(all);
  }

  /** Chunks of a line of a range: its elements along the last axis. Chunks never go over the end of a line. */
  private chunksOfLine(extents: readonly N[]): N {
    return this.on.ceil(extents.at(-1)!, this.on.of(REDUCTION_CHUNK));
  }

  private chunksOf(extents: readonly N[], ofLine: N): N {
    return this.on.product(...extents.slice(0, -1), ofLine);
  }

  private teams(): void {
    const { rules, launch, sink, on } = this;
    const { serial, abreast, program } = this.code;
    this.wantPartials(launch.league);
    this.batches(
      rules.teamBatches(this.mostSlots),
      ({ size }) => size,
      ({ first, size }) => {
        const blocks = serial ? on.of(1) : abreast > 1 ? on.floor(size, on.of(abreast)) : size;
        sink.run(program.main, rules.overTeams(blocks, launch.rows), { numbers: { firstTeam: first, league: on.sum(first, size) } });
      },
    );
    this.foldPartials(launch.league);
  }

  /** The main entry over the range. */
  private range(of: (batch: B) => { grid: G; numbers: RunNumbers<N> }): void {
    this.batches(
      this.rules.batches(this.mostSlots),
      (batch) => this.sizeOf(batch.extents),
      (batch) => {
        const { grid, numbers } = of(batch);
        this.sink.run(this.code.program.main, grid, { numbers, batch });
      },
    );
  }

  /** Runs batches of elements or teams, and after each sorts and adds what they have contributed. */
  private batches<Of>(batches: readonly Of[], size: (batch: Of) => N, run: (batch: Of) => void): void {
    const { sink, on } = this;
    const { program, slots } = this.code;
    // An element may never come to scatter at all.
    const contributed = program.sorted.filter(({ name }) => slots[name]! > 0);
    const sizes = batches.map(size);
    const counts = program.sorted.map(({ name }) =>
      sizes.map((elements) => on.keep(`${name}_contributions`, on.product(on.of(slots[name]!), elements))),
    );
    program.sorted.forEach(({ name, type }, n) => this.wantContributions(name, type, this.most(counts[n]!)));
    batches.forEach((batch, b) =>
      sink.when(sizes[b]!, () => {
        for (const { name } of contributed) sink.clear(name, this.countOf(counts, name, b));
        run(batch);
        for (const { name, apply } of contributed) this.sort(name, apply, this.countOf(counts, name, b));
      }),
    );
    const { renormalised = [] } = program;
    if (renormalised.length === 0) return;
    sink.when(this.most(sizes), () => {
      for (const { name, entry } of renormalised) sink.run(entry, this.rules.overItems(this.launch.sizeOf(name)), { numbers: {} });
    });
  }

  private countOf(counts: readonly (readonly N[])[], name: string, batch: number): N {
    return counts[this.code.program.sorted.findIndex((of) => of.name === name)]![batch]!;
  }

  private most(counts: readonly N[]): N {
    return counts.length === 0 ? this.on.of(0) : counts.reduce((a, b) => this.on.greatest(a, b));
  }

  private wantContributions(name: string, type: NumericType, most: N): void {
    const { sink, on } = this;
    const { sortDigits, sortTile } = this.rules;
    for (const kind of ["keys", "sortedKeys", "order", "sortedOrder"] as const) sink.want({ kind, name }, "u32", most);
    sink.want({ kind: "values", name }, type, most);
    sink.want({ kind: "counts", name }, "u32", on.product(on.of(sortDigits), on.ceil(most, on.of(sortTile))));
    sink.want({ kind: "totals", name }, "u32", on.of(sortDigits));
  }

  /** Sorts `count` contributions by target and adds them up. */
  private sort(name: string, apply: E, count: N): void {
    const { sink, on, rules, launch } = this;
    sink.sort({ name, size: launch.sizeOf(name), count, tiles: on.keep(`${name}_tiles`, on.ceil(count, on.of(rules.sortTile))) });
    sink.run(apply, rules.overItems(count), { numbers: { contributionCount: count }, sorted: name });
  }

  private wantPartials(count: N): void {
    if (!this.folds) return;
    const { sink, on } = this;
    const { reduces, fold } = this.code.program;
    const one = on.of(1);
    sink.want({ kind: "results" }, "f64", on.of(reduces.length));
    for (const { name, type } of reduces) {
      sink.want({ kind: "partials", name }, type, on.greatest(one, count));
      if (fold) sink.want({ kind: "folded", name }, type, on.greatest(one, on.ceil(count, on.of(REDUCTION_CHUNK))));
    }
  }

  /**
   * Folds `count` partials to the results, and into the views that were bound for them: chunk by chunk while they are many, from where they are to where
   * folds go, which then change roles. Leaves them where no entry folds chunk by chunk.
   */
  private foldPartials(count: N): void {
    const { fold, finish } = this.code.program;
    if (!finish || !this.folds) return;
    if (!fold) {
      this.left = count;
      return;
    }
    const { sink, on, rules } = this;
    let swapped = false;
    const last = sink.whileAbove("partial_count", count, FINISH_LIMIT, (partialCount) => {
      const chunks = on.ceil(partialCount, on.of(REDUCTION_CHUNK));
      sink.run(fold, rules.overPartials(chunks), { numbers: { partialCount }, swapped });
      sink.swap();
      swapped = !swapped;
      return chunks;
    });
    sink.run(finish, rules.last, { numbers: { partialCount: last }, swapped });
  }

  private sizeOf(extents: readonly N[]): N {
    return this.on.product(...extents);
  }
}
