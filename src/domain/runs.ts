import type { Offset } from "./grid.js";
import { Neighbours } from "./neighbours.js";
import type { Numbering } from "./numbering.js";

/** Cells of a run at most; there are as many outside cells, so that a missing neighbour has a distance, too. */
export const RUN = 256;

/**
 * Own cells of a partition in runs of consecutive numbers whose neighbours are consecutive as well, in every direction, or all missing:
 * loops over a run read contiguous memory without a test. No run goes beyond a plane.
 */
export interface Runs {
  /** [run][number of the first cell, count] */
  readonly bounds: Int32Array;
  /** [direction][run]: a neighbour's number less the cell's. */
  readonly distances: Int32Array;
  /** Runs before each own plane, and all. */
  readonly before: readonly number[];
}

/** Finds the runs for neighbours at each of `offsets`, which reach no farther than the halos along the last axis. */
export function cellRuns(numbering: Numbering, offsets: readonly Offset[]): Runs {
  const { outside, partition } = numbering;
  const all = new Neighbours(numbering, offsets);
  const neighbours = offsets.map((offset) => all.at(offset));
  const bounds: number[] = [];
  const before: number[] = [];
  for (let plane = 0; plane < partition.planes; plane++) {
    before.push(bounds.length / 2);
    const end = numbering.plane(partition.first + plane + 1);
    for (let cell = numbering.plane(partition.first + plane); cell < end;) {
      const start = cell++;
      const starts = neighbours.map((neighbour) => neighbour(start));
      /** True where the cell's neighbour continues those of the run, or is missing like them. */
      const continues = (neighbour: (cell: number) => number, d: number): boolean =>
        neighbour(cell) === (starts[d] === outside ? outside : starts[d] + cell - start);
      while (cell < end && cell - start < RUN && neighbours.every(continues)) cell++;
      bounds.push(start, cell - start);
    }
  }
  const runs = bounds.length / 2;
  before.push(runs);
  const distances = new Int32Array(offsets.length * runs);
  neighbours.forEach((neighbour, d) => {
    for (let run = 0; run < runs; run++) distances[d * runs + run] = neighbour(bounds[2 * run]) - bounds[2 * run];
  });
  return { bounds: Int32Array.from(bounds), distances, before };
}
