import { bricks, dense, sparse, type GridOptions } from "../../src/domain/index.js";
import type { BaseGrid } from "../../src/domain/base-grid.js";
import type { DeviceSet } from "../../src/set/index.js";

export type Active = (x: number, y: number, z: number) => boolean;
/** Makes a grid of one kind. */
export type Make = (set: DeviceSet, extents: readonly number[], active: Active | undefined, options?: GridOptions) => BaseGrid;

export const KINDS: Readonly<Record<"dense" | "sparse" | "bricks", Make>> = {
  dense: (set, extents, active, options) => dense(set, extents, { ...options, active }),
  sparse: (set, extents, active, options) => sparse(set, extents, active, options),
  /** Bricks so thin that 13 planes are enough for 7 members. */
  bricks: (set, extents, active, options) => bricks(set, extents, active, { ...options, brick: [4, 2, 2].slice(0, extents.length) }),
};
