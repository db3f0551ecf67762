import type { Partition } from "./grid.js";

/** Cells whose neighbours share one entry of the connectivity: a warp. */
export const GROUP = 32;

/** Which cells of a box are active; see `activityOf`. */
interface Cells {
  readonly extents: readonly number[];
  /** Bytes in (z, y, x) order; undefined where every cell is active. */
  readonly mask: Uint8Array | undefined;
  /** Active cells before each plane of the last axis, and behind the last. */
  readonly before: readonly number[];
}

/**
 * The numbers of the active cells that one member stores, in global (z, y, x) order: those of the low halo, its own, those of the high
 * halo, and one more cell that stands for all missing ones. The bricks of a block-sparse grid are numbered as the cells of a coarser box.
 */
export class Numbering {
  /** Global planes stored, halos included. */
  readonly low: number;
  readonly high: number;
  /** Number of the first own cell. */
  readonly first: number;
  /** Own cells. */
  readonly own: number;
  /** The cell that stands for missing ones; it comes after all others. */
  readonly outside: number;
  /** A cell's rank among all active cells, less its number. */
  private readonly base: number;

  constructor(
    readonly cells: Cells,
    readonly partition: Partition,
    /** Planes of each halo. */
    width: number,
    /** The number of the first own cell is a multiple of it. */
    align = GROUP,
  ) {
    const { before, extents } = cells;
    const end = partition.first + partition.planes;
    this.low = Math.max(0, partition.first - width);
    this.high = Math.min(extents.at(-1)!, end + width);
    this.first = Math.ceil((before[partition.first] - before[this.low]) / align) * align;
    this.base = before[partition.first] - this.first;
    this.own = before[end] - before[partition.first];
    this.outside = before[this.high] - this.base;
  }

  /** The number of the first cell in a stored plane, or in the one after the last. */
  plane(global: number): number {
    return this.cells.before[global] - this.base;
  }

  /** Visits the stored cells in order: number, and position (z * ny + y) * nx + x in the global box. */
  each(visit: (cell: number, position: number) => void): void {
    const { mask } = this.cells;
    const plane = this.planeSize;
    let cell = this.plane(this.low);
    for (let position = this.low * plane; position < this.high * plane; position++) if (!mask || mask[position]) visit(cell++, position);
  }

  /** Visits the stored cells in order: number and global coordinates; z is 0 in two dimensions. */
  eachAt(visit: (cell: number, x: number, y: number, z: number) => void): void {
    const { extents } = this.cells;
    const [nx] = extents;
    const ny = extents.length === 3 ? extents[1] : Infinity;
    this.each((cell, position) => {
      const x = position % nx;
      const row = (position - x) / nx;
      visit(cell, x, row % ny, Math.floor(row / ny));
    });
  }

  /** The number of the active cell at a position in the stored planes. */
  find(position: number): number {
    const { mask } = this.cells;
    const start = position - (position % this.planeSize);
    const before = mask ? mask.subarray(start, position).reduce((a, b) => a + b, 0) : position - start;
    return this.plane(start / this.planeSize) + before;
  }

  /** Global coordinates along x (0), y (1) or z (2) of all stored cells. */
  coordinates(axis: number): Int32Array {
    const [nx, ny] = this.cells.extents;
    const divisor = [1, nx, nx * ny][axis];
    const extent = this.cells.extents[axis];
    const all = new Int32Array(this.outside + 1);
    this.each((cell, position) => (all[cell] = Math.floor(position / divisor) % extent));
    return all;
  }

  private get planeSize(): number {
    return this.cells.extents.slice(0, -1).reduce((a, b) => a * b, 1);
  }
}
