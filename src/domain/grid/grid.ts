import type { Launch, Precision } from "../../device/device.js";
import { requireFitting, type NumberArrayOf, type View } from "../../device/memory/view.js";
import { LaunchError } from "../../base/errors.js";
import { requireThing } from "../../base/own.js";
import type { KernelIR, Location, NumberType, ReduceOp, ScatterOp } from "../../ir/types.js";
import type { Captures } from "../../kernel/declare/captures.js";
import type { AxisAccess, AxisReduction, Cell, Dimension, FieldAccess } from "../../kernel/declare/cells.js";
import type { ArrayType, AssignToken, Helper, ReduceIntoToken, ScalarToken, TableToken } from "../../kernel/declare/params.js";
import type { BodyParam, ReduceMethod } from "../../kernel/declare/body.js";
import type { Pattern } from "../../patterns/pattern.js";
import { spansProcesses } from "../../set/one-process.js";
import type { DeviceSet, Scalar } from "../../set/index.js";
import type { Activity } from "./activity.js";
import type { AxisArray, AxisFieldOptions, AxisName, AxisOptions, AxisValues } from "./axis-array.js";
import type { CellTeams, OverTeams } from "./cell-teams.js";
import { isAny, type Margins } from "./ghosts.js";
import type { HalfType } from "../../ir/scalars.js";
import type { FieldLayout, FieldOptions, FieldToken, FieldType, GridKind, StoredFieldOptions } from "./options.js";
import type { ArrayUse, DataView, HaloCopy, March, MemberArray, Offset, Partition, Rounds } from "./parts.js";
import type { MemberRows, Planes, RowPlanes } from "./pieces.js";
import type { CellBox, Region } from "./region.js";

/*
 * A grid, its fields and its containers: a grid makes the others, and each of them knows its grid and the others.
 */

/** The value of component `k` of the cell at global coordinates; z is 0 in 2D. */
export type CellFunction = (x: number, y: number, z: number, k: number) => number;

/** Properties of a host array. */
export interface HostArrayOptions {
  /** Whether it includes the ghosts of the grid: the array then covers the box with its ghosts. */
  ghosts?: boolean;
}

/** Properties of the boxes of a field. */
export interface BoxOptions extends HostArrayOptions {
  /** Numbers of the members of this process whose boxes are wanted. Default: all. */
  members?: readonly number[];
}

/** Values of some planes of the last axis. */
export interface FieldPlanes<T extends FieldType = FieldType> extends Planes {
  /** In the order (z, y, x, k), as host arrays are. */
  readonly values: NumberArrayOf<T>;
}

/** Values of a member's rows of some planes. */
export interface FieldBox<T extends FieldType = FieldType> extends FieldPlanes<T>, RowPlanes {}

/**
 * Values of `cardinality` components for each active cell of a grid, in the memories of the members that own the cells.
 * Host arrays are dense: one value for each component of each cell of the bounding box, in the order (z, y, x, k).
 */
export class Field<T extends FieldType = FieldType, C extends number = number, D extends Dimension = Dimension> {
  private views: readonly View<T>[] | undefined;
  private freed = false;
  /** How often it was written: what reads it some planes at a time looks whether that changes. */
  private writes = 0;
  /** Something has given it values: the host or a container. */
  defined = false;
  /** Halos hold the neighbours' values. */
  coherent = true;
  readonly layout: FieldLayout;
  /** As it is stored: the value over the scale. */
  readonly fillValue: number;
  /** Power of two by which what is stored is multiplied. */
  readonly scale: number;

  constructor(
    readonly grid: FieldGrid<D>,
    readonly name: string,
    readonly type: T,
    readonly cardinality: C,
    { layout, fillValue, scale }: { layout: FieldLayout; fillValue: number; scale: number },
  ) {
    this.layout = layout;
    this.fillValue = fillValue;
    this.scale = scale;
  }

