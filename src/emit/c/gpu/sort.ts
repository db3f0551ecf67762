import type { Entry, KernelParam } from "../../../schedule/program.js";

/** Bits of a digit of the sort, and keys that one block moves in one pass. */
export const SORT_BITS = 8;
export const SORT_TILE = 4096;

/** Threads of a block that counts or moves keys. */
export const SORT_THREADS = 32;

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
