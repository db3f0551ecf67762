import type { Entry, KernelParam } from "./program.js";

/** Bits of a digit of the sort, and keys that one block moves in one pass. */
export const SORT_BITS = 8;
export const SORT_TILE = 4096;

/** Threads of a block that counts or moves keys. */
export const SORT_THREADS = 32;

/** The sort's entries, with their parameters in order. */
export const SORT_ENTRIES = {
  count: {
    name: "sort_count",
    params: keyed(["keys", "pointer"], ["count", "u32"], ["shift", "u32"], ["tiles", "u32"], ["counts", "pointer"]),
  },
  scan: { name: "sort_scan", params: keyed(["counts", "pointer"], ["tiles", "u32"], ["totals", "pointer"]) },
  move: {
    name: "sort_move",
    params: keyed(
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
} satisfies Record<string, Entry>;

function keyed(...params: [key: string, type: "pointer" | "u32"][]): KernelParam[] {
  return params.map(([key, type]) => (type === "pointer" ? { key, type, element: "u32" } : { key, type }));
}