  /** The memory on each member of this process, at the member's number, halos and padding included, in the grid's own layout; laid out at first use. */
  get storage(): readonly View<T>[] {
    if (this.freed) throw new LaunchError(`field "${this.name}" was freed; free fields only when nothing uses them`);
    this.grid.layOut();
    return (this.views ??= this.grid.allocate(this as unknown as Field) as readonly View<T>[]);
  }

  /** True once memory was laid out. */
  get stored(): boolean {
    return this.views !== undefined;
  }

  /** Values of the host array of this field. */
  get length(): number {
    return this.lengthOf({});
  }

  private lengthOf({ ghosts = false }: HostArrayOptions): number {
    const { extents, ghosts: margins } = this.grid;
    return extents.reduce((a, b, axis) => a * (ghosts ? b + margins[axis][0] + margins[axis][1] : b), this.cardinality as number);
  }

  /**
   * One value everywhere, or one for each active cell and component, computed on the host some planes at a time; with `ghosts`, for them as well. Over
   * several processes each computes the pieces of 32 MiB in which it stores planes, so the function depends on its arguments alone.
   * @throws LaunchError for a value that the type cannot hold; planes before it may have been set
   */
  fill(value: number | CellFunction, options: HostArrayOptions = {}): void {
    requireThing(
      `field "${this.name}"`,
      value,
      typeof value === "number" || typeof value === "function",
      "fill it with a number, or a function of the coordinates",
    );
    if (typeof value === "number") requireFitting(this.type, [value]);
    this.noteFill(options, typeof value === "number");
    if (typeof value === "number" && !options.ghosts) this.grid.fill(this, value / this.scale);
    else this.grid.tabulate(this, typeof value === "number" ? () => value : value, options.ghosts);
  }

  /** Sets all active cells from a host array in the order (z, y, x, k), with `ghosts` these as well. Values of inactive cells are ignored. */
  upload(data: ArrayLike<number>, options: HostArrayOptions = {}): void {
    const length = this.lengthOf(options);
    if (data.length !== length)
      throw new LaunchError(
        `field "${this.name}" is given ${data.length} values; it takes ${length}, ${this.cardinality} for each cell of [${this.grid.extents}]` +
          (options.ghosts ? " and each ghost" : ""),
      );
    this.noteFill(options);
    this.grid.upload(this, data, options.ghosts);
  }

  /**
   * Sets all active cells some planes at a time, so that the host never has all values. Planes come in order, and cells of planes that were set keep their
   * values where `values` throws. Over several processes each asks for the planes in which its members own cells.
   * @param values gives the values of the planes [first, end) in the order (z, y, x, k); with `ghosts`, planes begin before 0 and have their ghosts
   * @throws LaunchError for another number of values, and for one that the type cannot hold
   */
  async uploadPlanes(
    values: (first: number, end: number) => ArrayLike<number> | Promise<ArrayLike<number>>,
    options: HostArrayOptions = {},
  ): Promise<void> {
    for (const { first, end } of this.grid.takenPieces(this as unknown as Field, options.ghosts)) {
      const data = await values(first, end);
      const length = (end - first) * this.grid.planeLength(this as unknown as Field, options.ghosts);
      if (data.length !== length)
        throw new LaunchError(
          `field "${this.name}" is given ${data.length} values for the planes from ${first} to ${end - 1}; they take ${length}`,
        );
      this.defined = true;
      this.grid.writePlanes(this as unknown as Field, first, data, options.ghosts);
    }
    this.noteFill(options);
  }

  /**
   * The values of whole planes in order, some at a time (32 MiB, or one plane where it has more): what `download` gives, for any number of cells. Each
   * piece is an array of its own, read when its turn comes. With `ghosts`, planes begin before 0. Over several processes, the planes that members of
   * this process own.
   * @throws LaunchError if the field is written before the last piece is read, as pieces would be of different times
   */
  planes({ ghosts }: HostArrayOptions = {}): AsyncGenerator<FieldPlanes<T>, void, undefined> {
    const pieces = this.grid.ownPieces(this as unknown as Field, ghosts);
    return this.inPieces(pieces, (piece) => this.grid.readOwnPlanes(this as unknown as Field<T>, piece, ghosts));
  }

