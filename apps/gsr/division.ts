import type { Precision } from "isoform";
import { LaunchError } from "isoform";
import type { Shape } from "./shape.js";
import { sections } from "./shape.js";
import type { RowSource, Window } from "./source.js";

/*
 * How a system is shared out among members: each has runs of neighbouring stars with all their observations. In strict mode sums over rows are made of
 * tiles, whose cuts depend on the system alone: whoever has them, they are added in one order (TreeSum), so members do not change bits.
 */

/** Tiles of a strict system at least; 1, 2, 3, 4, 6 and 12 members have equally many. */
const TILES = 12;
/** Rows of a tile, at most. */
const TILE_ROWS = 2 ** 21;

/** A member's stars and rows, and the runs of them that are summed up on their own. */
export interface Part extends Window {
  readonly tiles: readonly Window[];
}

/** Cuts the stars into at most `count` runs of about equally many rows, none of them empty. */
function runs(starRow: Int32Array, count: number): Window[] {
  const stars = starRow.length - 1;
  const rows = starRow[stars];
  const cuts = [0];
  for (let star = 0, t = 1; t < count; t++) {
    const target = (t * rows) / count;
    while (star < stars && starRow[star] < target) star++;
    if (starRow[star] > starRow[cuts[cuts.length - 1]] && starRow[star] < rows) cuts.push(star);
  }
  return cuts.map((first, n) => {
    const end = cuts[n + 1] ?? stars;
    return { stars: [first, end], rows: [starRow[first], starRow[end]] };
  });
}

/** The window of some that follow each other. */
const joined = (windows: readonly Window[]): Window => {
  const [first, last] = [windows[0], windows[windows.length - 1]];
  return { stars: [first.stars[0], last.stars[1]], rows: [first.rows[0], last.rows[1]] };
};

/** The number of tiles of a system that is solved in strict mode. */
const tilesOf = (observations: number): number => TILES * Math.ceil(observations / (TILES * TILE_ROWS));

/**
 * Shares out the stars. `tiled` systems have the same tiles for any number of members, others one a member.
 * @throws LaunchError for more members than there are tiles
 */
export function divide(starRow: Int32Array, members: number, tiled: boolean): Part[] {
  const tiles = runs(starRow, tiled ? tilesOf(starRow[starRow.length - 1]) : members);
  if (tiles.length < members)
    throw new LaunchError(
      `${members} devices for a system whose ${starRow.length - 1} stars make ${tiles.length} parts${tiled ? " in strict mode" : ""}: give fewer devices${tiled ? ", or --precision fast" : ""}`,
    );
  return Array.from({ length: members }, (_, m) => {
    const own = tiles.slice(Math.floor((m * tiles.length) / members), Math.floor(((m + 1) * tiles.length) / members));
    return { ...joined(own), tiles: own };
  });
}

/** Whether a system's sums are made of tiles: in strict mode, but for the form `paper`, whose kernels are the published program's. */
export const isTiled = (precision: Precision, form: string): boolean => precision === "strict" && form !== "paper";

/** The shape of some stars and their rows with all that stars share. */
export const shapeOfWindow = (shape: Shape, { stars, rows }: Window): Shape => ({
  ...shape,
  stars: stars[1] - stars[0],
  observations: rows[1] - rows[0],
});

/**
 * Rows of the first of some members, as a system of its own with all unknowns that stars share: it takes the time of a member's part, and its solution means nothing.
 * @throws LaunchError for more members than there are stars
 */
export function firstShare(source: RowSource, members: number): RowSource {
  const [part] = divide(source.starRow, members, false);
  const shape = shapeOfWindow(source.shape, part);
  const dropped = sections(source.shape).attitude - sections(shape).attitude;
  return {
    ...source,
    shape,
    starRow: source.starRow.slice(0, part.stars[1] + 1),
    // Other members' rows have the rest of the shared unknowns.
    mayLeave: true,
    constraints() {
      const { first, ...rows } = source.constraints();
      return { ...rows, first: first - dropped };
    },
  };
}
