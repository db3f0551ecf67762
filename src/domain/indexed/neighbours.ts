import type { Offset } from "../grid/parts.js";
import { NumberBox } from "./index-box.js";
import type { Numbering } from "./indexing.js";

/** Numbers of the own cells' neighbours; one that is missing has the number of the fill cell. */
export class Neighbours {
  private readonly box: NumberBox;
  /** Places of the own cells. */
  private readonly places: Int32Array;
  private readonly found: Int32Array;

  constructor(numbering: Numbering, offsets: readonly Offset[]) {
    const { first, own } = numbering;
    this.box = new NumberBox(numbering, offsets);
    this.places = new Int32Array(own);
    this.found = new Int32Array(own);
    numbering.eachAt((cell, x, y, z) => {
      if (cell >= first && cell < first + own) this.places[cell - first] = this.box.place(x, y, z);
    });
  }

  /** The neighbours of all own cells, in order, at an offset; the next call overwrites the array. */
  at(offset: Offset): Int32Array {
    const { places, found } = this;
    const { numbers } = this.box;
    const step = this.box.step(offset);
    for (let n = 0; n < found.length; n++) found[n] = numbers[places[n] + step];
    return found;
  }

  /** The neighbour of one own cell, the first being 0. */
  of(n: number, offset: Offset): number {
    return this.box.numbers[this.places[n] + this.box.step(offset)];
  }
}
