import { typedArray, type View } from "../../device/memory/view.js";
import type { KernelIR } from "../../ir/types.js";
import type { Dimension } from "../../kernel/cells.js";
import { i32 } from "../../kernel/params.js";
import type { DeviceSet } from "../../set/index.js";
import { brickOf, notCoarsened, requireContainer, requireStencil, type BrickOptions } from "./options.js";
import { Bricks, BrickTables } from "./partition.js";
import type { Container } from "../grid/grid.js";
import type { Offset } from "../grid/parts.js";
import { lowerBricks, type BrickRole } from "./lowering.js";
import { IndexedGrid, type ValueLayout, type Lowered, type Tables } from "../indexed/indexed-grid.js";
import { Indexing } from "../indexed/indexing.js";
import type { ContainerPlan } from "../container/storage-kernel.js";

/** A brick grid whose cells are stored brick by brick: a unit is a brick. */
export class BrickUnitGrid<D extends Dimension = Dimension> extends IndexedGrid<D, BrickRole> {
  readonly kind = "bricks";
  protected readonly fillUnits = 1;
  protected readonly unitCells: number;
  protected readonly unitPlanes: number;
  /** Cells of a brick along each axis. */
  readonly brick: readonly number[];
  private readonly bricks: Bricks;
  /** Of each member, as memory is laid out. */
  private bricksOf: readonly BrickTables[] = [];

  constructor(set: DeviceSet, extents: readonly number[], options: BrickOptions) {
    const brick = brickOf(extents, options);
    super(set, extents, options, brick.at(-1));
    this.brick = brick;
    this.bricks = new Bricks(extents, this.mask, brick);
    this.unitCells = this.bricks.cells;
    this.unitPlanes = brick.at(-1)!;
  }

  protected makeCoarse(): never {
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

  protected index(width: number): readonly Indexing[] {
    const { bricks } = this;
    const plane = bricks.mask.length / bricks.extents.at(-1)!;
    const before = [0];
    for (let p = 0; p < bricks.mask.length; p += plane)
      before.push(before.at(-1)! + bricks.mask.subarray(p, p + plane).reduce((a, b) => a + b, 0));
    const indexings = this.partitions.map(({ device, first, planes, cells }) => {
      const partition = { device, first: first / this.unitPlanes, planes: Math.ceil(planes / this.unitPlanes), cells };
      return new Indexing({ extents: bricks.extents, mask: bricks.mask, periodic: this.periodic, before }, partition, width, 1);
    });
    this.bricksOf = indexings.map((indexing) => new BrickTables(bricks, indexing));
    return indexings;
  }

  protected eachCell(member: number, visit: (at: number, position: number) => void): void {
    this.bricksOf[member].each(visit);
  }

  protected find(member: number, position: number): number {
    return this.bricksOf[member].find(position);
  }

  protected lower(container: KernelIR, plan: ContainerPlan): Lowered<BrickRole> {
    return lowerBricks(container, plan, this.bricks);
  }

  protected makeTables(role: BrickRole, member: number): Tables<BrickRole> {
    const { device } = this.set.members[member];
    const tables = this.bricksOf[member];
    const made = { bricks: () => tables.neighbours(), active: () => tables.masks(), origins: () => tables.origins() }[role]();
    const rows = role === "bricks" ? tables.indexing.first + tables.indexing.own : tables.indexing.fillCell + 1;
    return { [role]: device.from(i32, made, [rows, made.length / rows]) };
  }

  /** Inactive cells of a brick keep the fill value. */
  protected override fillMember(field: ValueLayout, m: number, memory: View, value: number): void {
    if (this.bricks.full) return super.fillMember(field, m, memory, value);
    const target = this.storage(field, m).window(memory);
    const values = typedArray(field.type, target.size).fill(field.fillValue);
    const each = target.size / field.cardinality;
    this.eachCell(m, (at) => {
      for (let k = 0; k < field.cardinality; k++) values[k * each + at] = value;
    });
    this.set.members[m].queue(0).write(target, values);
  }
}
