import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { ELEMENTS } from "../../ir/scalars.js";

/** Types of elements. */
export type SparseType = "f64" | "f32";

/** A sparse matrix on the host by rows: elements offsets[r] to offsets[r + 1] - 1 are row r's, with rising columns, each column once. */
export interface CompressedRows {
  readonly shape: readonly [number, number];
  /** One more than rows. */
  readonly offsets: Int32Array;
  readonly columns: Int32Array;
  readonly values: Float64Array | Float32Array;
}

/** Elements as they were given, their indices checked. */
interface Elements {
  readonly shape: readonly [number, number];
  readonly rows: ArrayLike<number>;
  readonly columns: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** Most rows, columns and elements: indices are i32. */
export const MOST_INDICES = 2 ** 31 - 1;

/**
 * Sorts elements by row and column. Elements of one place are added up, in the order in which they were given, each sum rounded to the type. `places` has the place of
 * each given element.
 */
export function compressRows(
  { shape, rows, columns, values }: Elements,
  type: SparseType,
): CompressedRows & { readonly places: Int32Array } {
  const byColumn = stableOrder(columns, shape[1]);
  const order = stableOrder(rows, shape[0], byColumn);
  const offsets = new Int32Array(shape[0] + 1);
  const [sortedColumns, places] = [new Int32Array(rows.length), new Int32Array(rows.length)];
  let count = 0;
  let last = -1;
  for (const n of order) {
    const [row, column] = [rows[n], columns[n]];
    if (row !== last || sortedColumns[count - 1] !== column) {
      sortedColumns[count++] = column;
      offsets[row + 1]++;
    }
    places[n] = count - 1;
    last = row;
  }
  for (let row = 0; row < shape[0]; row++) offsets[row + 1] += offsets[row];
  return { shape, offsets, columns: sortedColumns.slice(0, count), values: addUp(places, values, count, type), places };
}

/** Sums of the values of each place, in the order in which they are given. */
export function addUp(places: Int32Array, values: ArrayLike<number>, count: number, type: SparseType): CompressedRows["values"] {
  // -0 and a value add up to the value, whatever its sign.
  const sums = new (ELEMENTS[type].array as Float64ArrayConstructor)(count).fill(-0);
  for (let n = 0; n < places.length; n++) sums[places[n]] += values[n];
  return sums;
}

/** Places in the stable order of keys from 0 to `count` - 1; of equal ones in the order `before`, if that is given. */
function stableOrder(keys: ArrayLike<number>, count: number, before?: Int32Array): Int32Array {
  const starts = new Int32Array(count + 1);
  for (let n = 0; n < keys.length; n++) starts[keys[n] + 1]++;
  for (let key = 0; key < count; key++) starts[key + 1] += starts[key];
  const order = new Int32Array(keys.length);
  for (let n = 0; n < keys.length; n++) {
    const place = before ? before[n] : n;
    order[starts[keys[place]]++] = place;
  }
  return order;
}

/** The row of each element. */
export function rowsOfElements({ offsets }: Pick<CompressedRows, "offsets">): Int32Array {
  const rows = new Int32Array(offsets[offsets.length - 1]);
  for (let row = 0; row + 1 < offsets.length; row++) rows.fill(row, offsets[row], offsets[row + 1]);
  return rows;
}

/** Rows and columns exchanged. */
export function transposeRows(matrix: CompressedRows, type: SparseType): ReturnType<typeof compressRows> {
  const [rows, columns] = matrix.shape;
  return compressRows({ shape: [columns, rows], rows: matrix.columns, columns: rowsOfElements(matrix), values: matrix.values }, type);
}

/** Elements of the diagonal, 0 where there is none. */
export function diagonalOf({ shape, offsets, columns, values }: CompressedRows): Float64Array {
  const diagonal = new Float64Array(Math.min(...shape));
  for (let row = 0; row < diagonal.length; row++)
    for (let k = offsets[row]; k < offsets[row + 1]; k++) if (columns[k] === row) diagonal[row] = values[k];
  return diagonal;
}

/** Throws LaunchError for the first index outside. */
export function requireIndices(name: string, indices: ArrayLike<number>, extent: number): void {
  for (let n = 0; n < indices.length; n++) {
    const index = indices[n];
    if (!Number.isInteger(index) || index < 0 || index >= extent)
      throw new LaunchError(
        `sparseMatrix: ${name}[${n}] is ${describe(index)}, and there are ${extent} ${name}: give whole numbers from 0 to ${extent - 1}`,
      );
  }
}
