import type { LaunchOptions, View } from "isoform";
import { f64, i32, kernel, range, view } from "isoform";
import type { CoefficientType } from "./coefficients.js";
import type { NarrowRows } from "./narrow-rows.js";
import { REALS, ROUND, byCoefficients, coefficientBytes } from "./coefficients.js";
import { factorsOf } from "./narrow-rows.js";
import { SIGHT } from "./factored.js";
import type { SortedSection } from "./lists.js";
import { LISTS, sidesOf, sumsOfLists, tilesOf } from "./lists.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC } from "./shape.js";
import { bySides } from "./sides.js";
import { SLICE } from "./slices.js";
import { listsOfStars, sortedStarsFootprint } from "./sorted-stars.js";

/* The stars' share of A^T u for rows as factors: three coefficients and a time stand for five coefficients. */

/** Numbers of a row: coefficients of alpha*, delta and parallax, and years from the epoch of motions. */
const ROW_OF_STAR = SIGHT + 1;

/** Numbers of rows in the order of lists. */
const gatherSights = byCoefficients((real) => {
  const round = ROUND[real.type];
  return kernel(
    "gatherSights",
    { row: view(i32), knot: view(i32), sight: view(real, 2), turns: view(real, 2), times: view(f64, 2), sorted: view(real, 2) },
    ({ row, knot, sight, turns, times, sorted }, e) => {
      const i = row[e];
      for (let k = 0; k < SIGHT; k++) sorted[e][k] = sight[i][k];
      sorted[e][SIGHT] = round(times[knot[i]][0] + turns[i][3] * times[knot[i]][1]);
    },
    () => [SIGHT, round],
  );
});

/** For each list of a star's rows the sums of its five coefficients times u. */
const sightLists = byCoefficients((real, sides) =>
  kernel(
    "sightLists",
    { a: view(real, 2), ...LISTS, sums: view(f64, 3, { disjoint: true }) },
    ({ a, row, list, start, length, u, sums }, place) => {
      const s = new Float64Array(5 * sides);
      const begin = start[place];
      for (let n = 0; n < length[place]; n++) {
        const e = begin + SLICE * n;
        const a0 = a[e][0];
        const a1 = a[e][1];
        const a2 = a[e][2];
        const years = a[e][3];
        for (let side = 0; side < sides; side++) {
          const t = u[row[e]][side];
          const alpha = a0 * t;
          const delta = a1 * t;
          s[side] += alpha;
          s[sides + side] += delta;
          s[2 * sides + side] += a2 * t;
          s[3 * sides + side] += years * alpha;
          s[4 * sides + side] += years * delta;
        }
      }
      const g = list[place];
      for (let k = 0; k < 5; k++) {
        for (let side = 0; side < sides; side++) sums[g][k][side] = s[k * sides + side];
      }
    },
    () => [SLICE, sides],
  ),
);

/** Each star from its lists in all tiles, scaled. */
const sightSums = bySides((sides) =>
  kernel(
    "sightSums",
    { sums: view(f64, 3), first: view(i32), tiles: i32, stars: i32, p: view(f64, 2), t: view(f64, 3) },
    ({ sums, first, tiles, stars, p, t }, star, k) => {
      const total = new Float64Array(sides);
      for (let tile = 0; tile < tiles; tile++) {
        const place = tile * stars + star;
        for (let n = first[place]; n < first[place + 1]; n++) {
          for (let side = 0; side < sides; side++) total[side] += sums[n][k][side];
        }
      }
      for (let side = 0; side < sides; side++) t[star][k][side] = p[star][k] * total[side];
    },
    () => [sides],
  ),
);

/** Device memory of the stars' copy, without what slices are filled up with. */
export const factoredStarsFootprint = (shape: Shape, type: CoefficientType): number =>
  sortedStarsFootprint(shape, type) - coefficientBytes(type) * (ASTROMETRIC - ROW_OF_STAR) * shape.observations;

/** The stars' share of A^T u; `firstStar` has the number 0 in `t`, and `p` the factors of these stars' columns. */
export async function factoredStars(rows: NarrowRows, firstStar: number, p: View<"f64">, options: LaunchOptions): Promise<SortedSection> {
  const { device, shape, knot, factors } = rows;
  const { times } = factors!;
  const { sight, turns } = factorsOf(rows);
  const { type } = sight;
  const { stars } = shape;
  const { slices, tileRows } = await listsOfStars(rows, firstStar);
  const first = device.from(i32, slices.first);
  const sorted = device.array(REALS[type], [slices.entries.length, ROW_OF_STAR], { layout: sight.contiguous ? "right" : "left" });
  const copy = await sumsOfLists(device, slices, sorted, options, {
    fill: (row) => device.run(gatherSights(type, 1), { row, knot, sight, turns, times, sorted }, range(row.length), options),
    by: (sides) => sightLists(type, sides),
    sums: ASTROMETRIC,
  });
  const args = { first, tiles: tilesOf(shape, tileRows), stars, p: p.reshape(stars, ASTROMETRIC) };
  return {
    sums: (u) => [copy.step(u)],
    finish: (t) => {
      const sides = sidesOf(t);
      const by = sightSums(sides);
      const all = { ...args, sums: copy.sums(sides), t: t.reshape(stars, ASTROMETRIC, sides) };
      return [{ name: by.name, launch: device.prepare(by, all, range(stars, ASTROMETRIC), options) }];
    },
    free: () => [copy, first].forEach((one) => one.free()),
  };
}
