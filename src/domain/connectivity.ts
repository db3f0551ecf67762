import type { Offset } from "./grid.js";
import { GROUP, type Numbering } from "./numbering.js";

/**
 * Neighbours of the own cells of a partition. In most groups of cells the neighbours in a direction all have the same distance in
 * numbers, so one entry serves the group: `near[direction][group]` is 2 d where the neighbour of every cell c is c + d, and else 2 r + 1,
 * with the neighbours one by one in `far[r]`. A kernel thus reads 4 bytes a direction for most groups, not for each cell.
 * Row 0 is that of a group without any neighbour.
 */
export interface Connectivity {
  /** Groups of all numbers up to the last own cell; those of halo cells have no meaning. */
  readonly groups: number;
  /** [direction][group] */
  readonly near: Int32Array;
  /** [row][cell of the group] */
  readonly far: Int32Array;
}

/** Finds the neighbours at each of `offsets`, which reach no farther than the halos along the last axis. */
export function connect(numbering: Numbering, offsets: readonly Offset[]): Connectivity {
  const { first, own, outside } = numbering;
  const box = new PaddedBox(numbering, offsets);
  const groups = Math.ceil((first + own) / GROUP);
  const near = new Int32Array(offsets.length * groups);
  const far = new Rows();
  far.add().fill(outside);
  offsets.forEach((offset, direction) => {
    const step = box.step(offset);
    for (let group = first / GROUP; group < groups; group++) {
      const begin = group * GROUP;
      const end = Math.min(begin + GROUP, first + own);
      const neighbour = (cell: number) => box.numbers[box.places[cell - first] + step];
      const distance = neighbour(begin) - begin;
      let [together, missing] = [true, true];
      for (let cell = begin; cell < end; cell++) {
        const there = neighbour(cell);
        together &&= there === cell + distance;
        missing &&= there === outside;
      }
      near[direction * groups + group] = together ? 2 * distance : missing ? 1 : 2 * far.count + 1;
      if (together || missing) continue;
      const row = far.add();
      for (let n = 0; n < GROUP; n++) row[n] = begin + n < end ? neighbour(begin + n) : outside;
    }
  });
  return { groups, near, far: far.all() };
}

/** Numbers by place in the stored planes, with margins wide enough for the offsets; a missing cell has the number of the outside one. */
class PaddedBox {
  readonly numbers: Int32Array;
  /** Places of the own cells. */
  readonly places: Int32Array;
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

  step(offset: Offset): number {
    return offset.reduce((sum, d, axis) => sum + d * this.pitches[axis], 0);
  }
}

/** Rows of neighbours, as many as it takes. */
class Rows {
  count = 0;
  private data = new Int32Array(64 * GROUP);

  add(): Int32Array {
    const at = this.count++ * GROUP;
    if (at + GROUP > this.data.length) {
      const wider = new Int32Array(2 * this.data.length);
      wider.set(this.data);
      this.data = wider;
    }
    return this.data.subarray(at, at + GROUP);
  }

  all(): Int32Array {
    return this.data.slice(0, this.count * GROUP);
  }
}
