import { describe } from "../base/describe.js";
import { ELEMENTS, isHalf, isSingle, type HalfType } from "../ir/scalars.js";
import type { Launch, Precision } from "../device/device.js";
import {
  BYTES,
  requireNumberElement,
  requireFitting,
  requireNumber,
  typedArray,
  type TypedArray,
  type NumberArrayOf,
  type View,
} from "../device/memory/view.js";
import type { NumberType } from "../ir/types.js";
import type { Captures } from "../kernel/declare/captures.js";
import type { Dimension } from "../kernel/declare/cells.js";
import { ContainerError, LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import { callSite } from "../kernel/declare/location.js";
import type { ScalarToken } from "../kernel/declare/params.js";
import { scaleProblem, type StorageToken } from "../kernel/declare/storage.js";
import { localOf, Scalar, spansProcesses, type DeviceSet, type LocalMember } from "../set/index.js";
import { inTurn } from "../set/in-turn.js";
import { declareContainer } from "./container/declare.js";
import { declareScalarStep, prepareScalarStep } from "./container/scalar-step.js";
import { activityOf, coarseMask, type Activity } from "./grid/activity.js";
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
  type ScalarStepBody,
  type ScalarStepParams,
} from "./grid/grid.js";
import type { FieldLayout, FieldOptions, FieldToken, FieldType, GridOptions, Split, StoredFieldOptions } from "./grid/options.js";
import type { DataView, HaloCopy, Offset, Partition, Rounds, Span } from "./grid/parts.js";
import { BOX_SIDES, HaloWidths } from "./container/halo-widths.js";
import { partition, periodicAxes } from "./grid/partition.js";
import { memberBeside, partitionBoxes, SPLIT_ROWS, type Division } from "./grid/split.js";
import { inOneArray, evenPlaneRuns, requireWhole, type MemberRows, type Planes } from "./grid/pieces.js";
import { Runs } from "./container/runs.js";

/** Place of one value of a field. */
export interface ValueLocation {
  readonly member: number;
  /** One element; undefined on a member of another process. */
  readonly view: View | undefined;
}

/** Runs of planes, or rows of them, of partitions that are not for a grid to choose. */
export type GivenPartitions = readonly Pick<Partition, "first" | "planes" | "rows">[];

/** Common base of all grids: activity, partitions, recorded stencils, and the layout of the fields' memory. */
export abstract class BaseGrid<D extends Dimension = Dimension> implements FieldGrid<D> {
  abstract readonly kind: Grid["kind"];
  readonly dimension: D;
  readonly periodic: readonly boolean[];
  readonly ghosts: Margins;
  generation = 0;
  /** Neighbours that stencils read, by their text. */
  protected readonly offsets = new Map<string, Offset>();
  protected readonly layout: FieldLayout;
  readonly activity: Activity;
  protected readonly haloWidths: HaloWidths;
  private readonly fields = new Set<Field>();
  private readonly scalars: Scalar[] = [];
  private readonly axisArrays: AxisArray[] = [];
  private readonly runs = new Runs();
  private coarseGrid: BaseGrid<D> | undefined;
  private laidOut = false;
  /** Some container writes cells other than its own. */
  protected spreads = false;
  private cut: readonly Partition[];
  /** Once set, partitions stay as they are. */
  private frozen = false;

  /**
   * @param step partitions begin at multiples of this many planes
   * @param given runs of planes, if these are not for the grid to choose
   * @param division members along y and z; default: all along the last axis
   */
  constructor(
    readonly set: DeviceSet,
    readonly extents: readonly number[],
    options: GridOptions & { readonly ghosts?: Ghosts; readonly split?: Split },
    private readonly step = 1,
    given?: GivenPartitions,
    protected readonly division: Division = { y: 1, z: set.members.length },
  ) {
    requireOptions("a grid", options, ["active", "layout", "periodic", "levels", "packed", "ghosts", "split", "brick", "kind"]);
    this.activity = activityOf(extents, options.active);
    this.dimension = extents.length as D;
    this.periodic = periodicAxes(extents, options.periodic);
    this.ghosts = ghostsOf(extents, this.periodic, options.ghosts);
    if (!this.canHaveGhosts && isAny(this.ghosts))
      throw new LaunchError(`a grid of [${extents}] cells with ghosts: only dense grids can have them`);
    if (!this.canHaveGhosts && options.split !== undefined)
      throw new LaunchError(
        `a grid of [${extents}] cells with { split: ${JSON.stringify(options.split)} }: only dense grids have the option, others are cut along the last axis; leave it out`,
      );
    this.layout = options.layout ?? "soa";
    this.haloWidths = new HaloWidths(division.y > 1);
    this.cut = given?.map((part, device) => ({ ...part, device, cells: this.cellsOf(part) })) ?? this.cutInto(1, 1);
    this.frozen = given !== undefined;
    if (!given && spansProcesses(set)) set.ranks!.requireAlike(`a grid of [${extents}] cells`, this.digestible(step));
  }

