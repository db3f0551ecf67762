import { typedArray, type NumberArrayOf } from "../../device/memory/view.js";
import type { FieldType } from "./options.js";
import type { Span } from "./parts.js";

/* Rows of host arrays in (z, y, x, k) order, for members that have some of the rows of their planes. */

/**
 * Some rows of each plane of an array, one after the other.
 * @param plane values of a plane
 * @param count rows of a plane
 */
export function boxOfPlanes<T extends NumberArrayOf<FieldType>>(values: T, plane: number, [first, end]: Span, count: number): T {
  if (end - first === count) return values;
  const row = plane / count;
  const length = (end - first) * row;
  const planes = values.length / plane;
  const some = new (values.constructor as new (length: number) => T)(planes * length);
  for (let n = 0; n < planes; n++) some.set(values.subarray(n * plane + first * row, n * plane + end * row), n * length);
  return some;
}

/** Planes and rows of an array that a member has, and which of several arrays has them. */
export interface PlanePart {
  readonly from: number;
  readonly planes: Span;
  readonly rows: Span;
}

/**
 * Arrays of parts, one after the other in each, as one array of whole planes.
 * @param shape planes, rows, and values of a row
 */
export function partsInOneArray<T extends FieldType>(
  type: T,
  arrays: readonly NumberArrayOf<T>[],
  parts: readonly PlanePart[],
  [planes, rows, row]: readonly number[],
): NumberArrayOf<T> {
  const all = typedArray(type, planes * rows * row) as NumberArrayOf<T>;
  const places = arrays.map(() => 0);
  for (const { from, planes: span, rows: lines } of parts) {
    const length = (lines[1] - lines[0]) * row;
    for (let plane = span[0]; plane < span[1]; plane++) {
      all.set(arrays[from].subarray(places[from], places[from] + length), (plane * rows + lines[0]) * row);
      places[from] += length;
    }
  }
  return all;
}
