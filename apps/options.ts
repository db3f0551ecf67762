import { InvalidArgumentError, Option, type Command } from "commander";
import { DEFAULT_SETTINGS, SETTING_OPTIONS, SPLIT_OPTION, type GridSettings } from "isoform/skeleton";

/*
 * Values of the applications' command-line options.
 */

/** The option `--devices` of an application that runs on one device. */
export const deviceOption = (): Option =>
  new Option("--devices <name>", "one device: js, wasm, native, cuda:0, webgpu (isoform doctor lists yours)").default("wasm");

/** The option `--devices` of an application that shares its work among devices. */
export const devicesOption = (): Option =>
  new Option("--devices <set>", "one device or several: wasm; native; cuda:0,cuda:1; wasm*3, which is one divided into three").default(
    "wasm",
  );

/** The option `--f64`, for devices without f64. */
export const f64Option = (): Option =>
  new Option("--f64 <how>", "on devices without f64, emulate it as the sum of two f32").choices(["emulate"]);

/** The option `--precision`: the same results on every device, or the fastest. */
export const precisionOption = (): Option =>
  new Option(SETTING_OPTIONS.precision.flags, SETTING_OPTIONS.precision.description)
    .choices(SETTING_OPTIONS.precision.choices)
    .default(DEFAULT_SETTINGS.precision);

/** The option `--split` of applications in three dimensions. */
export const splitOption = (): Option => new Option(SPLIT_OPTION.flags, SPLIT_OPTION.description).choices(SPLIT_OPTION.choices);

/** Adds the options of `GridSettings`, `--devices` and `--f64`. */
export function addGridOptions(command: Command): Command {
  command.addOption(devicesOption()).addOption(f64Option());
  for (const [name, { flags, description, choices }] of Object.entries(SETTING_OPTIONS))
    command.addOption(new Option(flags, description).choices(choices).default(DEFAULT_SETTINGS[name as keyof GridSettings]));
  return command;
}

/** Examples at the end of a command's help, a line each. */
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

/** A whole number from 1 on. */
export const count = (text: string): number => wholeFrom(1, text);

/** A whole number from 0 on. */
export const countOrNone = (text: string): number => wholeFrom(0, text);

/** Whole numbers above 2^53 could not be told apart. */
function wholeFrom(least: number, text: string): number {
  const value = finite(text);
  if (!(Number.isSafeInteger(value) && value >= least))
    throw new InvalidArgumentError(`It needs a whole number from ${least} to 9007199254740991.`);
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
  const value = finite(text);
  if (value !== value >>> 0) throw new InvalidArgumentError("It needs a whole number from 0 to 4294967295.");
  return value;
}
