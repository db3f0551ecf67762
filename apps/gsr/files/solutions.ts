import { readFile } from "node:fs/promises";
import { IsoformError, LaunchError } from "isoform";
import type { Table } from "isoform/io";
import { columnOf, numbersOf, readHdf5, readTable, requireHdf5, tableFormatOf, writeHdf5, writeTables } from "isoform/io";
import type { StarList } from "../scanning/stars.js";
import type { SolutionFile } from "../solution-file.js";
import { parseSolution, solutionOf, SOLUTION_FORMAT, SOLUTION_VERSION, solutionText } from "../solution-file.js";
import { labelsOf, solutionTables, starTable, UNKNOWNS_TABLE } from "./solution-tables.js";

/*
 * Files of solutions: JSON, FITS, VOTable and HDF5 hold all unknowns and may be compared; ECSV has the table of stars.
 */

const HDF5 = /\.(h5|hdf5)$/i;
const JSON_FILE = /\.json$/i;

/** Throws LaunchError for a name of an unknown format, for ECSV without stars, and for HDF5 without its library. */
export async function requireSolutionFormat(path: string, hasStars: boolean): Promise<void> {
  if (JSON_FILE.test(path)) return;
  if (HDF5.test(path)) return requireHdf5(path);
  const format = /\.gz$/i.test(path) ? undefined : tableFormatOf(path);
  if (format === undefined)
    throw new LaunchError(`--out ${path}: its name does not tell a format: end it in .json, .fits, .ecsv, .vot or .h5`);
  if (format === "parquet")
    throw new LaunchError(`--out ${path}: Parquet holds one table, and a solution has several: write .fits, .vot or .h5`);
  if (format === "ecsv" && !hasStars)
    throw new LaunchError(`--out ${path}: ECSV has the table of stars, and this system has none: write .fits or .json`);
}

/** Writes a solution in the format that the name tells. */
export async function writeSolution(
  path: string,
  solution: SolutionFile,
  stars: StarList | undefined,
  writeText: (path: string, text: string) => Promise<void>,
): Promise<void> {
  if (JSON_FILE.test(path)) return writeText(path, solutionText(solution));
  if (HDF5.test(path)) return writeSolutionTree(path, solution, stars);
  const isEcsv = tableFormatOf(path) === "ecsv";
  await writeTables(path, isEcsv ? [starTable(solution, stars!)] : solutionTables(solution, stars, SOLUTION_FORMAT, SOLUTION_VERSION));
}

/** Writes a solution as groups of HDF5: a dataset a column, its unit and description as attributes. */
async function writeSolutionTree(path: string, solution: SolutionFile, stars: StarList | undefined): Promise<void> {
  const tables = solutionTables(solution, stars, SOLUTION_FORMAT, SOLUTION_VERSION);
  const group = ({ metadata = {}, columns }: Table) => ({
    attributes: Object.fromEntries(
      Object.entries(metadata).map(([key, value]) => [key, typeof value === "boolean" ? Number(value) : value]),
    ),
    datasets: Object.fromEntries(
      columns.map(({ name, values, unit, description }) => [
        name,
        {
          shape: [values.length],
          data: values as Float64Array,
          attributes: { ...(unit ? { unit } : {}), ...(description ? { description } : {}) },
        },
      ]),
    ),
  });
  const named = (name: string) => tables.find((table) => table.name === name);
  const [starGroup, pairs] = [named("STARS"), named("COVARIANCES")];
  const unknowns = group(named(UNKNOWNS_TABLE)!);
  await writeHdf5(
    path,
    {
      attributes: { ...labelsOf(solution) },
      groups: {
        ...(starGroup ? { stars: group(starGroup) } : {}),
        solution: { ...unknowns, ...(pairs ? { groups: { covariances: group(pairs) } } : {}) },
      },
    },
    "new",
  );
}

/** Reads a solution that `--out` wrote with all its unknowns. Throws IsoformError for other files. */
export async function readSolution(path: string): Promise<SolutionFile> {
  if (HDF5.test(path)) return readTree(path);
  const format = tableFormatOf(path);
  if (format === "parquet") throw new IsoformError(`${path} does not hold a solution: compare solutions in .json, .fits, .vot or .h5`);
  if (format === "ecsv") throw new IsoformError(`${path} has the table of stars alone: compare solutions in .json, .fits, .vot or .h5`);
  if (format !== undefined) {
    const table = await readTable(path, { table: UNKNOWNS_TABLE });
    const numbers = (name: string) => numbersOf(columnOf(table, name, path), path);
    return fromParts(path, table.metadata ?? {}, numbers("x"), numbers("standard_error"));
  }
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new IsoformError(`cannot read ${path}: ${(error as Error).message}`);
  }
  return parseSolution(path, text);
}

function readTree(path: string): Promise<SolutionFile> {
  return readHdf5(path, ({ groups }) => {
    const { attributes = {}, datasets = {} } = groups.solution ?? {};
    const read = (name: string) => {
      if (!datasets[name]) throw new IsoformError(`${path} is not a solution of isoform gsr: it has no dataset /solution/${name}`);
      return datasets[name].read() as ArrayLike<number>;
    };
    return fromParts(path, attributes, read("x"), read("standard_error"));
  });
}

function fromParts(
  path: string,
  facts: Readonly<Record<string, unknown>>,
  x: ArrayLike<number>,
  standardErrors: ArrayLike<number>,
): SolutionFile {
  const { FORMAT: format, VERSION: version, PRECISN: precision, COEFFS: coefficients, PROBES: probes, SYSTEM: text } = facts;
  let system: unknown;
  try {
    system = JSON.parse(String(text));
  } catch {
    system = undefined;
  }
  return solutionOf(path, {
    format,
    version: Number(version),
    system,
    precision,
    ...(coefficients === undefined ? {} : { coefficients }),
    ...(probes === undefined ? {} : { probes: Number(probes) }),
    x: Array.from(x),
    standardErrors: Array.from(standardErrors),
  });
}
