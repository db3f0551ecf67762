import type { PeerStore, Launch, Precision } from "../../device/device.js";
import { range, teams, type Policy } from "../../device/launch/policy.js";
import { CPU_MEMORY, View, type NumberArrayOf } from "../../device/memory/view.js";
import type { KernelIR } from "../../ir/types.js";
import type { Dimension } from "../../kernel/declare/cells.js";
import { kernelFromIR } from "../../kernel/declare/from-ir.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { Params } from "../../kernel/declare/params.js";
import { byLocal, localOf, spansProcesses, type DeviceSet, type LocalMember } from "../../set/index.js";
import { BaseGrid, type GivenPartitions, type ValueLocation } from "../base-grid.js";
import type { Container, Field, Grid, PrepareOptions, Roll } from "../grid/grid.js";
import type { DataView, HaloCopy, March, Rounds, Span } from "../grid/parts.js";
import { axisFoldRounds } from "./axis-folds.js";
import { boxHaloRounds, HaloBuffers } from "./box-halos.js";
import { partialsOfView } from "./launch-partials.js";
import { isEmptyBox, MemberBoxes, type LocalBox } from "./member-boxes.js";
import { sidewaysReads } from "../container/cell-code.js";
import { rollRounds } from "./rolls.js";
import { lowerDense, type DenseFieldPlan, type DensePlan, type DenseRole, type Rings } from "./lowering.js";
import { DenseStorage, type ValueLayout, type StoredBox } from "./storage.js";
import type { FieldType, DenseOptions, GridOptions } from "../grid/options.js";
import { fillView } from "../grid/fill.js";
import { boxOfPlanes, partsInOneArray, type PlanePart } from "../grid/host-rows.js";
import { planesTogether } from "../grid/partition.js";
import { inOneArray, evenPlaneRuns, type Planes } from "../grid/pieces.js";
import { cutsRows, divisionIn, divisionOf, placeInDivision } from "../grid/split.js";
import type { OverTeams } from "../grid/cell-teams.js";
import { atCallSite } from "../grid/placed.js";
import { isAny, type Margins } from "../grid/ghosts.js";
import { hasGhosts } from "../grid/region.js";
import { guardParity } from "../container/guard.js";
import { movePartials } from "../container/box-reductions.js";
import { LaunchError } from "../../base/errors.js";

/**
 * A grid that stores every cell of the box, in planes of the last axis cut among the members of the set.
 * @param extents [nx, ny, nz] or [nx, ny]
 * @throws LaunchError for an empty domain, and for more members than planes
 */
export function dense(set: DeviceSet, extents: readonly [number, number], options?: DenseOptions): DenseGrid<2>;
export function dense(set: DeviceSet, extents: readonly [number, number, number], options?: DenseOptions): DenseGrid<3>;
export function dense(set: DeviceSet, extents: readonly number[], options?: DenseOptions): DenseGrid;
export function dense(set: DeviceSet, extents: readonly number[], options: DenseOptions = {}): DenseGrid {
  return atCallSite(dense, set, extents, () => new DenseGrid(set, extents, options));
}

/** Cells of 8 bytes in a row that ends at a cache line of a GPU: padding would begin another line. */
const PACKED_MULTIPLE = 16;

/** More reads from other columns cost more than padding: on an H100 the 27-point operator of elasticity has more, D3Q19 has not. */
const MOST_SIDEWAYS = 20;

const isGpu = ({ device }: LocalMember): boolean => device.memory.name !== "cpu" && device.onHost !== true;

interface Lowered {
  /** Over a range. */
  readonly ir: KernelIR;
  readonly kernel: Kernel;
  readonly roles: ReadonlyMap<DenseRole, string>;
  /** For a range of stretches: names of parameters. */
  readonly march?: NonNullable<DensePlan["march"]> & { readonly begin: string; readonly end: string };
  /** If lanes of teams share out the particles of cells: sizes, and names of parameters. */
  readonly teams?: Pick<OverTeams, "plane" | "cells"> & { readonly members: number; readonly lanes: number };
}

