import type { Offset } from "../grid/parts.js";
import { IndexBox } from "../indexed/index-box.js";
import type { Indexing } from "../indexed/indexing.js";

/**
 * Where each own cell of one grid finds cells of a grid of half or twice the cell size on the same member: for each of `offsets` from its
 * first fine cell, or from its coarse one, their indices.
 * @returns [offset][index of the own cell], up to the last own cell
 */
export function linksOf(from: Indexing, to: Indexing, level: "fine" | "coarse", offsets: readonly Offset[]): Int32Array {
  const box = new IndexBox(to, offsets);
  const steps = offsets.map((offset) => box.step(offset));
  const row = from.first + from.own;
  const links = new Int32Array(offsets.length * row).fill(to.fillCell);
  from.eachAt((cell, x, y, z) => {
    if (cell < from.first || cell >= row) return;
    const linked = level === "fine" ? box.position(2 * x, 2 * y, 2 * z) : box.position(x >> 1, y >> 1, z >> 1);
    for (let n = 0; n < steps.length; n++) links[n * row + cell] = box.indices[linked + steps[n]];
  });
  return links;
}
