import type { KnownIntegers } from "../ir/analysis/integer-ranges.js";
import type { AccessAnalysis } from "../ir/analysis/access.js";
import type { Tunables, Tuning } from "../ir/tuning.js";
import type { ElementType, KernelIR, NumericType, ScatterOp } from "../ir/types.js";
import type { GpuSlot } from "./slots.js";

/** Type of a kernel's parameter; `shared` stands for memory of the block, whose size the launch gives. */
export type ParamType = "pointer" | "shared" | "f64" | "f32" | "i32" | "u32" | "i64" | "u64" | "long" | "bool";

/** One parameter of an entry. */
export type KernelParam<Slot = GpuSlot> = SharedParam | ValueParam<Slot>;

interface SharedParam {
  readonly type: "shared";
}

/** A parameter that a launch gives a value. */
export interface ValueParam<Slot = GpuSlot> {
  readonly slot: Slot;
  readonly type: ValueType;
  /** Type of the elements that a pointer points to. */
  readonly element?: ElementType | "long";
}

export type ValueType = Exclude<ParamType, "shared">;

/** A function of a program that a launch can start. */
export interface Entry<Slot = GpuSlot> {
  readonly name: string;
  readonly params: readonly KernelParam<Slot>[];
  /** It waits itself for what comes before it in its stream, and may be started early. */
  readonly waits?: boolean;
}

/** How a range kernel's elements are given to threads, which are WGSL's invocations. */
export type Traversal =
  /** One thread an element. */
  | "elements"
  /** A grid that fits the device strides over the elements, and blocks fold what they meet. */
  | "strided"
  /** Blocks have segments of neighbouring elements, in row-major order. */
  | "segments"
  /** Eight threads share a chunk of 256 elements, as the strict order of reductions wants it. */
  | "chunks"
  /** One thread does everything, in order. */
  | "serial"
  /** A block a team. */
  | "teams";

/** Way in which a program handles a scatter parameter. */
export type ScatterCode =
  /** Atomic operations on the target, or what stands for them: compare and exchange. */
  | "atomic"
  /** The same on a copy in the block's shared memory, which is added to the target at the end. */
  | "shared"
  /** The same on a scatter cache in the block's shared memory (ir/cache-lines.ts), as far as the cache has place for a line; else on the target. */
  | "cached"
  /** Each element or team writes its contributions to its slots; they are sorted by target and applied in order. */
  | "sorted"
  /** Plain updates by the only thread there is. */
  | "serial";

/** Assumptions about a launch when its code is generated; strides and extents themselves are parameters. */
export interface GpuAssumptions {
  strict: boolean;
  /** Folds keep the order of strict mode, which in it they always do. */
  ordered?: boolean;
  sizes: KnownIntegers;
  /** Indices and all addresses have 64 bits. */
  wide: boolean;
  /** With 32-bit addresses, by view: the axes whose offsets go beyond and have 64 bits. */
  far?: Readonly<Record<string, readonly boolean[]>>;
  /** Blocks are many, where elements have a thread each. */
  large?: boolean;
  /** Threads along the last axis start a little before the range, where a cache line begins, so that warps meet whole lines. */
  aligned: boolean;
  /** Threads of a team at most: its members, or all their lanes. */
  members: number;
  /**
   * Lanes of a member, a power of two: at most the language's lanes and the sums of a strict reduction, and 1 where scatters are sorted or
   * serial.
   */
  lanes: number;
  /** Teams of a block, side by side: neighbouring threads have the same member of neighbouring teams, and a warp has all their members. Default: 1. */
  abreast?: number;
  /** Views of bytes that are only read, with a stride of 1, whose element at the begin of a range of one axis lies at a multiple of `BYTES_OF_WORD`. */
  bytesAtWords?: readonly string[];
  /** Threads of a block that the last of several axes keeps busy: 64, 128 or 256; undefined if it is shorter. */
  row?: number;
  /** No written view shares memory with another one. */
  restrict: boolean;
  /** By view and axis: the stride is 1. */
  unitStrides: Readonly<Record<string, readonly boolean[]>>;
  /**
   * By view: a power of two of elements that a load may take at once. Element 0 lies at a multiple of their bytes, and all strides but 1, of the last axis,
   * are multiples of their number.
   */
  vectors?: Readonly<Record<string, number>>;
  /**
   * In a range of three axes threads of a row begin at an even index, all views are vectors of numbers of 32 bits in rows, and what elements
   * right beside the range would read is in memory.
   */
  pairs?: boolean;
  scatter: Readonly<Record<string, ScatterCode>>;
  /** Lines of a scatter cache, a power of two; undefined if no target has one. */
  scatterCacheLines?: number;
  /** False where no view takes the result of a reduction. */
  outputs?: false;
  /** Shapes of a grid over a range that were asked for. */
  tuning?: ShapeTuning;
  /** Views that also store planes in other memory: for slots `peerStore` and `peerStorePlanes`. For grids over a box. */
  peerStores?: readonly PeerStoreCode[];
  /** Words for the axes of a range in names, outermost first; undefined: i, j, k, l. */
  axes?: readonly string[];
  /** Blocks of a grid over a box begin at its end. */
  sweepBackward?: boolean;
}