  /** Everything in which processes must be alike. */
  private *digestible(step: number): Generator<string | Uint8Array> {
    const { kind, extents, periodic, ghosts, layout, division } = this;
    yield JSON.stringify([kind, extents, periodic, ghosts, layout, step, division]);
    yield* this.activity.digestible();
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
    return this.cut;
  }

  get cutAxes(): readonly number[] {
    const last = this.dimension - 1;
    if (this.division.y === 1) return [last];
    return this.division.z === 1 ? [1] : [1, last];
  }

  neighbours(device: number): readonly [below: number | undefined, above: number | undefined] {
    return [this.memberBeside(device, 0, -1), this.memberBeside(device, 0, 1)];
  }

  around(device: number): readonly number[] {
    const sides = this.division.y > 1 ? BOX_SIDES : BOX_SIDES.filter(({ y }) => y === 0);
    const all = new Set(sides.map(({ y, z }) => this.memberBeside(device, y, z)));
    return [...all].filter((other) => other !== undefined && other !== device).sort((a, b) => a! - b!) as number[];
  }

  /** The member some steps away along y and z; undefined if there is none. */
  protected memberBeside(member: number, stepY: number, stepZ: number): number | undefined {
    return memberBeside(this.division, this.periodic, member, [stepY, stepZ]);
  }

  /** Partitions of at least this many planes and rows, as far as possible. */
  private cutInto(planes: number, rows: number): readonly Partition[] {
    const { activity, division, step } = this;
    if (division.y === 1) return partition(activity.planes, division.z, planes, step);
    return partitionBoxes(activity, division, { planes, rows }, step);
  }

  get coarse(): BaseGrid<D> | undefined {
    return this.coarseGrid;
  }

  coarsen(): BaseGrid<D> {
    if (this.coarseGrid) return this.coarseGrid;
    if (isAny(this.ghosts))
      throw new LaunchError(`the grid of [${this.extents}] cells cannot be coarsened: it has ghosts; make the coarser grid by itself`);
    this.requirePairs();
    const uneven = this.extents.findIndex((n, axis) => this.periodic[axis] && n % 2 === 1);
    if (uneven >= 0)
      throw new LaunchError(
        `the grid of [${this.extents}] cells cannot be coarsened: it is periodic along ${"xyz"[uneven]}, where pairs of ${this.extents[uneven]} cells ` +
          `do not divide into pairs; give an even number of cells to periodic axes`,
      );
    this.freeze();
    const extents = this.extents.map((n) => Math.ceil(n / 2));
    const active = this.activity.isFull ? undefined : coarseMask(this.activity);
    const halves = ([first, end]: Span): Span => [first / 2, Math.ceil(end / 2)];
    const partitions = this.partitions.map(({ first, planes, rows }) => ({
      first: first / 2,
      planes: Math.ceil(planes / 2),
      ...(rows && { rows: halves(rows) }),
    }));
    this.coarseGrid = this.makeCoarse(extents, { layout: this.layout, active, periodic: this.periodic }, partitions);
    return this.coarseGrid;
  }

  /** Throws LaunchError where members begin within a pair of planes, or where the rows of a coarser grid would not begin at multiples of `SPLIT_ROWS`. */
  private requirePairs(): void {
    for (const { device, first, rows = [0] } of this.partitions) {
      const isOdd = first % 2 === 1;
      if (!isOdd && rows[0] % (2 * SPLIT_ROWS) === 0) continue;
      throw new LaunchError(
        `the grid of [${this.extents}] cells cannot be coarsened: the ${isOdd ? "planes" : "rows"} of ${this.set.members[device].name} begin at ` +
          `${isOdd ? first : rows[0]}; give the finest grid { levels: n } for n coarser ones`,
      );
    }
  }

