import { InvalidArgumentError, Option, type Command } from "commander";
import { DEFAULT_SETTINGS, SETTING_OPTIONS, type GridSettings } from "isoform/skeleton";

/*
 * Values of the applications' command-line options.
 */

/** Where an application runs that uses one device. */
export const deviceOption = (): Option =>
  new Option("--devices <name>", "one device: js, wasm, native, cuda:0, webgpu (isoform doctor lists yours)").default("wasm");

/** Where an application runs that shares its work among devices. */
export const devicesOption = (): Option =>
  new Option("--devices <set>", "one device or several: wasm; native; cuda:0,cuda:1; wasm*3, which is one divided into three").default(
    "wasm",
  );

/** How a device without f64 is to compute with it. */
export const f64Option = (): Option =>
  new Option("--f64 <how>", "on devices without f64, emulate it as the sum of two f32").choices(["emulate"]);

/** Whether results are the same on every device, or as fast as can be. */
export const precisionOption = (): Option =>
  new Option(SETTING_OPTIONS.precision.flags, SETTING_OPTIONS.precision.description)
    .choices(SETTING_OPTIONS.precision.choices)
    .default(DEFAULT_SETTINGS.precision);

/** Adds the options of `GridSettings`, and that of the devices. */
export function addGridOptions(command: Command): Command {
  command.addOption(devicesOption()).addOption(f64Option());
  for (const [name, { flags, description, choices }] of Object.entries(SETTING_OPTIONS))
    command.addOption(new Option(flags, description).choices(choices).default(DEFAULT_SETTINGS[name as keyof GridSettings]));
  return command;
}

/** Ends the help of a command: a line each. */
export const examples = (...lines: readonly string[]): string => `\nExamples:\n${lines.map((line) => `  isoform ${line}`).join("\n")}`;

/** A number greater than 0. */
export function positive(text: string): number {
  const value = finite(text);
  if (!(value > 0)) throw new InvalidArgumentError("It needs a number greater than 0.");
  return value;
}

/** A finite number from 0 on. */
export function nonNegative(text: string): number {
  const value = finite(text);
  if (!(value >= 0)) throw new InvalidArgumentError("It needs a number from 0 on.");
  return value;
}

const finite = (text: string): number => (text.trim() === "" || !Number.isFinite(Number(text)) ? Number.NaN : Number(text));

/** A whole number greater than 0. */
export function count(text: string): number {
  return whole(positive(text));
}

/** A whole number from 0 on. */
export function countOrNone(text: string): number {
  return whole(nonNegative(text));
}

/** Larger ones would not be told apart. */
function whole(value: number): number {
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError("It needs a whole number up to 9007199254740991.");
  return value;
}

/** A finite number. */
export function number(text: string): number {
  const value = finite(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError("It needs a number.");
  return value;
}

/** A whole number that fits 32 bits. */
export function seed(text: string): number {
  const value = nonNegative(text);
  if (value !== value >>> 0) throw new InvalidArgumentError("It needs a whole number from 0 to 4294967295.");
  return value;
}
