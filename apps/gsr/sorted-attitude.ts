import type { LaunchOptions } from "isoform";
import { f64, i32, kernel, range, view } from "isoform";
import type { CoefficientType } from "./coefficients.js";
import type { NarrowRows } from "./narrow-rows.js";
import { coefficientBytes } from "./coefficients.js";
import { coefficientsOf } from "./narrow-rows.js";
import type { SortedSection } from "./lists.js";
import { copyLists, listSums, sidesOf } from "./lists.js";
import type { Shape } from "./shape.js";
import { ATTITUDE, AXES, KNOTS } from "./shape.js";
import { bySides } from "./sides.js";
import { inSlices } from "./slices.js";

/* Attitude: rows with one start knot share twelve unknowns. */

/** For each start knot the twelve sums of its coefficients times u. */
const attitudeGroups = listSums("attitudeGroups", ATTITUDE);

/** Each side of each knot of each axis from the four start knots that reach it. */
export const attitudeKnots = bySides((sides) =>
  kernel(
    "attitudeKnots",
    { sums: view(f64, 3), groups: i32, t: view(f64, 3, { disjoint: true }) },
    ({ sums, groups, t }, axis, i) => {
      const knot = sides === 1 ? i : Math.trunc(i / sides);
      const side = sides === 1 ? 0 : i % sides;
      let total = 0;
      for (let k = 0; k < 4; k++) {
        const group = knot - k;
        if (group >= 0 && group < groups) total += sums[group][4 * axis + k][side];
      }
      t[axis][knot][side] += total;
    },
    () => [sides],
  ),
);

/** Start knots that rows can have. */
export const startKnots = ({ knots }: Shape): number => knots - KNOTS + 1;

/** Device memory of the attitude's copy, without what slices are filled up with. */
export const sortedAttitudeFootprint = (shape: Shape, type: CoefficientType): number =>
  shape.observations * (coefficientBytes(type) * ATTITUDE + 4) + shape.knots * (8 * ATTITUDE + 12);

/** The attitude's share of A^T u from a copy of its coefficients by start knot. */
export async function sortedAttitude(rows: NarrowRows, options: LaunchOptions): Promise<SortedSection> {
  const { device, shape, knot } = rows;
  const { attitude } = coefficientsOf(rows);
  const groups = startKnots(shape);
  const groupOf = (await device.queue.read(knot)) as Int32Array;
  const slices = inSlices({ groups, entries: groupOf.length, groupOf });
  const copy = await copyLists(device, attitude, [...Array(ATTITUDE).keys()], slices, attitudeGroups, options);
  return {
    sums: (u) => [copy.step(u)],
    finish: (t) => {
      const by = attitudeKnots(sidesOf(t));
      const args = { sums: copy.sums(sidesOf(t)), groups, t };
      return [{ name: by.name, launch: device.prepare(by, args, range(AXES, sidesOf(t) * shape.knots), options) }];
    },
    free: () => copy.free(),
  };
}
