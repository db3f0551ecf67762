import type { Launch, Precision } from "../device/device.js";
import { requireElementType, requireFitting, typedArray, type TypedArrayOf, type View } from "../device/memory/view.js";
import type { NumericType } from "../ir/types.js";
import type { Captures } from "../kernel/captures.js";
import type { Dimension } from "../kernel/cells.js";
import { ContainerError, LaunchError } from "../ir/errors.js";
import { requireOptions, requireThing } from "../ir/own.js";
import { callSite } from "../kernel/location.js";
import type { ScalarToken } from "../kernel/params.js";
import { Scalar, type DeviceSet } from "../set/index.js";
import { declareContainer } from "./container/declare.js";
import { declareScalarStep, prepareScalarStep } from "./container/scalar-step.js";
import { AxisArray, type AxisFieldOptions, type AxisName, type AxisOptions, type AxisValues } from "./grid/axis-array.js";
import { ghostsOf, isAny, noMargins, type Ghosts, type Margins } from "./grid/ghosts.js";
import {
  Field,
  type CellFunction,
  type Container,
  type ContainerBody,
  type ContainerOptions,
  type ContainerParams,
  type FieldGrid,
  type FieldUse,
  type Grid,
  type PrepareOptions,
  type Roll,
  type Rounds,
  type ScalarStepBody,
  type ScalarStepParams,
} from "./grid/grid.js";
import type { FieldLayout, FieldOptions, FieldToken, FieldType, GridOptions } from "./grid/options.js";
import type { DataView, HaloCopy, Offset, Partition } from "./grid/parts.js";
import { HaloWidths } from "./container/halo-widths.js";
import { activityOf, coarseMask, partition, periodicAxes, type Activity } from "./grid/partition.js";
import { Runs } from "./container/run.js";

/** Where one value of a field lies. */
export interface ValueLocation {
  readonly member: number;
  /** One element. */
  readonly view: View;
}

/** Runs of planes of partitions that are not for a grid to choose. */
export type Given = readonly Pick<Partition, "first" | "planes">[];

/** What grids of all kinds have in common: activity, partitions, the stencils noted, and the fields whose memory they lay out. */
export abstract class BaseGrid<D extends Dimension = Dimension> implements FieldGrid<D> {
  abstract readonly kind: Grid["kind"];
  readonly dimension: D;
  readonly periodic: readonly boolean[];
  readonly ghosts: Margins;
  generation = 0;
  /** Neighbours that stencils read, by their text. */
  protected readonly offsets = new Map<string, Offset>();
  protected readonly layout: FieldLayout;
  protected readonly activity: Activity;
  protected readonly haloWidths = new HaloWidths();
  private readonly fields = new Set<Field>();
  private readonly scalars: Scalar[] = [];
  private readonly axisArrays: AxisArray[] = [];
  private readonly runs = new Runs();
  private coarseGrid: BaseGrid<D> | undefined;
  private laidOut = false;
  /** Some container writes other cells than its own. */
  protected spreads = false;
  private cut: readonly Partition[] | undefined;
  /** Once set, partitions stay as they are. */
  private frozen = false;

  /**
   * @param step partitions begin at multiples of so many planes
   * @param given runs of planes, where these are not for the grid to choose
   */
  constructor(
    readonly set: DeviceSet,
    readonly extents: readonly number[],
    options: GridOptions & { readonly ghosts?: Ghosts },
    private readonly step = 1,
    given?: Given,
  ) {
    requireOptions("a grid", options, ["active", "layout", "periodic", "levels", "packed", "ghosts", "brick", "kind"]);
    this.activity = activityOf(extents, options.active);
    this.dimension = extents.length as D;
    this.periodic = periodicAxes(extents, options.periodic);
    this.ghosts = ghostsOf(extents, this.periodic, options.ghosts);
    if (!this.canHaveGhosts && isAny(this.ghosts))
      throw new LaunchError(`a grid of [${extents}] cells with ghosts: only dense grids can have them`);
    this.layout = options.layout ?? "soa";
    if (given) this.freeze(given.map(({ first, planes }, device) => ({ device, first, planes, cells: this.cellsOf(first, planes) })));
    else this.cut = partition(this.activity.planes, set.members.length, 1, step);
  }