  /** A grid of this kind on the same set, of twice the cell size. */
  protected abstract makeCoarse(extents: readonly number[], options: GridOptions, partitions: GivenPartitions): BaseGrid<D>;

  /** Active cells of some planes, or rows of them. */
  private cellsOf({ first, planes, rows }: GivenPartitions[number]): number {
    const end = first + planes;
    const counts = rows ? this.activity.rowsIn(first, end).slice(...rows) : this.activity.planes.slice(first, end);
    return counts.reduce((a, b) => a + b, 0);
  }

  /** Keeps partitions as they are, or as given, whatever stencils are noted later. */
  protected freeze(partitions = this.partitions): void {
    this.cut = partitions;
    this.frozen = true;
  }

  field<S extends HalfType, const C extends number = 1>(
    name: string,
    token: FieldToken<"f32">,
    options: StoredFieldOptions<S, C>,
  ): Field<S, C, D>;
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
    requireNumberElement(`field "${String(name)}"`, token);
    if ("axes" in options) return this.keptArray(new AxisArray<T, C>(this, name, token, options));
    const {
      cardinality = 1,
      layout = this.layout,
      fillValue = 0,
      storage,
      scale = 1,
      ...others
    } = options as FieldOptions<C> & { storage?: StorageToken };
    for (const other of Object.keys(others))
      throw new LaunchError(`field "${name}" has no option "${other}"; it has cardinality, layout, fillValue, storage and scale`);
    const type = storedType(name, token.type, storage, scale) as T;
    if (!Number.isInteger(cardinality) || cardinality < 1)
      throw new LaunchError(`field "${name}" has cardinality ${cardinality}; give a whole number of at least 1`);
    if (layout !== "soa" && layout !== "aos") throw new LaunchError(`field "${name}" has layout "${String(layout)}"; use "soa" or "aos"`);
    requireFitting(type, [fillValue]);
    const field = new Field(this, name, type, cardinality as C, { layout, fillValue: fillValue / scale, scale });
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