  /** The same with all planes in each process of the set, which all ask alike. */
  wholePlanes({ ghosts }: HostArrayOptions = {}): AsyncGenerator<FieldPlanes<T>, void, undefined> {
    const pieces = this.grid.pieces(this as unknown as Field, ghosts);
    return this.inPieces(pieces, (piece) => this.grid.readPlanes(this as unknown as Field<T>, piece, ghosts));
  }

  /**
   * The values of the cells that members of this process own, for all grids, however they are cut: some rows of some planes at a time, member after member.
   * Two dimensions have rows [0, 1). With `ghosts`, planes and rows begin before 0 and go beyond the end where the member has ghosts, and rows have the
   * ghosts along x. No messages are sent.
   * @throws LaunchError if the field is written before the last piece is read, as pieces would be of different times
   */
  boxes({ ghosts, members }: BoxOptions = {}): AsyncGenerator<FieldBox<T>, void, undefined> {
    const boxes = this.grid.ownBoxes(this as unknown as Field, ghosts).filter(({ member }) => members?.includes(member) ?? true);
    return this.inPieces(boxes, (box) => this.grid.readBox(this as unknown as Field<T>, box, ghosts));
  }

  private async *inPieces<P extends Planes>(
    pieces: readonly P[],
    read: (piece: P) => Promise<NumberArrayOf<T>>,
  ): AsyncGenerator<P & FieldPlanes<T>, void, undefined> {
    const { writes } = this;
    for (const piece of pieces) {
      if (this.writes !== writes)
        throw new LaunchError(
          `field "${this.name}" was written while its planes were read, so they would be of different times: await its reader, such as the writer ` +
            "of a file, before you submit more work, or give the reader a field of its own",
        );
      yield { ...piece, values: await read(piece) };
    }
  }

  /**
   * A host array in the order (z, y, x, k), once the work on all default streams is done; inactive cells have the fill value. With `ghosts`,
   * the array covers the box and its ghosts. Over several processes all call it, and each gets all values.
   * @throws LaunchError for more than 1 GiB, which `planes` gives
   */
  download(options: HostArrayOptions = {}): Promise<NumberArrayOf<T>> {
    return this.grid.download(this, options.ghosts);
  }

  /** Component `k` of the cell, or the ghost, at global coordinates [x, y, z]; the fill value if it is not an active cell. All processes call it alike. */
  get(cell: readonly number[], k = 0): Promise<number> {
    return this.grid.getValue(this, cell, k);
  }

  /** Sets component `k` of an active cell or a ghost. */
  set(cell: readonly number[], value: number, k = 0): void {
    this.noteWrite();
    this.grid.setValue(this, cell, value, k);
  }

  /** All cells were set, in halos as well. Ghosts beside halos are as they were, unless they were set, too. */
  /** @param isAlike each process has the same values; otherwise halos take the values of the process that owns the cells */
  private noteFill({ ghosts }: HostArrayOptions, isAlike = false): void {
    this.writes++;
    this.defined = true;
    if (!isAlike && spansProcesses(this.grid.set)) this.coherent = false;
    else this.coherent ||= ghosts === true || !isAny(this.grid.ghosts);
  }

  /** Cells were written, halos were not: for whatever runs containers. */
  noteWrite(): void {
    this.writes++;
    this.defined = true;
    this.coherent = false;
  }

  /** Exchanges the contents of two fields of one grid, type, cardinality, layout and fill value, without a copy. */
  swap(other: Field): void {
    const same = (["grid", "type", "cardinality", "layout", "fillValue", "scale"] as const).every((key) =>
      Object.is(this[key], other[key]),
    );
    if (!same)
      throw new LaunchError(
        `fields "${this.name}" and "${other.name}" cannot be swapped: they need one grid, type, cardinality, layout and fill value`,
      );
    const twin = other as unknown as Field<T, C, D>;
    this.grid.readAlike(this as unknown as Field, other);
    this.writes++;
    twin.writes++;
    [this.views, twin.views] = [twin.storage, this.storage];
    [this.defined, twin.defined] = [twin.defined, this.defined];
    [this.coherent, twin.coherent] = [twin.coherent, this.coherent];
  }

