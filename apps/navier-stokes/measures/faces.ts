import { cellsOf, placeOf, type Axis } from "../equations/axes.js";

/** Faces along each axis, from the start of the first cell to the end of the last: midway between points, where an axis has no faces of its own. */
export const facesOf = (axes: readonly Axis[]): Float64Array[] =>
  axes.map(
    (axis) => axis.faces ?? Float64Array.from({ length: cellsOf(axis) + 1 }, (_, n) => 0.5 * (placeOf(axis, n - 1) + placeOf(axis, n))),
  );
