import { BYTES, typedArray, type View } from "../../device/memory/view.js";
import type { KernelIR } from "../../ir/types.js";
import type { Dimension } from "../../kernel/declare/cells.js";
import { i32 } from "../../kernel/declare/params.js";
import { localOf, type DeviceSet } from "../../set/index.js";
import { brickOf, notCoarsened, requireContainer, requireStencil, type BrickOptions } from "./options.js";
import { Bricks, BrickTables } from "./partition.js";
import type { Container } from "../grid/grid.js";
import type { Offset } from "../grid/parts.js";
import { evenPlaneRuns } from "../grid/pieces.js";
import { lowerBricks, type BrickRole } from "./lowering.js";
import { IndexedGrid, type IndexedLayout, type Lowered, type Tables } from "../indexed/indexed-grid.js";
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
  /** Bricks of each member, in memory order. */
  private bricksOf: readonly BrickTables[] = [];

  constructor(set: DeviceSet, extents: readonly number[], options: BrickOptions) {
    const brick = brickOf(extents, options);
    super(set, extents, options, brick.at(-1));
    this.brick = brick;
    this.bricks = new Bricks(extents, this.activity, brick);
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
    const { activity } = bricks;
    const before = [0];
    for (const count of activity.planes) before.push(before.at(-1)! + count);
    const indexings = this.partitions.map(({ device, first, planes, cells }) => {
      const partition = { device, first: first / this.unitPlanes, planes: Math.ceil(planes / this.unitPlanes), cells };
      return new Indexing({ extents: bricks.extents, activity, periodic: this.periodic, before }, partition, width, 1);
    });
    this.bricksOf = indexings.map((indexing) => new BrickTables(bricks, indexing));
    return indexings;
  }

  protected eachCell(member: number, visit: (at: number, position: number) => void, low: number, high: number): void {
    this.bricksOf[member].each(visit, low, high);
  }

  protected find(member: number, position: number): number {
    return this.bricksOf[member].find(position);
  }

  protected lower(container: KernelIR, plan: ContainerPlan): Lowered<BrickRole> {
    return lowerBricks(container, plan, this.bricks);
  }

  protected makeTables(role: BrickRole, member: number): Tables<BrickRole> {
    const { device } = localOf(this.set, member);
    const tables = this.bricksOf[member];
    const made = { bricks: () => tables.neighbours(), active: () => tables.masks(), origins: () => tables.origins() }[role]();
    const rows = role === "bricks" ? tables.indexing.first + tables.indexing.own : tables.indexing.fillCell + 1;
    return { [role]: device.from(i32, made, [rows, made.length / rows]) };
  }

  /** Inactive cells of a brick keep the fill value. */
  protected override fillMember(field: IndexedLayout, m: number, memory: View, value: number): void {
    if (this.bricks.full) return super.fillMember(field, m, memory, value);
    const indexing = this.indexings[m];
    const { cardinality, type, fillValue } = field;
    const planeBytes = this.bricks.activity.planeSize * this.unitCells * cardinality * BYTES[type];
    for (const { first, end } of evenPlaneRuns({ first: indexing.low, end: indexing.high }, planeBytes)) {
      const begin = indexing.plane(first);
      const target = this.storage(field, m).window(memory, begin, indexing.plane(end));
      if (target.size === 0) continue;
      const values = typedArray(type, target.size).fill(fillValue);
      const each = target.size / cardinality;
      const visit = (at: number): void => {
        for (let k = 0; k < cardinality; k++) values[k * each + at - begin * this.unitCells] = value;
      };
      this.eachCell(m, visit, first, end);
      localOf(this.set, m).queue(0).write(target, values);
    }
  }
}