  scalar<T extends NumberType>(name: string, type: ScalarToken<T>): Scalar<T> {
    requireNumberElement(`scalar "${String(name)}"`, type);
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
  haloRounds?(field: Field): Rounds | undefined;

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
      this.widen(offset, (problem, remedy) => refuse(`at offset [${offset}], but ${problem}`, remedy));
      this.offsets.set(key, offset);
      this.invalidateLayout();
    }
  }

  /** Sees to it that halos for a new offset come from the next partitions alone, as each has enough planes, and rows where these are cut. */
  private widen(offset: Offset, refuse: (problem: string, remedy: string) => void): void {
    for (const axis of this.cutAxes) {
      const width = Math.abs(offset[axis]);
      const isPlanes = axis === this.dimension - 1;
      const count = isPlanes ? this.division.z : this.division.y;
      const cells = ({ planes, rows }: Partition): number => (isPlanes ? planes : rows![1] - rows![0]);
      const least = (): Partition => this.cut.reduce((a, b) => (cells(b) < cells(a) ? b : a));
      if (count === 1 || cells(least()) >= width) continue;
      const problem = `${this.set.members[least().device].name} has ${cells(least())} of the grid's ${this.extents[axis]} ${isPlanes ? "planes" : "rows"}`;
      if (this.extents[axis] < count * width) refuse(problem, "use fewer devices or a larger grid");
      if (this.frozen) refuse(problem, "declare this container before the first use of the grid, or use fewer devices");
      const reach = (along: number): number => Math.max(Math.abs(offset[along]), this.reach[along]);
      this.cut = this.cutInto(reach(this.dimension - 1), reach(1));
      // The last one may have fewer, if the box ends there.
      if (this.periodic[axis] && cells(least()) < width) refuse(problem, "use fewer devices or a larger grid");
    }
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
    return inTurn(this.set, () => this.runs.run(made, options.precision));
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
   * Sets the active cells of one of the `pieces`, halos included, from values in (z, y, x, k) order; inactive cells have the fill value.
   * @param margins layers of ghosts that planes have
   */
  protected abstract write(field: Field, first: number, data: NumberArrayOf<FieldType>, margins: Margins): void;
  /** The values of some planes, which these members own, in that order; default: all of this process. Reads are enqueued before it returns. */
  protected abstract read<T extends FieldType>(
    field: Field<T>,
    planes: Planes,
    margins: Margins,
    members?: readonly LocalMember[],
  ): Promise<NumberArrayOf<T>>;
  /** Place of component `k` of an active cell, or a ghost, on the member that owns it. */
  protected abstract locate(field: Field, cell: readonly number[], k: number): ValueLocation;

  pieces(field: Field, ghosts = false): readonly Planes[] {
    return evenPlaneRuns(this.allPlanes(ghosts), this.planeLength(field, ghosts) * BYTES[field.type], this.step);
  }

  planeLength({ cardinality }: Field, ghosts = false): number {
    const margins = this.margins(ghosts);
    return this.extents.slice(0, -1).reduce((product, n, axis) => product * (n + margins[axis][0] + margins[axis][1]), cardinality);
  }

  upload(field: Field, data: ArrayLike<number>, ghosts = false): void {
    requireFitting(field.type, data);
    const plane = this.planeLength(field, ghosts);
    const [{ first: begin }] = this.pieces(field, ghosts);
    for (const { first, end } of this.pieces(field, ghosts))
      this.put(field, first, partOf(data, (first - begin) * plane, (end - begin) * plane), ghosts);
  }

  writePlanes(field: Field, first: number, data: ArrayLike<number>, ghosts = false): void {
    requireFitting(field.type, data);
    this.put(field, first, data, ghosts);
  }

  tabulate(field: Field, value: CellFunction, ghosts = false): void {
    const margins = this.margins(ghosts);
    const { cardinality } = field;
    for (const piece of this.pieces(field, ghosts).filter((planes) => this.stores(planes))) {
      // Integers pass through f64, so that what does not fit is seen.
      const data = typedArray(isSingle(field.type) ? "f32" : "f64", (piece.end - piece.first) * this.planeLength(field, ghosts));
      this.visit(margins, piece, (n, x, y, z, isHole) => {
        if (isHole) return;
        for (let k = 0; k < cardinality; k++) {
          const found = value(x, y, z, k);
          requireNumber(() => `field "${field.name}", component ${k} of cell [${[x, y, z].slice(0, this.dimension)}]`, found);
          data[n * cardinality + k] = found;
        }
      });
      this.writePlanes(field, piece.first, data, ghosts);
    }
  }

  async download<T extends FieldType>(field: Field<T>, ghosts = false): Promise<NumberArrayOf<T>> {
    const planes = this.allPlanes(ghosts);
    requireWhole(`field "${field.name}"`, field.type, (planes.end - planes.first) * this.planeLength(field as unknown as Field, ghosts));
    return this.readPlanes(field, planes, ghosts);
  }

  async readPlanes<T extends FieldType>(field: Field<T>, planes: Planes, ghosts = false): Promise<NumberArrayOf<T>> {
    if (!spansProcesses(this.set)) return this.values(field, planes, this.margins(ghosts));
    const own = this.ownPlanes(ghosts);
    const [first, end] = [Math.max(planes.first, own.first), Math.min(planes.end, own.end)];
    const values = first < end ? this.values(field, { first, end }, this.margins(ghosts)) : (typedArray(field.type, 0) as NumberArrayOf<T>);
    return inOneArray(field.type, await this.set.ranks!.gather(values, `planes ${planes.first} to ${planes.end} of "${field.name}"`));
  }

  readOwnPlanes<T extends FieldType>(field: Field<T>, planes: Planes, ghosts = false): Promise<NumberArrayOf<T>> {
    return this.values(field, planes, this.margins(ghosts));
  }

  ownPieces(field: Field, ghosts = false): readonly Planes[] {
    return this.takenPieces(field, ghosts);
  }

  takenPieces(field: Field, ghosts = false): readonly Planes[] {
    return evenPlaneRuns(this.ownPlanes(ghosts), this.planeLength(field, ghosts) * BYTES[field.type], this.step);
  }

  ownBoxes(field: Field, ghosts = false): readonly MemberRows[] {
    const margins = this.margins(ghosts);
    const last = this.dimension - 1;
    /** Cells of a member along an axis, with its ghosts. */
    const span = (own: Span, axis: number): Span => {
      const end = this.extents[axis];
      return [own[0] === 0 ? 0 - margins[axis][0] : own[0], own[1] === end ? end + margins[axis][1] : own[1]];
    };
    return this.set.locals.flatMap(({ index: member }) => {
      const { first, planes, rows = [0, this.extents[1]] } = this.partitions[member];
      const taken = this.dimension === 3 ? span(rows, 1) : ([0, 1] as const);
      const [begin, end] = span([first, first + planes], last);
      const plane = (this.planeLength(field, ghosts) / this.rowsOfPlane(margins)) * (taken[1] - taken[0]);
      return evenPlaneRuns({ first: begin, end }, plane * BYTES[field.type], this.step).map((piece) => ({ ...piece, rows: taken, member }));
    });
  }

  readBox<T extends FieldType>(field: Field<T>, box: MemberRows, ghosts = false): Promise<NumberArrayOf<T>> {
    return this.values(field, box, this.margins(ghosts), [localOf(this.set, box.member)]);
  }

  /** Rows of a plane of a host array. */
  protected rowsOfPlane(margins: Margins): number {
    return this.dimension === 3 ? margins[1][0] + this.extents[1] + margins[1][1] : 1;
  }

  /** Whether members of this process store some of these planes, halos included. */
  private stores({ first, end }: Planes): boolean {
    if (!spansProcesses(this.set)) return true;
    const own = this.ownPlanes(true);
    const halo = this.step * Math.ceil(this.reach.at(-1)! / this.step);
    // Halos come round at the ends of a periodic axis.
    const planes = this.extents.at(-1)!;
    return [-planes, 0, planes].some((turn) => first + turn < own.end + halo && end + turn > own.first - halo);
  }

  /** The planes of a host array that members of this process own. */
  protected ownPlanes(ghosts: boolean): Planes {
    const all = this.allPlanes(ghosts);
    const own = this.set.locals.map(({ index }) => this.partitions[index]);
    const first = Math.min(...own.map((partition) => partition.first));
    const end = Math.max(...own.map((partition) => partition.first + partition.planes));
    return { first: first === 0 ? all.first : first, end: end === this.extents.at(-1)! ? all.end : end };
  }

  /** The values of what `read` gives as it is stored. */
  protected async values<T extends FieldType>(field: Field<T>, ...from: Tail<Parameters<BaseGrid<D>["read"]>>): Promise<NumberArrayOf<T>> {
    const stored = await this.read(field, ...from);
    if (field.scale !== 1) for (let n = 0; n < stored.length; n++) stored[n] *= field.scale;
    return stored;
  }

  /** Sets the cells of some planes to values that fit. */
  private put(field: Field, first: number, data: ArrayLike<number>, ghosts: boolean): void {
    const margins = this.margins(ghosts);
    const { cardinality, fillValue, scale } = field;
    const fitting = data.constructor === typedArray(field.type, 0).constructor;
    if (fitting && scale === 1 && this.activity.isFull) return this.write(field, first, data as NumberArrayOf<FieldType>, margins);
    const values = typedArray(field.type, data.length);
    values.set(data);
    if (scale !== 1) for (let n = 0; n < values.length; n++) values[n] /= scale;
    if (!this.activity.isFull)
      this.visit(margins, { first, end: first + data.length / this.planeLength(field, ghosts) }, (n, _x, _y, _z, isHole) => {
        if (isHole) values.fill(fillValue, n * cardinality, (n + 1) * cardinality);
      });
    this.write(field, first, values as NumberArrayOf<FieldType>, margins);
  }

  /** Layers of ghosts that a host array has. */
  protected margins(ghosts: boolean): Margins {
    return ghosts ? this.ghosts : noMargins(this.dimension);
  }

  /** The planes of a host array. */
  private allPlanes(ghosts: boolean): Planes {
    const [before, behind] = this.margins(ghosts).at(-1)!;
    // Avoids -0.
    return { first: 0 - before, end: this.extents.at(-1)! + behind };
  }

  /** Visits the cells of some planes with margins in the order of host arrays: number, coordinates with z = 0 in two dimensions, whether it is inactive. */
  private visit(
    margins: Margins,
    { first, end }: Planes,
    cell: (n: number, x: number, y: number, z: number, isHole: boolean) => void,
  ): void {
    const [nx] = this.extents;
    const flat = this.dimension === 2;
    const [[left, right], [front, back]] = this.extents.map((extent, axis) => [0 - margins[axis][0], extent + margins[axis][1]]);
    let n = 0;
    for (let plane = first; plane < end; plane++) {
      const inside = plane >= 0 && plane < this.extents.at(-1)!;
      // Copied, for what is called here may ask for another plane.
      const active = inside && !this.activity.isFull ? this.activity.plane(plane).slice() : undefined;
      const rows = flat ? 1 : this.extents[1];
      for (let row = flat ? 0 : front; row < (flat ? 1 : back); row++)
        for (let x = left; x < right; x++) {
          const isHole = active !== undefined && x >= 0 && x < nx && row >= 0 && row < rows && active[row * nx + x] === 0;
          cell(n++, x, flat ? plane : row, flat ? 0 : plane, isHole);
        }
    }
  }

  async getValue(field: Field, cell: readonly number[], k: number): Promise<number> {
    if (!this.hasPlace(field, cell, k)) return field.fillValue * field.scale;
    const { member, view } = this.locate(field, cell, k);
    const { ranks, members } = this.set;
    const own = view && localOf(this.set, member).queue(0).read(view);
    const [stored] = (
      ranks ? (await ranks.gather(own, `component ${k} of cell [${cell}] of "${field.name}"`))[members[member].rank] : await own
    )!;
    return stored * field.scale;
  }

  setValue(field: Field, cell: readonly number[], value: number, k: number): void {
    requireFitting(field.type, [value]);
    if (!this.hasPlace(field, cell, k))
      throw new LaunchError(
        `field "${field.name}": cell [${cell}] is not an active cell of the grid of [${this.extents}] cells${isAny(this.ghosts) ? ", nor a ghost" : ""}`,
      );
    const { member, view } = this.locate(field, cell, k);
    if (view)
      localOf(this.set, member)
        .queue(0)
        .write(view, [value / field.scale]);
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
  private isHole(cell: readonly number[]): boolean {
    const isInside = cell.every((n, axis) => n >= 0 && n < this.extents[axis]);
    const [x, y] = cell;
    return isInside && !this.activity.has(cell.at(-1)!, this.dimension === 2 ? x : y * this.extents[0] + x);
  }
}

/** The type that a field's memory has. Throws LaunchError for one that it cannot have, and for a scale that is not a power of two. */
function storedType(name: string, type: FieldType, storage: StorageToken | undefined, scale: number): FieldType {
  const refuse = (problem: string): never => {
    throw new LaunchError(`field "${name}" ${problem}`);
  };
  const stored = storage === undefined ? type : storage?.type;
  const isFit = stored !== undefined && Object.hasOwn(ELEMENTS, stored) && isHalf(stored);
  if (storage !== undefined && !isFit) refuse(`is stored as ${typeof stored === "string" ? stored : describe(storage)}; use f16 or bf16`);
  if (storage !== undefined && type !== "f32") refuse(`has values of ${type}, and ${stored} is rounded from f32: write f32`);
  const problem = scale === 1 ? undefined : scaleProblem(scale);
  if (problem !== undefined) refuse(`has scale ${String(scale)}: ${problem}`);
  if (scale !== 1 && !isFit) refuse(`has a scale, which fields of ${type} have not: give it storage: f16`);
  return stored;
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer R] ? R : never;

/** Some of host data. */
const partOf = (data: ArrayLike<number>, begin: number, end: number): ArrayLike<number> => {
  if (begin === 0 && end === data.length) return data;
  return ArrayBuffer.isView(data) ? (data as unknown as TypedArray).subarray(begin, end) : Array.prototype.slice.call(data, begin, end);
};
