import { constraintRows } from "./constraints.js";
import { parallelRows } from "./generate.js";
import type { Rows } from "./published.js";
import { publishedRows } from "./published.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, ATTITUDE, INSTRUMENT, KNOTS, sections, starRows } from "./shape.js";
import type { GeneratorName } from "./system.js";

/** Observations of a system, made again on the host piece by piece. */
export const hostRows = (shape: Shape, generator: GeneratorName, seed: number): Generator<Rows> =>
  generator === "published" ? publishedRows(shape) : parallelRows(shape, seed);

/**
 * |b - A x| of the unscaled identity system, row by row in plain JavaScript from the generator's numbers: shares no kernel and no array
 * with a device.
 */
export function residualNorm(shape: Shape, rows: Iterable<Rows>, x: ArrayLike<number>): number {
  const { attitude: attitudeStart, instrument: instrumentStart } = sections(shape);
  const starRow = starRows(shape);
  let star = 0;
  let squares = 0;
  // A row's residual is the sum of a (1 - x), since its known term is the sum of a.
  for (const { first, count, astrometric, attitude, instrument, knot, column } of rows) {
    for (let r = 0; r < count; r++) {
      while (first + r >= starRow[star + 1]) star++;
      let residual = 0;
      for (let k = 0; k < ASTROMETRIC; k++) residual += astrometric[r * ASTROMETRIC + k] * (1 - x[star * ASTROMETRIC + k]);
      for (let k = 0; k < ATTITUDE; k++) {
        const axis = Math.trunc(k / KNOTS);
        residual += attitude[r * ATTITUDE + k] * (1 - x[attitudeStart + axis * shape.knots + knot[r] + (k % KNOTS)]);
      }
      for (let k = 0; k < INSTRUMENT; k++)
        residual += instrument[r * INSTRUMENT + k] * (1 - x[instrumentStart + column[r * INSTRUMENT + k]]);
      squares += residual * residual;
    }
  }
  const { rowStart, columns, values } = constraintRows(shape);
  for (let c = 0; c + 1 < rowStart.length; c++) {
    let residual = 0;
    for (let e = rowStart[c]; e < rowStart[c + 1]; e++) residual += values[e] * (1 - x[instrumentStart + columns[e]]);
    squares += residual * residual;
  }
  return Math.sqrt(squares);
}
