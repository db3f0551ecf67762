import { readFileSync, statSync } from "node:fs";
import { type Command, Option } from "commander";
import type { TuningFile } from "../device/tuning/tuning.js";
import { TUNING_NAMES } from "../ir/tuning.js";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";

/** Read from the working directory if it exists and no other file is named. */
const DEFAULT_FILE = "isoform.tuning.toml";

interface TuningOptions {
  tune?: boolean;
  tuning?: string;
  deterministic?: boolean;
  checked?: boolean;
}

/** Adds `--tune`, `--tuning`, `--deterministic` and `--checked` to all commands; they hold for all devices that a command opens. */
export function addTuning(program: Command, shell: Shell): void {
  program
    .option(
      "--tune",
      "measure how to run each kernel (block size, scatter strategy and more) when it is first used, and remember it on disk",
    )
    .addOption(
      new Option(
        "--tuning <file>",
        `tuning values in TOML, which override measured ones; default: ${DEFAULT_FILE}, if that file exists`,
      ).env("ISOFORM_TUNING"),
    )
    .option("--deterministic", "give the same results in every run in fast mode too: sums have the order of strict mode")
    .option("--checked", "end a launch with an error if an index is outside its array")
    .hook("preAction", async (command) => {
      const { tune, tuning, deterministic, checked } = command.opts<TuningOptions>();
      const text = readText(tuning);
      if (text !== undefined) await shell.checkOutputs({}, { tuning: tuning ?? DEFAULT_FILE });
      if (!tune && !deterministic && !checked && text === undefined) return;
      const { openByDefault } = await import("../device/open.js");
      openByDefault({
        tune,
        deterministic,
        checked,
        tuning: text === undefined ? undefined : await parseTuning(text, tuning ?? DEFAULT_FILE),
      });
    });
}

/** Text of the tuning file; undefined if the default file does not exist. */
function readText(file: string | undefined): string | undefined {
  try {
    const path = file ?? DEFAULT_FILE;
    // A device may never end.
    if (statSync(path).isCharacterDevice()) throw new IsoformError(`cannot read ${path}: it is a device; name a file`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof IsoformError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (file === undefined && code === "ENOENT") return undefined;
    throw new IsoformError(`cannot read ${file ?? DEFAULT_FILE}: ${message.split(",")[0]}`);
  }
}

/**
 * The values of a tuning file: a section for each device or backend and kernel, such as `[native.axpy]` or `["cuda:0"."A p + p.s"]`.
 * A launch checks when it is prepared that it has a parameter and can take the value.
 * @throws IsoformError with the place, for text that is not TOML, and for unknown sections and parameters
 */
export async function parseTuning(text: string, file: string): Promise<TuningFile> {
  const { parse } = await import("smol-toml");
  const refuse = (problem: string): never => {
    throw new IsoformError(`${file}: ${problem}`);
  };
  let found: Record<string, unknown> = {};
  try {
    found = parse(text);
  } catch (error) {
    refuse((error as Error).message.trim());
  }
  for (const [device, kernels] of Object.entries(found)) {
    if (!isTable(kernels))
      return refuse(`"${device}" is not a section; write a section for a device and a kernel, such as [${device}.axpy]`);
    for (const [kernel, values] of Object.entries(kernels)) {
      if (!isTable(values))
        return refuse(`"${kernel}" is in the section [${device}], which holds sections of kernels; write [${device}.<kernel>] above it`);
      const unknown = Object.keys(values).find((name) => !(TUNING_NAMES as readonly string[]).includes(name));
      if (unknown !== undefined) refuse(`[${device}.${kernel}] has no parameter "${unknown}"; choose from ${TUNING_NAMES.join(", ")}`);
    }
  }
  return found as TuningFile;
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
