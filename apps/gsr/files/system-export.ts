import type { View } from "isoform";
import { LaunchError } from "isoform";
import type { NpyArray, NpySource, NpyValues } from "isoform/io";
import { writeNpz } from "isoform/io";
import { ASTROMETRIC, ATTITUDE, AXES, INSTRUMENT, KNOTS, sections } from "../shape.js";
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

/**
 * Writes a system as `scipy.sparse.load_npz` reads it (csr): rows of observations, then of constraints, whose columns are scaled to unit norm; `b` are the
 * known terms, `scaling` the factors that turn the solution y of the scaled system into x = scaling y. Coefficients of blocks that have left are zeros.
 */
export async function exportSystem(path: string, system: System): Promise<void> {
  const { shape, device, byRow, constraintCount, constrainedUnknowns, knownTerms, scaling, global } = system;
  const { queue } = device;
  const rows = shape.observations;
  const { attitude, instrument, global: last, unknowns } = sections(shape);
  const width = ASTROMETRIC + ATTITUDE + INSTRUMENT + (global ? 1 : 0);
  const entries = rows * width + byRow.values.length;
  const isLarge = entries >= LARGE;
  const read = <V extends View>(view: V, first: number, end: number) =>
    queue.read(view.slice([first, end]) as V) as Promise<ArrayLike<number>>;
  const blocks = function* () {
    for (let first = 0; first < rows; first += BLOCK) yield [first, Math.min(rows, first + BLOCK)] as const;
  };
  const integers = (length: number) => (isLarge ? new BigInt64Array(length) : new Int32Array(length));
  const set = (array: Int32Array | BigInt64Array, at: number, value: number): void => {
    if (array instanceof BigInt64Array) array[at] = BigInt(value);
    else array[at] = value;
  };

  const indices = async function* (): AsyncGenerator<NpyValues> {
    for (const [first, end] of blocks()) {
      const [star, knot, column] = [
        await read(system.star, first, end),
        await read(system.knot, first, end),
        await read(system.column, first, end),
      ];
      const block = integers((end - first) * width);
      for (let r = 0, at = 0; r < end - first; r++) {
        for (let k = 0; k < ASTROMETRIC; k++) set(block, at++, ASTROMETRIC * star[r] + k);
        for (let axis = 0; axis < AXES; axis++)
          for (let k = 0; k < KNOTS; k++) set(block, at++, attitude + axis * shape.knots + knot[r] + k);
        for (let k = 0; k < INSTRUMENT; k++) set(block, at++, instrument + column[INSTRUMENT * r + k]);
        if (global) set(block, at++, last);
      }
      yield block;
    }
    if (byRow.index.length === 0) return;
    const bound = integers(byRow.index.length);
    for (const [e, column] of Array.from(await queue.read(byRow.index)).entries()) set(bound, e, constrainedUnknowns[0] + column);
    yield bound;
  };
  const data = async function* (): AsyncGenerator<NpyValues> {
    for (const [first, end] of blocks()) {
      const parts: [ArrayLike<number>, number][] = [
        [await read(system.astrometric, first, end), ASTROMETRIC],
        [await read(system.attitude, first, end), ATTITUDE],
        [await read(system.instrument, first, end), INSTRUMENT],
        ...(global ? [[await read(global, first, end), 1] as [ArrayLike<number>, number]] : []),
      ];
      const block = new Float64Array((end - first) * width);
      for (let r = 0, at = 0; r < end - first; r++)
        for (const [values, count] of parts) for (let k = 0; k < count; k++) block[at++] = values[count * r + k];
      yield block;
    }
    if (byRow.values.length > 0) yield Float64Array.from(await queue.read(byRow.values));
  };
  const starts = async function* (): AsyncGenerator<NpyValues> {
    for (const [first, end] of blocks()) {
      const block = integers(end - first);
      for (let r = 0; r < block.length; r++) set(block, r, (first + r) * width);
      yield block;
    }
    const bound = integers(constraintCount + 1);
    const of = await queue.read(byRow.start);
    for (let c = 0; c <= constraintCount; c++) set(bound, c, rows * width + of[c]);
    yield bound;
  };
  const type = isLarge ? "<i8" : "<i4";
  const arrays: Record<string, NpySource | NpyArray | string> = {
    indices: { shape: [entries], type, pieces: indices },
    indptr: { shape: [rows + constraintCount + 1], type, pieces: starts },
    format: "csr",
    shape: { data: BigInt64Array.of(BigInt(rows + constraintCount), BigInt(unknowns)) },
    data: { shape: [entries], type: "<f8", pieces: data },
    b: { data: Float64Array.from(await queue.read(knownTerms)) },
    scaling: { data: Float64Array.from(await queue.read(scaling.all)) },
  };
  await writeNpz(path, arrays);
}
