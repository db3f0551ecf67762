import { ITERATION } from "./application.js";
import { type CsvTable, InputError, readCsv } from "./csv.js";
import type { Roof, Run } from "./metric.js";

/**
 * Reads timings measured elsewhere: a CSV file with the columns application, platform, problem, run, quantity, seconds and, where
 * kernels are counted, bytes (and flops). Throws InputError with line and column.
 * @param asked quantity that takes the place of `iteration`, whose rows are then left out
 */
export async function readTimings(file: string, asked?: string): Promise<Run[]> {
  const table = await readCsv(file);
  const columns = {
    application: table.column("application"),
    platform: table.column("platform"),
    problem: table.column("problem"),
    run: table.column("run"),
    quantity: table.column("quantity"),
    seconds: table.column("seconds"),
    bytes: table.column("bytes", "optional"),
    flops: table.column("flops", "optional"),
  };
  const seen = new Map<string, number>();
  const runs = table.rows.map((row): Run => {
    const text = (name: keyof typeof columns) => table.text(row[columns[name]], name);
    const count = (name: "bytes" | "flops") => {
      const field = row[columns[name]];
      return field && field.text.trim() !== "" ? table.positive(field, name) : undefined;
    };
    const run: Run = {
      application: text("application"),
      platform: text("platform"),
      problem: text("problem"),
      run: table.count(row[columns.run], "run"),
      quantity: text("quantity"),
      seconds: table.positive(row[columns.seconds], "seconds"),
      bytes: count("bytes"),
      flops: count("flops"),
    };
    const key = JSON.stringify([run.application, run.platform, run.problem, run.run, run.quantity]);
    const earlier = seen.get(key);
    if (earlier)
      throw table.error(
        row[columns.run],
        `run ${run.run} of ${run.quantity} (${run.application}, ${run.platform}, ${run.problem}) is already in line ${earlier}`,
      );
    seen.set(key, row[0].line);
    return run;
  });
  if (runs.length === 0) throw table.error({ text: "", line: 2, column: 1 }, "the file has no timings");
  requireQuantity(
    table,
    columns.quantity,
    runs.some(({ bytes }) => bytes !== undefined),
    asked,
  );
  // A kernel without a count beside counted ones would leave its time out of the architectural efficiency.
  const counted = new Set(runs.filter((r) => r.bytes !== undefined && r.quantity !== ITERATION).map(runKey));
  runs.forEach((run, i) => {
    if (run.quantity !== ITERATION && run.bytes === undefined && counted.has(runKey(run)))
      throw table.error(table.rows[i][columns.bytes], `kernel ${run.quantity} has no bytes while other kernels of ${runKey(run)} have`);
  });
  if (asked === undefined || asked === ITERATION) return runs;
  return runs.flatMap((run) => (run.quantity === ITERATION ? [] : [run.quantity === asked ? { ...run, quantity: ITERATION } : run]));
}

/** Throws InputError where no row has the quantity that applications are compared by, or one differs from it in capitals only. */
function requireQuantity(table: CsvTable, column: number, isCounted: boolean, asked = ITERATION): void {
  const fields = table.rows.map((row) => row[column]);
  const other = fields.find(({ text }) => text.trim() !== asked && text.trim().toLowerCase() === asked.toLowerCase());
  if (other) throw table.error(other, `quantity "${other.text.trim()}" differs from "${asked}" in its letters' case only`);
  // Kernels alone, counted, have architectural efficiencies.
  if (fields.some(({ text }) => text.trim() === asked) || (asked === ITERATION && isCounted)) return;
  const names = [...new Set(fields.map(({ text }) => text.trim()))];
  throw new InputError(
    `${table.file}: no row has the quantity "${asked}": it has ${names.join(", ")}; name one with --quantity, such as --quantity ${names[0]}`,
  );
}

function runKey(run: Run): string {
  return `${run.application} on ${run.platform}, ${run.problem}`;
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
      flops: flops >= 0 && row[flops].text.trim() !== "" ? table.positive(row[flops], "flops_per_second") : undefined,
    });
  }
  return roofs;
}