  /** Memory has places beyond the sides. */
  protected get canHaveGhosts(): boolean {
    return false;
  }

  get cells(): number {
    return this.activity.cells;
  }

  get mask(): Uint8Array | undefined {
    return this.activity.mask;
  }

  get reach(): readonly number[] {
    const offsets = [...this.offsets.values()];
    return this.extents.map((_, axis) => offsets.reduce((most, offset) => Math.max(most, Math.abs(offset[axis])), 0));
  }

  get partitions(): readonly Partition[] {
    return (this.cut ??= partition(this.activity.planes, this.set.members.length, this.reach.at(-1), this.step));
  }

  neighbours(device: number): readonly [below: number | undefined, above: number | undefined] {
    const { length } = this.set.members;
    const isRing = length > 1 && this.periodic.at(-1)!;
    const member = (m: number): number | undefined => (isRing ? (m + length) % length : m >= 0 && m < length ? m : undefined);
    return [member(device - 1), member(device + 1)];
  }

  get coarse(): BaseGrid<D> | undefined {
    return this.coarseGrid;
  }

  coarsen(): BaseGrid<D> {
    if (this.coarseGrid) return this.coarseGrid;
    if (isAny(this.ghosts))
      throw new LaunchError(`the grid of [${this.extents}] cells cannot be coarsened: it has ghosts; make the coarser grid by itself`);
    const odd = this.partitions.find(({ first }) => first % 2 === 1);
    if (odd)
      throw new LaunchError(
        `the grid of [${this.extents}] cells cannot be coarsened: the planes of ${this.set.members[odd.device].name} begin at ${odd.first}; ` +
          `give the finest grid { levels: n } for n coarser ones`,
      );
    const uneven = this.extents.findIndex((n, axis) => this.periodic[axis] && n % 2 === 1);
    if (uneven >= 0)
      throw new LaunchError(
        `the grid of [${this.extents}] cells cannot be coarsened: it is periodic along ${"xyz"[uneven]}, where pairs of ${this.extents[uneven]} cells ` +
          `do not come round; give an even number of cells to periodic axes`,
      );
    this.freeze();
    const extents = this.extents.map((n) => Math.ceil(n / 2));
    const active = this.mask && coarseMask(this.mask, this.extents);
    const partitions = this.partitions.map(({ first, planes }) => ({ first: first / 2, planes: Math.ceil(planes / 2) }));
    this.coarseGrid = this.makeCoarse(extents, { layout: this.layout, active, periodic: this.periodic }, partitions);
    return this.coarseGrid;
  }

  /** A grid of this kind on the same set, of twice the cell size. */
  protected abstract makeCoarse(extents: readonly number[], options: GridOptions, partitions: Given): BaseGrid<D>;

  /** Active cells of some planes. */
  private cellsOf(first: number, planes: number): number {
    return this.activity.planes.slice(first, first + planes).reduce((a, b) => a + b, 0);
  }

  /** Keeps partitions as they are, or as given, whatever stencils are noted later. */
  protected freeze(partitions = this.partitions): void {
    this.cut = partitions;
    this.frozen = true;
  }

  field<T extends FieldType, const C extends number = 1>(name: string, token: FieldToken<T>, options?: FieldOptions<C>): Field<T, C, D>;
  field<T extends FieldType, const A extends readonly AxisName<D>[], const C extends number = 1>(
    name: string,
    token: FieldToken<T>,
    options: AxisFieldOptions<A, C>,
  ): AxisArray<T, C, A["length"]>;
  field<T extends FieldType, C extends number>(
    name: string,
    token: FieldToken<T>,
    options: FieldOptions<C> | AxisFieldOptions<readonly AxisName[], C> = {},
  ): Field<T, C, D> | AxisArray<T, C> {
    requireElementType(`field "${String(name)}"`, token);
    if ("axes" in options) return this.keptArray(new AxisArray<T, C>(this, name, token, options));
    const { cardinality = 1, layout = this.layout, fillValue = 0, ...others } = options;
    for (const other of Object.keys(others))
      throw new LaunchError(`field "${name}" has no option "${other}"; it has cardinality, layout and fillValue`);
    if (!Number.isInteger(cardinality) || cardinality < 1)
      throw new LaunchError(`field "${name}" has cardinality ${cardinality}; give a whole number of at least 1`);
    if (layout !== "soa" && layout !== "aos") throw new LaunchError(`field "${name}" has layout "${String(layout)}"; use "soa" or "aos"`);
    requireFitting(token.type, [fillValue]);
    const field = new Field(this, name, token.type, cardinality as C, layout, fillValue);
    this.fields.add(field as unknown as Field);
    return field;
  }

