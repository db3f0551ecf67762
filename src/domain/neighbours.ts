import type { Offset } from "./grid.js";
import type { Numbering } from "./numbering.js";

/** Numbers of the own cells' neighbours; one that is missing has the number of the outside cell. */
export class Neighbours {
  /** Numbers by place in a box with margins wide enough for the offsets. */
  private readonly numbers: Int32Array;
  /** Places of the own cells. */
  private readonly places: Int32Array;
  private readonly first: number;
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
    this.first = first;
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

  /** The number of the neighbour at an offset, for the number of an own cell. */
  at(offset: Offset): (cell: number) => number {
    const { numbers, places, first } = this;
    const step = offset.reduce((sum, d, axis) => sum + d * this.pitches[axis], 0);
    return (cell) => numbers[places[cell - first] + step];
  }
}
