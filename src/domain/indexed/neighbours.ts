import type { Offset } from "../grid/parts.js";
import { IndexBox } from "./index-box.js";
import type { Indexing } from "./indexing.js";

/** Indices of the own cells' neighbours; one that is missing has the index of the fill cell. */
export class Neighbours {
  private readonly box: IndexBox;
  /** Places of the own cells. */
  private readonly places: Int32Array;
  private readonly found: Int32Array;

  constructor(indexing: Indexing, offsets: readonly Offset[]) {
    const { first, own } = indexing;
    this.box = new IndexBox(indexing, offsets);
    this.places = new Int32Array(own);
    this.found = new Int32Array(own);
    indexing.eachAt((cell, x, y, z) => {
      if (cell >= first && cell < first + own) this.places[cell - first] = this.box.place(x, y, z);
    });
  }

  /** The neighbours of all own cells, in order, at an offset; the next call overwrites the array. */
  at(offset: Offset): Int32Array {
    const { places, found } = this;
    const { indices } = this.box;
    const step = this.box.step(offset);
    for (let n = 0; n < found.length; n++) found[n] = indices[places[n] + step];
    return found;
  }

  /** The neighbour of one own cell, the first being 0. */
  of(n: number, offset: Offset): number {
    return this.box.indices[this.places[n] + this.box.step(offset)];
  }
}
