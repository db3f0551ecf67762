import type { KernelIR } from "../ir/types.js";
import type { Dimension } from "../kernel/cells.js";
import { i32 } from "../kernel/params.js";
import type { DeviceSet } from "../set/index.js";
import { connect } from "./connectivity.js";
import type { GridOptions } from "./grid.js";
import { COORDINATES, lowerSparse, type SparseRole } from "./lower-sparse.js";
import { NumberedGrid, type Lowered, type Tables } from "./numbered-grid.js";
import { GROUP, Numbering } from "./numbering.js";
import type { ContainerPlan } from "./storage-kernel.js";

/**
 * A grid that stores the active cells only, numbered in (z, y, x) order, with a table of neighbours; planes of the last axis are cut among
 * the members of the set.
 * @param extents [nx, ny, nz] or [nx, ny]
 * @throws LaunchError for an empty domain, and for more members than planes
 */
export function sparse(
  set: DeviceSet,
  extents: readonly [number, number],
  active: GridOptions["active"],
  options?: GridOptions,
): SparseGrid<2>;
export function sparse(
  set: DeviceSet,
  extents: readonly [number, number, number],
  active: GridOptions["active"],
  options?: GridOptions,
): SparseGrid<3>;
export function sparse(set: DeviceSet, extents: readonly number[], active: GridOptions["active"], options?: GridOptions): SparseGrid;
export function sparse(set: DeviceSet, extents: readonly number[], active: GridOptions["active"], options: GridOptions = {}): SparseGrid {
  return new SparseGrid(set, extents, { ...options, active });
}

/** An element-sparse grid. */
export class SparseGrid<D extends Dimension = Dimension> extends NumberedGrid<D, SparseRole> {
  readonly kind = "sparse";
  protected readonly unitCells = 1;
  protected readonly unitPlanes = 1;
  protected number(width: number): readonly Numbering[] {
    const { extents, mask, activity } = this;
    const before = [0];
    for (const cells of activity.planes) before.push(before.at(-1)! + cells);
    return this.partitions.map((partition) => new Numbering({ extents, mask, before }, partition, width));
  }

  protected eachCell(member: number, visit: (at: number, position: number) => void): void {
    this.numberings[member].each(visit);
  }

  protected find(member: number, position: number): number {
    return this.numberings[member].find(position);
  }

  protected lower(container: KernelIR, plan: ContainerPlan): Lowered<SparseRole> {
    return lowerSparse(container, plan, [...this.offsets.values()]);
  }

  protected makeTables(role: SparseRole, member: number): Tables<SparseRole> {
    const { device } = this.set.members[member];
    const numbering = this.numberings[member];
    if (role === "outside") return { outside: numbering.outside };
    if (role !== "near" && role !== "far") return { [role]: device.from(i32, numbering.coordinates(COORDINATES.indexOf(role))) };
    const { near, far, groups } = connect(numbering, [...this.offsets.values()]);
    return { near: device.from(i32, near, [this.offsets.size, groups]), far: device.from(i32, far, [far.length / GROUP, GROUP]) };
  }
}
