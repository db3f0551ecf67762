import type { Offset } from "../grid/parts.js";
import { Neighbours } from "../indexed/neighbours.js";
import type { Indexing } from "../indexed/indexing.js";

/** Cells of a run at most; there are as many fill cells, so that a missing neighbour has a distance, too. */
export const RUN = 256;

/**
 * Own cells of a partition in runs of consecutive indices whose neighbours are consecutive as well, in every direction, or all missing:
 * loops over a run read contiguous memory without a test. No run goes beyond a plane.
 */
interface Runs {
  /** [run][index of the first cell, count] */
  readonly bounds: Int32Array;
  /** [run][direction]: a neighbour's index less the cell's. */
  readonly distances: Int32Array;
  /** Runs before each own plane, and all. */
  readonly before: readonly number[];
}

/** Finds the runs for neighbours at each of `offsets`, which reach no farther than the halos along the last axis. */
export function cellRuns(indexing: Indexing, offsets: readonly Offset[]): Runs {
  const { first, own, fillCell, partition } = indexing;
  const neighbours = new Neighbours(indexing, offsets);
  /** 1 where a cell does not continue the run of the one before it. */
  const starts = new Uint8Array(own);
  for (const offset of offsets) noteStarts(neighbours.at(offset), fillCell, starts);
  const bounds: number[] = [];
  const before: number[] = [];
  for (let plane = 0; plane < partition.planes; plane++) {
    before.push(bounds.length / 2);
    const end = indexing.plane(partition.first + plane + 1) - first;
    for (let n = indexing.plane(partition.first + plane) - first; n < end;) {
      const start = n++;
      while (n < end && n - start < RUN && starts[n] === 0) n++;
      bounds.push(first + start, n - start);
    }
  }
  const runs = bounds.length / 2;
  before.push(runs);
  const distances = new Int32Array(offsets.length * runs);
  offsets.forEach((offset, d) => {
    const found = neighbours.at(offset);
    for (let run = 0; run < runs; run++) distances[run * offsets.length + d] = found[bounds[2 * run] - first] - bounds[2 * run];
  });
  return { bounds: Int32Array.from(bounds), distances, before };
}

/** Marks the cells whose neighbour does not follow the previous cell's neighbour. */
function noteStarts(found: Int32Array, fillCell: number, starts: Uint8Array): void {
  for (let n = 1; n < found.length; n++) {
    const before = found[n - 1];
    const there = found[n];
    if (there === fillCell ? before !== fillCell : there !== before + 1) starts[n] = 1;
  }
}
