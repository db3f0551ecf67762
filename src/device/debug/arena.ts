import { addressOf, belowOf, spanOf } from "../cpu/host-view.js";
import { memoryArray, type MemoryArray } from "../memory/memory-array.js";
import { BYTES, type View } from "../memory/view.js";

/** Byte address of a view's element that lies lowest in memory. */
const lowestAddress = (view: View): number => addressOf(view) - belowOf(view) * BYTES[view.type];

/** A range of CPU memory that some views cover, and its copy. */
export interface CopiedRange {
  host: ArrayBufferLike;
  start: number;
  end: number;
  copy: ArrayBuffer;
  /** Bytes of the smallest element in it. */
  granule: number;
}

/** A copy of the memory of a launch's views. Views that overlap do so in the copy too. */
export class CopyArena {
  readonly pieces: CopiedRange[] = [];

  constructor(views: readonly View[]) {
    const spans = views.map((view) => {
      const start = lowestAddress(view);
      return {
        host: view.buffer.host!,
        start: Math.floor(start / 8) * 8,
        end: start + spanOf(view) * BYTES[view.type],
        granule: BYTES[view.type],
      };
    });
    for (const s of spans.sort((a, b) => a.start - b.start)) {
      const last = this.pieces.find((p) => p.host === s.host && s.start < p.end);
      if (last) {
        last.end = Math.max(last.end, s.end);
        last.granule = Math.min(last.granule, s.granule);
      } else this.pieces.push({ ...s, copy: new ArrayBuffer(0) });
    }
    for (const p of this.pieces) p.copy = new Uint8Array(p.host, p.start, p.end - p.start).slice().buffer;
  }

  /** Number of the piece that the view lies in, and the byte offset of its lowest element there. */
  locate(view: View): { piece: number; address: number } {
    const address = lowestAddress(view);
    const end = address + spanOf(view) * BYTES[view.type];
    const piece = this.pieces.findIndex((p) => p.host === view.buffer.host && p.start <= address && end <= p.end);
    return { piece, address: address - this.pieces[piece].start };
  }

  /** The copy of a view's elements, from its lowest to its highest. */
  array(view: View): MemoryArray {
    const { piece, address } = this.locate(view);
    return memoryArray(view.type, this.pieces[piece].copy, address, spanOf(view));
  }

  /** Writes the copies back. */
  commit(): void {
    for (const { host, start, end, copy } of this.pieces) new Uint8Array(host, start, end - start).set(new Uint8Array(copy));
  }
}