/** A launch over cells: its policy, and arguments that depend on the cells. */
interface Cells {
  readonly policy: Policy;
  readonly scalars: Readonly<Record<string, number>>;
}

/** Cells that a march goes up where nobody says: the first one's start costs as much as a cell, and GPUs want many threads. */
const [CPU_STRETCH, GPU_STRETCH] = [32, 8];

/** Threads of a team whose lanes share out particles. */
const TEAM_THREADS = 128;

/** A grid that stores every cell of its box, active or not. `dense(...)` makes one. */
export class DenseGrid<D extends Dimension = Dimension> extends BaseGrid<D> {
  readonly kind = "dense";
  /** Cells around each box in kernel order, as memory is laid out. */
  private padding: readonly number[] = [];
  /** The active cells of each member of this process as bytes, laid out like a u8 field. */
  private masks: readonly View[] | undefined;
  private readonly lowered = new WeakMap<Container, Map<string, Lowered>>();

  /** Rows may follow each other without padding, and do. */
  private packs: boolean;
  private packed = false;
  /** Whether they do was for the author to decide. */
  private readonly asked: boolean;
  /** Cells that members own and store. */
  private readonly boxes: MemberBoxes;
  private readonly haloBuffers = new Map<Field, HaloBuffers>();

  constructor(set: DeviceSet, extents: readonly number[], options: DenseOptions = {}, partitions?: GivenPartitions) {
    const step = planesTogether(extents, options.levels);
    const division = partitions ? divisionIn(partitions) : divisionOf(extents, set.members.length, options.split, step);
    super(set, [...extents], options, step, partitions, division);
    this.boxes = new MemberBoxes(this, { haloWidth: (axis) => this.haloWidth(axis), ends: (member, axis) => this.ends(member, axis) });
    const refuse = (problem: string, option: string): never => {
      throw new LaunchError(`a grid of [${extents}] cells with ghosts ${problem}; leave out { ${option} }`);
    };
    const inRows = isAny([this.ghosts[0]]);
    if (options.levels && isAny(this.ghosts)) refuse("can have no coarser levels", `levels: ${options.levels}`);
    if (options.packed && inRows) refuse("along x cannot have packed rows", "packed: true");
    this.asked = options.packed !== undefined;
    this.packs = partitions === undefined && !inRows && (options.packed ?? (extents[0] % PACKED_MULTIPLE === 0 && set.locals.every(isGpu)));
  }

  protected override get canHaveGhosts(): boolean {
    return true;
  }

  protected makeCoarse(extents: readonly number[], options: GridOptions, partitions: GivenPartitions): DenseGrid<D> {
    return new DenseGrid<D>(this.set, extents, options, partitions);
  }

  override requireStencils(made: Container): void {
    super.requireStencils(made);
    if (!this.packs || this.asked || sidewaysReads(made.ir, new Set(made.uses.map(({ param }) => param))) <= MOST_SIDEWAYS) return;
    this.packs = false;
    this.invalidateLayout();
  }

  override coarsen(): BaseGrid<D> {
    if (this.packs && !this.coarse) this.invalidateLayout();
    return super.coarsen();
  }

  protected changeLayout(stored: readonly Field[]): void {
    const before = { padding: this.padding, packed: this.packed };
    const layers = this.ghosts.map((ends) => Math.max(...ends)).toReversed();
    this.padding = this.reach.toReversed().map((width, axis) => (this.rings[axis] === undefined ? Math.max(width, layers[axis]) : 0));
    // Does not pack rows if containers write into other cells, which need a place beyond the box, or if other levels read the field.
    this.packed = this.packs && !this.spreads && !this.coarse;
    this.masks?.forEach((view) => view.free());
    this.masks = undefined;
    for (const field of stored) {
      const old = field.storage;
      const views = this.allocate(field);
      this.set.locals.forEach((member) => {
        const m = member.index;
        const [from, to] = [new DenseStorage({ ...this.box(m), ...before }, field), this.storage(field, m)];
        const held = this.held(m, this.ghosts);
        member.queue(0).copy(from.window(old[m], ...held), to.window(views[m], ...held));
      });
      field.move(views as readonly View<FieldType>[]);
    }
  }

