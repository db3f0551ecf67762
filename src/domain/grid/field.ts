import type { TypedArrayOf, View } from "../../device/memory/view.js";
import type { ElementType } from "../../ir/types.js";
import type { Dimension } from "../../kernel/cells.js";
import { LaunchError } from "../../ir/errors.js";
import type { BaseGrid } from "../base-grid.js";

/** What a field may store; `u8` is read as an i32 and written modulo 256. */
export type FieldType = Exclude<ElementType, "u32">;
/** Structure of arrays: all cells of component 0, then of component 1; array of structures: all components of a cell side by side. */
export type FieldLayout = "soa" | "aos";
/** `f64`, `f32`, `i32` or `u8`. */
export interface FieldToken<T extends FieldType = FieldType> {
  readonly type: T;
}

export interface FieldOptions<C extends number = number> {
  /** Components of a cell; 1 where absent. */
  cardinality?: C;
  /** The grid's where absent. */
  layout?: FieldLayout;
  /** What neighbour reads find outside the domain and in inactive cells; 0 where absent. */
  outside?: number;
}

/** The value of component `k` of the cell at global coordinates; z is 0 in 2D. */
export type CellFunction = (x: number, y: number, z: number, k: number) => number;

/**
 * Values of `cardinality` components for each active cell of a grid, in the memories of the members that own the cells.
 * Host arrays are dense: one value for each component of each cell of the bounding box, in the order (z, y, x, k).
 */
export class Field<T extends FieldType = FieldType, C extends number = number, D extends Dimension = Dimension> {
  private views: readonly View<T>[] | undefined;
  private freed = false;
  /** Something has given it values: the host or a container. */
  defined = false;
  /** Halos hold the neighbours' values. */
  coherent = true;

  constructor(
    readonly grid: BaseGrid<D>,
    readonly name: string,
    readonly type: T,
    readonly cardinality: C,
    readonly layout: FieldLayout,
    readonly outside: number,
  ) {}

  /** The memory on each member, halos and padding included, in the grid's own arrangement; laid out at first use. */
  get storage(): readonly View<T>[] {
    if (this.freed) throw new LaunchError(`field "${this.name}" was freed; free fields only when nothing uses them`);
    this.grid.lay();
    return (this.views ??= this.grid.allocate(this as unknown as Field) as readonly View<T>[]);
  }

  /** True once memory was laid out. */
  get stored(): boolean {
    return this.views !== undefined;
  }

  /** Values of the host array of this field. */
  get length(): number {
    return this.grid.extents.reduce((a, b) => a * b, this.cardinality as number);
  }

  /** One value everywhere, or one for each active cell and component, computed on the host. */
  fill(value: number | CellFunction): void {
    this.defined = this.coherent = true;
    if (typeof value === "number") this.grid.fill(this, value);
    else this.upload(this.grid.tabulate(this, value));
  }

  /** Sets all active cells from a host array in the order (z, y, x, k). Values of inactive cells are ignored. */
  upload(data: ArrayLike<number>): void {
    if (data.length !== this.length)
      throw new LaunchError(
        `field "${this.name}" is given ${data.length} values; it takes ${this.length}, ${this.cardinality} for each cell of [${this.grid.extents}]`,
      );
    this.defined = this.coherent = true;
    this.grid.upload(this, data);
  }

  /** A host array in the order (z, y, x, k), once the work on all default streams is done; inactive cells have the outside value. */
  download(): Promise<TypedArrayOf<T>> {
    return this.grid.download(this);
  }

  /** Component `k` of the cell at global coordinates [x, y, z]; the outside value if it is not an active cell. */
  get(cell: readonly number[], k = 0): Promise<number> {
    return this.grid.getValue(this, cell, k);
  }

  /** Sets component `k` of an active cell. */
  set(cell: readonly number[], value: number, k = 0): void {
    this.noteWrite();
    this.grid.setValue(this, cell, value, k);
  }

  /** Cells were written, halos were not: for whatever runs containers. */
  noteWrite(): void {
    this.defined = true;
    this.coherent = false;
  }

  /** Exchanges the contents of two fields of one grid, type, cardinality, layout and outside value, without a copy. */
  swap(other: Field): void {
    const same = (["grid", "type", "cardinality", "layout", "outside"] as const).every((key) => Object.is(this[key], other[key]));
    if (!same)
      throw new LaunchError(
        `fields "${this.name}" and "${other.name}" cannot be swapped: they need one grid, type, cardinality, layout and outside value`,
      );
    const twin = other as unknown as Field<T, C, D>;
    this.grid.readAlike(this as unknown as Field, other);
    [this.views, twin.views] = [twin.storage, this.storage];
    [this.defined, twin.defined] = [twin.defined, this.defined];
    [this.coherent, twin.coherent] = [twin.coherent, this.coherent];
  }

  /** Puts other memory, without halos, in place of the field's, which is freed: for grids that lay out anew. */
  move(views: readonly View<T>[]): void {
    this.coherent = false;
    for (const view of this.views ?? []) view.free();
    this.views = views;
  }

  /** Frees the memory; the field cannot be used again. */
  free(): void {
    if (this.freed) return;
    this.freed = true;
    for (const view of this.views ?? []) view.free();
    this.views = undefined;
    this.grid.forget(this);
  }
}
