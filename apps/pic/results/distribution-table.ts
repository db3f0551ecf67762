import { IsoformError } from "isoform";
import type { Distribution } from "../particles/distribution.js";
import { dimension, type Mesh } from "../mesh/mesh.js";

/**
 * A distribution from a table in CSV of its values on a grid, which need not be even; between its points it is interpolated linearly. The first line names
 * the columns, `v1,f`, `x1,v1,f` or `v1,v2,f`: one for each component of the velocity and, where the distribution is not the same everywhere, of the place.
 * A line for each point of the grid follows, in any order. Places are periodic.
 * @param text of the table
 * @param name of the file, for messages
 * @throws IsoformError for other columns, values that are not numbers, and a grid with missing points
 */
export function tableDistribution(text: string, mesh: Mesh, name: string): Distribution {
  const [head = "", ...lines] = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const columns = head.split(",").map((word) => word.trim());
  const velocities = Array.from({ length: mesh.velocities }, (_, k) => `v${k + 1}`);
  const places = Array.from({ length: dimension(mesh) }, (_, k) => `x${k + 1}`);
  const wanted = [...(columns.includes("x1") ? places : []), ...velocities, "f"];
  if (columns.join() !== wanted.join())
    throw new IsoformError(
      `pic: ${name} has the columns ${columns.join(",")}: this case takes ${[...velocities, "f"].join()} or ${[...places, ...velocities, "f"].join()}, named in the first line`,
    );
  const rows = lines.map((line, n) => {
    const values = line.split(",").map((word) => (word.trim() === "" ? Number.NaN : Number(word)));
    if (values.length !== columns.length || !values.every(Number.isFinite))
      throw new IsoformError(`pic: ${name}, line ${n + 2}: ${JSON.stringify(line)} is not ${columns.length} numbers`);
    return values;
  });
  const axes = columns.slice(0, -1).map((column, k) => {
    const values = [...new Set(rows.map((row) => row[k]))].sort((a, b) => a - b);
    if (values.length < 2) throw new IsoformError(`pic: ${name} has ${values.length} values of ${column}: a grid needs 2 or more`);
    return values;
  });
  const points = axes.reduce((product, axis) => product * axis.length, 1);
  const table = new Float64Array(points).fill(Number.NaN);
  const places0 = axes.map((axis) => new Map(axis.map((value, n) => [value, n])));
  for (const row of rows) table[axes.reduce((at, axis, k) => at * axis.length + places0[k].get(row[k])!, 0)] = row[columns.length - 1];
  if (rows.length !== points || table.some(Number.isNaN))
    throw new IsoformError(
      `pic: ${name} has ${rows.length} lines for a grid of ${axes.map((axis) => axis.length).join(" x ")} points: it needs each of these ${points} once`,
    );
  const space = axes.length - velocities.length;
  const lengths = mesh.axes.map(({ length }) => length);
  return {
    velocities: axes.slice(space).map((axis) => [axis[0], axis[axis.length - 1]] as const),
    density: (x, v) => interpolated(table, axes, [...x.slice(0, space), ...v], lengths, space),
  };
}

/** Linear along each axis; the first `space` ones are periodic, others end at their first and last value. */
function interpolated(
  table: Float64Array,
  axes: readonly (readonly number[])[],
  at: readonly number[],
  lengths: readonly number[],
  space: number,
): number {
  let corners: { readonly index: number; readonly weight: number }[] = [{ index: 0, weight: 1 }];
  for (const [k, axis] of axes.entries()) {
    const [low, high, share] = k < space ? betweenPeriodic(axis, at[k], lengths[k]) : between(axis, at[k]);
    corners = corners.flatMap(({ index, weight }) => [
      { index: index * axis.length + low, weight: weight * (1 - share) },
      { index: index * axis.length + high, weight: weight * share },
    ]);
  }
  return corners.reduce((sum, { index, weight }) => sum + weight * table[index], 0);
}

/** The values before and after a place, and where it lies between them. */
function between(axis: readonly number[], at: number): [low: number, high: number, share: number] {
  let [low, high] = [0, axis.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (axis[middle] <= at) low = middle;
    else high = middle;
  }
  return [low, high, Math.min(1, Math.max(0, (at - axis[low]) / (axis[high] - axis[low])))];
}

function betweenPeriodic(axis: readonly number[], at: number, length: number): [low: number, high: number, share: number] {
  const last = axis.length - 1;
  const place = axis[0] + ((((at - axis[0]) % length) + length) % length);
  if (place < axis[last]) return between(axis, place);
  const gap = axis[0] + length - axis[last];
  return [last, 0, gap > 0 ? (place - axis[last]) / gap : 0];
}
