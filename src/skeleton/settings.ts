import type { Precision } from "../device/device.js";
import { FIELD_LAYOUTS, GRID_KINDS, SPLITS, type FieldLayout, type GridKind, type Split } from "../domain/grid/options.js";
import type { DeviceSet } from "../set/index.js";
import { OCC_LEVELS, type OccLevel } from "./plan/occ.js";
import type { Skeleton } from "./skeleton.js";

/** How a problem is stored, overlapped and computed, no kernel touched. What is `auto` is measured and remembered: `tuned`. */
export interface GridSettings {
  /** How cells are stored: all of the box, active ones, or bricks with active ones. */
  grid: GridKind | "auto";
  /** Layout of fields that ask for none: components of a cell apart (`soa`) or together (`aos`). */
  layout: FieldLayout | "auto";
  /** Overlap of computation and communication, on several devices. */
  occ: OccLevel | "auto";
  /** Order and contraction of floating-point operations. */
  precision: Precision;
}

/** Setting of problems on boxes of three dimensions. */
export interface SplitSetting {
  /** Axes along which dense grids are cut among devices. Default: `"z"`. */
  split?: Split;
}

/** Settings of a problem by default. */
export const DEFAULT_SETTINGS = { grid: "dense", layout: "soa", occ: "standard", precision: "fast" } as const satisfies GridSettings;

/** How fields are stored, once nothing is `auto`. */
export interface Storage {
  readonly grid: GridKind;
  readonly layout: FieldLayout;
}

/** Settings with a decided storage. */
export type Resolved<S extends GridSettings> = Omit<S, keyof Storage> & Storage;
/** Settings that may leave the storage to measurement. */
export type Unresolved<S extends Storage> = Omit<S, keyof Storage> & Pick<GridSettings, keyof Storage>;

/** An option of the command line: the same name, values and words for every command. */
export interface SettingOption {
  readonly flags: string;
  readonly description: string;
  readonly choices: readonly string[];
}

/** The options of the command line for each setting. */
export const SETTING_OPTIONS: Readonly<Record<keyof GridSettings, SettingOption>> = {
  grid: {
    flags: "--grid <kind>",
    description:
      "which cells are stored: all of the box (dense), active ones (sparse), or bricks that hold active ones (bricks); auto measures and remembers",
    choices: [...GRID_KINDS, "auto"],
  },
  layout: {
    flags: "--layout <name>",
    description: "how the components of a cell are stored: apart (soa) or together (aos); auto measures and remembers",
    choices: [...FIELD_LAYOUTS, "auto"],
  },
  occ: {
    flags: "--occ <level>",
    description: "how far computation overlaps with the exchange of halos on several devices; auto measures and remembers",
    choices: [...OCC_LEVELS, "auto"],
  },
  precision: {
    flags: "--precision <mode>",
    description: "strict: the same bits on every device; fast: operations may be reordered and contracted",
    choices: ["strict", "fast"],
  },
};

/** The option of the command line for `SplitSetting`. */
export const SPLIT_OPTION: SettingOption = {
  flags: "--split <axes>",
  description:
    "how a dense box of three dimensions is cut among devices: by planes (z), by rows (y), by both (yz), or by what a model takes for best (auto)",
  choices: SPLITS,
};

/** Settings of `isoform explain`. */
export interface SkeletonSettings extends Readonly<GridSettings>, Readonly<SplitSetting> {
  readonly fuse: boolean;
  readonly unroll: number;
  /** Cells along each axis. Default: the application's. */
  readonly size?: number;
  /** Cells along the last axis, if they are other than along the others. */
  readonly planes?: number;
  /** Axes of the box. Default: the application's. */
  readonly dimension?: 2 | 3;
}

/** Exports of an application by which `isoform explain` can show its plan. */
export interface SkeletonModule {
  /** The sequence of one iteration, its fields filled, ready to run. */
  makeSkeleton(set: DeviceSet, settings: SkeletonSettings): Skeleton | Promise<Skeleton>;
}
