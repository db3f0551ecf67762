import type { Offset } from "../grid/parts.js";
import { Neighbours } from "../indexed/neighbours.js";
import { GROUP, type Indexing } from "../indexed/indexing.js";

/**
 * Neighbours of the own cells of a partition. In most groups of cells the neighbours in a direction all have the same distance in
 * indices, so one entry serves the group: `near[direction][group]` is 2 d where the neighbour of every cell c is c + d, and else 2 r + 1,
 * with the neighbours one by one in `far[r]`. A kernel thus reads 4 bytes a direction for most groups, not for each cell.
 * Row 0 is for a group without any neighbour.
 */
interface Connectivity {
  /** Groups of all indices up to the last own cell; groups of halo cells have no meaning. */
  readonly groups: number;
  /** [direction][group] */
  readonly near: Int32Array;
  /** [row][cell of the group] */
  readonly far: Int32Array;
}

/** Finds the neighbours at each of `offsets`, which reach no farther than the halos along the last axis. */
export function connectUnits(indexing: Indexing, offsets: readonly Offset[]): Connectivity {
  const { first, own, fillCell } = indexing;
  const neighbours = new Neighbours(indexing, offsets);
  const groups = Math.ceil((first + own) / GROUP);
  const near = new Int32Array(offsets.length * groups);
  const far = new Rows();
  far.add().fill(fillCell);
  offsets.forEach((offset, direction) => {
    const found = neighbours.at(offset);
    for (let group = first / GROUP, n = 0; n < own; group++, n += GROUP) {
      const end = Math.min(n + GROUP, own);
      const together = isTogether(found, n, end);
      const missing = !together && isMissing(found, n, end, fillCell);
      near[direction * groups + group] = together ? 2 * (found[n] - first - n) : missing ? 1 : 2 * far.count + 1;
      if (!together && !missing) far.add().fill(fillCell).set(found.subarray(n, end));
    }
  });
  return { groups, near, far: far.all() };
}

function isTogether(found: Int32Array, begin: number, end: number): boolean {
  for (let n = begin + 1; n < end; n++) if (found[n] !== found[begin] + n - begin) return false;
  return true;
}

function isMissing(found: Int32Array, begin: number, end: number, fillCell: number): boolean {
  for (let n = begin; n < end; n++) if (found[n] !== fillCell) return false;
  return true;
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
