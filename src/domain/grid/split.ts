import { LaunchError } from "../../base/errors.js";
import type { Activity } from "./activity.js";
import { SPLITS, type Split } from "./options.js";
import type { Partition, Span } from "./parts.js";
import { partition, ROWS } from "./partition.js";

/*
 * Cuts of a box of three axes among members: along z, along y, or along both. Rows along x stay whole.
 */

/** Members along y and along z. Member number m lies at m % y along y, and at floor(m / y) along z. */
export interface Division {
  readonly y: number;
  readonly z: number;
}

/** Rows at whose multiples a grid is cut along y, so that folds over rows can have leaves of that many. Of a grid with coarser levels the coarsest is. */
export const SPLIT_ROWS = 8;

/** Place of a member in its division. */
export const placeInDivision = ({ y }: Division, member: number): { readonly y: number; readonly z: number } => ({
  y: member % y,
  z: Math.floor(member / y),
});

/** The member that lies some steps away; undefined beyond the ends of axes that are not periodic, and for the member itself. */
export function memberBeside(
  division: Division,
  periodic: readonly boolean[],
  member: number,
  [stepY, stepZ]: readonly [number, number],
): number | undefined {
  const place = placeInDivision(division, member);
  const along = (at: number, length: number, isRing: boolean): number | undefined => {
    if (isRing && length > 1) return (at + length) % length;
    return at >= 0 && at < length ? at : undefined;
  };
  const z = along(place.z + stepZ, division.z, periodic.at(-1)!);
  const y = along(place.y + stepY, division.y, periodic[1]);
  return y === undefined || z === undefined ? undefined : y + division.y * z;
}

/**
 * How a dense grid of these extents is divided among members.
 * @param split default: "z", or the last axis of a grid of two dimensions
 * @param step planes at whose multiples members begin, and `SPLIT_ROWS` times as many rows
 * @throws LaunchError for an unknown split, for an axis that the grid does not have, and for fewer planes or blocks of rows than members
 */
export function divisionOf(extents: readonly number[], members: number, split?: Split, step = 1): Division {
  const refuse = (problem: string, remedy: string): never => {
    throw new LaunchError(`a grid of [${extents}] cells with { split: ${JSON.stringify(split)} }: ${problem}; ${remedy}`);
  };
  if (split !== undefined && !SPLITS.includes(split))
    refuse("it cannot be cut so", `use ${SPLITS.map((word) => `"${word}"`).join(", ")}, or leave it out`);
  const whole = { y: 1, z: members };
  if (extents.length === 2) {
    if (split === "z" || split === "yz") refuse("it has no z axis, and is cut along y", "leave it out");
    return whole;
  }
  if (members === 1) return whole;
  if (split === "auto") return fastest(extents, divisions(extents, members, step, refuse));
  const [, ny, nz] = extents;
  const rowStep = SPLIT_ROWS * step;
  const blocks = Math.ceil(ny / rowStep);
  if (split === "y" || split === "yz") return split === "y" ? alongRows() : alongBoth();
  if (nz < members && blocks >= members)
    throw new LaunchError(
      `${nz} ${nz === 1 ? "plane" : "planes"} for ${members} members: cut along y with { split: "y" }, or use fewer devices`,
    );
  return whole;

  function alongRows(): Division {
    if (blocks < members)
      refuse(
        `${ny} rows for ${members} members, which begin at multiples of ${rowStep} rows`,
        `use fewer devices or a longer y axis${nz >= members ? ', or { split: "z" }' : ""}`,
      );
    return { y: members, z: 1 };
  }

  function alongBoth(): Division {
    const able = divisions(extents, members, step, refuse);
    const both = able.filter(({ y, z }) => y > 1 && z > 1);
    return (both.length > 0 ? both : able).reduce((best, other) => (surface(other, extents) < surface(best, extents) ? other : best));
  }
}

