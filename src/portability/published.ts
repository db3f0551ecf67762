import { basename, extname } from "node:path";
import { ITERATION } from "./application.js";
import { type Direction, type Run, type TimedRun } from "./cells.js";
import { type CsvTable, InputError, readCsv } from "./csv.js";
import type { Coverage } from "./divergence.js";
import type { ReadingOptions, ReadRow, ReadRows } from "./read-rows.js";
import { LONG_COLUMNS, longRows } from "./long-table.js";
import type { Roof } from "./metric.js";
import type { Missing } from "./schema.js";
import { wideRows } from "./wide-table.js";

/** Content of a file of timings. */
export interface Timings {
  runs: Run[];
  /** Cells that the file has without a value. */
  missing: Missing[];
  /** Lines of source code that applications use on platforms, where the file says so. */
  coverage: Coverage[];
}

/**
 * Reads timings measured elsewhere: a long table with the columns application, platform, problem and seconds or fom, and optionally run, quantity,
 * bytes, flops, coverage or coverage_key; or a wide one, whose first column is the platform, and each other column an application. Throws InputError with
 * line and column.
 */
export async function readTimings(file: string, options: ReadingOptions = {}): Promise<Timings> {
  const columns = checkColumns(options.columns);
  if (options.problem?.trim() === "") throw new InputError("--problem is empty: it must be a name");
  const table = await readCsv(file, columns);
  const wide = Object.keys(columns).length === 0 && !table.has("application");
  if (wide && options.coverage !== undefined) throw new InputError(`${file}: a wide table has no coverage keys: leave out --coverage`);
  if (!wide && options.problem !== undefined)
    throw new InputError(
      `${file}: --problem is for tables with a column for each application: leave it out, as this one has a column problem`,
    );
  const { rows, kind } = wide ? wideRows(table, options.problem ?? basename(file, extname(file))) : await longRows(table, options);
  const better = directionFor(file, kind, options.fom);
  if (rows.length === 0) throw table.error({ text: "", line: table.header[0].line + 1, column: 1 }, "the file has no timings");
  requireQuantity(table, rows, options.quantity);
  requireDistinctRuns(table, rows);
  requireCounts(table, rows);
  const runs = numbered(rows, kind, better).flatMap((run) => renamed(run, options.quantity));
  if (runs.length === 0) throw table.error(rows[0].at.value, `no row has a value: this is the first of ${rows.length}`);
  return { runs, missing: missingOf(file, rows, runs, options.quantity), coverage: coverageOf(table, rows) };
}

/** Throws InputError for names of columns that are unknown. */
function checkColumns(columns: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const unknown = Object.keys(columns).find((name) => !LONG_COLUMNS.some((known) => known === name));
  if (unknown !== undefined) throw new InputError(`--columns ${unknown}=...: unknown column: choose from ${LONG_COLUMNS.join(", ")}`);
  return columns;
}

/** Which values are better; InputError where the file does not tell. */
function directionFor(file: string, kind: ReadRows["kind"], asked?: Direction): Direction {
  if (kind === "seconds" && asked === "higher")
    throw new InputError(
      `${file}: less seconds are better: leave out --fom higher, or name a column of figures of merit with --columns fom=NAME`,
    );
  if (kind === "fom" && asked === undefined) throw new InputError(`${file} has figures of merit: say --fom lower or --fom higher`);
  return asked ?? "lower";
}

/** Throws InputError where no row has the quantity that applications are compared by, or one differs from it in capitals only. */
function requireQuantity(table: CsvTable, rows: readonly ReadRow[], asked = ITERATION): void {
  const other = rows.find(({ names: { quantity } }) => quantity !== asked && quantity.toLowerCase() === asked.toLowerCase());
  if (other)
    throw table.error(
      other.at.quantity ?? other.at.value,
      `quantity "${other.names.quantity}" differs from "${asked}" in its letters' case only`,
    );
  const own = rows.filter(({ names }) => names.quantity === asked);
  // Kernels alone, counted, have architectural efficiencies.
  if (own.length === 0 && !(asked === ITERATION && rows.some(({ bytes }) => bytes !== undefined))) {
    const names = [...new Set(rows.map(({ names: { quantity } }) => quantity))];
    throw new InputError(
      `${table.file}: no row has the quantity "${asked}": it has ${names.join(", ")}; name one with --quantity, such as --quantity ${names[0]}`,
    );
  }
  if (own.length > 0 && own.every(({ value }) => value === undefined))
    throw table.error(own[0].at.value, `no row has a value of "${asked}": this is the first of ${own.length}`);
}

const cellOf = ({ names: { application, platform, problem, quantity } }: ReadRow): string =>
  JSON.stringify([application, platform, problem, quantity]);

/** Throws InputError where a run of a cell comes twice. */
function requireDistinctRuns(table: CsvTable, rows: readonly ReadRow[]): void {
  const seen = new Map<string, number>();
  for (const row of rows) {
    const { application, platform, problem, quantity, run } = row.names;
    if (run === undefined) continue;
    const key = `${cellOf(row)} ${run}`;
    const earlier = seen.get(key);
    if (earlier !== undefined)
      throw table.error(
        row.at.run ?? row.at.value,
        `run ${run} of ${quantity} (${application}, ${platform}, ${problem}) is already in line ${earlier}`,
      );
    seen.set(key, row.at.value.line);
  }
}

