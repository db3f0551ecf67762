import type { Dimension } from "../../kernel/cells.js";
import type { DeviceSet } from "../../set/index.js";
import { brickOf, notCoarsened, requireContainer, requireStencil, type BlocksOptions } from "./options.js";
import type { Container } from "../grid/grid.js";
import type { Offset } from "../grid/parts.js";
import { SparseGrid } from "../sparse/sparse.js";

/**
 * A block-sparse grid on CPUs: its cells lie row by row, like those of an element-sparse grid, for loops over the few cells of a brick's row
 * leave vectors idle. Bricks are what the members of the set share out.
 */
export class BlockRows<D extends Dimension = Dimension> extends SparseGrid<D> {
  override readonly kind = "blocks";
  /** Cells of a brick along each axis. */
  readonly brick: readonly number[];

  constructor(set: DeviceSet, extents: readonly number[], options: BlocksOptions) {
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
