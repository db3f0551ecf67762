import { unreachable } from "../../base/unreachable.js";
import { teams } from "../../device/launch/policy.js";
import { CPU_MEMORY, type View } from "../../device/memory/view.js";
import type { KernelIR } from "../../ir/types.js";
import type { Dimension } from "../../kernel/declare/cells.js";
import { i32 } from "../../kernel/declare/params.js";
import { localOf, type DeviceSet } from "../../set/index.js";
import type { GivenPartitions } from "../base-grid.js";
import { connectUnits } from "./connectivity.js";
import type { Container } from "../grid/grid.js";
import type { GridOptions, LevelOptions } from "../grid/options.js";
import type { Offset } from "../grid/parts.js";
import { levelLinks } from "./links.js";
import { COORDINATES, lowerCells, lowerRuns, type LoweredSparse, type SparseRole } from "./lowering.js";
import { IndexedGrid, type UnitLaunch, type Tables } from "../indexed/indexed-grid.js";
import { GROUP, Indexing } from "../indexed/indexing.js";
import { planesTogether } from "../grid/partition.js";
import { atCallSite } from "../grid/placed.js";
import { cellRuns, RUN } from "./runs.js";
import type { ContainerPlan } from "../container/storage-kernel.js";

/**
 * A grid that stores the active cells only, by index in (z, y, x) order, with a table of neighbours; planes of the last axis are cut among
 * the members of the set.
 * @param extents [nx, ny, nz] or [nx, ny]
 * @throws LaunchError for an empty domain, and for more members than planes
 */
export function sparse(
  set: DeviceSet,
  extents: readonly [number, number],
  active?: GridOptions["active"],
  options?: LevelOptions,
): SparseGrid<2>;
export function sparse(
  set: DeviceSet,
  extents: readonly [number, number, number],
  active?: GridOptions["active"],
  options?: LevelOptions,
): SparseGrid<3>;
export function sparse(set: DeviceSet, extents: readonly number[], active?: GridOptions["active"], options?: LevelOptions): SparseGrid;
export function sparse(set: DeviceSet, extents: readonly number[], active?: GridOptions["active"], options: LevelOptions = {}): SparseGrid {
  return atCallSite(sparse, set, extents, () => new SparseGrid(set, extents, { ...options, active }));
}

/** An element-sparse grid. */
export class SparseGrid<D extends Dimension = Dimension> extends IndexedGrid<D, SparseRole> {
  readonly kind: "sparse" | "bricks" = "sparse";
  protected readonly unitCells = 1;
  protected readonly unitPlanes = 1;
  protected readonly fillUnits = RUN;
  /** For each member that goes by runs: the runs before each of its planes. */
  private readonly runsBefore: (readonly number[])[] = [];
  /** The grid that this one was coarsened from. */
  private fine: SparseGrid<D> | undefined;
  /** Offsets at which containers read fields of the finer and the coarser grid, by their text. */
  private readonly linked = { fine: new Map<string, Offset>(), coarse: new Map<string, Offset>() };
  /** Generations of the other grids for which tables were made. */
  private readonly linkedTo = new Map<SparseRole, number>();

  constructor(
    set: DeviceSet,
    extents: readonly number[],
    options: LevelOptions = {},
    partitions?: GivenPartitions,
    step = planesTogether(extents, options.levels),
  ) {
    super(set, extents, options, step, partitions);
  }

  protected makeCoarse(extents: readonly number[], options: GridOptions, partitions: GivenPartitions): SparseGrid<D> {
    const coarse = new SparseGrid<D>(this.set, extents, options, partitions);
    coarse.fine = this;
    return coarse;
  }

  override requireStencils(made: Container): void {
    super.requireStencils(made);
    for (const { level, offsets } of made.uses)
      if (level !== "own")
        for (const offset of offsets)
          if (!this.linked[level].has(offset.join())) {
            this.linked[level].set(offset.join(), offset);
            this.invalidateLayout();
          }
  }

  protected index(width: number): readonly Indexing[] {
    const { extents, activity, periodic } = this;
    const before = [0];
    for (const cells of activity.planes) before.push(before.at(-1)! + cells);
    return this.partitions.map((partition) => new Indexing({ extents, activity, periodic, before }, partition, width));
  }

  protected eachCell(member: number, visit: (at: number, position: number) => void, low: number, high: number): void {
    this.indexings[member].each(visit, low, high);
  }

  protected find(member: number, position: number): number {
    return this.indexings[member].find(position);
  }

  /** CPUs go by runs where neighbours are read, so that inner loops read contiguous memory; cells of other grids are found one by one. */
  protected override form(container: Container, member: number): "cells" | "runs" {
    if (container.uses.some(({ level }) => level !== "own")) return "cells";
    const asks = container.mask?.offsets.some((offset) => offset.some((d) => d !== 0)) ?? false;
    return (container.stencil || asks) && localOf(this.set, member).device.memory === CPU_MEMORY ? "runs" : "cells";
  }

  protected lower(container: KernelIR, plan: ContainerPlan, form: string): LoweredSparse {
    const { fine, coarse } = this.linked;
    const directions = { own: [...this.offsets.values()], fine: [...fine.values()], coarse: [...coarse.values()] };
    return (form === "runs" ? lowerRuns : lowerCells)(container, plan, directions);
  }

  protected override unitLaunch(form: string, member: number, planes: readonly [number, number]): UnitLaunch<SparseRole> {
    if (form === "cells") return super.unitLaunch(form, member, planes);
    this.table("runs", member);
    const [from, to] = planes.map((plane) => this.runsBefore[member][plane]);
    return { policy: teams(to - from), scalars: { firstRun: from } };
  }

  /** The grid to which a table leads. */
  private other(role: SparseRole): SparseGrid<D> | undefined {
    return role === "fine" ? this.fine : role === "coarse" ? (this.coarse as SparseGrid<D> | undefined) : undefined;
  }

  protected override table(role: SparseRole, member: number): View | number {
    const generation = this.other(role)?.generation;
    if (generation !== undefined && this.linkedTo.get(role) !== generation) {
      this.freeTables([role]);
      this.linkedTo.set(role, generation);
    }
    return super.table(role, member);
  }

  protected makeTables(role: SparseRole, member: number): Tables<SparseRole> {
    const { device } = localOf(this.set, member);
    const indexing = this.indexings[member];
    const offsets = [...this.offsets.values()];
    const table = (data: Int32Array, rows: number) => device.from(i32, data, [rows, data.length / rows]);
    switch (role) {
      case "fillCell":
        return { fillCell: indexing.fillCell };
      case "near":
      case "far": {
        const { near, far } = connectUnits(indexing, offsets);
        return { near: table(near, offsets.length), far: table(far, far.length / GROUP) };
      }
      case "runs":
      case "distances": {
        const { bounds, distances, before } = cellRuns(indexing, offsets);
        this.runsBefore[member] = before;
        return { runs: table(bounds, before.at(-1)!), distances: table(distances, before.at(-1)!) };
      }
      case "fine":
      case "coarse": {
        const linked = [...this.linked[role].values()];
        return { [role]: table(levelLinks(indexing, this.other(role)!.indexings[member], role, linked), linked.length) };
      }
      case "x":
      case "y":
      case "z":
        return { [role]: device.from(i32, indexing.coordinates(COORDINATES.indexOf(role))) };
      case "firstRun":
        throw new Error("a launch over planes gives its first run");
      default:
        return unreachable(role);
    }
  }
}
