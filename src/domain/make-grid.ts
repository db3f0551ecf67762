import { LaunchError } from "../base/errors.js";
import type { DeviceSet } from "../set/index.js";
import { makeBricks, type BrickOptions } from "./bricks/bricks.js";
import { DenseGrid } from "./dense/dense.js";
import { GRID_KINDS, type DenseOptions, type GridKind } from "./grid/options.js";
import type { Grid } from "./grid/grid.js";
import { atCallSite } from "./grid/placed.js";
import { SparseGrid } from "./sparse/sparse.js";

/** Options of `makeGrid`: the kind, and the options of that kind. */
export interface AnyGridOptions extends DenseOptions, BrickOptions {
  /** How cells are stored. Default: `dense`. */
  kind?: GridKind;
}

/** The options of their own that kinds have. */
const OWN: Record<GridKind, readonly (keyof AnyGridOptions)[]> = {
  dense: ["packed", "levels", "ghosts", "split"],
  sparse: ["levels"],
  bricks: ["brick"],
};

/**
 * A grid of any kind, so that the kind is one option among others; `dense`, `sparse` and `bricks` make the same grids.
 * @param extents [nx, ny, nz] or [nx, ny]
 * @throws LaunchError for an empty domain, more members than planes, and an option that the kind does not have
 */
export function makeGrid(set: DeviceSet, extents: readonly [number, number], options?: AnyGridOptions): Grid<2>;
export function makeGrid(set: DeviceSet, extents: readonly [number, number, number], options?: AnyGridOptions): Grid<3>;
export function makeGrid(set: DeviceSet, extents: readonly number[], options?: AnyGridOptions): Grid;
export function makeGrid(set: DeviceSet, extents: readonly number[], options: AnyGridOptions = {}): Grid {
  const { kind = "dense" } = options;
  return atCallSite(makeGrid, set, extents, () => {
    for (const option of new Set(Object.values(OWN).flat())) {
      const owners = GRID_KINDS.filter((owner) => OWN[owner].includes(option));
      if (options[option] !== undefined && !owners.includes(kind))
        throw new LaunchError(`a ${kind} grid has no option "${option}": leave it out, or make a ${owners.join(" or ")} grid`);
    }
    switch (kind) {
      case "dense":
        return new DenseGrid(set, extents, options);
      case "sparse":
        return new SparseGrid(set, extents, options);
      case "bricks":
        return makeBricks(set, extents, options);
      default:
        throw new LaunchError(`a grid of kind "${String(kind satisfies never)}"; use ${GRID_KINDS.join(", ")}`);
    }
  });
}
