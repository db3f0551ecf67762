import type { ElementType, NumericType, ScatterOp } from "../../../ir/types.js";
import type { Dialect } from "../dialect.js";
import type { CHelper } from "../dialect.js";
import type { Axis, BlockShape } from "../../../schedule/nodes.js";
import type { ParamType } from "../../../schedule/program.js";
import type { SortShape } from "./sort.js";

/** Memory that a pointer points to: the device's, or a block's. */
export type Space = "global" | "shared";

/** A parameter of an entry as it stands in the source. */
export interface Declared {
  readonly type: ParamType;
  readonly identifier: string;
  /** Without what a language adds to it, such as the offset of a buffer. */
  readonly declaration: string;
}

/** A function that folds a value into the element at a pointer, whatever other threads do there. */
export interface AtomicFunction {
  readonly name: string;
  /** Definition, if the language has no such function. */
  readonly definition?: string;
  /** Helper that the definition calls. */
  readonly helper?: CHelper;
}

/** How threads of a block read each other's registers. */
interface Shuffle {
  /** The value of the thread `step` numbers on. */
  down(value: string, step: string): string;
  /** The value of the thread whose number differs in the bits of `step`. */
  xor(value: string, step: string): string;
  /** Threads that can do so, and act as one. */
  readonly warp: number;
  /** The same for some neighbours of a warp, while its other threads may do something else. */
  readonly group: ThreadGroup;
}

/** A power of two of neighbouring threads of a warp. */
interface ThreadGroup {
  /** Name of a group of `lanes` threads, in which `thread` is number `lane`; undefined if groups need no name. */
  mask?(thread: string, lane: string, lanes: number): string;
  /** The value of the thread whose number differs in the bits of `step`. */
  xor(value: string, step: number, mask: string): string;
  /** A statement after which the threads of the group see each other's stores. */
  fence(mask: string): string;
}

/** Neighbouring threads that fold into the same element, so that one of them can do it for all. */
interface Runs {
  /**
   * The body of a function (place, value) of threads that act as one: each run of neighbours with one place has the fold of its values in the
   * first of them, for which it is true. `folded` is the expression that folds `value` and `other`.
   */
  body(folded: string, type: string, index: string): readonly string[];
}

/** Neighbouring threads that act as one, as many as the device wants. */
export interface SubGroups {
  /** The fold of a value over a sub-group, known to all its threads; undefined if there is no function that folds as kernels do. */
  fold(op: "sum" | "min" | "max", type: NumericType, value: string): string | undefined;
  /** A condition that one thread of each fulfils. */
  readonly first: string;
  /** The number of the sub-group in its block, and how many there are. */
  readonly number: string;
  readonly count: string;
}

/** Blocks that know which of them comes last, so that it can go on with what all have stored. */
interface LastBlock {
  /** Threads of a block that folds a piece of the partials. */
  readonly threads: number;
  /** Device-scope memory fence. */
  readonly fence: string;
  /** How many blocks have taken a ticket before; after the one that has got `last`, it starts at 0 again. */
  ticket(pointer: string, last: string): string;
}

/** Blocks, of kernels on several GPUs as well, that wait for what others of them store. */
interface PeerAccess {
  /** Threads of a block that folds a piece of the partials. */
  readonly threads: number;
  /** System-scope memory fence, across all GPUs. */
  readonly fence: string;
  /** Acquire-load of two adjacent words written by another block: its stores before them, or before its fence, are seen from then on. */
  load(pointer: string, into: readonly [string, string]): string;
  readonly definition: string;
  /** The time, from some beginning. */
  readonly nanoseconds: string;
  /** Lets others work before memory is looked at again. */
  readonly pause: string;
  /** Ends the kernel with an error. */
  readonly fail: string;
}

/** An entry's list of parameters, lines before the entry, and lines at the start of its body. */
export interface EntryFrame {
  readonly before: readonly string[];
  readonly declarations: readonly string[];
  readonly opening: readonly string[];
}

