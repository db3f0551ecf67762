import type { Offset } from "../grid/parts.js";
import { IndexBox } from "./index-box.js";
import type { Indexing } from "./indexing.js";

/** Indices of the own cells' neighbours; one that is missing has the index of the fill cell. */
export class Neighbours {
  private readonly box: IndexBox;
  /** Places of the own cells. */
  private readonly cells: Int32Array;
  private readonly found: Int32Array;

  constructor(indexing: Indexing, offsets: readonly Offset[]) {
    const { first, own } = indexing;
    this.box = new IndexBox(indexing, offsets);
    this.cells = new Int32Array(own);
    this.found = new Int32Array(own);
    indexing.eachAt((cell, x, y, z) => {
      if (cell >= first && cell < first + own) this.cells[cell - first] = this.box.position(x, y, z);
    });
  }

  /** The neighbours of all own cells, in order, at an offset; the next call overwrites the array. */
  at(offset: Offset): Int32Array {
    const { cells, found } = this;
    const { indices } = this.box;
    const step = this.box.step(offset);
    for (let n = 0; n < found.length; n++) found[n] = indices[cells[n] + step];
    return found;
  }

  /** The neighbour of one own cell, the first being 0. */
  of(n: number, offset: Offset): number {
    return this.box.indices[this.cells[n] + this.box.step(offset)];
  }
}