  allocate(field: Field): readonly View[] {
    return byLocal(this.set, (member, m) => {
      const storage = this.storage(field, m);
      const memory = storage.allocate(member.device);
      if (field.fillValue !== 0) {
        fillView(member, memory, field.fillValue);
        this.fillMember(field, m, memory, 0);
      }
      return memory;
    });
  }

  fill(field: Field, value: number): void {
    field.storage.forEach((memory, m) => this.fillMember(field, m, memory, value));
  }

  protected write(field: Field, first: number, data: NumberArrayOf<FieldType>, margins: Margins): void {
    const plane = this.planeLength(field, isAny(margins));
    const given = { first, end: first + data.length / plane };
    field.storage.forEach((memory, m) => {
      const storage = this.storage(field, m);
      const queue = localOf(this.set, m).queue(0);
      for (const run of this.boxes.runsWith(m, this.dimension - 1, margins)) {
        const shift = run.boxPlane - run.first;
        const [from, to] = [Math.max(run.first, given.first - shift), Math.min(run.end, given.end - shift)];
        if (from >= to) continue;
        const values = data.subarray((from + shift - first) * plane, (to + shift - first) * plane);
        if (!cutsRows(this)) queue.write(storage.window(memory, from, to, this.beside(m, margins)), values);
        else
          for (const rows of this.boxes.runsWith(m, 1, margins).filter((run) => run.first < run.end)) {
            const after = rows.end - this.boxes.length(m, 1);
            const begin = rows.boxPlane + margins[1][0];
            const some = boxOfPlanes(
              values,
              plane,
              [begin, begin + rows.end - rows.first],
              this.extents[1] + margins[1][0] + margins[1][1],
            );
            queue.write(storage.window(memory, from, to, [[0 - rows.first, after], margins[0]]), some);
          }
      }
    });
  }

  /** The planes that a member owns, and the margins of its other axes, as windows of storage take them: with these margins beyond the ends of the box. */
  private held(member: number, margins: Margins): readonly [first: number, end: number, margins: Margins] {
    return [...this.boxes.held(member, this.dimension - 1, margins), this.beside(member, margins)];
  }

  /** Margins of a member along all axes but the last, in kernel order. */
  private beside(member: number, margins: Margins): Margins {
    return this.margin((axis) => this.boxes.held(member, axis, margins), member);
  }

  /** How far spans along all axes but the last go beyond a member's own cells, in kernel order. */
  private margin(spanOf: (axis: number) => readonly [first: number, end: number], member: number): Margins {
    return this.extents
      .slice(0, -1)
      .map((_, axis): readonly [number, number] => {
        const [first, end] = spanOf(axis);
        return [0 - first, end - this.boxes.length(member, axis)];
      })
      .toReversed();
  }

  /**
   * View of a field's cells that a member owns: [z][y][x][k], without z in 2D and without k for cardinality 1. It holds until
   * fields are swapped or a new container makes halos wider.
   */
  window<T extends FieldType>(field: Field<T>, member = 0): View<T> {
    const memory = field.storage[member];
    return this.storage(field, member).window(memory, 0, this.partitions[member].planes) as View<T>;
  }

  protected async read<T extends FieldType>(
    field: Field<T>,
    { first, end }: Planes,
    margins: Margins,
    members = this.set.locals,
  ): Promise<NumberArrayOf<T>> {
    const memory = field.storage;
    const reads = members.flatMap((member) => {
      const m = member.index;
      const [from, to] = this.planesOf(m, { first, end }, margins);
      const window = () => this.storage(field, m).window(memory[m], from, to, this.beside(m, margins)) as View<T>;
      return from < to ? [member.queue(0).read(window())] : [];
    });
    return inOneArray(field.type, (await Promise.all(reads)) as NumberArrayOf<T>[]);
  }

  /** Planes of a host array that a member owns, counted from its first. */
  private planesOf(member: number, { first, end }: Planes, margins: Margins): readonly [first: number, end: number] {
    const origin = this.partitions[member].first;
    const [low, high] = this.boxes.held(member, this.dimension - 1, margins);
    return [Math.max(low, first - origin), Math.min(high, end - origin)];
  }

