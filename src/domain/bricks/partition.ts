import { Activity } from "../grid/activity.js";
import type { Indexing } from "../indexed/indexing.js";

/** Bits of a word of the activity masks. */
const WORD = 32;

/** A box of cells as a coarser box of bricks. A cell's place in its brick is (z * by + y) * bx + x. */
export class Bricks {
  /** Bricks along x, y (and z). */
  readonly extents: readonly number[];
  /** Cells of a brick. */
  readonly cells: number;
  /** Binary logarithms of a brick's extents. */
  readonly logs: readonly number[];
  /** Bricks that have an active cell. */
  readonly activity: Activity;
  /** Every cell of every brick that has active cells is active. */
  readonly full: boolean;

  /**
   * @param box cells along x, y (and z)
   * @param active cells
   * @param shape cells of a brick along each axis, powers of two
   */
  constructor(
    readonly box: readonly number[],
    private readonly active: Activity,
    readonly shape: readonly number[],
  ) {
    this.extents = box.map((n, axis) => Math.ceil(n / shape[axis]));
    this.cells = shape.reduce((a, b) => a * b, 1);
    this.logs = shape.map(Math.log2);
    const [thick, plane] = [shape.at(-1)!, this.extents.slice(0, -1).reduce((a, b) => a * b, 1)];
    this.activity = Activity.from(this.extents, (bytes, first) => {
      const end = Math.min(box.at(-1)!, (first + bytes.length / plane) * thick);
      this.each(first * thick, end, (brick) => (bytes[brick - first * plane] = 1));
    });
    this.full = active.cells === this.activity.cells * this.cells;
  }

  /** Visits the active cells of the planes [first, end) of cells in global order: position of the brick, place in it, position. */
  each(first: number, end: number, visit: (brick: number, place: number, position: number) => void): void {
    const [nx, ny] = this.box.length === 3 ? this.box : [this.box[0], 1];
    const [bx, by, bz] = this.box.length === 3 ? this.logs : [this.logs[0], 0, this.logs[1]];
    const [ex, ey] = this.box.length === 3 ? this.extents : [this.extents[0], 1];
    const within = (n: number, log: number): number => n & ((1 << log) - 1);
    for (let z = first; z < end; z++) {
      const origin = z * ny * nx;
      this.active.eachRun(z, (begin, stop) => {
        for (let at = begin; at < stop; at++) {
          const x = at % nx;
          const y = (at - x) / nx;
          const brick = ((z >> bz) * ey + (y >> by)) * ex + (x >> bx);
          visit(brick, (((within(z, bz) << by) + within(y, by)) << bx) + within(x, bx), origin + at);
        }
      });
    }
  }
}

/** The bricks that one member stores, and what kernels need to know of them. */
export class BrickTables {
  /** Index of each brick of the stored planes, in their order; the fill one's where it is not stored. */
  private readonly indices: Int32Array;
  /** Bricks of a plane. */
  private readonly plane: number;

  /** @param indexing of the bricks, as cells of the coarser box */
  constructor(
    private readonly bricks: Bricks,
    readonly indexing: Indexing,
  ) {
    this.plane = bricks.activity.planeSize;
    this.indices = new Int32Array((indexing.high - indexing.low) * this.plane).fill(indexing.fillCell);
    indexing.each((brick, position, plane) => (this.indices[(plane - indexing.low) * this.plane + (position % this.plane)] = brick));
  }

  /** Visits the active cells of the stored planes [low, high) of bricks: brick * cells of a brick + place, and position in the box of cells. */
  each(visit: (at: number, position: number) => void, low = this.indexing.low, high = this.indexing.high): void {
    const { bricks, indexing } = this;
    const thick = bricks.shape.at(-1)!;
    for (let plane = low; plane < high; plane++) {
      const boxPlane = indexing.boxPlane(plane);
      const shift = (plane - indexing.low - boxPlane) * this.plane;
      bricks.each(boxPlane * thick, Math.min(bricks.box.at(-1)!, (boxPlane + 1) * thick), (brick, place, position) =>
        visit(this.indices[brick + shift] * bricks.cells + place, position),
      );
    }
  }

  /** Place of the values of the active cell at a position, in the units of `each`. */
  find(position: number): number {
    const { box, logs, extents, cells } = this.bricks;
    let [rest, brick, place, stride, shift] = [position, 0, 0, 1, 0];
    box.forEach((extent, axis) => {
      const n = rest % extent;
      brick += (n >> logs[axis]) * stride;
      place += (n & ((1 << logs[axis]) - 1)) << shift;
      [rest, stride, shift] = [Math.floor(rest / extent), stride * extents[axis], shift + logs[axis]];
    });
    return this.indices[brick - this.indexing.low * this.plane] * cells + place;
  }

  /** [brick][code]: the neighbours of own bricks, code = sum of 3^axis (1 + step). */
  neighbours(): Int32Array {
    const { extents } = this.bricks;
    const { first, own, low, high, fillCell, cells, partition } = this.indexing;
    const codes = 3 ** extents.length;
    const table = new Int32Array((first + own) * codes);
    /** The stored bricks along each axis, and whether the first comes after the last. */
    const axes = extents.map((extent, axis) => {
      const length = axis < extents.length - 1 ? extent : high - low;
      return { length, isRing: cells.periodic[axis] && (axis < extents.length - 1 || partition.planes === extent) };
    });
    this.indexing.each((brick, position, plane) => {
      if (brick < first || brick >= first + own) return;
      const start = (plane - low) * this.plane + (position % this.plane);
      for (let code = 0; code < codes; code++) {
        let [rest, digits, stride, neighbour, inside] = [start, code, 1, 0, true];
        for (const { length, isRing } of axes) {
          const next = (rest % length) + (digits % 3) - 1;
          const n = isRing ? (next + length) % length : next;
          inside &&= n >= 0 && n < length;
          neighbour += n * stride;
          [rest, digits, stride] = [Math.floor(rest / length), Math.floor(digits / 3), stride * length];
        }
        table[brick * codes + code] = inside ? this.indices[neighbour] : fillCell;
      }
    });
    return table;
  }

  /** [brick][word]: a bit for each cell, 1 where it is active. */
  masks(): Int32Array {
    const words = Math.ceil(this.bricks.cells / WORD);
    const masks = new Int32Array((this.indexing.fillCell + 1) * words);
    const { cells } = this.bricks;
    this.each((at) => {
      const place = at % cells;
      masks[((at - place) / cells) * words + (place >> 5)] |= 1 << (place & (WORD - 1));
    });
    return masks;
  }

  /** [brick][axis]: global coordinates of the first cell. */
  origins(): Int32Array {
    const { extents, shape } = this.bricks;
    const origins = new Int32Array((this.indexing.fillCell + 1) * extents.length);
    this.indexing.each((brick, position) => {
      let rest = position;
      extents.forEach((extent, axis) => {
        origins[brick * extents.length + axis] = (rest % extent) * shape[axis];
        rest = Math.floor(rest / extent);
      });
    });
    return origins;
  }
}