  /** Puts other memory, without halos, in place of the field's, which is freed: for grids that lay out anew. */
  move(views: readonly View<T>[]): void {
    this.coherent = false;
    this.views?.forEach((view) => view.free());
    this.views = views;
  }

  /** Frees the memory; the field cannot be used again. */
  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.views?.forEach((view) => view.free());
    this.views = undefined;
    this.grid.forget(this);
  }
}

/** `sum(scalar)`, `min(scalar)`, `max(scalar)`: a reduction whose result goes into the scalar. */
type ScalarReduction<T extends NumberType = NumberType, O extends ReduceOp = ReduceOp> = ReduceIntoToken<Scalar<T>, O>;

/** The same into an array along axes: for each of its coordinates, over all cells that have it. */
export type AxisArrayReduction<C extends number = number, O extends ReduceOp = ReduceOp> = ReduceIntoToken<
  AxisArray<NumberType & FieldType, C>,
  O
>;

/**
 * Declarations of a container's parameters: fields, arrays along axes, scalars (read as numbers), reductions into scalars and arrays along
 * axes, numbers and truth values, tables, helpers, types of private arrays.
 */
export type ContainerParam =
  | Field
  | AxisArray
  | Scalar
  | ScalarReduction
  | AxisArrayReduction
  | TableToken
  | Helper
  | ArrayType
  | number
  | boolean;
/** The parameters of a container, by name. */
export type ContainerParams = Record<string, ContainerParam>;

type ContainerBodyParam<P> =
  P extends Field<FieldType, infer C, infer D>
    ? FieldAccess<C, D>
    : P extends AxisArray<FieldType, infer C, infer N>
      ? AxisAccess<C, N>
      : P extends ReduceIntoToken<AxisArray<NumberType & FieldType, infer C>, infer O>
        ? AxisReduction<C, ReduceMethod<O>>
        : P extends Scalar | number
          ? number
          : P extends boolean
            ? boolean
            : BodyParam<P>;

/** A container as written: it runs once for each active cell, in any order and in parallel, and writes where no other cell reads or writes. */
export type ContainerBody<P extends ContainerParams, D extends Dimension = Dimension> = (
  params: { [K in keyof P]: ContainerBodyParam<P[K]> },
  c: Cell<D>,
) => void;

/**
 * Declarations of a scalar step's parameters: scalars, `assign(scalar)` for the ones that it sets, numbers and truth values, tables,
 * helpers, types of private arrays.
 */
export type ScalarStepParam = Scalar | AssignToken<Scalar> | TableToken | Helper | ArrayType | number | bigint | boolean;
/** The parameters of a scalar step, by name. */
export type ScalarStepParams = Record<string, ScalarStepParam>;

/** A scalar that a step sets, in its body. */
export interface AssignedScalar {
  set(value: number): void;
  /** The value from before the step, or that was set. */
  get(): number;
}

/** A scalar step as written. It runs once. */
export type ScalarStepBody<P extends ScalarStepParams> = (params: {
  [K in keyof P]: P[K] extends AssignToken ? AssignedScalar : ContainerBodyParam<P[K]>;
}) => void;

/** How a container uses one of its fields. */
export interface FieldUse {
  readonly param: string;
  readonly field: Field;
  readonly read: boolean;
  readonly written: boolean;
  /** Distinct neighbour offsets [dx, dy, dz] that are read, the own cell excluded; for fields of other grids, all offsets of `fine` or `coarse`. */
  readonly offsets: readonly (readonly number[])[];
  /** Distinct neighbour offsets that are written; undefined if there are none. Each component is touched at one offset only, or they lead to ghosts. */
  readonly spread?: readonly (readonly number[])[];
  /** Grid of the field: the container's, or the one of half (`fine`) or of twice the cell size (`coarse`). */
  readonly level: "own" | "fine" | "coarse";
}