  override async readPlanes<T extends FieldType>(field: Field<T>, planes: Planes, ghosts = false): Promise<NumberArrayOf<T>> {
    if (!cutsRows(this)) return super.readPlanes(field, planes, ghosts);
    const margins = this.margins(ghosts);
    const own = await this.values(field, planes, margins);
    const { ranks, members } = this.set;
    const all = ranks ? await ranks.gather(own, `planes ${planes.first} to ${planes.end} of "${field.name}"`) : [own];
    const rowCount = this.rowsOfPlane(margins);
    const row = this.planeLength(field as unknown as Field, ghosts) / rowCount;
    const parts = members.map(({ rank }, m): PlanePart => {
      const [from, to] = this.planesOf(m, planes, margins);
      const [origin, low] = [this.partitions[m].first - planes.first, this.boxes.own(m, 1)[0] + margins[1][0]];
      const rows = this.boxes.held(m, 1, margins);
      return { from: rank, planes: [from + origin, Math.max(from, to) + origin], rows: [rows[0] + low, rows[1] + low] };
    });
    return partsInOneArray(field.type, all, parts, [planes.end - planes.first, rowCount, row]);
  }

  override ownPieces(field: Field, ghosts = false): readonly Planes[] {
    if (cutsRows(this) && spansProcesses(this.set))
      throw new LaunchError(
        `field "${field.name}": planes() gives the planes of a process, and a grid that is cut along y gives it some of their rows: use boxes(), which says which, or wholePlanes() or download() on all`,
      );
    return super.ownPieces(field, ghosts);
  }

  protected locate(field: Field, cell: readonly number[], k: number): ValueLocation {
    // Ghosts are on the first or the last member along their axis.
    const begins = (axis: number, m: number): boolean => this.boxes.own(m, axis)[0] <= Math.max(0, cell[axis]);
    const member = this.partitions.findLastIndex((_, m) => cell.every((_, axis) => begins(axis, m)));
    const memory = field.storage[member];
    const local = cell.map((at, axis) => at - this.boxes.own(member, axis)[0]);
    const offset = this.storage(field, member).at(local.toReversed(), k);
    return { member, view: memory && new View(memory.buffer, field.type, [1], [1], offset) };
  }

  override haloRounds(field: Field): Rounds | undefined {
    if (!cutsRows(this)) return undefined;
    const buffers = this.haloBuffers.get(field) ?? new HaloBuffers();
    this.haloBuffers.set(field, buffers);
    const { set, boxes } = this;
    return boxHaloRounds(
      {
        set,
        boxes,
        widths: this.haloWidths,
        beside: (member, { y, z }) => this.memberBeside(member, y, z),
        held: (member, axis) => boxes.held(member, axis, this.ghosts),
        rowsOf: (of, m, plane, rows, k) => this.storage(of, m).rows(of.storage[m], plane, rows, k),
        cellsOf: (of, m, planes, rows) => this.haloCells(of, m, planes, rows),
      },
      field,
      buffers,
    );
  }

  /** Cells with their ghosts along x as [component][z][y][x], for `aos` as [z][y][x][component]. */
  private haloCells(field: Field, member: number, planes: Span, rows: Span): View {
    const storage = this.storage(field, member);
    const { buffer, type } = field.storage[member];
    const [before, after] = this.ghosts[0];
    const shape = [planes[1] - planes[0], rows[1] - rows[0], this.extents[0] + before + after];
    const first = storage.at([planes[0], rows[0], 0 - before]);
    return field.layout === "aos"
      ? new View(buffer, type, [...shape, field.cardinality], [...storage.strides, storage.component], first)
      : new View(buffer, type, [field.cardinality, ...shape], [storage.component, ...storage.strides], first);
  }

  override forget(field: Field): void {
    super.forget(field);
    this.haloBuffers.get(field)?.free();
    this.haloBuffers.delete(field);
  }

