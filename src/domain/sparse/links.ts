import type { Offset } from "../grid/parts.js";
import { IndexPlanes } from "../indexed/index-planes.js";
import type { Indexing } from "../indexed/indexing.js";

/**
 * Links from each own cell of one grid to cells of a grid of half or twice the cell size on the same member: for each of `offsets` from its
 * first fine cell, or from its coarse one, their indices.
 * @returns [offset][index of the own cell], up to the last own cell
 */
export function levelLinks(from: Indexing, to: Indexing, level: "fine" | "coarse", offsets: readonly Offset[]): Int32Array {
  const planes = new IndexPlanes(to, offsets);
  const steps = offsets.map((offset) => planes.step(offset));
  const flat = from.cells.extents.length === 2;
  /** The first fine cell of a cell, or its coarse one, along an axis. */
  const linked = (n: number): number => (level === "fine" ? 2 * n : n >> 1);
  const row = from.first + from.own;
  const links = new Int32Array(offsets.length * row).fill(to.fillCell);
  const { first, planes: own } = from.partition;
  for (let plane = first; plane < first + own; plane++) {
    const tables = offsets.map((offset) => planes.plane(linked(plane) + offset.at(-1)!));
    const visit = (cell: number, x: number, y: number): void => {
      const place = planes.place(linked(x), flat ? 0 : linked(y));
      for (let n = 0; n < steps.length; n++) links[n * row + cell] = tables[n][place + steps[n]];
    };
    from.eachAt(visit, plane, plane + 1);
  }
  return links;
}
