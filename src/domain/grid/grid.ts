import type { Launch, Precision } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import type { NumericType } from "../../ir/types.js";
import type { Dimension } from "../../kernel/cells.js";
import type { ScalarToken } from "../../kernel/params.js";
import type { DeviceSet, Scalar } from "../../set/index.js";
import type { Container, ContainerBody, ContainerParams } from "../container/container.js";
import type { Field, FieldLayout, FieldOptions, FieldToken, FieldType } from "./field.js";

/**
 * The cells of a partition that a launch runs over: `internal` ones are farther from the neighbouring partitions than any stencil of the
 * grid reaches, `boundary` ones are the others, `standard` is both.
 */
export type DataView = "standard" | "internal" | "boundary";

/** The planes of the last axis (z; y in 2D) that one member of the set owns. */
export interface Partition {
  readonly device: number;
  /** Global index of the first plane. */
  readonly first: number;
  readonly planes: number;
  /** Active cells. */
  readonly cells: number;
}

/** A copy of one contiguous piece between the memories of two members; both views have rank 1 and one length. */
export interface HaloCopy {
  readonly from: number;
  readonly to: number;
  readonly source: View;
  readonly target: View;
}

/** A neighbour's position relative to a cell: [dx, dy, dz], or [dx, dy]. */
export type Offset = readonly number[];

export interface GridOptions {
  /** Cells that belong to the domain; all of the box where absent. Bytes in (z, y, x) order, or a predicate of global coordinates. */
  active?: ((x: number, y: number, z: number) => boolean) | Uint8Array;
  /** The layout of fields that ask for none; `soa` where absent. */
  layout?: FieldLayout;
  /** Axes whose ends meet: beyond the last cell comes the first. All, or one truth value for each of x, y (and z); none where absent. */
  periodic?: boolean | readonly boolean[];
}

/** Options of grids that have coarser ones. */
export interface LevelOptions extends GridOptions {
  /** How often the grid can be coarsened: partitions begin at multiples of 2 ** levels planes. 0 where absent. */
  levels?: number;
}

export interface DenseOptions extends LevelOptions {
  /**
   * Rows of cells follow each other in memory without room for the cells outside, which containers then ask for by their place. By default
   * so on GPUs, where a row fills cache lines and its padding would begin another one.
   */
  packed?: boolean;
}

export interface PrepareOptions {
  precision: Precision;
  /**
   * By reduce parameter: the view on this device that takes its partial results, see `collect` in reductions.ts; or a view of one
   * element that takes the result of this launch alone.
   */
  reductions?: Readonly<Record<string, View>>;
  /** Reductions stay with the launches, for `fold` of the device. */
  unfolded?: boolean;
  /** The container walks from the last plane to the first, where grid and device can and it pays. */
  backward?: boolean;
  /** Fields whose cells are stored in the halos of the neighbouring members by the container itself; see `forwards`. */
  forward?: readonly Field[];
}

/** How a grid can store its cells. */
export const GRID_KINDS = ["dense", "sparse", "blocks"] as const;
export type GridKind = (typeof GRID_KINDS)[number];

/** A rectilinear domain, its active cells spread over the members of a device set; the blueprint of fields and containers. */
export interface Grid<D extends Dimension = Dimension> {
  readonly dimension: D;
  readonly kind: GridKind;
  readonly set: DeviceSet;
  /** Cells of the bounding box along x, y and z, or x and y. */
  readonly extents: readonly number[];
  /** By axis, x first: whether its ends meet. */
  readonly periodic: readonly boolean[];
  /** The grid of twice the cell size, if `coarsen` made one. */
  readonly parent?: Grid<D>;
  /** Active cells. */
  readonly cells: number;
  /** One for each member, in the order of the planes. */
  readonly partitions: readonly Partition[];
  /** The members whose planes come before and after those of a member; undefined where none come. */
  neighbours(device: number): readonly [below: number | undefined, above: number | undefined];
  /** The farthest neighbour that a stencil of the grid reads, along x, y (and z); the last is the width of the halos in planes. */
  readonly reach: readonly number[];
  /** Counts how often memory was laid out anew or halos became wider: launches and halo copies of an earlier generation are void. */
  readonly generation: number;
  /** Host copy of the cells' activity: bytes in (z, y, x) order; undefined where every cell is active. */
  readonly mask: Uint8Array | undefined;

  field<T extends FieldType, const C extends number = 1>(name: string, type: FieldToken<T>, options?: FieldOptions<C>): Field<T, C, D>;
  /** A number that lives on every device, 0 at first. */
  scalar<T extends NumericType>(name: string, type: ScalarToken<T>): Scalar<T>;
  /** A function over all active cells; what it reads, writes and reduces is found from its code. */
  container<const P extends ContainerParams>(name: string, params: P, body: ContainerBody<P, D>): Container;

  /**
   * The grid of twice the cell size: cell (x, y, z) stands for the cells (2x, 2y, 2z) to (2x + 1, 2y + 1, 2z + 1) of this one, on the same
   * member, and is active if one of them is. Containers of each may read fields of the other, by `child` and `parent`.
   * @throws LaunchError where a partition begins at an odd plane, and of block-sparse grids
   */
  coarsen(): Grid<D>;

  /** Notes neighbours that containers read: halos become wide enough when memory is next used. Throws LaunchError beyond the grid. */
  require(offsets: readonly Offset[]): void;
  /** The same for a container that was not declared by `container`, such as a fused one. */
  requireStencils(container: Container): void;
  /** Lays out memory for the stencils noted so far; whatever uses memory calls it. */
  lay(): void;
  /** Launches of a container on one member, in order; none where the view has no cells. The caller frees them. */
  prepare(container: Container, device: number, view: DataView, options: PrepareOptions): Launch[];
  /** Copies that bring the halos of a field up to date, as far as the stencils noted so far read them. */
  halo(field: Field): readonly HaloCopy[];
  /** True where `prepare` can make the container, in fast mode and on the standard view, store what it writes to a field in halos as well. */
  forwards(container: Container, field: Field): boolean;
  /** Runs one container at once on all members, with halos brought up to date before and reductions finished after. */
  run(container: Container, options?: { precision?: Precision }): Promise<void>;
  /** Frees all fields and scalars. */
  free(): void;
}
