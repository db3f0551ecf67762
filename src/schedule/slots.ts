/*
 * Values that emitted code needs from a launch: each parameter, member or field of its signature carries a slot, and whoever launches the
 * code gives each slot its value. Launchers switch over the kinds, so that a new slot here is a compile error in each of them.
 */

/** Arguments of the kernel's call. */
type ArgumentSlot =
  /** A scalar's value. */
  | { readonly kind: "scalar"; readonly name: string }
  /** Address of element 0 of a view or scatter target. */
  | { readonly kind: "view"; readonly name: string }
  /** Indices along an axis of one. */
  | { readonly kind: "extent"; readonly name: string; readonly axis: number }
  /** Elements from one index of an axis to the next. */
  | { readonly kind: "stride"; readonly name: string; readonly axis: number };

/** Index set of the launch. */
type PolicySlot =
  /** The first index of the range along an axis, and the one after the last. */
  | { readonly kind: "begin" | "end"; readonly axis: number }
  /** Teams. */
  | { readonly kind: "league" };

/** Arguments of the launch functions in emitted files. */
export type SignatureSlot =
  | ArgumentSlot
  | PolicySlot
  /** Target of a reduction's result. */
  | { readonly kind: "result"; readonly name: string };

/** Entries of the argument block of a WebAssembly module. */
export type WasmSlot =
  | Extract<ArgumentSlot, { kind: "scalar" | "view" }>
  /** Start of a scatter target's private copies, worker 1's first, and bytes from one to the next. */
  | { readonly kind: "copies" | "copyStride"; readonly name: string }
  /** Start of the workers' scatter caches of a target. */
  | { readonly kind: "caches"; readonly name: string }
  /** Start of a reduction's partials. */
  | { readonly kind: "partials"; readonly name: string }
  /** Start of the constant tables. */
  | { readonly kind: "tables" }
  /** Start of the workers' private memory, and the bytes of one worker's part. */
  | { readonly kind: "scratch" | "scratchStride" }
  /** For code for any range: the first index along an axis, and indices along it. */
  | { readonly kind: "begin" | "count"; readonly axis: number }
  /** Units of work, in all and of one call. */
  | { readonly kind: "units" | "batch" };

/** Members of the struct that a function in C with OpenMP takes. */
export type OpenmpSlot =
  | ArgumentSlot
  /** Threads, units of work, the axis along which they are shared out, and to how many elements the shares are rounded. */
  | { readonly kind: "workers" | "units" | "split" | "grain" }
  /** Partials are folded to results. */
  | { readonly kind: "folds" }
  /** First indices of the range, the indices after the last, and the extents of a tile: an element an axis. */
  | { readonly kind: "begin" | "end" | "tile" }
  /** Start of the workers' scatter caches of a target. */
  | { readonly kind: "caches"; readonly name: string }
  /** Start of a scatter target's private copies, bytes from one to the next, and elements of each. */
  | { readonly kind: "copies" | "copyBytes" | "span"; readonly name: string }
  /** Start of a reduction's partials, the view that takes its result, and the result itself. */
  | { readonly kind: "partials" | "output" | "result"; readonly name: string };

/**
 * Values for grids, folds and sorted scatters on a GPU, in all languages. Memory of the launch is given by addresses, or by elements from
 * its start.
 */
type DeviceSlot =
  | Exclude<ArgumentSlot, { kind: "view" }>
  /** The first index of the range along an axis, and indices along it. */
  | { readonly kind: "begin" | "count"; readonly axis: number }
  /** Elements of the range, and neighbouring ones that a block takes. */
  | { readonly kind: "elements" | "segment" }
  /** Chunks of a reduction, in all and in a line of the range. */
  | { readonly kind: "chunks" | "chunksPerLine" }
  /** The first team, and the one after the last. */
  | { readonly kind: "firstTeam" | "league" }
  /** Elements of a scatter target. */
  | { readonly kind: "size"; readonly name: string }
  /** Contributions of one element or team to a scatter target at most. */
  | { readonly kind: "slots"; readonly name: string }
  /** Memory for their targets and values. */
  | { readonly kind: "keys" | "values"; readonly name: string }
  /** How many there are, and where their targets and positions lie once they are sorted. */
  | { readonly kind: "contributionCount" | "sortedKeys" | "sortedOrder"; readonly name: string }
  /** Start of a reduction's partials, and of the values folded from them. */
  | { readonly kind: "partials" | "folded"; readonly name: string }
  /** The view that takes its result. */
  | { readonly kind: "output"; readonly name: string }
  /** Partials to be folded. */
  | { readonly kind: "partialCount" }
  /** Memory for the results of all reductions, 8 bytes each. */
  | { readonly kind: "results" };

/** Parameters of functions in CUDA, HIP and OpenCL. */
export type GpuSlot =
  | DeviceSlot
  | Extract<ArgumentSlot, { kind: "view" }>
  /** The index after the last of the range along an axis. */
  | { readonly kind: "end"; readonly axis: number }
  /** Index at which threads along the last axis begin, before the range. */
  | { readonly kind: "alignedBegin" }
  /** For a grid over a box: blocks of a row, blocks of a tile along the middle axis, planes of a block. */
  | { readonly kind: "rowBlocks" | "tile" | "planes" }
  /** Start of a scatter target's copy in the block's memory, in units of 8 bytes. */
  | { readonly kind: "copy"; readonly name: string }
  /** Memory that takes the first or last planes of a view as well, and how many. */
  | { readonly kind: "peerStore" | "peerStorePlanes"; readonly name: string; readonly side: "first" | "last" }
  /** For a fold by several blocks: the table of pieces, the totals that blocks leave for the last, and the counter of blocks that have arrived. */
  | { readonly kind: "pieces" | "totals"; readonly name: string }
  | { readonly kind: "ticket" }
  /** And on several GPUs: how many, the number of this one, their mailboxes, how often they have folded, and nanoseconds to wait for others. */
  | { readonly kind: "members" | "me" | "mailboxes" | "turn" | "patience" };

/** Fields of the block of numbers of a shader in WGSL. */
export type WgslSlot =
  | DeviceSlot
  /** Elements from the start of its buffer to a view's first. */
  | { readonly kind: "base"; readonly name: string }
  /** Always 0 and always 1, which the compiler must not know. */
  | { readonly kind: "zero" | "one" };

/** Properties of every slot, for code that passes slots on. */
export interface AnySlot {
  readonly kind: string;
  readonly name?: string;
  readonly axis?: number;
  readonly side?: string;
}

/** A slot in words, `stride:x:1`: different ones for different slots. */
export const slotText = ({ kind, name, axis, side }: AnySlot): string =>
  [kind, name, axis, side].filter((part) => part !== undefined).join(":");

/** A value for each of some slots. */
export class SlotMap<Slot extends AnySlot, T> {
  private readonly values = new Map<string, T>();

  get(slot: Slot): T | undefined {
    return this.values.get(slotText(slot));
  }

  set(slot: Slot, value: T): this {
    this.values.set(slotText(slot), value);
    return this;
  }
}
