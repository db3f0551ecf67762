import { elementsToMove, floatOperations, jam, movedBytes, splitUniform, type Jam } from "../ir/passes/jam.js";
import { BYTES } from "../ir/scalars.js";
import type { Tunables } from "../ir/tuning.js";
import type { KernelIR, Stmt as KernelStmt } from "../ir/types.js";
import { BLOCK } from "./entry.js";
import type { Program } from "./kernel-program.js";
import type { BlockShape } from "./nodes.js";
import type { Traversal } from "./program.js";

/** Threads of a block along the last of several axes. */
export const ROW = 64;
/**
 * Bytes of a row of an array that such threads read where several rows share what they read. A Laplacian of f32 at 512^3 took 0.379 ms on an H200 with
 * rows of 128 bytes and two planes together, 0.349 with four planes, 0.342 with rows of 256 bytes as well, and 0.312 with two neighbours of a thread.
 */
const SHARED_ROW = 256;
/** Blocks of several planes that a multiprocessor holds at least, so that their loads may have many registers: best on an H100 by 2 to 11 %. */
const RESIDENT = 4;
/** Planes of a block that reduces. */
const PLANES = 4;
/**
 * Planes of a block whose elements compute for long, one after the other, and operations from which on they do: next planes find in the cache
 * what these have read. Fluxes of a flow on an H200: 9 to 29 % faster. They want more registers, too: with 3 blocks
 * of a multiprocessor instead of 4 its steps take 0.885 (central) and 0.987 (WENO5) of the time, with 2 blocks 0.93 and 1.16.
 */
const HEAVY = { operations: 300, planes: 8, resident: 3 };
/** Bytes that the memory of an H200 moves in 1.4 ns. */
const FULL_BLOCK = 6000;
/** Values to try in place of these. */
const TUNABLES = {
  elements: [1, 2, 4],
  threads: [64, 128, 256],
  row: [16, 32, 64, 128, 256],
  planes: [1, 2, 4, 8, 16],
  cacheShare: [0.2, 0.4, 0.8],
} as const satisfies Tunables;

/** Statements of two neighbours: all but their stores, and the stores of each. */
export interface PairOfElements {
  readonly reading: readonly KernelStmt[];
  readonly stores: readonly (readonly [first: KernelStmt, second: KernelStmt])[];
}

/** Two columns of neighbours: statements for a plane, and for as many planes as a single column has at a time. */
export interface PairOfColumns {
  readonly plane: PairOfElements;
  readonly planes: PairOfElements;
}

/** Two neighbours of a row together; undefined if they read too little in common, or differ near the ends of the row or of the column. */
function pairOf(ir: KernelIR, several: Jam): PairOfColumns | undefined {
  if (several.guard || !jam(ir, ROW_AXIS)) return undefined;
  const [plane, planes] = [pairIn(ir, ir.body), pairIn(ir, [...several.body])];
  return plane && planes && { plane, planes };
}

/** The last axis of a box. */
const ROW_AXIS = 2;

function pairIn(ir: KernelIR, body: KernelStmt[]): PairOfElements | undefined {
  const pair = jam({ ...ir, body }, ROW_AXIS, 2);
  if (!pair || pair.guard) return undefined;
  const all = [...splitUniform(body, ROW_AXIS).head, ...pair.body];
  const stores = all.filter(({ kind }) => kind === "store");
  const reading = all.slice(0, all.length - stores.length);
  // Stores of the two take turns at the end.
  if (reading.some(({ kind }) => kind === "store")) return undefined;
  const turns = Array.from({ length: stores.length / 2 }, (_, n) => [stores[2 * n]!, stores[2 * n + 1]!] as const);
  return { reading, stores: turns };
}

/** How the elements of a range are shared out: threads of a block, and elements of a thread. */
export class RangeShape {
  readonly rank: number;
  /** Neighbouring planes that a block has at most, in three dimensions; 0 where blocks share out the range in another way. */
  readonly planes: number;
  /** Statements that all elements of a column share, and statements of each element, in a grid over a box. */
  readonly head: readonly KernelStmt[];
  readonly rest: readonly KernelStmt[];
  /** Several elements at a time: of a column, or in a range of one axis at a distance of a block's threads. */
  readonly several: Jam | undefined;
  /** Two neighbours of a row together, in a grid over a box. */
  readonly pair: PairOfColumns | undefined;

