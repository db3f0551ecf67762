import type { LaunchOptions, View } from "isoform";
import { f64, i32, kernel, range, view } from "isoform";
import type { SortedSection } from "./lists.js";
import { TILE_ROWS, gatherRows, listSums, tilesOf, upload } from "./lists.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC } from "./shape.js";
import { inSlices } from "./slices.js";
import type { StarRows } from "./system.js";

/*
 * Stars, where rows are not in their order: rows of one star share five unknowns. They are cut into tiles of rows whose u stays in a cache, unless a star's
 * rows come in runs, which read u in runs: on an H200 tiles take 0.82 of the time of one list a star where they do not, and 1.17 where they do.
 */

/** Rows of a list, at most. */
const LONGEST_LIST = 256;

/** For each list of a star's rows the five sums of its coefficients times u. */
const starLists = listSums("starLists", ASTROMETRIC);

/** Each star from its lists in all tiles. */
const starSums = kernel(
  "starSums",
  { sums: view(f64, 2), first: view(i32), tiles: i32, stars: i32, t: view(f64, 2) },
  ({ sums, first, tiles, stars, t }, star, k) => {
    let total = 0;
    for (let tile = 0; tile < tiles; tile++) {
      const group = tile * stars + star;
      const end = first[group + 1];
      for (let n = first[group]; n < end; n++) total += sums[n][k];
    }
    t[star][k] = total;
  },
);

/** Device memory of the stars' copy, without what slices are filled up with. */
export const sortedStarsFootprint = (shape: Shape): number =>
  shape.observations * (8 * ASTROMETRIC + 4) + (tilesOf(shape) * shape.stars + shape.observations / LONGEST_LIST) * (8 * ASTROMETRIC + 16);

/** The stars' part of A^T u from a copy of their coefficients; `firstStar` has the number 0 in `t`. */
export async function sortedStars(
  { device, shape, astrometric, star }: StarRows,
  firstStar: number,
  options: LaunchOptions,
  tile = TILE_ROWS,
): Promise<SortedSection> {
  const groupOf = ((await device.queue.read(star)) as Int32Array).map((number) => number - firstStar);
  const tileRows = isInRuns(groupOf) ? Math.max(1, groupOf.length) : tile;
  const { entries, ...lists } = inSlices({ groups: shape.stars, entries: tileRows, groupOf }, LONGEST_LIST);
  const { row, first, ...slices } = upload(device, { row: entries, ...lists });
  const a = device.array(f64, [row.length, ASTROMETRIC], { layout: astrometric.contiguous ? "right" : "left" });
  const sums = device.array(f64, [slices.list.length, ASTROMETRIC]);
  const column = device.from(
    i32,
    Array.from({ length: ASTROMETRIC }, (_, k) => k),
  );
  await device.run(gatherRows, { row, column, a: astrometric, sorted: a }, range(row.length), options);
  column.free();
  return {
    sums: (u: View<"f64">) => [
      { name: starLists.name, launch: device.prepare(starLists, { a, row, ...slices, u, sums }, range(slices.list.length), options) },
    ],
    finish: (t: View<"f64">) => [
      {
        name: starSums.name,
        launch: device.prepare(
          starSums,
          { sums, first, tiles: tilesOf(shape, tileRows), stars: shape.stars, t: t.reshape(shape.stars, ASTROMETRIC) },
          range(shape.stars, ASTROMETRIC),
          options,
        ),
      },
    ],
    free: () => [a, row, first, sums, ...Object.values(slices)].forEach((array) => array.free()),
  };
}

/** Whether most rows are of the star of the row before, as rows of a transit are. */
function isInRuns(starOf: Int32Array): boolean {
  let alike = 0;
  for (let row = 1; row < starOf.length; row++) if (starOf[row] === starOf[row - 1]) alike++;
  return 2 * alike > starOf.length;
}
