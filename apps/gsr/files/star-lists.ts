import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { IsoformError } from "isoform";
import type { Column, TableRead } from "isoform/io";
import { columnOf, numbersOf, readTable } from "isoform/io";
import type { StarList } from "../scanning/stars.js";
import { starList } from "../scanning/stars.js";

/*
 * Lists of stars as the archive's gaia_source has them.
 */

const COLUMNS = ["source_id", "ra", "dec", "phot_g_mean_mag", "bp_rp"];

/** A list from a file. */
export interface StarsRead {
  readonly list: StarList;
  /** Stars without a colour, which count as of the mean one. */
  readonly colourless: number;
}

/** SHA-256 of a file's bytes, which tells systems apart that were made from files. Throws IsoformError. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const bytes of createReadStream(path)) hash.update(bytes as Uint8Array);
  } catch (error) {
    throw new IsoformError(`${path} cannot be read: ${(error as Error).message}`);
  }
  return hash.digest("hex");
}

/** Whole numbers of 64 bits of a column, also from text. Throws IsoformError with the row. */
export function idsOf({ name, values, missing, offsets }: Column, { where }: TableRead, rows: number): BigInt64Array {
  return BigInt64Array.from({ length: rows }, (_, row) => {
    const value = offsets ? undefined : values[row];
    if (!missing?.[row] && typeof value === "bigint") return value;
    if (!missing?.[row] && typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
    if (typeof value === "string" && /^-?\d{1,19}$/.test(value)) return BigInt(value);
    throw new IsoformError(`${where(row)}: ${name} is not a whole number of up to 64 bits`);
  });
}

/** Throws IsoformError where a column says that it has another unit than `unit`. */
export function requireUnit({ name, unit }: Column, expected: readonly string[], path: string): void {
  if (unit !== undefined && !expected.includes(unit))
    throw new IsoformError(`${path}: the column ${name} has the unit "${unit}", and isoform reads it in ${expected[0]}: convert it`);
}

/**
 * Reads stars: source_id, ra and dec in degrees, phot_g_mean_mag, and bp_rp, which may be missing. Colours are standardised over the list. Throws IsoformError
 * with the row for one without a place or a G, with |dec| above 90 degrees, and for a source_id that occurs twice.
 */
export async function readStars(path: string): Promise<StarsRead> {
  const table = await readTable(path, { columns: COLUMNS });
  const { rows, where } = table;
  const column = (name: string) => columnOf(table, name, path);
  const [ra, dec] = ["ra", "dec"].map((name) => {
    requireUnit(column(name), ["deg", "degree", "degrees"], path);
    return numbersOf(column(name), path);
  });
  const magnitudes = numbersOf(column("phot_g_mean_mag"), path);
  const colourColumn = table.columns.find(({ name }) => name === "bp_rp");
  const colours = colourColumn ? numbersOf(colourColumn, path) : new Float64Array(rows).fill(NaN);
  const ids = idsOf(column("source_id"), table, rows);
  const first = new Map<bigint, number>();
  for (let row = 0; row < rows; row++) {
    const fail = (what: string): never => {
      throw new IsoformError(`${where(row)}: ${what}`);
    };
    if (!Number.isFinite(ra[row])) fail("ra is not a number of degrees");
    if (!(Math.abs(dec[row]) <= 90)) fail(`dec is ${dec[row]}: it has from -90 to 90 degrees`);
    if (!Number.isFinite(magnitudes[row])) fail("phot_g_mean_mag is missing: a star's errors need its G; leave the row out");
    const before = first.get(ids[row]);
    if (before !== undefined) fail(`source_id ${ids[row]} occurs twice, first in ${where(before)}: leave one out`);
    first.set(ids[row], row);
  }
  const known = colours.filter(Number.isFinite);
  const mean = known.reduce((sum, colour) => sum + colour, 0) / known.length;
  const deviation = Math.sqrt(known.reduce((sum, colour) => sum + (colour - mean) ** 2, 0) / known.length);
  const list = starList(
    Array.from(ra, (alpha, row) => ({
      alpha: (alpha * Math.PI) / 180,
      sinDelta: Math.sin((dec[row] * Math.PI) / 180),
      magnitude: magnitudes[row],
      colour: deviation > 0 && Number.isFinite(colours[row]) ? (colours[row] - mean) / deviation : 0,
    })),
  );
  return { list: { ...list, ids }, colourless: rows - known.length };
}