/** Particles on a grid, as containers and skeletons use them. */
export interface GridSpecies {
  readonly name: string;
  readonly grid: Grid;
  /** Place of its declaration. */
  readonly location: Location;
  readonly columns: Readonly<Record<string, MemberArray>>;
  /** For each cell, the place of its first particle in the columns, and their number. */
  readonly first: Field;
  readonly count: Field;
  /** Data of a skeleton's nodes besides columns: particles that leave a member, and particles that arrive. */
  readonly outbox: { readonly name: string };
  readonly inbox: { readonly name: string };
  /** Each particle is on the member, and in the list of the cell, where its position is. */
  coherent: boolean;
  /** All memory that runs change, besides `first` and `count`: what a snapshot has to keep. */
  readonly kept: readonly MemberArray[];
  /** Threads of a GPU that share out the particles of a cell. */
  readonly lanes: number;
  /** Sends particles to their members and sorts them by cell, where they are not. */
  sort(): Promise<void>;
  /** Throws IsoformError if particles were found in no cell; `where` tells the reader of the message what was run. */
  check(where: string): Promise<void>;
  /** On one member, those that leave for others go to outboxes. */
  leaving(member: number): Pattern;
  /** Messages by which particles go to other members, and their bytes; undefined before any particles are loaded. */
  readonly traffic: { readonly messages: number; readonly bytes: number } | undefined;
  /** Copies of outboxes to where they arrive. */
  transfers(): readonly HaloCopy[];
  /** On one member, particles come into the order of their cells, and lists say which cell has which. */
  sorting(member: number): Pattern;
}

/** Properties of a container that runs for each particle of each cell. */
interface ParticlesUse {
  readonly species: GridSpecies;
  /** Whether its action depends on the cells in which the particles are. */
  readonly needsSort: boolean;
  /** It changes their positions. */
  readonly moves: boolean;
  /** Lanes that share out the particles of a cell on a GPU; 1 where there are few. */
  lanes(): number;
  /** The kernel over a box, as one over teams of cells; undefined if there is none. */
  overTeams(ir: KernelIR, cells: CellTeams): OverTeams | undefined;
}

/** Cells of a field that go to other places: see `roll`. */
export interface Roll {
  readonly source: Field;
  readonly target: Field;
  readonly components: readonly number[];
  /** The cells that take values, along x, y (and z). */
  readonly bounds: readonly (readonly [first: number, end: number])[];
  readonly shift: readonly number[];
}

/** A reduction into an array along axes. */
export interface AxisFold {
  readonly array: AxisArray;
  readonly op: ScatterOp;
  /** Reduce parameters of the code, one for each component. */
  readonly params: readonly string[];
  readonly accumulate: boolean;
  /** The first component that takes a result. */
  readonly first: number;
}