  constructor(
    private readonly program: Program,
    readonly traversal: Exclude<Traversal, "teams">,
  ) {
    const { ir, assumptions, features } = program;
    this.rank = ir.policy.kind === "range" ? ir.policy.rank : 1;
    const inBox = this.rank === 3 && (traversal === "elements" || (traversal === "strided" && program.scatters("shared").length === 0));
    this.planes = 0;
    this.several = this.severalAtATime(inBox);
    const { head, rest } = inBox || this.several ? splitUniform(ir.body, 0) : { head: [], rest: ir.body };
    [this.head, this.rest] = [head, rest];
    const pairs = inBox && traversal === "elements" && assumptions.pairs && features.joinsLoads && head.length === 0;
    this.pair = pairs && this.several ? pairOf(ir, this.several) : undefined;
    if (inBox) this.planes = assumptions.tuning?.planes ?? this.planesOfBlock();
  }

  private severalAtATime(inBox: boolean): Jam | undefined {
    const { ir, traversal, rank } = this;
    const { assumptions, features } = this.program;
    const asked = assumptions.tuning?.elements;
    const moving = asked ?? elementsToMove(ir, 0, features.bytesOfThread);
    const inRows = rank === 2 && traversal === "elements";
    if (inBox || inRows) return jam(ir, 0, asked ?? Math.max(moving, jam(ir, 0)?.count ?? 1));
    const inLine = rank === 1 && traversal === "elements" && !assumptions.aligned;
    return inLine ? jam(ir, 0, moving, this.threads) : undefined;
  }

  private get ir(): KernelIR {
    return this.program.ir;
  }

  /** Elements of a thread in a grid over one or two axes, and along the last axis of a box. */
  get elements(): number {
    return this.planes === 0 ? (this.several?.count ?? 1) : this.pair ? 2 : 1;
  }

  /** Whether to signal the next kernel: it takes 1.2 ns of each block on an H200, one after the other; more than a block with little to move. */
  get startsNext(): boolean {
    if (!this.program.assumptions.large || this.traversal !== "elements") return true;
    return movedBytes(this.ir) * Math.max(this.planes, this.elements) * this.threads >= FULL_BLOCK;
  }

  private planesOfBlock(): number {
    if (this.several) return 2 * this.several.count;
    if (this.traversal === "strided") return PLANES;
    // Elements that loop have enough of their own to do: there are fewer of them, and all are needed side by side.
    if (this.ir.body.at(-1)?.kind === "for") return 1;
    return floatOperations(this.ir.body) > HEAVY.operations ? HEAVY.planes : 1;
  }

  /** Bytes of an element of the widest array. */
  private get bytes(): number {
    return Math.max(BYTES.f32, ...this.ir.params.map((param) => (param.kind === "view" ? BYTES[param.element] : 0)));
  }

  /** Threads of a block at most: the fewer, the more registers each may have. */
  get threads(): number {
    if (this.traversal === "serial") return 1;
    const asked = this.program.assumptions.tuning?.threads;
    if (asked !== undefined) return asked;
    return this.planes > 1 || (this.rank === 4 && this.traversal === "elements") ? BLOCK / 2 : BLOCK;
  }

  /** Threads of a block along the last of several axes, at most. */
  get row(): number {
    const { row, tuning } = this.program.assumptions;
    const byDefault = this.several ? SHARED_ROW / this.bytes / (this.pair ? 2 : 1) : this.planes === 1 && row !== undefined ? row : ROW;
    return Math.min(tuning?.row ?? byDefault, this.threads);
  }

  /** Blocks that a multiprocessor is to hold where nothing was asked for. */
  get resident(): number | undefined {
    if (this.planes <= 1) return undefined;
    return floatOperations(this.ir.body) > HEAVY.operations ? HEAVY.resident : RESIDENT;
  }

  /** Ways in which grids over a range can be tuned; `residents` are numbers of blocks on a multiprocessor to try. */
  tunables(residents: Tunables): Tunables {
    if (this.traversal !== "elements" && this.traversal !== "strided" && this.traversal !== "segments") return {};
    const { threads, row, elements, planes, cacheShare } = TUNABLES;
    const jams = elements.filter((count) => count === 1 || jam(this.ir, 0, count));
    const jamming = jams.length > 1 ? { elements: jams } : {};
    const together = this.traversal === "elements" && this.rank < 3 ? jamming : {};
    if (this.isFlat) return { ...together, threads, ...residents };
    if (this.planes === 0) return { ...together, threads, row, ...residents };
    return { ...jamming, threads, row, planes, ...residents, cacheShare };
  }

  /** Blocks have one axis, whatever the range has. */
  get isFlat(): boolean {
    return this.rank === 1 || (this.traversal !== "elements" && this.traversal !== "strided");
  }

  /** The shape of a block, where it is the same for all launches. */
  get block(): BlockShape | undefined {
    if (this.isFlat) return [this.threads, 1, 1];
    return this.program.assumptions.row === undefined ? undefined : [this.row, this.threads / this.row, 1];
  }
}
