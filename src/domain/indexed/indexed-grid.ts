import type { Launch } from "../../device/device.js";
import { range, type Policy } from "../../device/launch/policy.js";
import { typedArray, type NumberArrayOf, View } from "../../device/memory/view.js";
import type { KernelIR } from "../../ir/types.js";
import type { Dimension } from "../../kernel/declare/cells.js";
import { kernelFromIR } from "../../kernel/declare/from-ir.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { Params } from "../../kernel/declare/params.js";
import { byLocal, localOf } from "../../set/index.js";
import { BaseGrid, type ValueLocation } from "../base-grid.js";
import type { Container, Field, PrepareOptions } from "../grid/grid.js";
import type { FieldType } from "../grid/options.js";
import { fillView } from "../grid/fill.js";
import type { Planes } from "../grid/pieces.js";
import type { DataView, HaloCopy } from "../grid/parts.js";
import { positionIn } from "../grid/region.js";
import type { Indexing } from "./indexing.js";
import { CellValueFolds, valueRows } from "./strict-reductions.js";
import { launchPartials, slotOf } from "../container/reductions.js";
import { partialRows } from "../container/rows.js";
import { guardBox } from "../container/guard.js";
import type { ContainerPlan } from "../container/storage-kernel.js";
import { UnitStorage } from "./unit-storage.js";

/** A container over a grid's storage, and the names of the parameters that the grid itself fills. */
export interface Lowered<Role extends string> {
  readonly ir: KernelIR;
  readonly roles: ReadonlyMap<Role, string>;
}

/** Properties of a field that determine the places of its values, and the value where no active cell is. */
export type IndexedLayout = Pick<Field, "type" | "cardinality" | "layout" | "fillValue">;
/** Values of the grid's parameters. */
export type Tables<Role extends string> = Partial<Record<Role, View | number>>;
/** A launch over some planes of a partition. */
export interface UnitLaunch<Role extends string> {
  readonly policy: Policy;
  /** Parameters that differ from launch to launch. */
  readonly scalars?: Partial<Record<Role, number>>;
}

/**
 * A grid that stores units by index, cells or bricks of cells, and only those with active cells: what element-sparse and brick
 * grids have in common.
 */
export abstract class IndexedGrid<D extends Dimension, Role extends string> extends BaseGrid<D> {
  /** Cells of a unit. */
  protected abstract readonly unitCells: number;
  /** Planes of cells in a plane of units. */
  protected abstract readonly unitPlanes: number;
  /** Units of fill values, after all others. */
  protected abstract readonly fillUnits: number;
  /** Indexing of each member, in memory order. */
  protected indexings: readonly Indexing[] = [];
  /** Planes of units in a halo. */
  private width = -1;
  private readonly tables: Tables<Role>[] = [];
  /** Folds of each member, by the box of the containers that use them. */
  private readonly cellFolds: Map<string, CellValueFolds>[] = [];
  private readonly lowered = new WeakMap<Container, Map<string, { kernel: Kernel; roles: ReadonlyMap<Role, string> }>>();

  /** Gives the units of each member their indices, with halos of `width` planes of units. */
  protected abstract index(width: number): readonly Indexing[];
  /**
   * Visits the active cells of the planes of units [low, high) that a member stores, halos included: where the cell's values lie in a component,
   * unit * unitCells + cell, and its position in the box.
   */
  protected abstract eachCell(member: number, visit: (at: number, position: number) => void, low: number, high: number): void;
  /** Place of the values of an active cell on the member that owns it. */
  protected abstract find(member: number, position: number): number;
  protected abstract lower(container: KernelIR, plan: ContainerPlan, form: string): Lowered<Role>;
  /** Value of a kernel parameter of the grid on a member, perhaps with others that were made on the way. */
  protected abstract makeTables(role: Role, member: number): Tables<Role>;

  /** Which of several kinds of kernel a container becomes on a member. */
  protected form(_container: Container, _member: number): string {
    return "units";
  }

  /** The launch over planes of units, counted from the partition's first, that have cells. */
  protected unitLaunch(_form: string, member: number, planes: readonly [begin: number, end: number]): UnitLaunch<Role> {
    const units = this.unitsOf(member, planes);
    return { policy: this.unitCells === 1 ? range(units) : range(units, this.unitCells) };
  }

