import { requireFitting, requireNumber, typedArray, View, type NumberArrayOf } from "../../device/memory/view.js";
import { LaunchError } from "../../base/errors.js";
import type { Dimension } from "../../kernel/declare/cells.js";
import { byLocal, requireAlike, type DeviceSet } from "../../set/index.js";
import type { FieldToken, FieldType } from "./options.js";

/** The name of an axis of a grid of the given dimension. */
export type AxisName<D extends Dimension = Dimension> = [D] extends [2] ? "x" | "y" : "x" | "y" | "z";

/**
 * Values in the order of their axes, the last one slowest, component by component; including ghosts. Or a function that computes them from
 * the coordinates along these axes, x first, and the number of the component.
 */
export type AxisValues = ArrayLike<number> | ((...coordinates: number[]) => number);

/** Options of `grid.axis`. */
export interface AxisOptions {
  /** Values before coordinate 0 and after the last: how far `at` reaches beyond the grid. Default: 0. */
  ghosts?: number;
}

/** Options of a field that lives on some of the axes. */
export interface AxisFieldOptions<A extends readonly AxisName[] = readonly AxisName[], C extends number = number> extends AxisOptions {
  axes: A;
  /** Values for each coordinate. Default: 1. */
  cardinality?: C;
}

/** Properties of a grid on which an array along axes depends. */
interface AxisGrid {
  readonly set: DeviceSet;
  readonly extents: readonly number[];
}

/**
 * Values for each coordinate along an axis of a grid, or for each pair of coordinates along two, and for some beyond their ends: metrics,
 * profiles, means. Every member has all of them. The host sets them, and containers reduce into them.
 */
export class AxisArray<T extends FieldType = FieldType, C extends number = number, N extends number = number> {
  readonly type: T;
  /** In rising order; 0 is x. */
  readonly axes: readonly number[] & { readonly length: N };
  readonly cardinality: C;
  readonly ghosts: number;
  /** Views of the kernels on each member of this process: an index for each axis, the last axis first, then the component if there are several. */
  readonly views: readonly View<T>[];
  /** In memory: [coordinate along the grid's last axis][component][y][x], 1 long where the array has no such axis. So a member's part is in one piece. */
  private readonly shape: readonly number[];
  private readonly memory: readonly View<T>[];
  /** Its name in messages. */
  private readonly text: string;

  /** @throws LaunchError for axes that the grid does not have, and for values that do not fit */
  constructor(
    readonly grid: AxisGrid,
    readonly name: string,
    { type }: FieldToken<T>,
    options: AxisFieldOptions<readonly AxisName[], C>,
    values?: AxisValues,
  ) {
    const { axes, cardinality = 1 as C, ghosts = 0, ...others } = options;
    this.text = name === axes[0] ? `an array along ${name}` : `field "${name}" along ${axes.join(" and ")}`;
    for (const other of Object.keys(others))
      throw new LaunchError(`${this.text} has no option "${other}"; it has ghosts, and fields have cardinality`);
    if (!Number.isInteger(ghosts) || ghosts < 0)
      throw new LaunchError(`${this.text} has ${ghosts} ghosts; give a whole number of at least 0`);
    if (!Number.isInteger(cardinality) || cardinality < 1)
      throw new LaunchError(`${this.text} has cardinality ${cardinality}; give a whole number of at least 1`);
    this.axes = this.axesOf(axes) as unknown as typeof this.axes;
    [this.type, this.cardinality, this.ghosts] = [type, cardinality, ghosts];
    const { length } = grid.extents;
    this.shape = [this.stored(length - 1), cardinality, length === 3 ? this.stored(1) : 1, this.stored(0)];
    const data = values === undefined ? new Float64Array(this.length) : this.inMemory(this.valuesOf(values));
    this.memory = byLocal(grid.set, ({ device }) => device.from<T>({ type }, data) as View<T>);
    const { shape, strides } = this.layout;
    this.views = this.memory.map(({ buffer }) => new View(buffer, type, shape, strides, 0));
  }

  /** Values in all. */
  get length(): number {
    return this.shape.reduce((a, b) => a * b, 1);
  }

  /**
   * Other values, in stream 0 of each member.
   * @throws LaunchError for values that the type cannot hold, IsoformError on all ranks where one gives other values
   */
  set(values: AxisValues): void {
    const data = this.inMemory(this.valuesOf(values));
    requireFitting(this.type, data);
    requireAlike(this.grid.set, `the values of ${this.text}`, data);
    for (const member of this.grid.set.locals) member.queue(0).write(this.memory[member.index], data);
  }

  /** All values, ghosts included, in the order in which `set` takes them, once the work on the default stream of this process's first member is done. */
  async download(): Promise<NumberArrayOf<T>> {
    const [first] = this.grid.set.locals;
    const stored = await first.queue(0).read(this.memory[first.index]);
    const all = typedArray(this.type, this.length);
    this.places.forEach((place, n) => (all[n] = stored[place]));
    return all as NumberArrayOf<T>;
  }