  halo(field: Field): readonly HaloCopy[] {
    if (cutsRows(this)) throw new LaunchError(`halos of "${field.name}" are packed, as its grid is cut along y: use haloRounds`);
    const { storage } = field;
    const components = field.layout === "aos" ? [undefined] : Array.from({ length: field.cardinality }, (_, k) => k);
    const copies = (from: number, first: number, to: number, target: number, width: number, k = 0): HaloCopy[] => {
      if (width === 0) return [];
      const piece = (m: number, begin: number) => storage[m] && this.storage(field, m).piece(storage[m], begin, begin + width, k);
      return [{ from, to, source: piece(from, first), target: piece(to, target) }];
    };
    return this.partitions.flatMap(({ device: upper }) => {
      const [lower] = this.neighbours(upper);
      if (lower === undefined) return [];
      const { planes } = this.partitions[lower];
      const widths = components.map((k) => ({ k, ...this.haloWidths.get(field, k) }));
      return [
        ...widths.flatMap(({ k, below }) => copies(lower, planes - below, upper, -below, below, k)),
        ...widths.flatMap(({ k, above }) => copies(upper, 0, lower, planes, above, k)),
      ];
    });
  }

  /** Elements of a message of halos that this process sends, if its member has these cells along each axis and fields are stored in the same way. */
  messageLength(field: Field, { from, to, source }: HaloCopy, along: readonly number[]): number {
    const { box, strides } = this.storage(field, from);
    const extents = along.slice(0, -1).toReversed();
    if (!cutsRows(this)) {
      const planes = Math.ceil(source!.size / strides[0]);
      return new DenseStorage({ ...box, extents: [planes, ...extents] }, field).pieceLength(planes);
    }
    const [here, there] = [placeInDivision(this.division, from), placeInDivision(this.division, to)];
    const held = (axis: number): Span => this.boxes.held(from, axis, this.ghosts);
    if (here.y === there.y) {
      const [first, end] = held(1);
      const rows = [first, end - this.boxes.length(from, 1) + along[1]] as const;
      return new DenseStorage({ ...box, extents: [1, ...extents] }, field).rowsLength(rows);
    }
    // Packed rows; edges have as many planes as stencils reach.
    const grown = (axis: number): number => {
      const [first, end] = held(axis);
      return (end - first - this.boxes.length(from, axis) + along[axis]) / (end - first);
    };
    return Math.round(source!.size * grown(0) * (here.z === there.z ? grown(2) : 1));
  }

  override canPeerStore(container: Container, field: Field): boolean {
    const { locals } = this.set;
    const reaches = ({ device }: LocalMember, to: number | undefined) =>
      to === undefined || device.canPeerStore?.(localOf(this.set, to).device);
    const reached = !spansProcesses(this.set) && locals.every((member) => this.neighbours(member.index).every((to) => reaches(member, to)));
    const uses = container.uses.filter((use) => use.field === field && use.written);
    return (
      reached &&
      !cutsRows(this) &&
      !container.box &&
      // Halos have copies of ghosts, too.
      !isAny(this.ghosts) &&
      !container.march &&
      // Their launches may be over teams, which store no planes twice.
      !container.particles &&
      !container.inRounds &&
      this.dimension === 3 &&
      [container.grid, field.grid].every((grid) => Object.is(grid, this)) &&
      field.cardinality === 1 &&
      uses.length === 1 &&
      uses[0].level === "own" &&
      uses[0].spread === undefined
    );
  }

  /** The planes of a field that a member's neighbours have in their halos, and where. */
  private peerStoresOf(container: Container, field: Field, member: number): PeerStore[] {
    const { param } = container.uses.find((use) => use.field === field && use.written)!;
    const { below, above } = this.haloWidths.get(field, 0);
    const to = (neighbour: number | undefined, side: PeerStore["side"], planes: number): PeerStore[] => {
      if (planes === 0 || neighbour === undefined) return [];
      const { buffer, type, shape, strides, offset } = this.storage(field, neighbour).kernelView(field.storage[neighbour]);
      const plane = this.padding[0] + (side === "first" ? this.partitions[neighbour].planes : -planes);
      return [{ param, side, to: new View(buffer, type, [planes, ...shape.slice(1)], strides, offset + plane * strides[0]) }];
    };
    const [lower, upper] = this.neighbours(member);
    return [...to(lower, "first", above), ...to(upper, "last", below)];
  }

