import { describe } from "../base/describe.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions } from "../base/own.js";
import { ValuePicture } from "./picture.js";

/* Pictures of what holds numbers: arrays of the host, views of a device, fields of a grid. */

/** A field of a grid, as much as is asked of it. */
interface ShowableField {
  readonly name: string;
  readonly cardinality: number;
  readonly grid: { readonly extents: readonly number[] };
  download(): Promise<ArrayLike<number>>;
}

interface ShowableView {
  readonly shape: readonly number[];
  readonly buffer: object;
}

/** An array of numbers, rows of numbers, a view, or a field. */
export type Showable = ArrayLike<number> | readonly ArrayLike<number>[] | ShowableView | ShowableField;

/** How `show` draws. */
export interface ShowOptions {
  readonly title?: string;
  /** The queue that reads a view: `device.queue`. */
  readonly queue?: { read(view: never): Promise<ArrayLike<number>> };
  /** Extents of an array of numbers, the slowest first. Default: a line. */
  readonly shape?: readonly number[];
  /** Which plane of three axes. Default: the middle one. */
  readonly plane?: number;
  /** Which component of a field. Default: 0. */
  readonly component?: number;
}

/**
 * A picture of numbers along one, two or three axes: `console.log(await show(u))` plots it in a terminal, `(await show(u)).svg()` and `.png()` are files, and a
 * notebook draws it. Of three axes it shows a plane, and the title says which.
 * @throws LaunchError for what holds no numbers, more axes, or a plane or component that is not there
 */
export async function show(what: Showable, options: ShowOptions = {}): Promise<ValuePicture> {
  requireOptions("show(...)", options, ["title", "queue", "shape", "plane", "component"]);
  const { values, shape, title, components = 1 } = await numbersOf(what, options);
  const size = shape.reduce((a, b) => a * b, components);
  if (shape.length < 1 || shape.length > 3 || size !== values.length || size === 0)
    throw new LaunchError(
      `show draws 1 to 3 axes, and is given ${values.length} numbers of shape [${shape.join(", ")}]; give a slice, or { shape: [rows, columns] }`,
    );
  const component = place("component", options.component ?? 0, components);
  const [depth, height, width] = [1, 1, ...shape].slice(-3);
  const plane = place("plane", options.plane ?? depth >> 1, depth);
  const start = plane * height * width;
  const shown = Float64Array.from({ length: height * width }, (_, n) => values[(start + n) * components + component]);
  const parts = [...(components > 1 ? [`component ${component}`] : []), ...(depth > 1 ? [`plane ${plane} of ${depth}`] : [])];
  return new ValuePicture([options.title ?? title, ...parts].join(", "), shown, width, height);
}

interface ShownNumbers {
  readonly values: ArrayLike<number>;
  readonly shape: readonly number[];
  readonly title: string;
  readonly components?: number;
}

async function numbersOf(what: Showable, { shape, queue }: ShowOptions): Promise<ShownNumbers> {
  if (typeof what !== "object" || what === null)
    throw new LaunchError(`show draws arrays, views and fields, and is given ${describe(what)}`);
  if ("download" in what) {
    const values = await what.download();
    return { values, shape: what.grid.extents.toReversed(), title: what.name, components: what.cardinality };
  }
  if ("buffer" in what && "shape" in what) {
    if (!queue) throw new LaunchError("show reads a view by a queue of its device; give show(view, { queue: device.queue })");
    return { values: await queue.read(what as never), shape: what.shape, title: "view" };
  }
  if (!("length" in what)) throw new LaunchError("show draws arrays, views and fields, and is given an object; give its numbers");
  const first: unknown = what[0];
  if (typeof first !== "object") return { values: what as ArrayLike<number>, shape: shape ?? [what.length], title: "array" };
  const rows = Array.from(what as readonly ArrayLike<number>[]);
  const other = rows.find(({ length }) => length !== rows[0].length);
  if (other) throw new LaunchError(`show draws rows of one length, and is given ${rows[0].length} and ${other.length} numbers`);
  return { values: rows.flatMap((row) => Array.from(row)), shape: [rows.length, rows[0].length], title: "array" };
}

function place(what: string, n: number, count: number): number {
  if (Number.isInteger(n) && n >= 0 && n < count) return n;
  throw new LaunchError(`show is given the ${what} ${describe(n)}, and there are ${count}`);
}
