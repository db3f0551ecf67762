import type { Location } from "../../ir/types.js";

/** The line before, the line itself with a mark below its column; undefined if the file cannot be read. */
export function codeFrame({ file, line, column }: Location): string | undefined {
  try {
    const lines = process.getBuiltinModule("fs").readFileSync(file, "utf8").split(/\r?\n/);
    // Minified code has no lines to show.
    if (line < 1 || line > lines.length || lines[line - 1].length > 300) return undefined;
    const numbers = [line - 1, line].filter((n) => n > 0);
    const width = String(line).length;
    const shown = numbers.map((n) => `${n === line ? ">" : " "} ${String(n).padStart(width)} | ${lines[n - 1]}`);
    const blank = lines[line - 1].slice(0, column - 1).replace(/[^\t]/g, " ");
    return [...shown, `  ${" ".repeat(width)} | ${blank}^`].join("\n");
  } catch {
    return undefined;
  }
}