/** Result of `grid.container`: a body that runs once for each cell, with its reads and writes, known from its code. */
export interface Container {
  readonly name: string;
  readonly grid: Grid;
  /** The cells that it runs over. Default: all of the grid's. */
  readonly box?: CellBox;
  /** Place of its declaration. */
  readonly location: Location;
  /** Independent of the grid's kind: every field as one global dense array `[z][y][x][k]`, the body over (z, y, x); docs/domain.md. */
  readonly ir: KernelIR;
  /** The fields that the code touches. */
  readonly uses: readonly FieldUse[];
  /** Scalars that it reads, by parameter. */
  readonly scalars: ReadonlyMap<string, Scalar>;
  /** Scalars that take results, by reduce parameter. */
  readonly reductions: ReadonlyMap<string, Scalar>;
  /** Plain numbers and truth values, by scalar parameter. */
  readonly values: ReadonlyMap<string, number | bigint | boolean>;
  /** For a scalar step, which has no cells: the scalars that it sets, by view parameter. Scalars that it also reads are among `scalars`, too. */
  readonly assigned?: ReadonlyMap<string, Scalar>;
  /** Arrays along axes, by view parameter. */
  readonly axisArrays?: ReadonlyMap<string, AxisArray>;
  /** Reductions into arrays along axes. */
  readonly axisFolds?: readonly AxisFold[];
  /** Runs it in place of `prepare` of the grid: such a container is neither split nor fused. */
  readonly inRounds?: (container: Container, precision: Precision) => Rounds;
  /** The view parameter of the mask that `isActive` reads, and the offsets at which it is read, the own cell excluded. */
  readonly mask?: { readonly param: string; readonly offsets: readonly (readonly number[])[] };
  /** Columns of particles and other arrays of each member, by view parameter. */
  readonly arrays?: ReadonlyMap<string, ArrayUse>;
  readonly particles?: ParticlesUse;
  /** How it goes up stretches of columns, where it does. */
  readonly march?: March;
  /** It reads other cells than its own. */
  readonly stencil: boolean;
  readonly reduces: boolean;
}

/** Scalars to which a container gives values. */
export const resultsOf = ({ reductions, assigned }: Container): Scalar[] => [...reductions.values(), ...(assigned?.values() ?? [])];

/** How a container is declared beside its function. */
export interface ContainerOptions<D extends Dimension = Dimension> {
  /** The cells that it runs over: a region, or the intersection of several. Default: all of the grid's. */
  on?: Region | readonly Region[];
  /** The axis along which `c.march` goes. */
  march?: AxisName<D>;
  /** Cells that a march goes along before another one begins. Default: chosen by the grid. */
  stretch?: number;
}

/** How a grid prepares the launch of a container on one member of a set. */
export interface PrepareOptions {
  precision: Precision;
  /**
   * By reduce parameter: the view on this device that takes its partial results, see `collect` in reductions.ts; or a view of one
   * element that takes the result of this launch alone.
   */
  reductions?: Readonly<Record<string, View>>;
  /** Reductions stay with the launches, for `fold` of the device. */
  unfolded?: boolean;
  /** The container sweeps from the last plane to the first, where grid and device can and it pays. */
  sweepBackward?: boolean;
  /** Fields whose cells are stored in the halos of the neighbouring members by the container itself; see `canPeerStore`. */
  peerStored?: readonly Field[];
}

/** A rectilinear domain, its active cells spread over the members of a device set; the blueprint of fields and containers. */
export interface Grid<D extends Dimension = Dimension> {
  readonly dimension: D;
  readonly kind: GridKind;
  readonly set: DeviceSet;
  /** Cells of the bounding box along x, y and z, or x and y. */
  readonly extents: readonly number[];
  /** By axis, x first: whether it is periodic. */
  readonly periodic: readonly boolean[];
  /** Layers of ghosts beyond each end of each axis, x first: 0 in grids without. */
  readonly ghosts: Margins;
  /** The grid of twice the cell size, if `coarsen` made one. */
  readonly coarse?: Grid<D>;
  /** Active cells. */
  readonly cells: number;
  /** One for each member of all processes, in the order of the planes. */
  readonly partitions: readonly Partition[];
  /** Axes that are cut among members, x being 0: the last one, y, or both. */
  readonly cutAxes: readonly number[];
  /** The members whose planes come before and after a member's, of the same rows; undefined if there are none. */
  neighbours(device: number): readonly [below: number | undefined, above: number | undefined];
  /** All members beside a member, edges included, in their order. */
  around(device: number): readonly number[];
  /** The farthest neighbour that a stencil of the grid reads, along x, y (and z); the last is the width of the halos in planes. */
  readonly reach: readonly number[];
  /** Counts how often memory was laid out anew or halos became wider: launches and halo copies of an earlier generation are void. */
  readonly generation: number;
  /** Which cells are active, some planes at a time. */
  readonly activity: Activity;
  /**
   * Host copy of the cells' activity, made when it is first asked for: bytes in (z, y, x) order; undefined where every cell is active.
   * @throws LaunchError for a box of more than 1 GiB of them, whose `activity` gives some planes at a time
   */
  readonly mask: Uint8Array | undefined;

