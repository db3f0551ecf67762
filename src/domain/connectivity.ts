import type { Offset } from "./grid.js";
import { Neighbours } from "./neighbours.js";
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
  const neighbours = new Neighbours(numbering, offsets);
  const groups = Math.ceil((first + own) / GROUP);
  const near = new Int32Array(offsets.length * groups);
  const far = new Rows();
  far.add().fill(outside);
  offsets.forEach((offset, direction) => {
    const neighbour = neighbours.at(offset);
    for (let group = first / GROUP; group < groups; group++) {
      const begin = group * GROUP;
      const end = Math.min(begin + GROUP, first + own);
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