  protected changeLayout(stored: readonly Field[]): void {
    this.freeTables();
    const width = Math.ceil(this.reach.at(-1)! / this.unitPlanes);
    if (width === this.width) return;
    this.width = width;
    const before = this.indexings;
    this.indexings = this.index(width);
    for (const field of stored) this.move(field, before);
  }

  /** Moves a member's own cells to new memory. */
  private move(field: Field, before: readonly Indexing[]): void {
    const views = this.allocate(field);
    for (const { index: m } of this.set.locals) {
      const [from, to] = [before[m], this.indexings[m]];
      const source = new UnitStorage(from.fillCell + this.fillUnits, this.unitCells, field).window(
        field.storage[m],
        from.first,
        from.first + from.own,
      );
      const target = this.storage(field, m).window(views[m], to.first, to.first + to.own);
      localOf(this.set, m).queue(0).copy(source, target);
    }
    field.move(views);
  }

  allocate<T extends FieldType>(field: Field<T>): readonly View<T>[] {
    return byLocal(this.set, (member, m) => {
      const storage = this.storage(field, m);
      const memory = storage.allocate<T>(member.device);
      if (field.fillValue !== 0) {
        fillView(member, storage.window(memory), field.fillValue);
        this.fillMember(field, m, memory, 0);
      }
      return memory;
    });
  }

  fill(field: Field, value: number): void {
    const memory = field.storage;
    memory.forEach((view, m) => this.fillMember(field, m, view, value));
  }

  /** Sets the active cells of a member. */
  protected fillMember(field: IndexedLayout, m: number, memory: View, value: number): void {
    fillView(localOf(this.set, m), this.storage(field, m).window(memory, 0, this.indexings[m].fillCell), value);
  }

  protected write(field: Field, first: number, data: NumberArrayOf<FieldType>): void {
    const memory = field.storage;
    const { cardinality } = field;
    const given = this.unitPlanesIn({ first, end: first + data.length / this.planeLength(field) });
    const origin = first * this.activity.planeSize;
    this.set.locals.forEach((member) => {
      const m = member.index;
      const indexing = this.indexings[m];
      for (const run of indexing.planeRuns) {
        const shift = run.boxPlane - run.first;
        const [low, high] = [Math.max(run.first, given.first - shift), Math.min(run.end, given.end - shift)];
        if (low >= high) continue;
        const begin = indexing.plane(low);
        const target = this.storage(field, m).window(memory[m], begin, indexing.plane(high));
        if (target.size === 0) continue;
        const values = typedArray(field.type, target.size).fill(field.fillValue);
        const each = target.size / cardinality;
        const visit = (at: number, position: number): void => {
          const [to, from] = [at - begin * this.unitCells, (position - origin) * cardinality];
          for (let k = 0; k < cardinality; k++) values[k * each + to] = data[from + k];
        };
        this.eachCell(m, visit, low, high);
        member.queue(0).write(target, values);
      }
    });
  }

  protected async read<T extends FieldType>(field: Field<T>, planes: Planes): Promise<NumberArrayOf<T>> {
    const { cardinality } = field;
    const length = (planes.end - planes.first) * this.planeLength(field as unknown as Field);
    const data = typedArray(field.type, length).fill(field.fillValue) as NumberArrayOf<T>;
    const memory = field.storage;
    const asked = this.unitPlanesIn(planes);
    const origin = planes.first * this.activity.planeSize;
    const reads = this.set.locals.map(async (member) => {
      const m = member.index;
      const indexing = this.indexings[m];
      const { first, planes: own } = indexing.partition;
      const [low, high] = [Math.max(first, asked.first), Math.min(first + own, asked.end)];
      if (low >= high) return;
      const [begin, end] = [indexing.plane(low), indexing.plane(high)];
      const each = (end - begin) * this.unitCells;
      if (each === 0) return;
      const values = await member.queue(0).read(this.storage(field, m).window(memory[m], begin, end));
      const visit = (at: number, position: number): void => {
        const [from, to] = [at - begin * this.unitCells, (position - origin) * cardinality];
        for (let k = 0; k < cardinality; k++) data[to + k] = values[k * each + from];
      };
      this.eachCell(m, visit, low, high);
    });
    await Promise.all(reads);
    return data;
  }

  /** Planes of units that hold planes of cells, which begin with such a plane. */
  private unitPlanesIn({ first, end }: Planes): Planes {
    return { first: Math.floor(first / this.unitPlanes), end: Math.ceil(end / this.unitPlanes) };
  }