  protected prepareCells(container: Container, device: number, view: DataView, options: PrepareOptions): Launch[] {
    this.layOut();
    for (const { field } of container.uses) field.grid.layOut();
    const member = localOf(this.set, device);
    // Teams go over whole planes.
    const lanes = options.precision === "fast" && isGpu(member) && !cutsRows(this) ? container.particles?.lanes() : undefined;
    const { kernel, roles, teams: overTeams, march } = this.lower(container, member, lanes);
    const args = this.argumentsOf(container, device, roles);
    const { precision, reductions = {}, unfolded, sweepBackward } = options;
    const peerStores = options.peerStored?.flatMap((field) => this.peerStoresOf(container, field, device));
    const partials = precision === "strict" && Object.values(reductions).some(({ size }) => size > 1);
    const pieces = partialsOfView(container, this.boxes, device, view);
    return this.boxes.view(device, view, container.box).flatMap((box, n) => {
      if (isEmptyBox(box)) return [];
      const outputs = Object.entries(reductions).map(([param, all]) => ({ param, ...pieces(all, precision, box, n) }));
      const { policy, scalars } = overTeams ? this.teamsOver(box[0], overTeams) : this.rangeOver(box, container, march);
      const all = { ...args, ...scalars, ...Object.fromEntries(outputs.map(({ param, target }) => [param, target])) };
      const launch = member.device.prepare<Params>(kernel, all, policy, { precision, partials, unfolded, peerStores, sweepBackward });
      return [launch, ...outputs.flatMap(({ moved }) => (moved ? [movePartials(member, moved)] : []))];
    });
  }

  /** Arguments of a kernel over a member's box, whatever its cells. */
  private argumentsOf(container: Container, device: number, roles: Lowered["roles"]): Record<string, unknown> {
    const args: Record<string, unknown> = Object.fromEntries(container.values);
    for (const { param, field } of container.uses)
      args[param] = (field.grid as DenseGrid).storage(field, device).kernelView(field.storage[device]);
    for (const [param, scalar] of container.scalars) args[param] = scalar.views[device];
    for (const [param, array] of container.axisArrays ?? []) args[param] = array.views[device];
    for (const [param, { array }] of container.arrays ?? []) args[param] = array.views[device];
    const [mask, origin, rowOrigin] = (["mask", "origin", "rowOrigin"] as const).map((role) => roles.get(role));
    if (mask !== undefined) args[mask] = this.maskStorage(device).kernelView(this.activeMasks()[device]);
    if (origin !== undefined) args[origin] = this.partitions[device].first;
    if (rowOrigin !== undefined) [args[rowOrigin]] = this.boxes.own(device, 1);
    return args;
  }

  override foldAlongAxes(container: Container, precision: Precision): Rounds {
    this.layOut();
    for (const { field } of container.uses) field.grid.layOut();
    const cells = (m: number) => {
      const member = localOf(this.set, m);
      const { ir, roles } = this.lower(container, member);
      const origin = this.padding.map((width, axis) => width - this.boxes.own(m, this.dimension - 1 - axis)[0]);
      return { ir, args: this.argumentsOf(container, m, roles), isGpu: isGpu(member), origin };
    };
    return axisFoldRounds(container, precision, cells);
  }

  override roll(cells: Roll): Rounds {
    this.layOut();
    return rollRounds(this as unknown as Grid, cells, (field, m, first, extents) => {
      const storage = this.storage(field, m);
      const { buffer, type } = field.storage[m];
      return new View(buffer, type, [field.cardinality, ...extents], [storage.component, ...storage.strides], storage.at(first));
    });
  }