/** How one language for GPUs spells what the shared writers of kernels need; blocks and threads are work-groups and work-items in OpenCL. */
export interface GpuDialect extends Dialect {
  /** Before a function that is better called than copied to where it is. */
  readonly apartPrefix: string;
  /** A signed type of 64 bits. */
  readonly i64: string;
  /** Lines at the head of a source, given whether its code is strict. */
  head(strict: boolean): readonly string[];
  /** Types of parameters other than pointers. */
  readonly paramTypes: Readonly<Record<Exclude<ParamType, "pointer" | "shared">, string>>;
  /** Number of the block, and of the thread in its block, along an axis. */
  block(axis: Axis): string;
  thread(axis: Axis): string;
  /** How many there are of them. */
  blocks(axis: Axis): string;
  threads(axis: Axis): string;
  /** Barrier after which the threads of a block see each other's stores. */
  readonly barrier: string;
  /** Device-scope memory fence. */
  readonly fence: string;
  /** The type of a pointer, up to the name. */
  pointer(space: Space, type: ElementType | "long"): string;
  readonly restrict: string;
  /** Before an array in the block's memory. */
  readonly sharedPrefix: string;
  /** Declares memory of the block whose size a launch decides, in units of 8 bytes; undefined if it is a parameter. */
  dynamicShared?(name: string): string;
  /** Undefined if threads exchange values through the block's memory. */
  readonly shuffle?: Shuffle;
  /** Used where there is no shuffle. */
  readonly subGroups?: SubGroups;
  /** Threads of the block that folds the last partials. */
  readonly finishThreads: number;
  /** How keys of contributions are shared out when they are sorted. */
  readonly sortShape: SortShape;
  /** How blocks find out which of them is the last; undefined if they cannot rely on each other's stores. */
  readonly lastBlock?: LastBlock;
  /** Undefined if GPUs see each other's stores only after the kernels that made them. */
  readonly peerAccess?: PeerAccess;
  atomic(op: ScatterOp, type: NumericType, space: Space): AtomicFunction;
  /** The function that exchanges an integer at a pointer where it equals its second argument, and gives what was there. */
  readonly exchange: string;
  /** See `Runs`; undefined if threads do not exchange values. */
  readonly runs?: Runs;
  /** Definitions of functions that `math` names and the language lacks, as far as `source` calls them. */
  mathDefinitions(source: string): string[];
  /**
   * The head of an entry up to the list of its parameters; blocks have `most` threads at most, in the shape of `block` where it is known.
   * A multiprocessor is to hold `resident` of them: the compiler may use as many registers as that leaves.
   */
  entry(name: string, most: number, block?: BlockShape, resident?: number): string;
  /** The line by which an entry lets the next one be started early. */
  readonly startNext?: string;
  /** The line after it, in which an entry that is started early waits for the work before it. */
  readonly opening?: string;
  /** A statement that tells the compiler that a condition holds, and the number of an address; undefined if the language cannot. */
  readonly assumed?: { statement(condition: string): string; address(pointer: string): string };
  /** Brings what lies at a pointer nearer to the multiprocessor, without waiting for it; undefined if the language cannot. */
  readonly ahead?: { readonly definition: string; ask(pointer: string): string };
  /** Bytes that a thread with little to compute is to move; undefined if one element each is best. */
  readonly bytesOfThread?: number;
  /** See `Features`. */
  readonly writesOutTurns?: boolean;
  readonly stagesTurns?: boolean;
  /** `entry` can tell the compiler how many blocks a multiprocessor is to hold. */
  readonly holdsResidents?: boolean;
  /** The same of all parameters, where a language gives numbers and places in ways of its own. */
  frame?(name: string, params: readonly Declared[]): EntryFrame;
  /** Declarations of a parameter in the list, and lines that it needs at the start of the body. */
  parameter(param: Declared, fresh: (wish: string) => string): { declarations: readonly string[]; opening: readonly string[] };
}
