import { LaunchError } from "isoform";
import { columnOf, numbersOf, readTable } from "isoform/io";
import type { ScanningLaw } from "../scanning/law.js";
import type { LawRows } from "../scanning/commanded-law.js";
import { commandedLaw } from "../scanning/commanded-law.js";
import { requireUnit } from "./star-lists.js";

const FIELDS = ["ra_fov1", "dec_fov1", "ra_fov2", "dec_fov2"] as const;
const COLUMNS = ["jd_time", ...FIELDS];

/**
 * Reads a commanded scan law: jd_time (TCB, days from JD 2455197.5), and where both fields look, ra_fov1 to dec_fov2 in degrees (1 is the preceding one); further
 * columns are left alone. Throws IsoformError with the line for times that do not rise and for directions that no satellite has.
 */
export async function readLaw(path: string): Promise<ScanningLaw> {
  const table = await readTable(path, { columns: COLUMNS, types: Object.fromEntries(COLUMNS.map((name) => [name, "f64" as const])) });
  const [time, ...angles] = COLUMNS.map((name) => {
    const column = columnOf(table, name, path);
    requireUnit(column, name === "jd_time" ? ["d", "day", "days"] : ["deg", "degree", "degrees"], path);
    return numbersOf(column, path);
  });
  const rows: LawRows = { days: time, preceding: [angles[0], angles[1]], following: [angles[2], angles[3]] };
  return commandedLaw(rows, (row, what) => {
    throw new LaunchError(`${row < table.rows ? table.where(row) : path}: ${what}`);
  });
}
