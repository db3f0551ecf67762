import { IsoformError } from "../../base/errors.js";
import { readEcsv, writeEcsv } from "./ecsv.js";
import type { FitsOptions } from "./fits.js";
import { readFits, writeFits } from "./fits.js";
import { readParquet, writeParquet } from "./parquet.js";
import type { Table, TableRead } from "./table.js";
import { readVotable } from "./votable-read.js";
import { writeVotable } from "./votable.js";

/** Format of a file with a table. */
export type TableFormat = "ecsv" | "fits" | "parquet" | "votable";

/** Endings of names of files, by format; readers also take them with `.gz`. */
export const TABLE_ENDINGS: Readonly<Record<TableFormat, readonly string[]>> = {
  ecsv: [".ecsv", ".csv"],
  fits: [".fits", ".fit"],
  parquet: [".parquet"],
  votable: [".vot", ".votable", ".xml"],
};

/** Format of a file by the ending of its name; undefined where it has another. */
export function tableFormatOf(path: string): TableFormat | undefined {
  const name = path.toLowerCase().replace(/\.gz$/, "");
  return (Object.keys(TABLE_ENDINGS) as TableFormat[]).find((format) => TABLE_ENDINGS[format].some((ending) => name.endsWith(ending)));
}

/** Format by name. Throws IsoformError, with the endings, for another. */
function requireFormat(path: string): TableFormat {
  const format = tableFormatOf(path);
  if (format) return format;
  throw new IsoformError(`${path}: its name does not tell a format of tables: end it in ${Object.values(TABLE_ENDINGS).flat().join(", ")}`);
}

/**
 * Reads a table in the format that the file's name tells: ECSV or values separated by commas, FITS, VOTable, Parquet; all but the last also compressed (`.gz`).
 * ECSV and Parquet have one table, and ignore the option `table`.
 *
 * @throws IsoformError for another ending, and as the reader of the format does
 */
export async function readTable(path: string, options: FitsOptions = {}): Promise<TableRead> {
  const format = requireFormat(path);
  if (format === "ecsv") return readEcsv(path, options);
  if (format === "parquet") return readParquet(path, options);
  return format === "fits" ? readFits(path, options) : readVotable(path, options);
}

/** Writes tables in the format that the file's name tells. Throws IsoformError for another ending, for `.gz`, and for several tables in ECSV and Parquet. */
export async function writeTables(path: string, tables: readonly Table[]): Promise<void> {
  const format = requireFormat(path);
  if (/\.gz$/i.test(path)) throw new IsoformError(`${path} cannot be written: tables are written uncompressed; leave .gz out`);
  if (format === "fits") return writeFits(path, tables);
  if (format === "votable") return writeVotable(path, tables);
  const [table] = tables;
  if (tables.length !== 1)
    throw new IsoformError(`${path} cannot be written: it holds one table, not ${tables.length}: write FITS or VOTable`);
  return format === "parquet" ? writeParquet(path, table) : writeEcsv(path, table);
}
