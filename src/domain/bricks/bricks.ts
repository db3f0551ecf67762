import { CPU_MEMORY } from "../../device/memory/view.js";
import type { Dimension } from "../../kernel/declare/cells.js";
import type { DeviceSet } from "../../set/index.js";
import type { BaseGrid } from "../base-grid.js";
import { BrickRowGrid } from "./brick-row-grid.js";
import { BrickUnitGrid } from "./brick-unit-grid.js";
import type { BrickOptions } from "./options.js";
import type { GridOptions } from "../grid/options.js";
import { atCallSite } from "../grid/placed.js";

export type { BrickOptions } from "./options.js";

/** A grid of bricks, block-sparse in the words of Neon. */
export type BrickGrid<D extends Dimension = Dimension> = BaseGrid<D> & {
  readonly kind: "bricks";
  /** Cells of a brick along each axis. */
  readonly brick: readonly number[];
};

/**
 * A grid that stores the bricks with active cells, each with a mask of its active cells and a table of neighbours; on CPUs the same cells row
 * by row. Planes of bricks are cut among the members of the set.
 * @param extents [nx, ny, nz] or [nx, ny]
 * @throws LaunchError for an empty domain, more members than planes of bricks, and a brick whose extents are not powers of two
 */
export function bricks(
  set: DeviceSet,
  extents: readonly [number, number],
  active?: GridOptions["active"],
  options?: BrickOptions,
): BrickGrid<2>;
export function bricks(
  set: DeviceSet,
  extents: readonly [number, number, number],
  active?: GridOptions["active"],
  options?: BrickOptions,
): BrickGrid<3>;
export function bricks(set: DeviceSet, extents: readonly number[], active?: GridOptions["active"], options?: BrickOptions): BrickGrid;
export function bricks(
  set: DeviceSet,
  extents: readonly number[],
  active?: GridOptions["active"],
  options: BrickOptions = {},
): BrickGrid<2> | BrickGrid<3> | BrickGrid {
  return atCallSite(bricks, set, extents, () => makeBricks(set, extents, { ...options, active }));
}

/** The grid as its devices' memory wants it. */
export function makeBricks(set: DeviceSet, extents: readonly number[], options: BrickOptions): BrickGrid {
  const inRows = set.locals.every(({ device }) => device.memory === CPU_MEMORY);
  return inRows ? new BrickRowGrid(set, extents, options) : new BrickUnitGrid(set, extents, options);
}