/** All ways to lay out members, those with more members along z first. */
function divisions(
  [, ny, nz]: readonly number[],
  members: number,
  step: number,
  refuse: (problem: string, remedy: string) => never,
): Division[] {
  const all = Array.from({ length: members }, (_, n) => n + 1)
    .filter((y) => members % y === 0)
    .map((y) => ({ y, z: members / y }));
  const able = all.filter(({ y, z }) => y <= Math.ceil(ny / (SPLIT_ROWS * step)) && z <= Math.ceil(nz / step));
  if (able.length > 0) return able;
  const least = step === 1 ? "a plane" : `${step} planes`;
  return refuse(
    `${nz} planes of ${ny} rows for ${members} members, which have at least ${least}, and begin at multiples of ${SPLIT_ROWS * step} rows`,
    "use fewer devices or a larger grid",
  );
}

/**
 * Cells that a device computes while one cell of a halo travels: D3Q19 in f64, which moves 304 bytes a cell at 4 TB/s, and sends 40 bytes a cell of a halo
 * at 25 GB/s.
 */
const CELLS_PER_HALO_CELL = 21;

/** The division whose busiest member is done first, where halos travel while cells are computed; of several the one with most members along z, whose halos are not packed. */
function fastest(extents: readonly number[], able: readonly Division[]): Division {
  const time = (division: Division): number => {
    const { rows, planes } = largestShare(extents, division);
    const halo = 2 * ((division.z > 1 ? rows : 0) + (division.y > 1 ? planes : 0));
    return Math.max(rows * planes, CELLS_PER_HALO_CELL * halo);
  };
  return able.reduce((best, other) => (time(other) < time(best) ? other : best));
}

/** Cells of a row's length that a member inside exchanges on its four sides, on average. */
const surface = ({ y, z }: Division, [, ny, nz]: readonly number[]): number => (z > 1 ? ny / y : 0) + (y > 1 ? nz / z : 0);

/** Least planes and rows of a member, and what they begin at multiples of. */
interface Least {
  readonly planes: number;
  readonly rows: number;
}

/**
 * Cuts a box along y, and along z where a division has several members there, into parts of about equal numbers of active cells.
 * @param step planes at whose multiples members begin, and `SPLIT_ROWS` times as many rows
 * @throws LaunchError if there are too few planes or rows
 */
export function partitionBoxes(activity: Activity, division: Division, least: Least, step: number): Partition[] {
  const slabs = partition(activity.planes, division.z, least.planes, step);
  const columns = partition(activity.rowsIn(0, activity.planes.length), division.y, least.rows, SPLIT_ROWS * step, ROWS);
  const spans = columns.map(({ first, planes: rows }): Span => [first, first + rows]);
  return slabs.flatMap(({ first, planes }, z) => {
    const cells = activity.rowsIn(first, first + planes);
    return spans.map((rows, y): Partition => ({
      device: y + division.y * z,
      first,
      planes,
      rows,
      cells: cells.slice(...rows).reduce((a, b) => a + b, 0),
    }));
  });
}

/** The division that partitions of all members have. */
export function divisionIn(partitions: readonly Pick<Partition, "first" | "rows">[]): Division {
  const y = partitions.filter(({ first, rows }) => rows && first === partitions[0].first).length || 1;
  return { y, z: partitions.length / y };
}

/** Rows and planes of the largest member of a division of a box. */
export function largestShare([, ny, nz]: readonly number[], { y, z }: Division): { readonly rows: number; readonly planes: number } {
  const rows = y > 1 ? SPLIT_ROWS * Math.ceil(Math.ceil(ny / SPLIT_ROWS) / y) : ny;
  return { rows, planes: Math.ceil(nz / z) };
}

/** True if members have some of the rows of their planes. */
export const cutsRows = ({ dimension, cutAxes }: { readonly dimension: number; readonly cutAxes: readonly number[] }): boolean =>
  dimension === 3 && cutAxes.includes(1);
