import type { View } from "isoform";
import { LaunchError } from "isoform";
import type { NpyArray, NpySource, NpyValues } from "isoform/io";
import { writeNpz } from "isoform/io";
import { inSourceOrder } from "../row-order.js";
import { ASTROMETRIC, ATTITUDE, AXES, INSTRUMENT, KNOTS, sections } from "../shape.js";
import type { Solver } from "../solver.js";
import type { System } from "../system.js";

/*
 * A system for SciPy: the scaled matrix in compressed rows, the known terms and the column scaling.
 */

/** Rows that are on the host at once. */
const BLOCK = 1 << 18;
/** Column numbers from here on need 64 bits. */
const LARGE = 2 ** 31;

/** Throws LaunchError for a name that does not end in .npz. */
export function requireExportFormat(path: string): void {
  if (!/\.npz$/i.test(path)) throw new LaunchError(`--export ${path}: a system is written for SciPy: end the name in .npz`);
}

/** A process's view of a system: it may ask all members. */
type Whole = Pick<Solver, "set" | "shape" | "parts" | "systems" | "scaling" | "knownTerms">;
type Read = <V extends View>(view: V) => Promise<ArrayLike<number>>;

/** Result of `read` for a member's system, on every process of the set. */
async function ofMember<T>(
  { set: { ranks, locals, members }, systems }: Whole,
  m: number,
  read: (system: System, from: Read) => Promise<T>,
): Promise<T> {
  const n = locals.findIndex(({ index }) => index === m);
  const own = n < 0 ? undefined : read(systems[n], (view) => locals[n].queue(0).read(view) as Promise<ArrayLike<number>>);
  return ranks ? (await ranks.gather(own, `a part of member ${m}`))[members[m].rank]! : own!;
}

/** A block of a member's observations, counted from its first. */
interface Block {
  readonly m: number;
  readonly bounds: readonly [first: number, end: number];
}

function* blocksOf({ parts }: Whole): Generator<Block> {
  for (const [m, { rows }] of parts.entries())
    for (let first = 0, end = rows[1] - rows[0]; first < end; first += BLOCK) yield { m, bounds: [first, Math.min(end, first + BLOCK)] };
}

/** Values of a block's rows, one array after the other. */
const readBlock = (whole: Whole, { m, bounds }: Block, viewsOf: (system: System) => readonly View[]): Promise<ArrayLike<number>[]> =>
  ofMember(whole, m, async (system, read) => {
    const values: ArrayLike<number>[] = [];
    for (const array of viewsOf(system)) {
      const { view, free } = await inSourceOrder(system, array, bounds);
      values.push(await read(view));
      free();
    }
    return values;
  });

/** The scaled constraint rows of the whole system, each in the order of its columns: stars are with their members, what they share is with the first. */
async function constraintEntries(whole: Whole): Promise<[column: number, value: number][][]> {
  const { shape, parts, systems } = whole;
  const rows = Array.from({ length: systems[0].constraintCount }, (): [column: number, value: number][] => []);
  for (const [m, { stars }] of parts.entries()) {
    const { first, start, index, values } = await ofMember(whole, m, async ({ constrainedUnknowns, byRow }, read) => ({
      first: constrainedUnknowns[0],
      start: await read(byRow.start),
      index: byRow.index.length > 0 ? await read(byRow.index) : [],
      values: byRow.values.length > 0 ? await read(byRow.values) : [],
    }));
    const own = ASTROMETRIC * (stars[1] - stars[0]);
    for (const [r, row] of rows.entries())
      for (let e = start[r]; e < start[r + 1]; e++) {
        const column = first + index[e];
        if (column < own) row.push([ASTROMETRIC * stars[0] + column, values[e]]);
        else if (m === 0) row.push([sections(shape).attitude + column - own, values[e]]);
      }
  }
  for (const row of rows) row.sort(([a], [b]) => a - b);
  return rows;
}

/** Whole numbers of an array: of 64 bits where columns or entries need them. */
class Integers {
  readonly array: Int32Array | BigInt64Array;
  private at = 0;

  constructor(length: number, isLarge: boolean) {
    this.array = isLarge ? new BigInt64Array(length) : new Int32Array(length);
  }

  push(value: number): void {
    if (this.array instanceof BigInt64Array) this.array[this.at++] = BigInt(value);
    else this.array[this.at++] = value;
  }
}

