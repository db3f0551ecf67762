import type { Solver } from "../../../apps/gsr/solver.js";
import { ASTROMETRIC, ATTITUDE, INSTRUMENT, KNOTS, sections } from "../../../apps/gsr/shape.js";

/** An entry of a row: the unknown and its coefficient, scaled or not as the system is. */
export type Entry = [unknown: number, value: number];

/** All rows of a system, observations and then constraints, read from its device. */
export async function readRows({ system }: Solver): Promise<Entry[][]> {
  const { shape, device, astrometric, attitude, instrument, global, star, knot, column, byRow, constrainedUnknowns } = system;
  const read = (view: Parameters<typeof device.queue.read>[0]) => device.queue.read(view);
  const [a, t, c, g] = await Promise.all([read(astrometric), read(attitude), read(instrument), global ? read(global) : undefined]);
  const [stars, knots, columns] = await Promise.all([read(star), read(knot), read(column)]);
  const [starts, indices, values] = await Promise.all([read(byRow.start), read(byRow.index), read(byRow.values)]);
  const first = sections(shape);
  const rows = Array.from({ length: shape.observations }, (_, i) => {
    const row: Entry[] = [];
    for (let k = 0; k < ASTROMETRIC; k++) row.push([ASTROMETRIC * stars[i] + k, a[ASTROMETRIC * i + k]]);
    for (let k = 0; k < ATTITUDE; k++)
      row.push([first.attitude + Math.floor(k / KNOTS) * shape.knots + knots[i] + (k % KNOTS), t[ATTITUDE * i + k]]);
    for (let k = 0; k < INSTRUMENT; k++) row.push([first.instrument + columns[INSTRUMENT * i + k], c[INSTRUMENT * i + k]]);
    if (g) row.push([first.global, g[i]]);
    return row;
  });
  for (let r = 0; r < system.constraintCount; r++)
    rows.push(
      Array.from({ length: starts[r + 1] - starts[r] }, (_, e) => [constrainedUnknowns[0] + indices[starts[r] + e], values[starts[r] + e]]),
    );
  return rows;
}

/** A^T A of rows whose columns are scaled to unit norm here; empty columns are left out. */
export function scaledNormal(rows: readonly Entry[][], unknowns: number): { matrix: Float64Array[]; unknowns: number[] } {
  const squares = new Float64Array(unknowns);
  for (const row of rows) for (const [j, value] of row) squares[j] += value * value;
  const kept = [...squares.keys()].filter((j) => squares[j] > 0);
  const place = new Map(kept.map((j, at) => [j, at]));
  const matrix = kept.map(() => new Float64Array(kept.length));
  for (const row of rows)
    for (const [j, a] of row) {
      if (a === 0) continue;
      const into = matrix[place.get(j)!];
      for (const [k, b] of row) if (b !== 0) into[place.get(k)!] += (a * b) / Math.sqrt(squares[j] * squares[k]);
    }
  return { matrix, unknowns: kept };
}
