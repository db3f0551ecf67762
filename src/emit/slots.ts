/*
 * What emitted code asks of a launch: each parameter, member or field of its signature carries a slot, and whoever launches the code gives each
 * slot its value. Those who do so switch over the kinds, so that a slot that is added here is an error of the compiler in each of them.
 */

/** What the kernel was called with. */
export type ArgumentSlot =
  /** A scalar's value. */
  | { readonly kind: "scalar"; readonly name: string }
  /** Where element 0 of a view or scatter target lies. */
  | { readonly kind: "view"; readonly name: string }
  /** Indices along an axis of one. */
  | { readonly kind: "extent"; readonly name: string; readonly axis: number }
  /** Elements from one index of an axis to the next. */
  | { readonly kind: "stride"; readonly name: string; readonly axis: number };

/** What it runs over. */
export type PolicySlot =
  /** The first index of the range along an axis, and the one behind the last. */
  | { readonly kind: "begin" | "end"; readonly axis: number }
  /** Teams. */
  | { readonly kind: "league" };

/** Arguments of the launch functions in emitted files. */
export type SignatureSlot =
  | ArgumentSlot
  | PolicySlot
  /** Where the result of a reduction goes. */
  | { readonly kind: "result"; readonly name: string };

/** Entries of the argument block of a WebAssembly module. */
export type WasmSlot =
  | Extract<ArgumentSlot, { kind: "scalar" | "view" }>
  /** Where the private copies of a scatter target begin, those of worker 1 first, and bytes from one to the next. */
  | { readonly kind: "copies" | "copyStride"; readonly name: string }
  /** Where the workers' tiles of a scatter target begin. */
  | { readonly kind: "tiles"; readonly name: string }
  /** Where the partials of a reduction begin. */
  | { readonly kind: "partials"; readonly name: string }
  /** Where the constant tables lie. */
  | { readonly kind: "tables" }
  /** Where the workers' private memory begins, and bytes of one worker's. */
  | { readonly kind: "scratch" | "scratchStride" };

/** Members of the struct that a function in C with OpenMP takes. */
export type OpenmpSlot =
  | ArgumentSlot
  /** Threads, units of work, the axis along which they are shared out, and to how many elements the shares are rounded. */
  | { readonly kind: "workers" | "units" | "split" | "grain" }
  /** Partials are folded to results. */
  | { readonly kind: "folds" }
  /** Stores bypass the caches. */
  | { readonly kind: "streaming" }
  /** First indices of the range, those behind the last, and the extents of a tile: an element an axis. */
  | { readonly kind: "begin" | "end" | "tile" }
  /** Where the workers' tiles of a scatter target begin. */
  | { readonly kind: "tiles"; readonly name: string }
  /** Where the private copies of a scatter target begin, bytes from one to the next, and elements of each. */
  | { readonly kind: "copies" | "copyBytes" | "span"; readonly name: string }
  /** Where the partials of a reduction begin, the view that takes its result, and the result itself. */
  | { readonly kind: "partials" | "output" | "result"; readonly name: string };

/** A slot in words, `stride:x:1`: different ones for different slots. */
export const slotText = ({ kind, name, axis, side }: { kind: string; name?: string; axis?: number; side?: string }): string =>
  [kind, name, axis, side].filter((part) => part !== undefined).join(":");