  /** A launch over the cells of a member in a box, which the container's region has all along x, over every second or over stretches of them. */
  private rangeOver(box: LocalBox, container: Container, march?: Lowered["march"]): Cells {
    const row = container.box?.bounds[0] ?? ([0, this.extents[0]] as const);
    const bounds = [...box, row].map(([a, b], axis) => [a + this.padding[axis], b + this.padding[axis]] as const);
    if (everySecondOf(container)) bounds[bounds.length - 1] = [0, Math.ceil((row[1] - row[0]) / 2)];
    if (!march) return { policy: range(...bounds), scalars: {} };
    const [begin, end] = bounds[march.axis];
    const stretches = [0, Math.ceil((end - begin) / march.stretch)] as const;
    const policy = range(...bounds.map((span, axis) => (axis === march.axis ? stretches : span)));
    return { policy, scalars: { [march.begin]: begin, [march.end]: end } };
  }

  /** Cells that a march goes up: all of a column in about equal parts. */
  private stretchOf({ axis, stretch }: March, member: LocalMember): number {
    if (stretch !== undefined) return stretch;
    const members = axis === 0 ? this.division.z : this.division.y;
    const cells = Math.ceil(this.extents.at(-1 - axis)! / members);
    return Math.ceil(cells / Math.ceil(cells / (isGpu(member) ? GPU_STRETCH : CPU_STRETCH)));
  }

  /** The same, with a cell for each member of a team. */
  private teamsOver([first, end]: readonly [number, number], { plane, cells, members, lanes }: NonNullable<Lowered["teams"]>): Cells {
    const count = (end - first) * this.extents.slice(0, -1).reduce((a, b) => a * b, 1);
    const policy = teams(Math.ceil(count / members), { size: members, lanes });
    return { policy, scalars: { [plane]: first + this.padding[0], [cells]: count } };
  }

  /** Cells that halos have along an axis, where a member has a neighbour. */
  private haloWidth(axis: number): number {
    return this.rings[this.dimension - 1 - axis] === undefined ? this.reach[axis] : 0;
  }

  /** The next members along an axis. */
  private ends(member: number, axis: number): readonly [low: number | undefined, high: number | undefined] {
    if (axis === this.dimension - 1) return this.neighbours(member);
    return axis === 1 ? [this.memberBeside(member, -1, 0), this.memberBeside(member, 1, 0)] : [undefined, undefined];
  }

  /** Periodic axes along which every member has all cells. */
  private get rings(): Rings {
    const isCut = (axis: number): boolean => this.set.members.length > 1 && this.cutAxes.includes(axis);
    return this.extents.map((extent, axis) => (this.periodic[axis] && !isCut(axis) ? extent : undefined)).toReversed();
  }

  private box(member: number): StoredBox {
    const { padding, packed } = this;
    const extents = this.extents.map((_, axis) => this.boxes.length(member, axis)).toReversed();
    const ghosted = this.ghosts.map((ends, axis) => Math.max(...ends) > 0 || (axis === 1 && cutsRows(this))).toReversed();
    return { extents, padding, packed, ghosted, spare: this.rings.at(-1) };
  }

  private storage(field: ValueLayout, member: number): DenseStorage {
    return new DenseStorage(this.box(member), field);
  }

  private maskStorage(member: number): DenseStorage {
    return this.storage({ type: "u8", cardinality: 1, layout: "soa" }, member);
  }

  private activeMasks(): readonly View[] {
    return (this.masks ??= byLocal(this.set, (member, m) => {
      const storage = this.maskStorage(m);
      const memory = storage.allocate(member.device);
      const [nx] = this.extents;
      const rowRuns = cutsRows(this) ? this.boxes.runs(m, 1) : [];
      for (const { first, end, boxPlane } of this.boxes.runs(m, this.dimension - 1))
        for (const piece of evenPlaneRuns({ first: boxPlane, end: boxPlane + end - first }, this.activity.planeSize)) {
          const planes = [piece.first - boxPlane + first, piece.end - boxPlane + first] as const;
          const bytes = this.activity.bytes(piece.first, piece.end);
          if (rowRuns.length === 0) member.queue(0).write(storage.window(memory, ...planes), bytes);
          for (const { first: low, end: high, boxPlane: row } of rowRuns) {
            const window = storage.window(memory, ...planes, [
              [0 - low, high - this.boxes.length(m, 1)],
              [0, 0],
            ]);
            member
              .queue(0)
              .write(window, boxOfPlanes(bytes, this.activity.planeSize, [row, row + high - low], this.activity.planeSize / nx));
          }
        }
      return memory;
    }));
  }

