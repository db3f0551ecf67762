import type { Entry, KernelParam } from "../../../schedule/program.js";

/** Bits of a digit of the sort. */
export const SORT_BITS = 8;

/** How a language's sort shares out keys. */
export interface SortShape {
  /** Keys that one block counts or moves in a pass. */
  readonly tile: number;
  /** Threads of such a block, and of one that sums the counts of a digit. */
  readonly threads: number;
  readonly scanThreads: number;
}

/** A warp has a tile. */
export const SORT_BY_WARPS: SortShape = { tile: 4096, threads: 32, scanThreads: 256 };
/** A block has a tile, which its shared memory holds. On an H200 16 and 20 keys a thread took 1.10 and 1.06 of the time of 24. */
export const SORT_BY_BLOCKS: SortShape = { tile: 6144, threads: 256, scanThreads: 1024 };

/**
 * Parameters of a pass of the sort: keys and their order, their targets, counts and totals of digits, the number of keys and tiles, the
 * digit's lowest bit.
 */
export interface SortSlot {
  readonly kind: "keys" | "order" | "sortedKeys" | "sortedOrder" | "counts" | "totals" | "count" | "tiles" | "shift";
}

/** The sort's entries, with their parameters in order. */
export const SORT_ENTRIES = {
  count: {
    name: "sort_count",
    params: listed(["keys", "pointer"], ["count", "u32"], ["shift", "u32"], ["tiles", "u32"], ["counts", "pointer"]),
  },
  scan: { name: "sort_scan", params: listed(["counts", "pointer"], ["tiles", "u32"], ["totals", "pointer"]) },
  move: {
    name: "sort_move",
    params: listed(
      ["keys", "pointer"],
      ["order", "pointer"],
      ["count", "u32"],
      ["shift", "u32"],
      ["tiles", "u32"],
      ["counts", "pointer"],
      ["totals", "pointer"],
      ["sortedKeys", "pointer"],
      ["sortedOrder", "pointer"],
    ),
  },
} satisfies Record<string, Entry<SortSlot>>;

function listed(...params: [kind: SortSlot["kind"], type: "pointer" | "u32"][]): KernelParam<SortSlot>[] {
  return params.map(([kind, type]) => (type === "pointer" ? { slot: { kind }, type, element: "u32" } : { slot: { kind }, type }));
}