  /** A field of f32 that is stored in 16 bits: see `StoredFieldOptions`. */
  field<S extends HalfType, const C extends number = 1>(
    name: string,
    type: FieldToken<"f32">,
    options: StoredFieldOptions<S, C>,
  ): Field<S, C, D>;
  field<T extends FieldType, const C extends number = 1>(name: string, type: FieldToken<T>, options?: FieldOptions<C>): Field<T, C, D>;
  /**
   * One value for each coordinate of the named axes alone, 0 at first, which containers reduce into and read: `sum(mean)`, `mean[c]`.
   * @throws LaunchError for axes that the grid does not have, and for all of its axes
   */
  field<T extends FieldType, const A extends readonly AxisName<D>[], const C extends number = 1>(
    name: string,
    type: FieldToken<T>,
    options: AxisFieldOptions<A, C>,
  ): AxisArray<T, C, A["length"]>;
  /**
   * One value for each coordinate along an axis, for containers: `m[c]`, `m.at(c, d)`.
   * @throws LaunchError for an axis that the grid does not have, and for values that are not as many as coordinates and ghosts
   */
  axis<T extends FieldType>(name: AxisName<D>, type: FieldToken<T>, values: AxisValues, options?: AxisOptions): AxisArray<T, 1, 1>;
  /** A number that lives on every device, 0 at first. */
  scalar<T extends NumberType>(name: string, type: ScalarToken<T>): Scalar<T>;
  /**
   * A function over all active cells; what it reads, writes and reduces is found from its code.
   *
   * @param captures lists what the body takes from around it, `() => [wave, C]`: constants, tables, functions, types of arrays
   * @param options `on`: the cells that it runs over, such as `face("ymin")`; `march`: the axis along which its body goes from cell to cell by `c.march`
   */
  container<const P extends ContainerParams>(
    name: string,
    params: P,
    body: ContainerBody<P, D>,
    captures?: Captures,
    options?: ContainerOptions<D>,
  ): Container;
  /**
   * A function over scalars alone, which runs once on each member and sets scalars: `grid.scalarStep("dt", { dt: assign(dt), limit }, ({ dt, limit }) =>
   * dt.set(0.8 / limit))`. For sequences of skeletons and for `run`. It is strict whatever the skeleton is, so that all members get the same bits.
   */
  scalarStep<const P extends ScalarStepParams>(name: string, params: P, body: ScalarStepBody<P>, captures?: Captures): Container;

  /**
   * The grid of twice the cell size: cell (x, y, z) stands for the cells (2x, 2y, 2z) to (2x + 1, 2y + 1, 2z + 1) of this one, on the same
   * member, and is active if one of them is. Containers of each may read fields of the other, by `fine` and `coarse`.
   * @throws LaunchError if a partition begins at an odd plane, and of brick grids
   */
  coarsen(): Grid<D>;

  /** Notes neighbours that containers read: halos become wide enough when memory is next used. Throws LaunchError beyond the grid. */
  require(offsets: readonly Offset[]): void;
  /** The same for a container that was not declared by `container`, such as a fused one. */
  requireStencils(container: Container): void;
  /** Lays out memory for the stencils noted so far; whatever uses memory calls it. */
  layOut(): void;
  /** Launches of a container on one member of this process, in order; none if the view has no cells. The caller frees them. */
  prepare(container: Container, device: number, view: DataView, options: PrepareOptions): Launch[];
  /** Runs a container that reduces along axes; undefined if grids of the kind cannot. */
  foldAlongAxes?(container: Container, precision: Precision): Rounds;
  /** Copies cells to other places; undefined if grids of the kind cannot. */
  roll?(cells: Roll): Rounds;
  /** Copies that bring the halos of a field up to date, as far as the stencils noted so far read them. */
  halo(field: Field): readonly HaloCopy[];
  /** The same where copies are not all of it, as halos are packed and unpacked; undefined where they are. */
  haloRounds?(field: Field): Rounds | undefined;
  /** True where `prepare` can make the container, in fast mode and on the standard view, store what it writes to a field in halos as well. */
  canPeerStore(container: Container, field: Field): boolean;
  /** Runs one container at once on all members, with halos brought up to date before and reductions finished after. */
  run(container: Container, options?: { precision?: Precision }): Promise<void>;
  /** Frees all fields and scalars. */
  free(): void;
}

