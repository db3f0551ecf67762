import { LaunchError } from "isoform";
import type { GridSettings, Storage } from "isoform/skeleton";

/** The layout of fields on a dense grid, which is the only kind that has metrics and ghosts. Throws LaunchError if another is asked for. */
export function denseOnly(grid: GridSettings["grid"] = "dense", layout: GridSettings["layout"] = "soa"): Storage["layout"] {
  if (grid !== "dense" && grid !== "auto")
    throw new LaunchError(`--grid ${grid}: navier-stokes runs on dense grids only; choose --grid dense`);
  return layout === "auto" ? "soa" : layout;
}
