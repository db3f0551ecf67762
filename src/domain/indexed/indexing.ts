import type { Partition } from "../grid/parts.js";
import type { Activity } from "../grid/activity.js";
import { planeRuns, type PlaneRun } from "../grid/partition.js";

/** Cells whose neighbours share one entry of the connectivity: a warp. */
export const GROUP = 32;

/** The cells of a box. */
interface Cells {
  readonly extents: readonly number[];
  readonly activity: Activity;
  /** By axis: whether it is periodic. */
  readonly periodic: readonly boolean[];
  /** Active cells before each plane of the last axis, and after the last. */
  readonly before: readonly number[];
}

/**
 * The indices of the active cells that one member stores, in global (z, y, x) order: cells of the low halo, its own, cells of the high
 * halo, and one more cell that stands for all missing ones. The bricks of a brick grid have indices as the cells of a coarser box.
 */
export class Indexing {
  /** Global planes stored, halos included; on a periodic axis, those before plane 0 are the last, and so on. */
  readonly low: number;
  readonly high: number;
  /** Index of the first own cell. */
  readonly first: number;
  /** Own cells. */
  readonly own: number;
  /** The cell that stands for missing ones; it comes after all others. */
  readonly fillCell: number;
  /** A cell's rank among all active cells, less its index. */
  private readonly base: number;

  constructor(
    readonly cells: Cells,
    readonly partition: Partition,
    /** Planes of each halo. */
    width: number,
    /** The index of the first own cell is a multiple of it. */
    align = GROUP,
  ) {
    const end = partition.first + partition.planes;
    const planes = cells.extents.at(-1)!;
    const isRing = cells.periodic.at(-1)! && partition.planes < planes;
    this.low = isRing ? partition.first - width : Math.max(0, partition.first - width);
    this.high = isRing ? end + width : Math.min(planes, end + width);
    this.first = Math.ceil((this.before(partition.first) - this.before(this.low)) / align) * align;
    this.base = this.before(partition.first) - this.first;
    this.own = this.before(end) - this.before(partition.first);
    this.fillCell = this.before(this.high) - this.base;
  }

  /** The index of the first cell in a stored plane, or in the one after the last. */
  plane(global: number): number {
    return this.before(global) - this.base;
  }

  /** The stored planes. */
  get planeRuns(): PlaneRun[] {
    return planeRuns(this.low, this.high, this.cells.extents.at(-1)!);
  }

  /** Active cells before a plane, counting on through further turns of a periodic axis. */
  private before(global: number): number {
    const { before } = this.cells;
    const planes = before.length - 1;
    const turns = Math.floor(global / planes);
    return turns * before[planes] + before[global - turns * planes];
  }

  /** The plane of the box that a stored plane repeats. */
  boxPlane(plane: number): number {
    const planes = this.cells.extents.at(-1)!;
    return (plane + planes) % planes;
  }

  /**
   * Visits the stored cells of the stored planes [low, high) in order: index, position (z * ny + y) * nx + x in the global box, and stored plane.
   * Default: all planes.
   */
  each(visit: (cell: number, position: number, plane: number) => void, low = this.low, high = this.high): void {
    const { activity } = this.cells;
    let cell = this.plane(low);
    for (let plane = low; plane < high; plane++) {
      const boxPlane = this.boxPlane(plane);
      const origin = boxPlane * activity.planeSize;
      activity.eachRun(boxPlane, (begin, end) => {
        for (let position = origin + begin; position < origin + end; position++) visit(cell++, position, plane);
      });
    }
  }

  /** The same with global coordinates, the last one counted in stored planes; z is 0 in two dimensions. */
  eachAt(visit: (cell: number, x: number, y: number, z: number) => void, low = this.low, high = this.high): void {
    const { extents } = this.cells;
    const [nx, ny] = extents;
    const flat = extents.length === 2;
    const visitPosition = (cell: number, position: number, plane: number): void => {
      const x = position % nx;
      visit(cell, x, flat ? plane : ((position - x) / nx) % ny, flat ? 0 : plane);
    };
    this.each(visitPosition, low, high);
  }

  /** The index of the active cell at a position in the stored planes. */
  find(position: number): number {
    const { activity } = this.cells;
    const place = position % activity.planeSize;
    const plane = (position - place) / activity.planeSize;
    return this.plane(plane) + activity.before(plane, place);
  }

  /** Global coordinates along x (0), y (1) or z (2) of all stored cells. */
  coordinates(axis: number): Int32Array {
    const [nx, ny] = this.cells.extents;
    const divisor = [1, nx, nx * ny][axis];
    const extent = this.cells.extents[axis];
    const all = new Int32Array(this.fillCell + 1);
    this.each((cell, position) => (all[cell] = Math.floor(position / divisor) % extent));
    return all;
  }
}
