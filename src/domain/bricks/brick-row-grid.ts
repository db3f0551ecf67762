import type { Dimension } from "../../kernel/declare/cells.js";
import type { DeviceSet } from "../../set/index.js";
import { brickOf, notCoarsened, requireContainer, requireStencil, type BrickOptions } from "./options.js";
import type { Container } from "../grid/grid.js";
import type { Offset } from "../grid/parts.js";
import { SparseGrid } from "../sparse/sparse.js";

/**
 * A brick grid on CPUs: its cells are stored row by row, as in an element-sparse grid, because loops over the few cells of a brick's row
 * leave vectors idle. Whole bricks are divided among the members of the set.
 */
export class BrickRowGrid<D extends Dimension = Dimension> extends SparseGrid<D> {
  override readonly kind = "bricks";
  /** Cells of a brick along each axis. */
  readonly brick: readonly number[];

  constructor(set: DeviceSet, extents: readonly number[], options: BrickOptions) {
    const brick = brickOf(extents, options);
    super(set, extents, options, undefined, brick.at(-1));
    this.brick = brick;
  }

  protected override makeCoarse(): never {
    throw notCoarsened();
  }

  override require(offsets: readonly Offset[]): void {
    requireStencil(this.brick, offsets);
    super.require(offsets);
  }

  override requireStencils(made: Container): void {
    requireContainer(this.brick, made);
    super.requireStencils(made);
  }
}
