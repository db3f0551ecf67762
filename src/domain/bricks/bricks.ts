import { CPU_MEMORY } from "../../device/memory/view.js";
import type { Dimension } from "../../kernel/cells.js";
import type { DeviceSet } from "../../set/index.js";
import type { BaseGrid } from "../base-grid.js";
import { BlockRows } from "./brick-rows.js";
import { BrickGrid } from "./brick-grid.js";
import type { BlocksOptions } from "./options.js";
import type { GridOptions } from "../grid/options.js";
import { placed } from "../grid/placed.js";

export type { BlocksOptions } from "./options.js";

/** A block-sparse grid. */
export type BlocksGrid<D extends Dimension = Dimension> = BaseGrid<D> & {
  readonly kind: "blocks";
  /** Cells of a brick along each axis. */
  readonly brick: readonly number[];
};

/**
 * A grid that stores the bricks with active cells, each with a mask of its active cells and a table of neighbours; on CPUs the same cells row
 * by row. Planes of bricks are cut among the members of the set.
 * @param extents [nx, ny, nz] or [nx, ny]
 * @throws LaunchError for an empty domain, more members than planes of bricks, and a brick whose extents are not powers of two
 */
export function blocks(
  set: DeviceSet,
  extents: readonly [number, number],
  active?: GridOptions["active"],
  options?: BlocksOptions,
): BlocksGrid<2>;
export function blocks(
  set: DeviceSet,
  extents: readonly [number, number, number],
  active?: GridOptions["active"],
  options?: BlocksOptions,
): BlocksGrid<3>;
export function blocks(set: DeviceSet, extents: readonly number[], active?: GridOptions["active"], options?: BlocksOptions): BlocksGrid;
export function blocks(
  set: DeviceSet,
  extents: readonly number[],
  active?: GridOptions["active"],
  options: BlocksOptions = {},
): BlocksGrid<2> | BlocksGrid<3> | BlocksGrid {
  return placed(blocks, () => makeBlocks(set, extents, { ...options, active }));
}

/** The grid as its devices' memory wants it. */
export function makeBlocks(set: DeviceSet, extents: readonly number[], options: BlocksOptions): BlocksGrid {
  const inRows = set.members.every(({ device }) => device.memory === CPU_MEMORY);
  return inRows ? new BlockRows(set, extents, options) : new BrickGrid(set, extents, options);
}