  axis<T extends FieldType>(name: AxisName<D>, type: FieldToken<T>, values: AxisValues, options?: AxisOptions): AxisArray<T, 1, 1> {
    return this.keptArray(new AxisArray<T, 1, 1>(this, name, type, { ...options, axes: [name as AxisName], cardinality: 1 }, values));
  }

  private keptArray<A extends AxisArray>(array: A): A {
    this.axisArrays.push(array);
    return array;
  }

  scalar<T extends NumericType>(name: string, type: ScalarToken<T>): Scalar<T> {
    requireElementType(`scalar "${String(name)}"`, type);
    const scalar = new Scalar(this.set, name, type);
    this.scalars.push(scalar);
    return scalar;
  }

  container<const P extends ContainerParams>(
    name: string,
    params: P,
    body: ContainerBody<P, D>,
    captures?: Captures,
    options?: ContainerOptions<D>,
  ): Container {
    const made = declareContainer<P, D>(this, name, params, body, callSite(this.container), captures, options);
    this.requireStencils(made);
    return made;
  }

  scalarStep<const P extends ScalarStepParams>(name: string, params: P, body: ScalarStepBody<P>, captures?: Captures): Container {
    return declareScalarStep(
      this as unknown as Grid,
      name,
      params,
      body as ScalarStepBody<ScalarStepParams>,
      callSite(this.scalarStep),
      captures,
    );
  }

  requireStencils(made: Container): void {
    const refuse = (what: string) => (problem: string, remedy: string) => {
      throw new ContainerError(made.name, made.location, `${what} ${problem}`, remedy);
    };
    for (const use of made.uses) {
      const { field, spread } = use;
      // On a face, it is ghosts that are written.
      if (spread && made.box?.side === undefined) this.requireSpread(spread, refuse(`writes the field "${field.name}"`));
      field.grid.noteReads(made, use, refuse(`reads the field "${field.name}"`));
    }
    if (made.mask) this.note(made.mask.offsets, refuse("asks isActive"));
  }

  noteReads(made: Container, use: FieldUse, refuse: (problem: string, remedy: string) => never): void {
    const reached = (offset: Offset): Offset => (use.level === "fine" ? this.beyondPair(offset) : offset);
    this.note(use.offsets.map(reached), refuse);
    if (this.haloWidths.noteUse(made, use, reached)) this.outdate(use.field);
  }

  foldAlongAxes?(container: Container, precision: Precision): Rounds;
  roll?(cells: Roll): Rounds;

  canPeerStore(_container: Container, _field: Field): boolean {
    return false;
  }

  /** Halos are copies, so that what is written there is lost; and only dense storage has a place for each neighbour. */
  private requireSpread(offsets: readonly Offset[], refuse: (problem: string, remedy: string) => never): void {
    if (isAny(this.ghosts))
      refuse(`at offset [${offsets[0]}] of a grid with ghosts`, "run it on a face, or write the own cell of a second field");
    if (this.kind !== "dense" || this.set.members.length > 1)
      refuse(
        `at offset [${offsets[0]}] of a ${this.kind} grid on ${this.set.name}`,
        "write other cells on dense grids of one member only, or write the own cell of a second field and swap the two",
      );
    this.note(offsets, refuse);
    if (!this.spreads) this.invalidateLayout();
    this.spreads = true;
  }

  require(offsets: readonly Offset[]): void {
    this.note(offsets, (problem, remedy) => {
      throw new LaunchError(`a stencil reads ${problem}; ${remedy}`);
    });
    const wider = offsets.filter((offset) => this.haloWidths.note(offset)).length > 0;
    if (wider) for (const field of this.fields) this.outdate(field);
  }

