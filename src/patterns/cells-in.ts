import { helper } from "../kernel/declare/captures.js";
import { f32, f64, i32, view } from "../kernel/declare/params.js";
import type { Vec2, Vec3 } from "../kernel/declare/vectors.js";

/** Numbers before the starts of the cells in their table: cells along each axis, whether each is periodic, and the place of the order. */
export const CELL_HEADER = 7;
/** Number of axes that the table describes; a plane has one cell along the last. */
export const CELL_AXES = 3;
/** Numbers of each axis beside the table: where it begins, the width of a cell, where it ends and its length. */
export const CELL_PLACES = 4;

/** Parameters of a kernel that goes through neighbours, for points of f64: `kernel("forces", { ...cellListParams, x: view(vec3) }, ...)`. */
export const cellListParams = { cellTable: view(i32), cellPlace: view(f64) };
/** The same for points of f32. */
export const cellListParams32 = { cellTable: view(i32), cellPlace: view(f32) };

/** A view of rank 1 in a kernel. */
type Numbers = { readonly [i: number]: number; readonly length: number };

/** Neighbours of points, in a kernel. */
export interface CellNeighbours {
  /** Calls `visit(j)` once for each point j in the cells around p, its own cell included: all points nearer than the list's `size`, and others. */
  near(p: Vec3, visit: (j: number) => void): void;
  /** The same in a plane. */
  near2(p: Vec2, visit: (j: number) => void): void;
}

/** An axis of a box: cells along it, and which one a place is in; places outside an axis that is not periodic are in the nearest cell. */
export const cellAxis = helper(
  (table: Numbers, place: Numbers, a: number) => {
    const [cells, periodic, begin, width] = [table[a], table[a + CELL_AXES], place[a], place[a + CELL_AXES]];
    const [end, side] = [place[a + 2 * CELL_AXES], place[a + 3 * CELL_AXES]];
    return {
      cells,
      isInside: (x: number): boolean => (periodic !== 0 ? Math.abs(x) < Infinity : x >= begin && x <= end),
      cellOf: (x: number): number => {
        const leaves = periodic !== 0 && (x < begin || x >= end);
        const image = leaves ? x - side * Math.floor((x - begin) / side) : x;
        // Cells may end short of the box by a rounding: what is inside and beyond them is in the last one, not in the first.
        const cell = Math.min(Math.max(Math.floor((image - begin) / width), 0), cells - 1) | 0;
        // Roundings may leave an image just outside: it comes in on the other side.
        return leaves && image >= end ? 0 : leaves && image < begin ? cells - 1 : cell;
      },
      // A periodic axis with less than three cells has each cell once.
      first: (c: number): number => (periodic === 0 ? Math.max(0, c - 1) : cells < 3 ? 0 : c - 1),
      last: (c: number): number => (periodic === 0 ? Math.min(cells - 1, c + 1) : cells < 3 ? cells - 1 : c + 1),
      wrapped: (c: number): number => (c < 0 ? c + cells : c >= cells ? c - cells : c),
    };
  },
  () => [CELL_AXES],
);

/**
 * The cell list of a kernel, of the parameters `...cellListParams`. It goes through the cells around a point from the lowest offset to the highest along each axis,
 * the first axis slowest, and through the points of a cell in their order in memory.
 */
export const cellListIn = helper(
  (table: Numbers, place: Numbers): CellNeighbours => {
    const [ax, ay, az] = [cellAxis(table, place, 0), cellAxis(table, place, 1), cellAxis(table, place, 2)];
    const order = table[CELL_HEADER - 1];
    const around = (cx: number, cy: number, cz: number, visit: (j: number) => void): void => {
      const [lastX, lastY, lastZ] = [ax.last(cx), ay.last(cy), az.last(cz)];
      for (let x = ax.first(cx); x <= lastX; x++)
        for (let y = ay.first(cy); y <= lastY; y++) {
          const row = (ax.wrapped(x) * ay.cells + ay.wrapped(y)) * az.cells + CELL_HEADER;
          for (let z = az.first(cz); z <= lastZ; z++) {
            const cell = row + az.wrapped(z);
            const end = order + table[cell + 1];
            for (let k = order + table[cell]; k < end; k++) visit(table[k]);
          }
        }
    };
    return {
      near: (p: Vec3, visit: (j: number) => void) => around(ax.cellOf(p.x), ay.cellOf(p.y), az.cellOf(p.z), visit),
      near2: (p: Vec2, visit: (j: number) => void) => around(ax.cellOf(p.x), ay.cellOf(p.y), 0, visit),
    };
  },
  () => [CELL_HEADER, cellAxis],
);
