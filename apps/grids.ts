import { Option, type Command } from "commander";
import { SETTING_OPTIONS, USUAL_SETTINGS, type GridSettings, type Skeleton } from "isoform/skeleton";

/** Adds the options of `GridSettings`, and that of the devices. */
export function addGridOptions(command: Command): Command {
  command.option("--devices <set>", "one or several: wasm, native, cuda:0, wasm*3 (one divided into three), cuda:0,cuda:1", "wasm");
  for (const [name, { flags, description, choices }] of Object.entries(SETTING_OPTIONS))
    command.addOption(new Option(flags, description).choices(choices).default(USUAL_SETTINGS[name as keyof GridSettings]));
  return command;
}

/** What was left to measurement: a line each, with the times. */
export function choicesText({ choices }: Skeleton): string {
  return choices
    .map(({ of, best, seconds }) => {
      const times = Object.entries(seconds).map(([name, time]) => `${name} ${(1e3 * time).toPrecision(3)} ms`);
      return `${of} ${best} was the fastest: ${times.join(", ")}\n`;
    })
    .join("");
}
