import { Option, type Command } from "commander";
import { SETTING_OPTIONS, type GridSettings } from "../skeleton/settings.js";

/** Adds the options of `GridSettings` that have no value in `defaults` without a default. */
export function addSettings(command: Command, defaults: Partial<GridSettings>): void {
  for (const [name, { flags, description, choices }] of Object.entries(SETTING_OPTIONS))
    command.addOption(new Option(flags, description).choices(choices).default(defaults[name as keyof GridSettings]));
}
