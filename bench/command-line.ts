import { parseArgs as parse } from "node:util";

/** The command that runs now, as `program` and its arguments; of paths only the base names, for directories are this machine's own. */
export function commandLine(program: string): string {
  const words = process.argv.slice(2).map((word) => word.replace(/[^=]*\//, ""));
  return ["node", program, ...words].join(" ");
}

/** The options of a program, as of `parseArgs` of Node; `--help` lists them, and what is none is told in one line. */
export const parseArgs: typeof parse = (config) => {
  const flags = Object.entries(config?.options ?? {}).map(([name, option]) => {
    const value = option.type === "boolean" ? "" : ` ${String(option.default ?? "...")}`;
    return `  --${name}${value}`;
  });
  const end = (text: string, code: number): never => {
    process[code === 0 ? "stdout" : "stderr"].write(`${text}\nOptions and their defaults:\n${flags.join("\n")}\n`);
    return process.exit(code);
  };
  if (process.argv.includes("--help")) end(commandLine(process.argv[1].replace(/.*\//, "")).replace(/ --help.*/, ""), 0);
  try {
    return parse(config);
  } catch (error) {
    return end((error as Error).message, 2);
  }
};
