import { constraintRows } from "./constraints.js";
import type { Rows } from "./published.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, ATTITUDE, INSTRUMENT, KNOTS, sections, starRows } from "./shape.js";

/*
 * The residual b - A x of the unscaled identity system in plain JavaScript, from the generators' numbers: it shares no kernel and no
 * array with a device. A row's known term is the sum of its coefficients a, so its residual is the sum of a (1 - x).
 */

/** Residuals of consecutive observations. */
export function observationResiduals(shape: Shape, rows: Rows, x: ArrayLike<number>): Float64Array {
  const { attitude, instrument, global } = sections(shape);
  const starRow = starRows(shape);
  let star = starRow.findIndex((row) => row > rows.first) - 1;
  return Float64Array.from({ length: rows.count }, (_, r) => {
    while (rows.first + r >= starRow[star + 1]) star++;
    let residual = 0;
    for (let k = 0; k < ASTROMETRIC; k++) residual += rows.astrometric[r * ASTROMETRIC + k] * (1 - x[star * ASTROMETRIC + k]);
    for (let k = 0; k < ATTITUDE; k++) {
      const axis = Math.trunc(k / KNOTS);
      residual += rows.attitude[r * ATTITUDE + k] * (1 - x[attitude + axis * shape.knots + rows.knot[r] + (k % KNOTS)]);
    }
    for (let k = 0; k < INSTRUMENT; k++)
      residual += rows.instrument[r * INSTRUMENT + k] * (1 - x[instrument + rows.column[r * INSTRUMENT + k]]);
    if (rows.global) residual += rows.global[r] * (1 - x[global]);
    return residual;
  });
}

/** Residuals of all constraint rows. */
export function constraintResiduals(shape: Shape, x: ArrayLike<number>): Float64Array {
  const { instrument } = sections(shape);
  const { rowStart, columns, values } = constraintRows(shape);
  return Float64Array.from({ length: rowStart.length - 1 }, (_, c) => {
    let residual = 0;
    for (let e = rowStart[c]; e < rowStart[c + 1]; e++) residual += values[e] * (1 - x[instrument + columns[e]]);
    return residual;
  });
}