  readAlike(a: Field, b: Field): void {
    for (const field of this.haloWidths.unite(a, b)) this.outdate(field);
  }

  /** More of the halos of a field is needed than was copied so far. */
  private outdate(field: Field): void {
    if (!field.stored) return;
    this.generation++;
    field.coherent = false;
  }

  private note(offsets: readonly Offset[], refuse: (problem: string, remedy: string) => void): void {
    for (const offset of offsets) {
      const key = offset.join();
      if (this.offsets.has(key) || offset.every((d) => d === 0)) continue;
      const far = offset.findIndex((d, axis) => Math.abs(d) > this.extents[axis]);
      if (far >= 0) refuse(`at offset [${offset}], beyond the grid of [${this.extents}] cells`, "use a larger grid or nearer neighbours");
      this.widen(Math.abs(offset.at(-1)!), (problem, remedy) => refuse(`at offset [${offset}], but ${problem}`, remedy));
      this.offsets.set(key, offset);
      this.invalidateLayout();
    }
  }

  /** Sees to it that each of several partitions has `width` planes, so that halos come from the next partition alone. */
  private widen(width: number, refuse: (problem: string, remedy: string) => void): void {
    const { partitions } = this;
    const least = partitions.reduce((a, b) => (b.planes < a.planes ? b : a));
    if (partitions.length === 1 || least.planes >= width) return;
    const planes = this.extents.at(-1)!;
    const problem = `${this.set.members[least.device].name} has ${least.planes} of the grid's ${planes} planes`;
    if (planes < partitions.length * width) refuse(problem, "use fewer devices or a larger grid");
    if (this.frozen) refuse(problem, "declare this container before the first use of the grid, or use fewer devices");
    this.cut = partition(this.activity.planes, partitions.length, width, this.step);
  }

  /** For an offset from the first of two cells along each axis, how far it goes beyond the pair; a grid of odd extent has half a pair. */
  private beyondPair(offset: Offset): Offset {
    return offset.map((d, axis) => (d < 0 ? d : Math.max(0, d - 1 + (this.extents[axis] % 2))));
  }

  /** Memory is laid out anew when it is next used. */
  protected invalidateLayout(): void {
    this.laidOut = false;
  }

  layOut(): void {
    if (this.laidOut) return;
    this.laidOut = true;
    this.freeze();
    this.generation++;
    this.changeLayout([...this.fields].filter((field) => field.stored));
  }

  async run(made: Container, options: { precision?: Precision } = {}): Promise<void> {
    requireThing("grid.run", made, made?.grid instanceof BaseGrid, "give what grid.container(...) returns; device.run runs kernels");
    await this.runs.run(made, options.precision);
  }

  free(): void {
    this.runs.free();
    for (const field of this.fields) field.free();
    for (const array of [...this.scalars.splice(0), ...this.axisArrays.splice(0)]) array.free();
  }

  forget(field: Field): void {
    this.fields.delete(field);
  }

  prepare(container: Container, device: number, view: DataView, options: PrepareOptions): Launch[] {
    return container.assigned ? [prepareScalarStep(container, device)] : this.prepareCells(container, device, view, options);
  }

  /** See `prepare`, of what has cells. */
  protected abstract prepareCells(container: Container, device: number, view: DataView, options: PrepareOptions): Launch[];
  abstract halo(field: Field): readonly HaloCopy[];

  /** Lays out memory for `reach` and `offsets`, and moves the contents of fields that have memory (`Field.move`). */
  protected abstract changeLayout(stored: readonly Field[]): void;
  abstract allocate(field: Field): readonly View[];
  abstract fill(field: Field, value: number): void;
  /**
   * Sets active cells, halos included, from a host array in (z, y, x, k) order; values of inactive cells are the fill value.
   * @param margins layers of ghosts that the array has
   */
  protected abstract write(field: Field, data: TypedArrayOf<FieldType>, margins: Margins): void;
  abstract download<T extends FieldType>(field: Field<T>, ghosts?: boolean): Promise<TypedArrayOf<T>>;
  /** Where component `k` of an active cell, or a ghost, lies on the member that owns it. */
  protected abstract locate(field: Field, cell: readonly number[], k: number): ValueLocation;

