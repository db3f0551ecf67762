import type { Side } from "isoform/grid";
import type { Axis } from "../equations/axes.js";

/** The sides of the box. */
export const SIDES: readonly Side[] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];

/** One cell outward. */
export const outward = (side: Side): readonly [dx: number, dy: number, dz: number] => {
  const step = side.endsWith("min") ? -1 : 1;
  return [side[0] === "x" ? step : 0, side[0] === "y" ? step : 0, side[0] === "z" ? step : 0];
};

/** The sides beyond which there are ghosts, in the order in which they get values. */
export const openSides = (axes: readonly Axis[]): Side[] => SIDES.filter((_, n) => !axes[n >> 1].periodic);
