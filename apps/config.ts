import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { IsoformError } from "isoform";

/** The tables and values of a TOML file. Throws IsoformError, with the file, for one that cannot be read. */
export async function readToml(file: string): Promise<Record<string, unknown>> {
  let text = "";
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new IsoformError(`cannot read ${file}: ${(error as Error).message.split(",")[0]}`);
  }
  return parseToml(text, file);
}

/** Parses the text of a TOML file, like `readToml`. */
async function parseToml(text: string, file: string): Promise<Record<string, unknown>> {
  const { parse } = await import("smol-toml");
  try {
    return parse(text);
  } catch (error) {
    throw new IsoformError(`${file}: ${(error as Error).message.trim()}`);
  }
}

/** Options of `addConfig`. */
interface ConfigOptions {
  /** For options that may name code: whether a value does. Files hold data, so only the command line may give such a value. */
  readonly namesCode?: Readonly<Record<string, (value: string) => boolean>>;
}

/**
 * Adds `--config`: options of the command in a TOML file, by their long names with underscores; lists are arrays or texts. Options of the command line
 * take precedence. Unknown keys, values that an option does not take, and values that name code end in an IsoformError.
 */
export function addConfig(command: Command, { namesCode = {} }: ConfigOptions = {}): Command {
  return command
    .option("--config <file>", "options in a TOML file, with underscores in place of dashes; the command line takes precedence")
    .hook("preAction", async (_, own) => {
      const { config } = own.opts<{ config?: string }>();
      if (config === undefined) return;
      for (const [key, value] of Object.entries(await readToml(config))) setOption(own, config, key, value, namesCode);
    });
}

function setOption(command: Command, file: string, key: string, value: unknown, namesCode: ConfigOptions["namesCode"] = {}): void {
  const options = command.options.filter(
    ({ long, hidden }) => !hidden && long !== undefined && long !== "--config" && !long.startsWith("--no-"),
  );
  const nameOf = (long = ""): string => long.slice(2).replaceAll("-", "_");
  const option = options.find(({ long }) => nameOf(long) === key);
  if (!option)
    throw new IsoformError(`${file}: unknown option "${key}": choose from ${options.map(({ long }) => nameOf(long)).join(", ")}`);
  if (command.getOptionValueSource(option.attributeName()) === "cli") return;
  if (Object.hasOwn(namesCode, key) && namesCode[key](String(value)))
    throw new IsoformError(
      `${file}: ${key} = ${JSON.stringify(value)} names a module, which would be run: configurations hold data, so name it on the command line, as ${option.long} ${String(value)}`,
    );
  const parsed = (): unknown => {
    if (option.isBoolean()) {
      if (typeof value !== "boolean") throw new IsoformError("It needs true or false.");
      return value;
    }
    const isPlain = (item: unknown): boolean => typeof item === "string" || typeof item === "number" || typeof item === "bigint";
    if (!isPlain(value) && !(Array.isArray(value) && value.every(isPlain)))
      throw new IsoformError("It needs a number, a text or an array of these.");
    const text = Array.isArray(value) ? value.join() : String(value);
    return option.parseArg ? option.parseArg(text, undefined) : text;
  };
  try {
    command.setOptionValueWithSource(option.attributeName(), parsed(), "config");
  } catch (error) {
    throw new IsoformError(`${file}: ${key} = ${JSON.stringify(value)}: ${(error as Error).message}`);
  }
}
