import type { View } from "../../device/memory/view.js";
import { LaunchError } from "../../ir/errors.js";
import type { Dimension } from "../../kernel/cells.js";
import type { DeviceSet } from "../../set/index.js";
import type { FieldToken, FieldType } from "./options.js";

export type AxisName<D extends Dimension = Dimension> = [D] extends [2] ? "x" | "y" : "x" | "y" | "z";

/** One value for each coordinate, from `-ghosts` on, or what computes it from the coordinate. */
export type AxisValues = ArrayLike<number> | ((coordinate: number) => number);

export interface AxisOptions {
  /** Values before coordinate 0 and behind the last: what `at` reaches beyond the grid. 0 where absent. */
  ghosts?: number;
}

/** One value for each coordinate along one axis of a grid, and for some beyond its ends: metrics, profiles. Every member has all of them. */
export class AxisArray<T extends FieldType = FieldType> {
  readonly type: T;
  /** 0 for x. */
  readonly axis: number;
  readonly ghosts: number;
  readonly views: readonly View<T>[];

  /** @throws LaunchError for an axis that the grid does not have, and for values that do not fit */
  constructor(
    readonly grid: { readonly set: DeviceSet; readonly extents: readonly number[] },
    private readonly name: string,
    { type }: FieldToken<T>,
    values: AxisValues,
    { ghosts = 0, ...others }: AxisOptions = {},
  ) {
    for (const other of Object.keys(others)) throw new LaunchError(`an array along ${name} has no option "${other}"; it has ghosts`);
    const axes = ["x", "y", "z"].slice(0, grid.extents.length);
    this.axis = axes.indexOf(name);
    if (this.axis < 0)
      throw new LaunchError(`a grid of ${axes.length} dimensions has no axis "${String(name)}"; use one of ${axes.join(", ")}`);
    if (!Number.isInteger(ghosts) || ghosts < 0)
      throw new LaunchError(`an array along ${name} has ${ghosts} ghosts; give a whole number of at least 0`);
    this.type = type;
    this.ghosts = ghosts;
    const data = this.valuesOf(values);
    this.views = grid.set.members.map(({ device }) => device.from<T>({ type }, data) as View<T>);
  }

  /** Values in all. */
  get length(): number {
    return this.grid.extents[this.axis] + 2 * this.ghosts;
  }

  /** Other values, in stream 0 of each member. */
  set(values: AxisValues): void {
    const data = this.valuesOf(values);
    this.grid.set.members.forEach((member, m) => member.queue(0).write(this.views[m], data));
  }

  private valuesOf(values: AxisValues): ArrayLike<number> {
    const { length, ghosts, name } = this;
    const data = typeof values === "function" ? Float64Array.from({ length }, (_, n) => values(n - ghosts)) : values;
    if (data.length !== length)
      throw new LaunchError(
        `an array along ${name} is given ${data.length} values; it takes ${length}, one for each coordinate${ghosts ? ` and ${ghosts} ghosts at each end` : ""}`,
      );
    return data;
  }

  free(): void {
    for (const view of this.views) view.free();
  }
}
