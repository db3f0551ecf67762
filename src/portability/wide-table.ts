import { ITERATION } from "./application.js";
import type { CsvTable } from "./csv.js";
import { LONG_COLUMNS } from "./long-table.js";
import type { ReadRow, ReadRows } from "./read-rows.js";

/**
 * Cells of a table with a row for each platform and a column for each application, in order. Repeated rows of a platform are runs.
 * @param problem name of what all of it measures
 */
export function wideRows(table: CsvTable, problem: string): ReadRows {
  const [first, ...applications] = table.header;
  // Columns of a long table whose application has another name would become applications.
  const long = [first, ...applications].find(({ text }, n) => LONG_COLUMNS.some((name) => name === text && (n > 0 || text !== "platform")));
  if (long)
    throw table.error(
      long,
      `no column "application" beside "${long.text}": say which one it is with --columns application=NAME, or, in a table with a column for each application, rename this one`,
    );
  if (applications.length === 0)
    throw table.error(first, "one column only: a table needs the platform's column and one for each application, or a column application");
  const unnamed = applications.find(({ text }) => text === "");
  if (unnamed) throw table.error(unnamed, "the column has no name: it must be an application's");
  const rows = table.rows.flatMap(([name, ...fields]) => {
    const platform = table.text(name, "platform");
    return fields.map((value, n): ReadRow => {
      const application = applications[n].text;
      return {
        names: { application, platform, problem, quantity: ITERATION },
        value: table.measured(value, application),
        at: { value },
      };
    });
  });
  return { rows, kind: "fom" };
}