export interface PeerStoreCode {
  readonly param: string;
  readonly side: "first" | "last";
}

/** Part of the tuning on which the code of a range depends. */
export type ShapeTuning = Pick<Tuning, (typeof SHAPE_TUNING)[number]>;
export const SHAPE_TUNING = ["threads", "row", "elements", "planes", "resident"] as const;

interface ReduceCode {
  readonly name: string;
  readonly type: NumericType;
}

interface SortedScatter {
  readonly name: string;
  readonly type: NumericType;
  readonly op: ScatterOp;
  /** Adds the sorted contributions to the target. */
  readonly apply: Entry;
}

/** One language in which programs for GPUs are written, for one kind of device. */
export interface GpuLanguage {
  /** Tells programs apart that differ in nothing else. */
  readonly name: string;
  emit(ir: KernelIR, access: AccessAnalysis, assumptions: GpuAssumptions): GpuProgram;
  /** The entries of `SORT_ENTRIES` (sort.ts), and of `copyEntry` (copy.ts). */
  readonly sort: string;
  /** Keys of a block of it, and threads of its blocks. */
  readonly sortShape: { readonly tile: number; readonly threads: number; readonly scanThreads: number };
  /** Scans of whole numbers in one pass; undefined where there are none. */
  readonly scan?: ScanLanguage;
  readonly copies: string;
  /** Threads of the block that folds the last partials. */
  readonly finishThreads: number;
  /** Threads of a block that folds a piece of the partials, where there is no `fold`. */
  readonly finalThreads: number;
  /** Lanes of a team's member at most. */
  readonly lanes: number;
  /** Blocks of a fold, on several GPUs as well, can wait for each other. */
  readonly allReduces: boolean;
}

/** How a language scans whole numbers, whose scans give the same bits in any order. */
export interface ScanLanguage {
  /** Elements of a block. */
  readonly tile: number;
  readonly threads: number;
  source(type: "i32" | "u32", op: ScatterOp, identity: number): string;
}

/** The source for one kernel, and what a launch must know of it. */
export interface GpuProgram {
  readonly source: string;
  readonly main: Entry;
  readonly traversal: Traversal;
  /** Threads of a block of `main` in a grid over a range. */
  readonly threads: number;
  /** Most of these along the last of several axes. */
  readonly row: number;
  /** Elements of a thread: in a grid over one axis as many as `threads` apart, over two axes of neighbouring rows; 1 elsewhere. */
  readonly elements: number;
  /** Neighbouring planes that such a block has at most, where it stands in a grid over a box; 0 elsewhere. */
  readonly planes: number;
  /** In the order of their 8-byte places in the results. */
  readonly reduces: readonly ReduceCode[];
  /** Folds partials to the end; present where there are reductions. */
  readonly finish?: Entry;
  /** Folds partials chunk by chunk, before; where there is none, blocks of `finish` reduce partials from several places. */
  readonly fold?: Entry;
  /** Ways in which its launches can be tuned, whatever their extents. */
  readonly tunables: () => Tunables;
  readonly sorted: readonly SortedScatter[];
  /** Scatter parameters with a copy in shared memory. */
  readonly shared: readonly { name: string; type: NumericType }[];
  /** Lanes of a team's member; 1 where a member is one thread. */
  readonly lanes: number;
  /** Bytes of a team's scratch arrays, where they need dynamic shared memory. */
  readonly scratchBytes: number;
}
