import { constraintRows } from "../../../apps/gsr/constraints.js";
import { parallelRows } from "../../../apps/gsr/generate.js";
import { publishedRows } from "../../../apps/gsr/published.js";
import { KNOTS, sections, starRows, type Shape } from "../../../apps/gsr/shape.js";
import type { SimulatedName } from "../../../apps/gsr/simulated.js";
import type { PlainMatrix } from "./plain-lsqr.js";

/** The unscaled system of random coefficients as a plain matrix, made on the host. */
export function plainMatrix(shape: Shape, generator: SimulatedName, seed: number): PlainMatrix {
  const { attitude, instrument, global } = sections(shape);
  const matrix: PlainMatrix = [];
  const starRow = starRows(shape);
  let star = 0;
  for (const rows of generator === "published" ? publishedRows(shape) : [parallelRows(shape, seed)])
    for (let r = 0; r < rows.count; r++) {
      while (rows.first + r >= starRow[star + 1]) star++;
      const row: PlainMatrix[number] = [];
      for (let k = 0; k < 5; k++) row.push({ column: 5 * star + k, value: rows.astrometric[5 * r + k] });
      for (let k = 0; k < 12; k++)
        row.push({ column: attitude + Math.trunc(k / KNOTS) * shape.knots + rows.knot[r] + (k % KNOTS), value: rows.attitude[12 * r + k] });
      for (let k = 0; k < 6; k++) row.push({ column: instrument + rows.column[6 * r + k], value: rows.instrument[6 * r + k] });
      if (shape.globals === 1) row.push({ column: global, value: rows.global![r] });
      matrix.push(row);
    }
  const { rowStart, columns, values } = constraintRows(shape);
  for (let c = 0; c + 1 < rowStart.length; c++)
    matrix.push(
      Array.from({ length: rowStart[c + 1] - rowStart[c] }, (_, e) => ({
        column: instrument + columns[rowStart[c] + e],
        value: values[rowStart[c] + e],
      })),
    );
  return matrix;
}

/** The largest difference, relative to the largest value. */
export function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new Error(`${a.length} values and ${b.length}`);
  let [difference, size] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    difference = Math.max(difference, Math.abs(a[i] - b[i]));
    size = Math.max(size, Math.abs(b[i]));
  }
  return difference / size;
}
