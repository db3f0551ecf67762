import type { Device, LaunchOptions, View } from "isoform";
import { f64, i32, kernel, range, view } from "isoform";
import { startKnots } from "./sorted-attitude.js";
import type { Observations, RowOrder } from "./source.js";
import type { System } from "./system.js";

/*
 * Rows in the order of their start knots, in each tile of stars: a team that works through the rows of one start knot has their twelve unknowns of attitude
 * in registers, and leaves their shares of A^T u without a copy of the coefficients. Rows of one start knot keep their order.
 */

const takeReals = kernel("takeReals", { index: view(i32), from: view(f64), to: view(f64) }, ({ index, from, to }, i) => {
  to[i] = from[index[i]];
});

const takeIntegers = kernel("takeIntegers", { index: view(i32), from: view(i32), to: view(i32) }, ({ index, from, to }, i) => {
  to[i] = from[index[i]];
});

/** A tile's rows by start knot: the first of each, and the end of the last. */
export type KnotRows = View<"i32">;

/** to[i] = from[index[i]], for each column of arrays with several. */
async function take(device: Device, index: View<"i32">, from: View, to: View, options: LaunchOptions): Promise<void> {
  if (from.rank === 2) {
    for (let k = 0; k < from.shape[1]; k++) await take(device, index, from.at(1, k), to.at(1, k), options);
    return;
  }
  const args = { index, from, to };
  if (from.type === "i32")
    await device.run(takeIntegers, args as { index: View<"i32">; from: View<"i32">; to: View<"i32"> }, range(index.length), options);
  else await device.run(takeReals, args as { index: View<"i32">; from: View<"f64">; to: View<"f64"> }, range(index.length), options);
}

/** Puts the rows of `system` into the order of their start knots, each tile by itself, with their known terms; the caller frees both results. */
export async function orderRows(system: System, options: LaunchOptions): Promise<{ order: RowOrder; knotRows: KnotRows[] }> {
  const { device, shape, tiles } = system;
  const knotOf = (await device.queue.read(system.knot)) as Int32Array;
  const rowAt = new Int32Array(shape.observations);
  const placeOf = new Int32Array(shape.observations);
  const knotRows: KnotRows[] = [];
  let first = 0;
  for (const { shape: tile } of tiles) {
    const end = first + tile.observations;
    const starts = new Int32Array(startKnots(tile) + 1);
    for (let row = first; row < end; row++) starts[knotOf[row] + 1]++;
    for (let knot = 1; knot < starts.length; knot++) starts[knot] += starts[knot - 1];
    const next = starts.slice();
    for (let row = first; row < end; row++) {
      const place = first + next[knotOf[row]]++;
      rowAt[place] = row;
      placeOf[row] = place;
    }
    knotRows.push(device.from(i32, starts));
    first = end;
  }
  const order = {
    rowAt: device.from(i32, rowAt),
    placeOf: device.from(i32, placeOf),
    free: () => [order.rowAt, order.placeOf].forEach((array) => array.free()),
  };
  await permute(system, order, options);
  return { order, knotRows };
}

/** Coefficients and indices of observations, column by column: no more than one column lies in memory twice. */
async function permute(system: System, { rowAt }: RowOrder, options: LaunchOptions): Promise<void> {
  const { device, knownTerms } = system;
  const rows = rowAt.length;
  const arrays: (View | undefined)[] = [...sectionsOf(system), knownTerms.slice([0, rows])];
  const reals = device.array(f64, rows);
  const integers = device.array(i32, rows);
  for (const array of arrays) {
    if (!array) continue;
    const columns = array.rank === 2 ? Array.from({ length: array.shape[1] }, (_, k) => array.at(1, k)) : [array];
    const ahead = array.type === "i32" ? integers : reals;
    for (const column of columns) {
      await take(device, rowAt, column, ahead, options);
      device.queue.copy(ahead, column as typeof ahead);
    }
  }
  await device.queue.finish();
  reals.free();
  integers.free();
}

const sectionsOf = ({ astrometric, attitude, instrument, global, star, knot, column, factors }: Observations): (View | undefined)[] => [
  astrometric,
  attitude,
  instrument,
  global,
  star,
  knot,
  column,
  ...(factors ? [factors.sight, factors.turns, factors.weight, factors.place] : []),
];

/** A system, as far as it says where its rows are. */
type Ordered = Pick<System, "device" | "shape" | "rowOrder">;

/**
 * Rows `first` to `end` of an array over a system's rows as they are in the source's order: a part of the array, or a copy, to be freed. Rows of constraints
 * follow the observations and keep their places. The queue that writes the array has finished.
 */
export async function inSourceOrder<V extends View>(
  { device, shape, rowOrder }: Ordered,
  array: V,
  [first, end]: readonly [first: number, end: number],
): Promise<{ readonly view: V; free(): void }> {
  if (!rowOrder) return { view: array.slice([first, end]) as V, free: () => undefined };
  const extents = [end - first, ...array.shape.slice(1)];
  const copy: View = array.type === "i32" ? device.array(i32, extents) : device.array(f64, extents);
  const observed = Math.min(end, shape.observations);
  if (first < observed) await take(device, rowOrder.placeOf.slice([first, observed]), array, copy.slice([0, observed - first]), {});
  if (observed < end) device.queue.copy(array.slice([observed, end]), copy.slice([observed - first, end - first]));
  await device.queue.finish();
  return { view: copy as V, free: () => copy.free() };
}

/** Copies an array over all observations in the source's order to where a system's rows are. The device's queues have finished. */
export async function putRows({ device, rowOrder }: Ordered, source: View<"f64">, to: View<"f64">): Promise<void> {
  if (rowOrder) return take(device, rowOrder.rowAt, source, to, {});
  device.queue.copy(source, to);
  await device.queue.finish();
}
