import type { Entry } from "../../../schedule/program.js";

/** Parameters of a scan by blocks that look back: input, output, the number of elements, whether it is exclusive, states of tiles, the fold of all. */
export interface ScanSlot {
  readonly kind: "input" | "output" | "count" | "exclusive" | "states" | "total";
}

/** The scan's entry. */
export const SCAN_ENTRY: Entry<ScanSlot> = {
  name: "scan_tiles",
  params: [
    { slot: { kind: "input" }, type: "pointer", element: "u32" },
    { slot: { kind: "output" }, type: "pointer", element: "u32" },
    { slot: { kind: "count" }, type: "u32" },
    { slot: { kind: "exclusive" }, type: "u32" },
    { slot: { kind: "states" }, type: "pointer", element: "i64" },
    { slot: { kind: "total" }, type: "pointer", element: "u32" },
  ],
};