  /** Component `k` at coordinates along the axes, x first. Ghosts lie below 0 and beyond the extents. */
  async get(coordinates: readonly number[], k = 0): Promise<number> {
    const place = [...coordinates].reverse().map((coordinate) => coordinate + this.ghosts);
    const at = [...place, ...(this.cardinality > 1 ? [k] : [])];
    const [first] = this.grid.set.locals;
    const { shape, strides, offset, buffer } = this.views[first.index];
    if (coordinates.length !== this.axes.length || k >= this.cardinality || at.some((n, axis) => !(n >= 0 && n < shape[axis])))
      throw new LaunchError(`${this.text} has no value at [${coordinates}], component ${k}; give a coordinate for each axis, x first`);
    const view = new View(
      buffer,
      this.type,
      [1],
      [1],
      at.reduce((sum, n, axis) => sum + n * strides[axis], offset),
    );
    return (await first.queue(0).read(view))[0];
  }

  /** Some components of a box of cells, as [coordinate along the last axis][component][y][x], 1 long where the array has no such axis. */
  window(member: number, bounds: readonly (readonly [first: number, end: number])[], first: number, components: number): View<T> {
    const last = this.grid.extents.length - 1;
    const [plane, component, line] = this.strides;
    const along = (axis: number, stride: number): [length: number, offset: number] =>
      this.has(axis) ? [bounds[axis][1] - bounds[axis][0], (bounds[axis][0] + this.ghosts) * stride] : [1, 0];
    const [cut, middle, row] = [along(last, plane), last === 2 ? along(1, line) : [1, 0], along(0, 1)];
    const shape = [cut[0], components, middle[0], row[0]];
    const offset = cut[1] + first * component + middle[1] + row[1];
    return new View(this.memory[member].buffer, this.type, shape, [plane, component, line, 1], offset);
  }

  /** The piece of memory that holds some planes; all of it where the array does not have the last axis. */
  piece(member: number, [first, end]: readonly [first: number, end: number]): View<T> {
    if (!this.has(this.grid.extents.length - 1)) return this.memory[member];
    const [plane] = this.strides;
    return this.memory[member].slice([(first + this.ghosts) * plane, (end + this.ghosts) * plane]) as View<T>;
  }

  /** Values of such a piece. */
  pieceLength([first, end]: readonly [first: number, end: number]): number {
    return this.has(this.grid.extents.length - 1) ? (end - first) * this.strides[0] : this.length;
  }

  has(axis: number): boolean {
    return this.axes.includes(axis);
  }

  free(): void {
    this.memory.forEach((view) => view.free());
  }

  private get strides(): [plane: number, component: number, line: number] {
    const [, components, ny, nx] = this.shape;
    return [components * ny * nx, ny * nx, nx];
  }

  private axesOf(names: readonly AxisName[]): number[] {
    const all = ["x", "y", "z"].slice(0, this.grid.extents.length);
    const wrong = names.find((name) => !all.includes(name));
    if (wrong !== undefined)
      throw new LaunchError(`a grid of ${all.length} dimensions has no axis "${String(wrong)}"; use one of ${all.join(", ")}`);
    if (names.length === 0 || names.length >= all.length || new Set(names).size < names.length)
      throw new LaunchError(
        `${this.text} is given [${names}]; name one axis, or two of a grid of three dimensions. A field on all axes takes no option "axes"`,
      );
    return names.map((name) => all.indexOf(name)).sort();
  }

  private stored(axis: number): number {
    return this.has(axis) ? this.grid.extents[axis] + 2 * this.ghosts : 1;
  }

  /** Extents and strides of the views. */
  private get layout(): Pick<View, "shape" | "strides"> {
    const { length } = this.grid.extents;
    const [plane, component, line] = this.strides;
    const axes = this.axes.toReversed();
    const strides = axes.map((axis) => (axis === length - 1 ? plane : axis === 0 ? 1 : line));
    const shape = axes.map((axis) => this.stored(axis));
    return this.cardinality === 1 ? { shape, strides } : { shape: [...shape, this.cardinality], strides: [...strides, component] };
  }

  /** Places of values in memory, in the host's order: the last axis slowest, components side by side. */
  private get places(): number[] {
    const { shape, strides } = this.layout;
    return shape.reduce((places, n, axis) => places.flatMap((at) => Array.from({ length: n }, (_, i) => at + i * strides[axis])), [0]);
  }

  private inMemory(values: ArrayLike<number>): Float64Array {
    const data = new Float64Array(this.length);
    this.places.forEach((place, n) => (data[place] = values[n]));
    return data;
  }

  private valuesOf(values: AxisValues): ArrayLike<number> {
    const { length, ghosts, axes, cardinality } = this;
    if (typeof values !== "function") {
      if (values.length !== length)
        throw new LaunchError(
          `${this.text} is given ${values.length} values; it takes ${length}, ${cardinality === 1 ? "one" : cardinality} for each coordinate${ghosts ? ` and ${ghosts} ghosts at each end` : ""}`,
        );
      requireFitting(this.type, values);
      return values;
    }
    return Float64Array.from({ length }, (_, n) => {
      let rest = Math.floor(n / cardinality);
      const coordinates = axes.map((axis) => {
        const at = (rest % this.stored(axis)) - ghosts;
        rest = Math.floor(rest / this.stored(axis));
        return at;
      });
      const found = values(...coordinates, n % cardinality);
      requireNumber(() => `${this.text}, the value at [${coordinates}]`, found);
      return found;
    });
  }
}
