import type { LaunchOptions } from "isoform";
import { i32, range } from "isoform";
import type { CoefficientType } from "./coefficients.js";
import type { NarrowRows } from "./narrow-rows.js";
import { coefficientBytes } from "./coefficients.js";
import { coefficientsOf } from "./narrow-rows.js";
import type { SortedSection } from "./lists.js";
import { TILE_ROWS, copyLists, groupSums, listSums, sidesOf, tilesOf } from "./lists.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC } from "./shape.js";
import type { Slices } from "./slices.js";
import { inSlices } from "./slices.js";
import type { StarRows } from "./system.js";

/*
 * Stars, where rows are not in their order: rows of one star share five unknowns. They are cut into tiles of rows whose u stays in a cache, unless a star's
 * rows come in runs, which read u in runs: on an H200 tiles take 0.78 of the time without where they do not, and 1.2 where they do.
 */

/** Rows of a list, at most. */
const LONGEST_LIST = 256;

/** For each list of a star's rows the five sums of its coefficients times u. */
const starLists = listSums("starLists", ASTROMETRIC);

/** Each star from its lists in all tiles. */
const starSums = groupSums("starSums");

/** Lists of all stars, about. */
export const listsOfAllStars = (shape: Shape): number => tilesOf(shape) * shape.stars + shape.observations / LONGEST_LIST;

/** Device memory of the stars' copy, without what slices are filled up with. */
export const sortedStarsFootprint = (shape: Shape, type: CoefficientType): number =>
  shape.observations * (coefficientBytes(type) * ASTROMETRIC + 4) + listsOfAllStars(shape) * (8 * ASTROMETRIC + 16);

/** The stars' part of A^T u from a copy of their coefficients; `firstStar` has the number 0 in `t`. */
export async function sortedStars(rows: NarrowRows, firstStar: number, options: LaunchOptions, tile = TILE_ROWS): Promise<SortedSection> {
  const { device, shape } = rows;
  const { astrometric } = coefficientsOf(rows);
  const { slices, tileRows } = await listsOfStars(rows, firstStar, tile);
  const copy = await copyLists(device, astrometric, [...Array(ASTROMETRIC).keys()], slices, starLists, options);
  const first = device.from(i32, slices.first);
  const counts = { tiles: tilesOf(shape, tileRows), groups: shape.stars };
  return {
    sums: (u) => [copy.step(u)],
    finish: (t) => {
      const sides = sidesOf(t);
      const args = { sums: copy.sums(sides), first, ...counts, totals: t.reshape(shape.stars, ASTROMETRIC, sides) };
      const by = starSums(sides);
      return [{ name: by.name, launch: device.prepare(by, args, range(shape.stars, ASTROMETRIC), options) }];
    },
    free: () => [copy, first].forEach((one) => one.free()),
  };
}

/** Lists of each star's rows. */
export async function listsOfStars(
  { device, shape, star }: StarRows,
  firstStar: number,
  tile = TILE_ROWS,
): Promise<{ slices: Slices; tileRows: number }> {
  const groupOf = ((await device.queue.read(star)) as Int32Array).map((number) => number - firstStar);
  const tileRows = isInRuns(groupOf) ? Math.max(1, groupOf.length) : tile;
  return { slices: inSlices({ groups: shape.stars, entries: tileRows, groupOf }, LONGEST_LIST), tileRows };
}

/** Whether most rows are of the star of the row before, as rows of a transit are. */
function isInRuns(starOf: Int32Array): boolean {
  let alike = 0;
  for (let row = 1; row < starOf.length; row++) if (starOf[row] === starOf[row - 1]) alike++;
  return 2 * alike > starOf.length;
}