  /** Cells that a member stores, halos included, as windows of storage take them. */
  private stored(member: number): readonly [first: number, end: number, margins: Margins] {
    return [...this.boxes.stored(member, this.dimension - 1), this.margin((axis) => this.boxes.stored(member, axis), member)];
  }

  private fillMember(field: Field, member: number, memory: View, value: number): void {
    const planes = this.stored(member);
    const mask = this.activity.isFull
      ? undefined
      : this.maskStorage(member)
          .byComponent(this.activeMasks()[member], ...planes)
          .at(0, 0);
    fillView(localOf(this.set, member), this.storage(field, member).byComponent(memory, ...planes), value, mask);
  }

  /** @param lanes of a GPU that share out the particles of a cell, where the container loops over such */
  private lower(container: Container, member: LocalMember, lanes = 1): Lowered {
    const onCpu = member.device.memory === CPU_MEMORY;
    const march = container.march && { axis: container.march.axis, stretch: this.stretchOf(container.march, member) };
    // Particles read the cells around theirs once for all of them.
    const byValue = onCpu && !container.particles && container.uses.every(({ spread }) => spread === undefined);
    const fields = new Map(
      container.uses.map(({ param, field, level }): [string, DenseFieldPlan] => [
        param,
        {
          cardinality: field.cardinality,
          layout: field.layout,
          level,
          padding: (field.grid as DenseGrid).padding,
          rings: (field.grid as DenseGrid).rings,
          fillValue: field.fillValue,
        },
      ]),
    );
    const plan: DensePlan = {
      fields,
      mask: container.mask?.param,
      padding: this.padding,
      rings: this.rings,
      cutsRows: cutsRows(this),
      byValue,
      width: this.extents[0],
      packed: this.packed,
      masked: !this.activity.isFull,
      onGhosts: container.box !== undefined && hasGhosts(container.box, this),
      writesGhosts: container.box?.side !== undefined,
      march,
      everySecond: everySecondOf(container),
    };
    const variants = this.lowered.get(container) ?? new Map<string, Lowered>();
    this.lowered.set(container, variants);
    const key = JSON.stringify([lanes, ...fields.values(), this.packed, byValue, march]);
    let lowered = variants.get(key);
    if (!lowered) {
      const parity = plan.everySecond ? undefined : container.box?.parity;
      const code = parity === undefined ? container.ir : guardParity(container.ir, parity, this.dimension);
      const { ir, roles } = lowerDense(container.march?.ir ?? code, plan);
      lowered = this.kernelOf(container, ir, roles, lanes);
      if (march) lowered = { ...lowered, march: { ...march, begin: roles.get("begin")!, end: roles.get("end")! } };
      variants.set(key, lowered);
    }
    return lowered;
  }

  private kernelOf(container: Container, ir: KernelIR, roles: Lowered["roles"], lanes: number): Lowered {
    const members = TEAM_THREADS / lanes;
    const cells = { members, extents: this.extents.slice(0, -1).toReversed(), padding: this.padding };
    const over = lanes > 1 ? container.particles?.overTeams(ir, cells) : undefined;
    if (!over) return { ir, kernel: kernelFromIR(ir, container.location), roles };
    return { ir, kernel: kernelFromIR(over.ir, container.location), roles, teams: { ...over, members, lanes } };
  }

  override free(): void {
    super.free();
    this.masks?.forEach((view) => view.free());
    this.masks = undefined;
    this.haloBuffers.forEach((buffers) => buffers.free());
    this.haloBuffers.clear();
  }
}

/** Cells of one parity are counted, unless what they fold has its place among all cells. */
function everySecondOf({ box, reduces }: Container): DensePlan["everySecond"] {
  if (box?.parity === undefined || reduces) return undefined;
  const [begin, end] = box.bounds[0];
  return { parity: box.parity, begin, end };
}
