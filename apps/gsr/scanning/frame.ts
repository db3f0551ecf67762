import { AXES, ASTROMETRIC } from "../shape.js";
import type { SparseRows } from "../constraints.js";
import type { StarList } from "./stars.js";
import { STAR } from "./stars.js";

/**
 * Six rows that fix the frame's turn and spin: for each inertial axis the places of all stars have no turn about it on average,
 * sum over s of (q_s alpha*_s - p_s delta_s) / sqrt(S) = 0, and the motions have no spin. Columns count unknowns; `weight` is the coefficient of a 1.
 */
export function frameRows({ count, rows }: StarList, weight: number): SparseRows {
  const rowStart = [0];
  const columns: number[] = [];
  const values: number[] = [];
  const scale = weight / Math.sqrt(count);
  for (const first of [0, 3])
    for (let axis = 0; axis < AXES; axis++) {
      for (let s = 0; s < count; s++) {
        const star = rows.subarray(STAR * s, STAR * (s + 1));
        const p = axis < 2 ? star[3 + axis] : 0;
        columns.push(ASTROMETRIC * s + first, ASTROMETRIC * s + first + 1);
        values.push(scale * star[5 + axis], -scale * p);
      }
      rowStart.push(columns.length);
    }
  return { rowStart: Int32Array.from(rowStart), columns: Int32Array.from(columns), values: Float64Array.from(values) };
}
