import { InvalidArgumentError, Option, type Command } from "commander";
import { SETTING_OPTIONS, type GridSettings } from "../skeleton/settings.js";

/** Adds the options of `GridSettings` that have no value in `defaults` without a default. */
export function addSettings(command: Command, defaults: Partial<GridSettings>): void {
  for (const [name, { flags, description, choices }] of Object.entries(SETTING_OPTIONS))
    command.addOption(new Option(flags, description).choices(choices).default(defaults[name as keyof GridSettings]));
}

/** The option `--global` of commands that run applications. */
export const globalOption = (): Option =>
  new Option(
    "--global <n>",
    "unknowns of the global section, for gsr: 1 adds the seventh and eighth kernel of the published program (default: 0, as in production)",
  ).argParser(globals);

function globals(text: string): 0 | 1 {
  if (text !== "0" && text !== "1") throw new InvalidArgumentError("It needs 0 or 1.");
  return text === "1" ? 1 : 0;
}
