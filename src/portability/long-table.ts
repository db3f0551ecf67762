import { ITERATION } from "./application.js";
import { readCoverage, readCoverages, type Coverage } from "./divergence.js";
import { type CsvField, type CsvTable, InputError } from "./csv.js";
import type { ReadingOptions, ReadRow, ReadRows } from "./read-rows.js";

/** Columns of a long table; others are ignored. */
export const LONG_COLUMNS = [
  "application",
  "platform",
  "problem",
  "run",
  "quantity",
  "seconds",
  "fom",
  "bytes",
  "flops",
  "coverage",
  "coverage_key",
] as const;
type Column = (typeof LONG_COLUMNS)[number];

const REQUIRED: readonly Column[] = ["application", "platform", "problem"];

/** Rows of a table with a row for each measurement. Throws InputError with line and column. */
export async function longRows(table: CsvTable, options: ReadingOptions): Promise<ReadRows> {
  const at = Object.fromEntries(
    LONG_COLUMNS.map((name) => [name, table.column(name, REQUIRED.includes(name) ? "required" : "optional")]),
  ) as Record<Column, number>;
  const kind = kindOf(table, at);
  const fieldOf = (row: readonly CsvField[], name: Column): CsvField | undefined => row[at[name]];
  const filesOf = await coverageReader(table, at, options);
  const rows = table.rows.map((row): ReadRow => {
    const text = (name: Column) => table.text(fieldOf(row, name)!, name);
    const run = fieldOf(row, "run");
    const count = (name: "bytes" | "flops") => {
      const field = fieldOf(row, name);
      return kind === "seconds" && field && field.text !== "" ? table.positive(field, name) : undefined;
    };
    const names = {
      application: text("application"),
      platform: text("platform"),
      problem: text("problem"),
      quantity: at.quantity < 0 ? ITERATION : text("quantity"),
      ...(run && { run: table.count(run, "run") }),
    };
    const value = fieldOf(row, kind)!;
    return {
      names,
      value: table.measured(value, kind),
      bytes: count("bytes"),
      flops: count("flops"),
      coverage: filesOf(row),
      at: { run, quantity: fieldOf(row, "quantity"), value },
    };
  });
  return { rows, kind };
}

/** The column of values. Throws InputError where there is none, or where it could be either. */
function kindOf(table: CsvTable, at: Readonly<Record<Column, number>>): ReadRows["kind"] {
  if (at.seconds >= 0 && at.fom >= 0)
    throw table.error(table.header[at.fom], "there are the columns seconds and fom: remove one, or give it another name");
  if (at.fom >= 0) return "fom";
  // Says which columns there are.
  table.column("seconds");
  return "seconds";
}

type FilesOf = (row: readonly CsvField[]) => Coverage["files"] | undefined;

/** Reads the coverage of a row: by its key in a file of coverages, or from its own column; undefined where the field is empty. */
async function coverageReader(table: CsvTable, at: Readonly<Record<Column, number>>, { coverage }: ReadingOptions): Promise<FilesOf> {
  if (coverage === undefined) {
    if (at.coverage < 0) return () => undefined;
    return (row) => (row[at.coverage].text === "" ? undefined : readCoverage(table, row[at.coverage]));
  }
  if (at.coverage_key < 0)
    throw new InputError(`${table.file}: no column "coverage_key", by which ${coverage} has coverages: leave out --coverage, or add it`);
  const byKey = await readCoverages(coverage);
  return (row) => {
    const field = row[at.coverage_key];
    if (field.text === "") return undefined;
    const files = byKey.get(field.text);
    if (!files) throw table.error(field, `${coverage} has no coverage with the key ${field.text}`);
    return files;
  };
}
