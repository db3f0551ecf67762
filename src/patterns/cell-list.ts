import type { Device } from "../device/device.js";
import { range } from "../device/launch/policy.js";
import { BYTES, requireNumber, View } from "../device/memory/view.js";
import type { NumberType } from "../ir/types.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import { kernel } from "../kernel/declare/kernel.js";
import { bool, fixed, i32, view } from "../kernel/declare/params.js";
import { cellBoundaries } from "./cell-boundaries.js";
import { cellAxis, CELL_AXES, CELL_HEADER, CELL_PLACES } from "./cells-in.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions, type PatternSteps } from "./pattern.js";
import { planCopy, planGather } from "./permute.js";
import { TOKENS } from "./scan-shape.js";
import { planSort } from "./sort.js";

/** Element types of points. */
type PointType = "f64" | "f32";

/** Arguments of `cellList`. */
export interface CellListOptions<T extends PointType = PointType> {
  /** A point each row: `device.array(vec3, n)`, or a view of f64 or f32 with the shape [n, 2] or [n, 3]. */
  points: View<T, 2>;
  /** Points nearer than this are neighbours, in the points' unit of length: cells are at least as wide. */
  size: number;
  /** The box along each axis: its end if it begins at 0, or `[begin, end]`. */
  box: readonly (number | readonly [begin: number, end: number])[];
  /** Whether what leaves the box comes in again on the other side; of each axis, or of all. Default: false */
  periodic?: boolean | readonly boolean[];
  /** Views that each run brings into the order of the cells, in place: the points, which must be among them, and their velocities, say. So neighbours lie side by side. */
  move?: readonly View<NumberType>[];
}

/** Points sorted into cells. */
export interface CellList<T extends PointType = PointType> extends Pattern {
  /** Arguments for a kernel's `...cellListParams`. */
  readonly args: { readonly cellTable: View<"i32", 1>; readonly cellPlace: View<T, 1> };
  /** Cells along each axis. */
  readonly cells: readonly number[];
  /** For each place of the cells' order the index of the point there: after a run with `move`, which brings the points into this order, 0 to n - 1. */
  readonly order: View<"i32", 1>;
  /** Start of each cell's part of the order, and the number of points in cells. The last axis counts fastest. */
  readonly starts: View<"i32", 1>;
}

/** Most cells of a list. */
const MOST_CELLS = 2 ** 27;

interface Box {
  readonly begins: readonly number[];
  readonly ends: readonly number[];
  readonly periodic: readonly boolean[];
  readonly cells: readonly number[];
}

/**
 * Prepares a cell list: each run sorts the points, as they are then, into cells. Kernels with the parameters `...cellListParams` go through the neighbours of a place by
 * `cellListIn(cellTable, cellPlace).near(p, (j) => ...)`: 27 cells in space and 9 in a plane, each once even where the box has less than three. Points outside an
 * axis that is not periodic, and NaN, are a KernelError where launches are checked (docs/checked.md), as in strict mode; elsewhere they are in no cell.
 * The order of cells and of points in them is the same on all devices. Throws LaunchError for a box, a size or views that do not fit.
 */
export function cellList<T extends PointType>(device: Device, what: CellListOptions<T>, options: PatternOptions = {}): CellList<T> {
  requireOptions("cellList", what, ["points", "size", "box", "periodic", "move"]);
  const { points, move = [] } = what;
  requireView("cellList, for its points,", points);
  const [n, axes] = points.shape;
  if (points.rank !== 2 || (axes !== 2 && axes !== 3) || (points.type !== "f64" && points.type !== "f32"))
    throw new LaunchError(`cellList is given points of ${points.type} [${points.shape}]: give f64 or f32 with the shape [n, 2] or [n, 3]`);
  requireMoved(move, points);
  const box = boxOf(what, axes, points.type);
  const total = box.cells.reduce((a, b) => a * b, 1);
  if (total > MOST_CELLS)
    throw new LaunchError(
      `cellList of a box with ${total} cells of ${what.size}: give a size for ${MOST_CELLS} cells at most, or a smaller box`,
    );
  let found: Omit<CellList<T>, keyof Pattern> | undefined;
  const pattern = makePattern(device, options, (steps) => {
    const cellTable = steps.array("i32", CELL_HEADER + total + 1 + n);
    const starts = cellTable.slice([CELL_HEADER, CELL_HEADER + total + 1]);
    const order = cellTable.slice([CELL_HEADER + total + 1, CELL_HEADER + total + 1 + n]);
    const shape = [...box.cells, ...box.periodic.map(Number), CELL_HEADER + total + 1];
    device.queue.write(cellTable.slice([0, CELL_HEADER]), shape);
    const cellPlace = steps.array(points.type, CELL_PLACES * CELL_AXES);
    const sides = box.ends.map((end, a) => end - box.begins[a]);
    device.queue.write(cellPlace, [...box.begins, ...box.cells.map((m, a) => sides[a] / m), ...box.ends, ...sides]);
    planCells(steps, { points, move, total, starts, order, cellTable, cellPlace });
    found = { args: { cellTable, cellPlace }, cells: box.cells.slice(0, axes), order, starts };
  });
  return Object.assign(pattern, found!);
}

