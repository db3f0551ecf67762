/** The command that runs now, as `program` and its arguments; of paths only the base names, for directories are this machine's own. */
export function commandLine(program: string): string {
  const words = process.argv.slice(2).map((word) => word.replace(/[^=]*\//, ""));
  return ["node", program, ...words].join(" ");
}