  protected locate(field: Field, cell: readonly number[], k: number): ValueLocation {
    const [nx, ny] = this.extents;
    const [x, y, z = 0] = cell;
    const memory = field.storage;
    const member = this.partitions.findIndex(({ first, planes }) => cell.at(-1)! < first + planes);
    const view = memory[member] && this.storage(field, member).value(memory[member], this.find(member, (z * ny + y) * nx + x), k);
    return { member, view };
  }

  halo(field: Field): readonly HaloCopy[] {
    const memory = field.storage;
    const components = field.layout === "aos" ? [undefined] : Array.from({ length: field.cardinality }, (_, k) => k);
    /** Own planes of one member, from `first` on, to the halo of another, from `target` on. */
    const copies = (from: number, first: number, to: number, target: number, planes: number, k = 0): HaloCopy[] => {
      const piece = (m: number, begin: number): View | undefined => {
        const indexing = this.indexings[m];
        return memory[m] && this.storage(field, m).piece(memory[m], indexing.plane(begin), indexing.plane(begin + planes), k);
      };
      const units = this.indexings[from].plane(first + planes) - this.indexings[from].plane(first);
      return units > 0 ? [{ from, to, source: piece(from, first), target: piece(to, target) }] : [];
    };
    return this.indexings.flatMap(({ partition: { first } }, upper) => {
      const [lower] = this.neighbours(upper);
      if (lower === undefined) return [];
      const { partition } = this.indexings[lower];
      const end = partition.first + partition.planes;
      const widths = components.map((k) => {
        const { below, above } = this.haloWidths.get(field, k);
        return { k, below: Math.ceil(below / this.unitPlanes), above: Math.ceil(above / this.unitPlanes) };
      });
      return [
        ...widths.flatMap(({ k, below }) => copies(lower, end - below, upper, first - below, below, k)),
        ...widths.flatMap(({ k, above }) => copies(upper, first, lower, end, above, k)),
      ];
    });
  }

  protected prepareCells(
    container: Container,
    device: number,
    view: DataView,
    { precision, reductions = {}, unfolded }: PrepareOptions,
  ): Launch[] {
    this.layOut();
    for (const { field } of container.uses) field.grid.layOut();
    const pieces = this.unitPlanesOf(device, view).map((planes, n) => ({
      planes,
      rows: this.rowsIn(container, device, planes),
      slot: slotOf(view, n),
    }));
    const wanted = pieces.filter(({ planes, rows }) => {
      const [from, to] = this.unitsOf(device, planes);
      return from < to && rows[0] < rows[1];
    });
    if (wanted.length === 0) return [];

    const storeReduced = precision === "strict" && container.reduces;
    const form = this.form(container, device);
    const { kernel, roles } = this.compile(container, form, storeReduced);
    const args: Record<string, unknown> = Object.fromEntries(container.values);
    for (const { param, field } of container.uses)
      args[param] = (field.grid as unknown as IndexedGrid<D, Role>).storage(field, device).kernelView(field.storage[device]);
    for (const [param, scalar] of container.scalars) args[param] = scalar.views[device];
    for (const [param, array] of container.axisArrays ?? []) args[param] = array.views[device];
    for (const [param, { array }] of container.arrays ?? []) args[param] = array.views[device];
    const folds = storeReduced ? this.cellFoldsOf(container, device) : undefined;
    Object.assign(args, folds?.valuesOf(container));
    return wanted.flatMap(({ slot, planes, rows }) => {
      const { policy, scalars } = this.unitLaunch(form, device, planes);
      const own = [...roles].map(([role, param]) => [param, scalars?.[role] ?? this.table(role, device)] as const);
      const [begin, end] = rows;
      const partials = Object.entries(reductions).map(
        ([param, all]) => [param, launchPartials(partialRows(container), all, precision, [begin, end - begin], slot)] as const,
      );
      const all = { ...args, ...Object.fromEntries(own), ...(folds ? {} : Object.fromEntries(partials)) };
      return [
        localOf(this.set, device).device.prepare<Params>(kernel, all, policy, { precision, unfolded }),
        ...(folds ? partials.flatMap(([param, partial]) => folds.fold(container, param, [begin, end], partial)) : []),
      ];
    });
  }