/** Throws LaunchError. */
function requireMoved(move: readonly View<NumberType>[], points: View): void {
  const n = points.length;
  requireThing("cellList, for move,", move, Array.isArray(move), "give a list of views");
  for (const [k, view] of move.entries()) {
    requireView("cellList, in move,", view);
    if (view.rank > 2 || view.length !== n)
      throw new LaunchError(`cellList of ${n} points moves view ${k} of shape [${view.shape}]: give views of ${n} elements or rows`);
  }
  requireSeparate(
    "cellList",
    move.map((view, k) => [`move ${k}`, view] as const),
    [],
  );
  if (move.length > 0 && n > 1 && !move.some((view) => hasRows(view, points)))
    throw new LaunchError(
      "cellList moves views without its points, whose old places would be listed: give the points, or a view whose rows hold them, in move, too",
    );
}

/** Whether each row of the view holds all elements of the same row of the points. */
function hasRows(view: View, points: View): boolean {
  const bytes = BYTES[points.type];
  if (view.rank !== 2 || view.buffer !== points.buffer || BYTES[view.type] !== bytes || view.strides[0] !== points.strides[0]) return false;
  const offsets = Array.from({ length: view.shape[1] }, (_, a) => view.offset + a * view.strides[1]);
  return Array.from({ length: points.shape[1] }, (_, a) => points.offset + a * points.strides[1]).every((at) => offsets.includes(at));
}

/** The box, with a third axis of one cell in a plane. Throws LaunchError. */
function boxOf({ size, box, periodic = false }: CellListOptions, axes: number, type: PointType): Box {
  requireNumber(() => "cellList: size", size);
  if (!(size > 0)) throw new LaunchError(`cellList is given the size ${size}: give the greatest distance of neighbours`);
  requireThing(
    "cellList, for its box,",
    box,
    Array.isArray(box) && box.length === axes,
    `give ${axes} lengths, or [begin, end] of ${axes} axes`,
  );
  const sides = Array.isArray(periodic) ? periodic : Array<unknown>(axes).fill(periodic);
  const areFlags = sides.length === axes && sides.every((side) => typeof side === "boolean");
  requireThing("cellList, for periodic,", periodic, areFlags, `give true or false, or ${axes} of them`);
  const ends = box.map((side) => (typeof side === "number" ? ([0, side] as const) : side));
  for (const [a, side] of ends.entries()) {
    const [begin, end] = Array.isArray(side) ? side : [NaN, NaN];
    if (!(Number.isFinite(begin) && Number.isFinite(end) && begin < end))
      throw new LaunchError(`cellList: axis ${a} of the box is ${String(box[a])}: give its length, or [begin, end]`);
  }
  const all = [...ends, ...Array<readonly [number, number]>(CELL_AXES - axes).fill([0, 1])];
  return {
    begins: all.map(([begin]) => begin),
    ends: all.map(([, end]) => end),
    periodic: [...(sides as boolean[]), ...Array<boolean>(CELL_AXES - axes).fill(false)],
    cells: all.map(([begin, end], a) => (a < axes ? cellBoundaries(begin, end, size, type) : 1)),
  };
}

const makeKeys = (type: PointType) =>
  kernel(
    "cellKeys",
    {
      points: view(TOKENS[type] as typeof TOKENS.f64, 2),
      cellTable: view(i32),
      cellPlace: view(TOKENS[type] as typeof TOKENS.f64),
      keys: view(i32),
      total: i32,
      inSpace: fixed(bool),
    },
    ({ points, cellTable, cellPlace, keys, total, inSpace }, i) => {
      let [cell, inside] = [0, true];
      for (let a = 0; a < (inSpace ? 3 : 2); a++) {
        const axis = cellAxis(cellTable, cellPlace, a);
        const x = points[i][a];
        inside = inside && axis.isInside(x);
        cell = cell * axis.cells + axis.cellOf(x);
      }
      keys[i] = inside ? cell : total;
    },
    () => [cellAxis],
  );
const cellKeys = { f64: makeKeys("f64"), f32: makeKeys("f32") };

/** Reads an element for each cell of a point: the cell of a point outside is not among them. */
const lookForPointsOutside = kernel(
  "lookForPointsOutside",
  { cellOfPoint: view(i32), cellsOfBox: view(i32), found: view(i32) },
  ({ cellOfPoint, cellsOfBox, found }, i) => {
    found[i] = cellsOfBox[cellOfPoint[i]];
  },
);
const countUp = kernel("countUp", { order: view(i32) }, ({ order }, i) => {
  order[i] = i;
});

interface Planned extends Pick<CellList, "starts" | "order"> {
  readonly points: View<PointType, 2>;
  readonly move: readonly View<NumberType>[];
  readonly total: number;
  readonly cellTable: View<"i32", 1>;
  readonly cellPlace: View<PointType, 1>;
}

function planCells(steps: PatternSteps, { points, move, total, starts, order, cellTable, cellPlace }: Planned): void {
  const all = range(points.length);
  const keys = steps.array("i32", points.length);
  const inSpace = points.shape[1] === CELL_AXES;
  steps.launch(cellKeys[points.type], { points, cellTable, cellPlace, keys, total, inSpace } as never, all);
  if (steps.checked) {
    const { buffer } = steps.array("i32", 1);
    const cellsOfBox = new View(buffer, "i32", [total], [0]) as View<"i32", 1>;
    steps.launch(lookForPointsOutside, { cellOfPoint: keys, cellsOfBox, found: steps.array("i32", points.length) }, all, { given: true });
  }
  planSort(steps, { keys, permutation: order, offsets: starts, bits: Math.ceil(Math.log2(total + 1)) || 1 });
  if (move.length === 0) return;
  for (const view of move) {
    const moved = steps.array(view.type, view.size).reshape(...view.shape) as View<NumberType>;
    planGather(steps, order, view, moved);
    planCopy(steps, moved, view);
  }
  steps.launch(countUp, { order }, all);
}
