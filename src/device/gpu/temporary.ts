import type { MemoryPart as Part } from "../../schedule/plan/sink.js";
import { SlotMap } from "../../schedule/slots.js";
import type { NumericType } from "../../ir/types.js";
import { BYTES } from "../memory/view.js";

export type { Part };

export interface WantedPart {
  readonly part: Part;
  readonly type: NumericType;
  /** Elements. */
  readonly count: number;
}

/** Alignment of parts, in bytes. */
const ALIGNMENT = 256;

/** Layout of the parts of a launch's memory. */
export interface TemporaryLayout {
  readonly bytes: number;
  /** Bytes before a part; undefined for one that is empty or missing. */
  offset(part: Part): number | undefined;
}

/** Lays the parts out in sequence. */
export function layOutParts(wanted: readonly WantedPart[]): TemporaryLayout {
  const offsets = new SlotMap<Part, number>();
  let end = 0;
  for (const { part, type, count } of wanted) {
    if (count === 0) continue;
    offsets.set(part, end);
    end += Math.ceil((BYTES[type] * count) / ALIGNMENT) * ALIGNMENT;
  }
  return { bytes: end, offset: (part) => offsets.get(part) };
}