  /** The planes of cells that planes of units have in the box of a container, counted from the first one of the member in that box. */
  private rowsIn(container: Container, device: number, [from, to]: readonly [number, number]): readonly [begin: number, end: number] {
    const { first, planes } = this.partitions[device];
    const rows = partialRows(container).partitions[device];
    const skipped = rows.first - first;
    return [Math.max(from * this.unitPlanes - skipped, 0), Math.min(to * this.unitPlanes, planes, skipped + rows.planes) - skipped];
  }

  /** The units [first, end) of planes of units, counted from the partition's first. */
  private unitsOf(member: number, [begin, end]: readonly [number, number]): [number, number] {
    const indexing = this.indexings[member];
    const { first } = indexing.partition;
    return [indexing.plane(first + begin), indexing.plane(first + end)];
  }

  /** The planes of units [begin, end) of a partition that a data view has: one or two runs, empty ones included. */
  private unitPlanesOf(device: number, view: DataView): (readonly [number, number])[] {
    const { planes } = this.indexings[device].partition;
    if (view === "standard") return [[0, planes]];
    const [lower, upper] = this.neighbours(device);
    const low = lower === undefined ? 0 : Math.min(this.width, planes);
    const high = upper === undefined ? planes : Math.max(low, planes - this.width);
    return view === "internal"
      ? [[low, high]]
      : [
          [0, low],
          [high, planes],
        ];
  }

  override free(): void {
    super.free();
    this.freeTables();
  }

  /** All of them, and what else was made for the layout of memory; or only some. */
  protected freeTables(roles?: readonly Role[]): void {
    for (const tables of this.tables)
      for (const role of roles ?? (Object.keys(tables ?? {}) as Role[])) {
        const table = tables?.[role];
        if (table instanceof View) table.free();
        if (tables) delete tables[role];
      }
    if (roles) return;
    for (const byBox of this.cellFolds.splice(0)) byBox?.forEach((folds) => folds.free());
  }

  private compile(container: Container, form: string, storeReduced: boolean): { kernel: Kernel; roles: ReadonlyMap<Role, string> } {
    const variants = this.lowered.get(container) ?? new Map<string, { kernel: Kernel; roles: ReadonlyMap<Role, string> }>();
    this.lowered.set(container, variants);
    const key = `${form} ${storeReduced}`;
    let made = variants.get(key);
    if (!made) {
      const plan: ContainerPlan = {
        fields: new Map(container.uses.map(({ param, level, field: { cardinality, layout } }) => [param, { cardinality, layout, level }])),
        mask: container.mask?.param,
        storeReduced,
      };
      const code = container.box ? guardBox(container.ir, container.box, this.extents) : container.ir;
      const { ir, roles } = this.lower(code, plan, form);
      variants.set(key, (made = { kernel: kernelFromIR(ir, container.location), roles }));
    }
    return made;
  }

  protected storage(field: IndexedLayout, member: number): UnitStorage {
    return new UnitStorage(this.indexings[member].fillCell + this.fillUnits, this.unitCells, field);
  }

  protected table(role: Role, member: number): View | number {
    const tables = (this.tables[member] ??= {});
    if (tables[role] === undefined) Object.assign(tables, this.makeTables(role, member));
    return tables[role]!;
  }

  private cellFoldsOf({ grid, box }: Container, member: number): CellValueFolds {
    const byBox = (this.cellFolds[member] ??= new Map<string, CellValueFolds>());
    const key = box ? box.bounds.join(" ") : "";
    let folds = byBox.get(key);
    if (!folds) {
      const { extents, partitions } = partialRows({ grid, box });
      const each = (visit: (at: number, position: number) => void): void =>
        this.eachOwnCell(member, (at, position) => {
          const inBox = box ? positionIn(box, this.extents, position) : position;
          if (inBox !== undefined) visit(at, inBox);
        });
      const rows = valueRows(extents, { ...partitions[member], first: partitions[member].first - (box?.bounds.at(-1)![0] ?? 0) }, each);
      const { fillCell } = this.indexings[member];
      folds = new CellValueFolds(
        localOf(this.set, member).device,
        rows,
        this.unitCells === 1 ? [fillCell + 1] : [fillCell + 1, this.unitCells],
      );
      byBox.set(key, folds);
    }
    return folds;
  }

  private eachOwnCell(member: number, visit: (at: number, position: number) => void): void {
    const { first, planes } = this.indexings[member].partition;
    this.eachCell(member, visit, first, first + planes);
  }
}