/** A grid as its fields use it. */
export interface FieldGrid<D extends Dimension = Dimension> extends Grid<D> {
  /** New memory of a field on each member of this process: 0 in active cells, the fill value everywhere else. */
  allocate(field: Field): readonly View[];
  /** One value in all active cells, halos included. */
  fill(field: Field, value: number): void;
  /** Sets active cells, halos included, and `ghosts` to what a function gives. */
  tabulate(field: Field, value: CellFunction, ghosts?: boolean): void;
  /** Sets active cells, halos included, from a host array in (z, y, x) order; values of inactive cells become the fill value. */
  upload(field: Field, data: ArrayLike<number>, ghosts?: boolean): void;
  /** The reverse. Throws LaunchError for more than the host takes at once. */
  download<T extends FieldType>(field: Field<T>, ghosts?: boolean): Promise<NumberArrayOf<T>>;
  /** Runs of planes whose values may be on the host at once: all planes of host arrays in order. */
  pieces(field: Field, ghosts?: boolean): readonly Planes[];
  /** The same runs of the planes that members of this process own. Throws LaunchError where processes own some of the rows of planes. */
  ownPieces(field: Field, ghosts?: boolean): readonly Planes[];
  /** The same runs of the planes in which members of this process own cells. */
  takenPieces(field: Field, ghosts?: boolean): readonly Planes[];
  /** Boxes of cells of one member of this process each, whose values may be on the host at once: all that these members own. */
  ownBoxes(field: Field, ghosts?: boolean): readonly MemberRows[];
  /** Values of a plane of a host array. */
  planeLength(field: Field, ghosts?: boolean): number;
  /** Sets the active cells of one of the `pieces`, from its first plane on, as `upload` does. */
  writePlanes(field: Field, first: number, data: ArrayLike<number>, ghosts?: boolean): void;
  /** The values of some planes that members of this process own, as `download` gives them. */
  readOwnPlanes<T extends FieldType>(field: Field<T>, planes: Planes, ghosts?: boolean): Promise<NumberArrayOf<T>>;
  /** The values of one of `ownBoxes`. */
  readBox<T extends FieldType>(field: Field<T>, box: MemberRows, ghosts?: boolean): Promise<NumberArrayOf<T>>;
  /** The values of some planes, as `download` gives them. All processes of the set call it alike. */
  readPlanes<T extends FieldType>(field: Field<T>, planes: Planes, ghosts?: boolean): Promise<NumberArrayOf<T>>;
  /** Component `k` of a cell or a ghost; the fill value where it is neither active nor a ghost. */
  getValue(field: Field, cell: readonly number[], k: number): Promise<number>;
  /** Throws LaunchError if the cell is neither active nor a ghost. */
  setValue(field: Field, cell: readonly number[], value: number, k: number): void;
  /**
   * Notes what a container of this grid, or of the one coarser or finer, reads of a field of this one.
   * @param refuse is called for neighbours beyond the grid
   */
  noteReads(container: Container, use: FieldUse, refuse: (problem: string, remedy: string) => never): void;
  /** Makes readers of one field's halos read the other's: they are about to be swapped. */
  readAlike(a: Field, b: Field): void;
  /** The field was freed. */
  forget(field: Field): void;
}