  upload(field: Field, data: ArrayLike<number>, ghosts = false): void {
    requireFitting(field.type, data);
    const margins = this.margins(ghosts);
    const { cardinality } = field;
    const fitting = data.constructor === typedArray(field.type, 0).constructor;
    if (fitting && !this.mask) return this.write(field, data as TypedArrayOf<FieldType>, margins);
    const values = typedArray(field.type, data.length);
    values.set(data);
    if (this.mask)
      this.visit(margins, (n, ...cell) => this.isHole(cell) && values.fill(field.fillValue, n * cardinality, (n + 1) * cardinality));
    this.write(field, values as TypedArrayOf<FieldType>, margins);
  }

  tabulate(field: Field, value: CellFunction, ghosts = false): TypedArrayOf<FieldType> {
    const margins = this.margins(ghosts);
    const { cardinality } = field;
    const cells = this.extents.reduce((product, n, axis) => product * (n + margins[axis][0] + margins[axis][1]), 1);
    // Integers pass through f64, so that `upload` sees what does not fit.
    const data = typedArray(field.type === "f32" ? "f32" : "f64", cells * cardinality);
    this.visit(margins, (n, x, y, z) => {
      if (this.mask && this.isHole([x, y, z])) return;
      for (let k = 0; k < cardinality; k++) data[n * cardinality + k] = value(x, y, z, k);
    });
    return data;
  }

  /** Layers of ghosts that a host array has. */
  protected margins(ghosts: boolean): Margins {
    return ghosts ? this.ghosts : noMargins(this.dimension);
  }

  /** Visits the cells of the box and its margins in the order of host arrays: number and coordinates; z is 0 in two dimensions. */
  private visit(margins: Margins, cell: (n: number, x: number, y: number, z: number) => void): void {
    // -0 is no coordinate.
    const [x, y, z = [0, 1]] = this.extents.map((extent, axis) => [0 - margins[axis][0], extent + margins[axis][1]]);
    let n = 0;
    for (let k = z[0]; k < z[1]; k++) for (let j = y[0]; j < y[1]; j++) for (let i = x[0]; i < x[1]; i++) cell(n++, i, j, k);
  }

  async getValue(field: Field, cell: readonly number[], k: number): Promise<number> {
    if (!this.hasPlace(field, cell, k)) return field.fillValue;
    const { member, view } = this.locate(field, cell, k);
    return (await this.set.members[member].queue(0).read(view))[0];
  }

  setValue(field: Field, cell: readonly number[], value: number, k: number): void {
    requireFitting(field.type, [value]);
    if (!this.hasPlace(field, cell, k))
      throw new LaunchError(
        `field "${field.name}": cell [${cell}] is not an active cell of the grid of [${this.extents}] cells${isAny(this.ghosts) ? ", and no ghost" : ""}`,
      );
    const { member, view } = this.locate(field, cell, k);
    this.set.members[member].queue(0).write(view, [value]);
  }

  /** Whether there is an active cell or a ghost. */
  private hasPlace(field: Field, cell: readonly number[], k: number): boolean {
    if (cell.length !== this.dimension || !cell.every(Number.isInteger))
      throw new LaunchError(
        `field "${field.name}": cell [${cell}] of a grid of dimension ${this.dimension}; give whole coordinates, x first`,
      );
    if (!(Number.isInteger(k) && k >= 0 && k < field.cardinality))
      throw new LaunchError(`field "${field.name}": component ${k} of ${field.cardinality}`);
    return cell.every((n, axis) => n >= -this.ghosts[axis][0] && n < this.extents[axis] + this.ghosts[axis][1]) && !this.isHole(cell);
  }

  /** Whether there is an inactive cell of the box. */
  private isHole([x, y, z = 0]: readonly number[]): boolean {
    const [nx, ny, nz = 1] = this.extents;
    const isInside = x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
    return isInside && this.mask?.[(z * ny + y) * nx + x] === 0;
  }
}
