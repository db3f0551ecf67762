/** Columns by their names, all of one length. */
export type NamedColumns = ReadonlyMap<string, ArrayLike<number>>;

const WIDTH = 20;
const DIGITS = 10;

/** A table as text: CSV for a path that ends in `.csv`, with all digits; else columns of 20 characters after notes and a line of names, which begin with #. */
export function fileTable(path: string, columns: NamedColumns, notes: readonly string[] = []): string {
  const names = [...columns.keys()];
  const values = [...columns.values()];
  const rows = Array.from(values[0], (_, n) => values.map((column) => column[n]));
  if (path.endsWith(".csv")) return [names.join(","), ...rows.map((row) => row.join(","))].map((line) => `${line}\n`).join("");
  const header = names.map((name, n) => (n === 0 ? `# ${name}` : name).padStart(WIDTH)).join(" ");
  const lines = rows.map((row) => row.map((value) => value.toExponential(DIGITS).padStart(WIDTH)).join(" "));
  return [...notes.map((note) => `# ${note}`), header, ...lines].map((line) => `${line}\n`).join("");
}
