import { InvalidArgumentError, Option, type Command } from "commander";
import type { OpenOptions } from "isoform";
import { DEFAULT_SETTINGS, OCC_LEVELS, SETTING_OPTIONS } from "isoform/skeleton";
import { count, devicesOption, f64Option, precisionOption, splitOption } from "../../options.js";
import { QUANTITIES, type Plane, type Quantity } from "./planes.js";
import { flagOf } from "../config/config.js";
import { DEFAULTS, TYPES, type Settings } from "../simulation/simulation.js";

/*
 * Options of a run that are not keys of its configuration. Each is told once: its name in programs gives the name on the command line.
 */

/** An option whose values are texts, unless `choices` or `parse` says otherwise. */
interface RunOption {
  /** Placeholder after the name in the help. */
  readonly value: string;
  readonly meaning: string;
  readonly choices?: readonly string[];
  readonly parse?: (text: string) => unknown;
  readonly usual?: unknown;
  /** The default in the help, where it is not the value as text. */
  readonly usualText?: string;
}

const QUANTITY_NAMES = Object.keys(QUANTITIES) as Quantity[];

/** How a flow is laid out and stepped. */
const LAID_OUT = {
  type: { value: "<name>", meaning: "type of the fields", choices: Object.keys(TYPES) as (keyof typeof TYPES)[], usual: DEFAULTS.type },
  layout: {
    value: "<name>",
    meaning: "how the components of a cell are stored: apart (soa) or together (aos)",
    choices: SETTING_OPTIONS.layout.choices.filter((name): name is Settings["layout"] => name !== "auto"),
    usual: DEFAULTS.layout,
  },
} as const satisfies Record<string, RunOption>;

/** Samples, and the fields in files. */
const WRITTEN = {
  every: { value: "<n>", meaning: "steps from one sample to the next", parse: count, usual: 10 },
  progress: { value: "<file>", meaning: "write the samples as lines of progress in the format of STREAmS-2" },
  json: { value: "<file>", meaning: "write the configuration and the samples as JSON" },
  vtk: {
    value: "<file>",
    meaning: "write density, velocity, pressure and temperature as a VTK rectilinear grid (.vtr; several processes: .pvtr)",
  },
  hdf5: {
    value: "<file>",
    meaning: "write the same as HDF5 by the openPMD standard (.h5), with an XDMF file beside it (.xmf); needs the package h5wasm",
  },
  svg: { value: "<file>", meaning: "write a picture of a plane of cells" },
  show: {
    value: "<quantities>",
    meaning: `what the picture shows; separated by commas, a picture each: ${QUANTITY_NAMES.join(", ")}`,
    parse: quantities,
    usual: ["schlieren"] as readonly Quantity[],
    usualText: "schlieren",
  },
  plane: {
    value: "<place>",
    meaning: "plane of the picture, such as z=0.5: the cells nearest to it (default: the middle of z)",
    parse: plane,
  },
  fieldsEvery: {
    value: "<n>",
    meaning:
      "samples from one snapshot (--vtk, --hdf5, --svg) to the next: numbered files, with a list of their times (.pvd) for VTK; default: one snapshot, at the end",
    parse: count,
  },
} as const satisfies Record<string, RunOption>;

const CHECKPOINTS = {
  checkpoint: {
    value: "<file>",
    meaning:
      "write the state to this file at intervals, at the end, and when SIGINT (Ctrl-C) or SIGTERM ends the run; the previous checkpoint is kept as <file>.previous",
  },
  checkpointEvery: { value: "<n>", meaning: "samples from one checkpoint to the next", parse: count, usual: 50 },
  restart: { value: "<file>", meaning: "continue from a checkpoint, with its configuration, to the given --steps and --time" },
} as const satisfies Record<string, RunOption>;

type ValueOf<O> = O extends { choices: readonly (infer Value)[] }
  ? Value
  : O extends { parse: (text: string) => infer Value }
    ? Value
    : string;
type ValuesOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends { usual: unknown } ? ValueOf<Table[Name]> : ValueOf<Table[Name]> | undefined;
};

/** Options of fields in files: each of `WRITTEN`, absent where it is not given and has no default. */
export type SeriesOptions = Pick<ValuesOf<typeof WRITTEN>, "show"> &
  Partial<Pick<ValuesOf<typeof WRITTEN>, "vtk" | "hdf5" | "svg" | "plane" | "fieldsEvery">>;

/** Values of a run's options. */
export type CommandOptions = ValuesOf<typeof LAID_OUT & typeof WRITTEN & typeof CHECKPOINTS> &
  Pick<Settings, "precision" | "split" | "occ" | "fuse"> & {
    readonly devices: string;
    readonly f64?: OpenOptions["f64"];
    readonly config?: string;
  };

function add<Name extends string>(command: Command, table: Readonly<Record<Name, RunOption>>, ...names: Name[]): void {
  for (const name of names) {
    const { value, meaning, choices, parse, usual, usualText } = table[name];
    const option = new Option(`${flagOf(name)} ${value}`, meaning).default(usual, usualText);
    if (choices) option.choices(choices);
    if (parse) option.argParser(parse);
    command.addOption(option);
  }
}

/** Adds the options of devices, samples and fields. */
export function addRunOptions(command: Command): void {
  command
    .option("--config <file>", "options in a TOML file, with underscores in place of dashes; the command line takes precedence")
    .addOption(devicesOption())
    .addOption(f64Option());
  add(command, LAID_OUT, "type");
  command.addOption(precisionOption());
  add(command, LAID_OUT, "layout");
  command
    .addOption(splitOption())
    .addOption(
      new Option(SETTING_OPTIONS.occ.flags, SETTING_OPTIONS.occ.description).choices([...OCC_LEVELS, "auto"]).default(DEFAULT_SETTINGS.occ),
    )
    .option("--no-fuse", "do not merge containers");
  add(command, WRITTEN, ...(Object.keys(WRITTEN) as (keyof typeof WRITTEN)[]));
}

/** Adds the options of checkpoints. */
export const addCheckpointOptions = (command: Command): void =>
  add(command, CHECKPOINTS, ...(Object.keys(CHECKPOINTS) as (keyof typeof CHECKPOINTS)[]));

function quantities(text: string): readonly Quantity[] {
  const names = text.split(",").map((each) => each.trim());
  const unknown = names.find((each) => !QUANTITY_NAMES.includes(each as Quantity));
  if (unknown !== undefined) throw new InvalidArgumentError(`"${unknown}" is not a quantity: choose from ${QUANTITY_NAMES.join(", ")}.`);
  return names as Quantity[];
}

function plane(text: string): Pick<Plane, "axis" | "at"> {
  const [, axis, at] = /^([xyz])=(.+)$/.exec(text) ?? [];
  if (axis === undefined || !Number.isFinite(Number(at))) throw new InvalidArgumentError("It needs an axis and a place, such as z=0.5.");
  return { axis: axis as Plane["axis"], at: Number(at) };
}
