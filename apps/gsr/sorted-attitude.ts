import type { LaunchOptions } from "isoform";
import { f64, i32, kernel, range, view } from "isoform";
import type { SortedSection } from "./lists.js";
import { gatherRows, listSums, upload } from "./lists.js";
import type { Shape } from "./shape.js";
import { ATTITUDE, KNOTS } from "./shape.js";
import { inSlices } from "./slices.js";
import type { StarRows } from "./system.js";

/* Attitude: rows with one start knot share twelve unknowns. */

/** For each start knot the twelve sums of its coefficients times u. */
const attitudeGroups = listSums("attitudeGroups", ATTITUDE);

/** Each knot of each axis from the four start knots that reach it. */
export const attitudeKnots = kernel(
  "attitudeKnots",
  { sums: view(f64, 2), groups: i32, t: view(f64, 2) },
  ({ sums, groups, t }, axis, knot) => {
    let total = 0;
    for (let k = 0; k < 4; k++) {
      const group = knot - k;
      if (group >= 0 && group < groups) total += sums[group][4 * axis + k];
    }
    t[axis][knot] += total;
  },
);

/** Start knots that rows can have. */
export const startKnots = ({ knots }: Shape): number => knots - KNOTS + 1;

/** Device memory of the attitude's copy, without what slices are filled up with. */
export const sortedAttitudeFootprint = (shape: Shape): number =>
  shape.observations * (8 * ATTITUDE + 4) + shape.knots * (8 * ATTITUDE + 12);

/** The attitude's share of A^T u from a copy of its coefficients by start knot. */
export async function sortedAttitude({ device, shape, attitude, knot }: StarRows, options: LaunchOptions): Promise<SortedSection> {
  const groups = startKnots(shape);
  const groupOf = (await device.queue.read(knot)) as Int32Array;
  const { entries, list, start, length } = inSlices({ groups, entries: groupOf.length, groupOf });
  const { row, ...slices } = upload(device, { row: entries, list, start, length });
  const a = device.array(f64, [row.length, ATTITUDE], { layout: attitude.contiguous ? "right" : "left" });
  const sums = device.array(f64, [groups, ATTITUDE]);
  const column = device.from(
    i32,
    Array.from({ length: ATTITUDE }, (_, k) => k),
  );
  await device.run(gatherRows, { row, column, a: attitude, sorted: a }, range(row.length), options);
  column.free();
  return {
    sums: (u) => [
      {
        name: attitudeGroups.name,
        launch: device.prepare(attitudeGroups, { a, row, ...slices, u, sums }, range(groups), options),
      },
    ],
    finish: (t) => [
      { name: attitudeKnots.name, launch: device.prepare(attitudeKnots, { sums, groups, t }, range(3, shape.knots), options) },
    ],
    free: () => [a, row, sums, ...Object.values(slices)].forEach((array) => array.free()),
  };
}
