import { GlibcRandom } from "./glibc.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, ATTITUDE, INSTRUMENT, KNOTS, instrumentLayout } from "./shape.js";

/** Consecutive rows of the observations, row-major. */
export interface Rows {
  first: number;
  count: number;
  astrometric: Float64Array;
  attitude: Float64Array;
  instrument: Float64Array;
  /** First of the row's four consecutive knots. */
  knot: Int32Array;
  /** Six instrument unknowns a row. */
  column: Int32Array;
  /** A coefficient a row, where the shape has a global unknown. */
  global?: Float64Array;
}

export const allocateRows = (count: number, { globals }: Shape): Rows => ({
  first: 0,
  count,
  astrometric: new Float64Array(count * ASTROMETRIC),
  attitude: new Float64Array(count * ATTITUDE),
  instrument: new Float64Array(count * INSTRUMENT),
  knot: new Int32Array(count),
  column: new Int32Array(count * INSTRUMENT),
  ...(globals ? { global: new Float64Array(count) } : {}),
});

/**
 * The published simulator's observations, draw by draw: rand() of the GNU C library after srand(0). A row draws its attitude index
 * (once the first pass over the attitude is over), its instrument columns (five in the first pass over the instrument, then six) and
 * its 23 coefficients 2U - 1, the global one after them. Yields pieces of `size` rows; each piece reuses the memory of the last.
 */
export function* publishedRows(shape: Shape, size = 1 << 15): Generator<Rows> {
  const random = new GlibcRandom(0);
  const lastKnot = shape.knots - KNOTS;
  const lastColumn = instrumentLayout(shape).size - 1;
  const coefficients = (into: Float64Array, row: number, width: number) => {
    for (let e = row * width; e < (row + 1) * width; e++) into[e] = 2 * random.uniform() - 1;
  };
  let nextKnot = 0;
  let firstPass = true;

  const rows = allocateRows(size, shape);

  for (rows.first = 0; rows.first < shape.observations; rows.first += size) {
    rows.count = Math.min(size, shape.observations - rows.first);
    for (let r = 0; r < rows.count; r++) {
      const i = rows.first + r;
      if (firstPass) {
        rows.knot[r] = Math.min(nextKnot, lastKnot);
        firstPass = nextKnot < lastKnot;
        nextKnot += KNOTS;
      } else {
        rows.knot[r] = Math.min(Math.trunc(random.uniform() * (lastKnot + 1)), lastKnot);
      }
      for (let k = 0; k < INSTRUMENT; k++)
        rows.column[r * INSTRUMENT + k] = k === 0 && i <= lastColumn ? i : Math.trunc(random.uniform() * lastColumn);
      coefficients(rows.astrometric, r, ASTROMETRIC);
      coefficients(rows.attitude, r, ATTITUDE);
      coefficients(rows.instrument, r, INSTRUMENT);
      if (rows.global) coefficients(rows.global, r, 1);
    }
    yield rows;
  }
}
