import type { Offset } from "./grid.js";
import type { Numbering } from "./numbering.js";

/** Numbers of the own cells' neighbours; one that is missing has the number of the outside cell. */
export class Neighbours {
  /** Numbers by place in a box with margins wide enough for the offsets. */
  private readonly numbers: Int32Array;
  /** Places of the own cells. */
  private readonly places: Int32Array;
  private readonly found: Int32Array;
  private readonly pitches: readonly number[];

  constructor(numbering: Numbering, offsets: readonly Offset[]) {
    const { cells, partition, first, own, outside } = numbering;
    const rank = cells.extents.length;
    const reach = cells.extents.map((_, axis) => Math.max(0, ...offsets.map((offset) => Math.abs(offset[axis]))));
    const [nx, ny] = cells.extents;
    const pitch = nx + 2 * reach[0];
    const rows = rank === 3 ? ny + 2 * reach[1] : 1;
    this.pitches = rank === 3 ? [1, pitch, pitch * rows] : [1, pitch];
    const margin = reach[rank - 1];
    const start = partition.first - margin;
    this.numbers = new Int32Array((partition.planes + 2 * margin) * this.pitches[rank - 1]).fill(outside);
    this.places = new Int32Array(own);
    this.found = new Int32Array(own);
    const end = partition.first + partition.planes + margin;
    numbering.each((cell, position) => {
      const x = position % nx;
      const row = (position - x) / nx;
      const z = rank === 3 ? Math.floor(row / ny) : row;
      if (z < start || z >= end) return;
      const place = (z - start) * this.pitches[rank - 1] + (rank === 3 ? ((row % ny) + reach[1]) * pitch : 0) + x + reach[0];
      this.numbers[place] = cell;
      if (cell >= first && cell < first + own) this.places[cell - first] = place;
    });
  }

  /** The neighbours of all own cells, in order, at an offset; the next call overwrites the array. */
  at(offset: Offset): Int32Array {
    const { numbers, places, found } = this;
    const step = this.step(offset);
    for (let n = 0; n < found.length; n++) found[n] = numbers[places[n] + step];
    return found;
  }

  /** The neighbour of one own cell, the first being 0. */
  of(n: number, offset: Offset): number {
    return this.numbers[this.places[n] + this.step(offset)];
  }

  private step(offset: Offset): number {
    return offset.reduce((sum, d, axis) => sum + d * this.pitches[axis], 0);
  }
}
