import { Option, type Command } from "commander";
import type { Precision } from "isoform";
import { blocks, dense, sparse, type FieldLayout, type Grid, type GridOptions } from "isoform/grid";
import type { DeviceSet } from "isoform/set";
import { OCC_LEVELS, type OccLevel } from "isoform/skeleton";

/*
 * What the applications on grids have in common: how a problem is stored, spread and run, and its command-line options.
 */

export const GRID_KINDS = ["dense", "sparse", "blocks"] as const;
export type GridKind = (typeof GRID_KINDS)[number];

export interface GridSettings {
  grid: GridKind;
  layout: FieldLayout;
  occ: OccLevel | "auto";
  precision: Precision;
}

export const USUAL_SETTINGS: GridSettings = { grid: "dense", layout: "soa", occ: "standard", precision: "fast" };

/** A grid of the kind that the settings ask for. */
export function makeGrid(
  set: DeviceSet,
  extents: readonly number[],
  { grid, layout }: Pick<GridSettings, "grid" | "layout">,
  active?: GridOptions["active"],
): Grid {
  if (grid === "dense") return dense(set, extents, { layout, active });
  const cells = active ?? (() => true);
  return grid === "sparse" ? sparse(set, extents, cells, { layout }) : blocks(set, extents, cells, { layout });
}

/** Adds the options of `GridSettings`, and that of the devices. */
export function addGridOptions(command: Command): Command {
  const { grid, layout, occ, precision } = USUAL_SETTINGS;
  return command
    .option("--devices <set>", "one or several: wasm, native, cuda:0, wasm*3 (one divided into three), cuda:0,cuda:1", "wasm")
    .addOption(new Option("--grid <kind>", "how cells are stored").choices(GRID_KINDS).default(grid))
    .addOption(new Option("--layout <name>", "components of a cell apart (soa) or together (aos)").choices(["soa", "aos"]).default(layout))
    .addOption(new Option("--occ <level>", "overlap of computation and communication").choices([...OCC_LEVELS, "auto"]).default(occ))
    .addOption(
      new Option("--precision <mode>", "order and contraction of floating-point operations").choices(["strict", "fast"]).default(precision),
    );
}
