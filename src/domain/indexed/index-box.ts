import type { Offset } from "../grid/parts.js";
import type { Indexing } from "./indexing.js";

/**
 * Indices of a partition's cells by place: its planes, with margins on all sides that are as wide as `offsets` reach, so that any of them
 * leads from a cell of the partition to a place. Where there is no active cell, or none that the member stores, is the fill cell; the
 * margins of an axis that is periodic, and all of which the member owns, repeat the cells at the other end.
 */
export class IndexBox {
  readonly indices: Int32Array;
  private readonly reach: readonly number[];
  private readonly pitches: readonly number[];
  private readonly first: number;

  constructor(indexing: Indexing, offsets: readonly Offset[]) {
    const { cells, partition, fillCell } = indexing;
    const { extents } = cells;
    this.reach = extents.map((_, axis) => Math.max(0, ...offsets.map((offset) => Math.abs(offset[axis]))));
    const pitch = extents[0] + 2 * this.reach[0];
    this.pitches = extents.length === 3 ? [1, pitch, pitch * (extents[1] + 2 * this.reach[1])] : [1, pitch];
    const margin = this.reach.at(-1)!;
    this.first = partition.first - margin;
    const planes = partition.planes + 2 * margin;
    this.indices = new Int32Array(planes * this.pitches.at(-1)!).fill(fillCell);
    indexing.eachAt((cell, x, y, z) => {
      const plane = (extents.length === 3 ? z : y) - this.first;
      if (plane >= 0 && plane < planes) this.indices[this.position(x, y, z)] = cell;
    });
    const last = extents.length - 1;
    extents.forEach((extent, axis) => {
      if (cells.periodic[axis] && (axis < last || partition.planes === extent)) this.repeat(axis, extent);
    });
  }

  /** Fills the margins along an axis of so many cells with what lies at its other end. */
  private repeat(axis: number, extent: number): void {
    const { indices, pitches } = this;
    const [reach, pitch] = [this.reach[axis], pitches[axis]];
    const line = (extent + 2 * reach) * pitch;
    const period = extent * pitch;
    for (let start = 0; start < indices.length; start += line) {
      const [own, end] = [start + reach * pitch, start + line];
      indices.copyWithin(start, start + period, own + period);
      indices.copyWithin(own + period, own, end - period);
    }
  }

  /** Of a cell of the partition, or one in the margins. */
  position(x: number, y: number, z: number): number {
    const [, row, plane] = this.pitches;
    if (plane === undefined) return x + this.reach[0] + (y - this.first) * row;
    return x + this.reach[0] + (y + this.reach[1]) * row + (z - this.first) * plane;
  }

  /** What leads from a place to that at an offset. */
  step(offset: Offset): number {
    return offset.reduce((sum, d, axis) => sum + d * this.pitches[axis], 0);
  }
}
