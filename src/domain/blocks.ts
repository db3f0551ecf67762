import { typedArray, type View } from "../device/view.js";
import type { KernelIR } from "../ir/types.js";
import type { Dimension } from "../kernel/cells.js";
import { ContainerError, LaunchError } from "../kernel/errors.js";
import { i32 } from "../kernel/params.js";
import type { DeviceSet } from "../set/index.js";
import { Bricks, BrickTables } from "./bricks.js";
import type { Container } from "./container.js";
import type { GridOptions, Offset } from "./grid.js";
import { lowerBlocks, type BlocksRole } from "./lower-blocks.js";
import { NumberedGrid, type Arrangement, type Lowered, type Tables } from "./numbered-grid.js";
import { Numbering } from "./numbering.js";
import { placed } from "./placed.js";
import type { ContainerPlan } from "./storage-kernel.js";

export interface BlocksOptions extends GridOptions {
  /** Cells of a brick along x, y (and z), powers of two; [4, 4, 4] or [8, 8] where absent. */
  brick?: readonly number[];
}

/** Cells along each axis of a brick whose extents are not given. */
const USUAL = { 2: [8, 8], 3: [4, 4, 4] } as const;

/**
 * A grid that stores the bricks with active cells, each with a mask of its active cells and a table of neighbours; planes of bricks are
 * cut among the members of the set.
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
): BlocksGrid {
  return placed(blocks, () => new BlocksGrid(set, extents, { ...options, active }));
}

function brickOf(extents: readonly number[], { brick = USUAL[extents.length as Dimension] }: BlocksOptions): readonly number[] {
  if (brick && (brick.length !== extents.length || brick.some((n) => !(n >= 1 && n <= 64 && Number.isInteger(Math.log2(n))))))
    throw new LaunchError(`bricks of [${brick}] cells for a grid of [${extents}]: give powers of two up to 64, one for each axis`);
  return brick ?? [];
}

/** A block-sparse grid. */
export class BlocksGrid<D extends Dimension = Dimension> extends NumberedGrid<D, BlocksRole> {
  readonly kind = "blocks";
  protected readonly outsideUnits = 1;
  protected readonly unitCells: number;
  protected readonly unitPlanes: number;
  /** Cells of a brick along each axis. */
  readonly brick: readonly number[];
  private readonly bricks: Bricks;
  /** Of each member, as memory is laid out. */
  private bricksOf: readonly BrickTables[] = [];

  constructor(set: DeviceSet, extents: readonly number[], options: BlocksOptions) {
    const brick = brickOf(extents, options);
    super(set, extents, options, brick.at(-1));
    this.brick = brick;
    this.bricks = new Bricks(extents, this.mask, brick);
    this.unitCells = this.bricks.cells;
    this.unitPlanes = brick.at(-1)!;
  }

  protected makeCoarse(): never {
    throw new LaunchError("a block-sparse grid cannot be coarsened: make a dense or an element-sparse one");
  }

  override require(offsets: readonly Offset[]): void {
    this.requireNear(offsets, (problem, remedy) => {
      throw new LaunchError(`a stencil reads ${problem}; ${remedy}`);
    });
    super.require(offsets);
  }

  override requireStencils(made: Container): void {
    const refuse = (what: string) => (problem: string, remedy: string) => {
      throw new ContainerError(made.name, made.location, `${what} ${problem}`, remedy);
    };
    for (const { field, level, offsets } of made.uses)
      if (level === "own") this.requireNear(offsets, refuse(`reads the field "${field.name}"`));
    if (made.mask) this.requireNear(made.mask.offsets, refuse("asks isActive"));
    super.requireStencils(made);
  }

  private requireNear(offsets: readonly Offset[], refuse: (problem: string, remedy: string) => never): void {
    for (const offset of offsets) {
      const axis = offset.findIndex((d, a) => Math.abs(d) > this.brick[a]);
      if (axis >= 0)
        refuse(
          `at offset [${offset}], and a brick has ${this.brick[axis]} cells along ${"xyz"[axis]}`,
          "use larger bricks: { brick: [...] }, or another kind of grid",
        );
    }
  }

  protected number(width: number): readonly Numbering[] {
    const { bricks } = this;
    const plane = bricks.mask.length / bricks.extents.at(-1)!;
    const before = [0];
    for (let p = 0; p < bricks.mask.length; p += plane)
      before.push(before.at(-1)! + bricks.mask.subarray(p, p + plane).reduce((a, b) => a + b, 0));
    const numberings = this.partitions.map(({ device, first, planes, cells }) => {
      const partition = { device, first: first / this.unitPlanes, planes: Math.ceil(planes / this.unitPlanes), cells };
      return new Numbering({ extents: bricks.extents, mask: bricks.mask, before }, partition, width, 1);
    });
    this.bricksOf = numberings.map((numbering) => new BrickTables(bricks, numbering));
    return numberings;
  }

  protected eachCell(member: number, visit: (at: number, position: number) => void): void {
    this.bricksOf[member].each(visit);
  }

  protected find(member: number, position: number): number {
    return this.bricksOf[member].find(position);
  }

  protected lower(container: KernelIR, plan: ContainerPlan): Lowered<BlocksRole> {
    return lowerBlocks(container, plan, this.bricks);
  }

  protected makeTables(role: BlocksRole, member: number): Tables<BlocksRole> {
    const { device } = this.set.members[member];
    const tables = this.bricksOf[member];
    const made = { bricks: () => tables.neighbours(), active: () => tables.masks(), origins: () => tables.origins() }[role]();
    const rows = role === "bricks" ? tables.numbering.first + tables.numbering.own : tables.numbering.outside + 1;
    return { [role]: device.from(i32, made, [rows, made.length / rows]) };
  }

  /** Inactive cells of a brick keep the outside value. */
  protected override fillMember(field: Arrangement, m: number, memory: View, value: number): void {
    if (this.bricks.full) return super.fillMember(field, m, memory, value);
    const target = this.storage(field, m).window(memory);
    const values = typedArray(field.type, target.size).fill(field.outside);
    const each = target.size / field.cardinality;
    this.eachCell(m, (at) => {
      for (let k = 0; k < field.cardinality; k++) values[k * each + at] = value;
    });
    this.set.members[m].queue(0).write(target, values);
  }
}
