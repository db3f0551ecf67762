import type { Offset } from "./grid.js";
import type { Numbering } from "./numbering.js";

/** Numbers by place in the planes that a member stores; where no active cell is, that of the outside cell. */
class Places {
  private readonly numbers: Int32Array;
  private readonly plane: number;

  constructor(private readonly numbering: Numbering) {
    const { cells, low, high, outside } = numbering;
    this.plane = cells.extents.slice(0, -1).reduce((a, b) => a * b, 1);
    this.numbers = new Int32Array((high - low) * this.plane).fill(outside);
    numbering.each((cell, position) => (this.numbers[position - low * this.plane] = cell));
  }

  /** Of the cell at global coordinates, which may lie beyond the box or the planes. */
  at(place: readonly number[]): number {
    const { cells, low, high, outside } = this.numbering;
    const [nx, ny] = cells.extents;
    const [x, y, z = 0] = place;
    const last = place.at(-1)!;
    if (last < low || last >= high || place.some((n, axis) => n < 0 || n >= cells.extents[axis])) return outside;
    return this.numbers[(z * ny + y) * nx + x - low * this.plane];
  }
}

/**
 * Where each own cell of one grid finds cells of a grid of half or twice the cell size on the same member: for each of `offsets` from its
 * first child, or from its parent, their numbers.
 * @returns [offset][number of the own cell], up to the last own cell
 */
export function linksOf(from: Numbering, to: Numbering, level: "child" | "parent", offsets: readonly Offset[]): Int32Array {
  const places = new Places(to);
  const [nx, ny] = from.cells.extents;
  const rank = from.cells.extents.length;
  const row = from.first + from.own;
  const links = new Int32Array(offsets.length * row).fill(to.outside);
  from.each((cell, position) => {
    if (cell < from.first || cell >= row) return;
    const around = [position % nx, Math.floor(position / nx) % ny, Math.floor(position / (nx * ny))].slice(0, rank);
    const origin = around.map((n) => (level === "child" ? 2 * n : n >> 1));
    offsets.forEach((offset, n) => (links[n * row + cell] = places.at(origin.map((at, axis) => at + offset[axis]))));
  });
  return links;
}