/** Throws InputError for a kernel without bytes or seconds beside counted ones: its time would be missing in the architectural efficiency. */
function requireCounts(table: CsvTable, rows: readonly ReadRow[]): void {
  const placeOf = ({ names: { application, platform, problem } }: ReadRow) => `${application} on ${platform}, ${problem}`;
  const kernels = rows.filter(({ names }) => names.quantity !== ITERATION);
  const counted = new Set(kernels.filter(({ bytes, value }) => bytes !== undefined && value !== undefined).map(placeOf));
  for (const row of kernels) {
    if (!counted.has(placeOf(row))) continue;
    const lacks = row.bytes === undefined ? "no bytes" : row.value === undefined ? "no seconds" : undefined;
    if (lacks) throw table.error(row.at.value, `kernel ${row.names.quantity} has ${lacks} while other kernels of ${placeOf(row)} have`);
  }
}

/** Runs of the rows that were measured, numbered in order where the file does not number them. */
function numbered(rows: readonly ReadRow[], kind: ReadRows["kind"], better: Direction): Run[] {
  const counts = new Map<string, number>();
  return rows.flatMap((row): Run[] => {
    const { names, value, bytes, flops } = row;
    if (value === undefined) return [];
    const count = (counts.get(cellOf(row)) ?? 0) + 1;
    counts.set(cellOf(row), count);
    const named = { ...names, run: names.run ?? count };
    return [kind === "fom" ? { ...named, fom: value, better } : ({ ...named, seconds: value, bytes, flops } satisfies TimedRun)];
  });
}

/** The asked quantity under the name that is compared. */
function renamed(run: Run, asked = ITERATION): Run[] {
  if (asked === ITERATION) return [run];
  if (run.quantity === ITERATION) return [];
  return [run.quantity === asked ? { ...run, quantity: ITERATION } : run];
}

/** Cells of the compared quantity without any value. */
function missingOf(file: string, rows: readonly ReadRow[], runs: readonly Run[], asked = ITERATION): Missing[] {
  const keyOf = ({ application, platform, problem }: Pick<Run, "application" | "platform" | "problem">) =>
    JSON.stringify([application, platform, problem]);
  const known = new Set(runs.filter(({ quantity }) => quantity === ITERATION).map(keyOf));
  return rows.flatMap(({ names, at: { value } }) => {
    const { application, platform, problem, quantity } = names;
    if (quantity !== asked || known.has(keyOf(names))) return [];
    known.add(keyOf(names));
    const reason = `not measured: ${file}:${value.line}:${value.column} ${value.text === "" ? "is empty" : `says ${value.text}`}`;
    return [{ application, platform, problem, devices: platform, reason }];
  });
}

/** Coverage by application, platform and problem; InputError where a measured row has none beside others of its application. */
function coverageOf(table: CsvTable, rows: readonly ReadRow[]): Coverage[] {
  const found = new Map<string, Coverage & { line: number; text: string }>();
  const covered = new Set<string>();
  for (const { names, coverage: files, at } of rows) {
    if (!files) continue;
    const { application, platform, problem } = names;
    covered.add(JSON.stringify([application, problem]));
    const key = JSON.stringify([application, platform, problem]);
    const before = found.get(key);
    const text = JSON.stringify(files);
    if (before && before.text !== text)
      throw table.error(at.value, `the coverage of ${application} on ${platform} (${problem}) differs from line ${before.line}`);
    if (!before) found.set(key, { application, platform, problem, files, line: at.value.line, text });
  }
  for (const { names, value, at } of rows) {
    const { application, platform, problem } = names;
    if (value === undefined || found.has(JSON.stringify([application, platform, problem]))) continue;
    if (covered.has(JSON.stringify([application, problem])))
      throw table.error(at.value, `${application} on ${platform} (${problem}) has no coverage while it has on other platforms`);
  }
  return [...found.values()].map(({ application, platform, problem, files }) => ({ application, platform, problem, files }));
}

/** Reads a CSV file with the columns platform and bytes_per_second (and flops_per_second). Throws InputError with line and column. */
export async function readRoofs(file: string): Promise<Map<string, Roof>> {
  const table = await readCsv(file);
  const platform = table.column("platform");
  const bandwidth = table.column("bytes_per_second");
  const flops = table.column("flops_per_second", "optional");
  const roofs = new Map<string, Roof>();
  for (const row of table.rows) {
    const name = table.text(row[platform], "platform");
    if (roofs.has(name)) throw table.error(row[platform], `platform ${name} appears twice`);
    roofs.set(name, {
      bandwidth: table.positive(row[bandwidth], "bytes_per_second"),
      flops: flops >= 0 && row[flops].text !== "" ? table.positive(row[flops], "flops_per_second") : undefined,
    });
  }
  return roofs;
}