/**
 * Writes a system as `scipy.sparse.load_npz` reads it (csr): rows of observations, then of constraints, whose columns are scaled to unit norm; `b` are the
 * known terms, `scaling` the factors that turn the solution y of the scaled system into x = scaling y. Coefficients of blocks that have left are zeros. All
 * processes of the solver's set call it, and rank 0 writes.
 */
export async function exportSystem(path: string, whole: Whole): Promise<void> {
  const { shape, set } = whole;
  const { unknowns } = sections(shape);
  const rows = shape.observations;
  const width = ASTROMETRIC + ATTITUDE + INSTRUMENT + (shape.globals ? 1 : 0);
  const bound = await constraintEntries(whole);
  const entries = rows * width + bound.reduce((sum, row) => sum + row.length, 0);
  const isLarge = entries >= LARGE;
  const integers = (length: number) => new Integers(length, isLarge);

  const starts = function* (): Generator<NpyValues> {
    for (let first = 0; first < rows; first += BLOCK) {
      const block = integers(Math.min(BLOCK, rows - first));
      for (let r = 0; r < block.array.length; r++) block.push((first + r) * width);
      yield block.array;
    }
    const last = integers(bound.length + 1);
    let at = rows * width;
    last.push(at);
    for (const row of bound) last.push((at += row.length));
    yield last.array;
  };
  const type = isLarge ? "<i8" : "<i4";
  const arrays: Record<string, NpySource | NpyArray | string> = {
    indices: { shape: [entries], type, pieces: () => columnsOf(whole, bound, width, integers) },
    indptr: { shape: [rows + bound.length + 1], type, pieces: starts },
    format: "csr",
    shape: { data: BigInt64Array.of(BigInt(rows + bound.length), BigInt(unknowns)) },
    data: { shape: [entries], type: "<f8", pieces: () => valuesOf(whole, bound, width) },
    b: { data: await whole.knownTerms() },
    scaling: { data: await whole.scaling() },
  };
  await writeNpz(path, arrays, { set });
}

/** Columns of all entries, block by block. */
async function* columnsOf(
  whole: Whole,
  bound: readonly (readonly (readonly [column: number, value: number])[])[],
  width: number,
  integers: (length: number) => Integers,
): AsyncGenerator<NpyValues> {
  const { shape, parts } = whole;
  const { attitude, instrument, global } = sections(shape);
  for (const block of blocksOf(whole)) {
    const [star, knot, column] = await readBlock(whole, block, (system) => [system.star, system.knot, system.column]);
    const first = parts[block.m].stars[0];
    const into = integers(star.length * width);
    for (let r = 0; r < star.length; r++) {
      for (let k = 0; k < ASTROMETRIC; k++) into.push(ASTROMETRIC * (first + star[r]) + k);
      for (let axis = 0; axis < AXES; axis++) for (let k = 0; k < KNOTS; k++) into.push(attitude + axis * shape.knots + knot[r] + k);
      for (let k = 0; k < INSTRUMENT; k++) into.push(instrument + column[INSTRUMENT * r + k]);
      if (shape.globals) into.push(global);
    }
    yield into.array;
  }
  const last = bound.flat();
  const into = integers(last.length);
  for (const [column] of last) into.push(column);
  if (last.length > 0) yield into.array;
}

/** Scaled coefficients of all entries, block by block. */
async function* valuesOf(
  whole: Whole,
  bound: readonly (readonly (readonly [column: number, value: number])[])[],
  width: number,
): AsyncGenerator<NpyValues> {
  const widths = [ASTROMETRIC, ATTITUDE, INSTRUMENT, 1];
  for (const block of blocksOf(whole)) {
    const parts = await readBlock(whole, block, ({ astrometric, attitude, instrument, global }) => [
      astrometric,
      attitude,
      instrument,
      ...(global ? [global] : []),
    ]);
    const rows = block.bounds[1] - block.bounds[0];
    const values = new Float64Array(rows * width);
    for (let r = 0, at = 0; r < rows; r++)
      for (const [n, part] of parts.entries()) for (let k = 0; k < widths[n]; k++) values[at++] = part[widths[n] * r + k];
    yield values;
  }
  const last = bound.flat();
  if (last.length > 0) yield Float64Array.from(last, ([, value]) => value);
}
