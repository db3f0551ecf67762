import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { endianness } from "node:os";
import { IsoformError } from "isoform";
import type { Row } from "./run.js";
import type { State } from "./simulation.js";

const FORMAT = "isoform pic 1";

/** A run that can be gone on with. */
export interface Checkpoint<O> {
  readonly options: O;
  readonly rows: readonly Row[];
  readonly state: State;
}

interface Head<O> {
  readonly format: string;
  readonly options: O;
  readonly rows: readonly Row[];
  readonly steps: number;
  readonly lengths: readonly number[];
}

/** Writes a line of JSON and the values as little-endian f64; whoever reads finds the old file or the new one. Throws IsoformError. */
export async function writeCheckpoint<O>(path: string, { options, rows, state }: Checkpoint<O>): Promise<void> {
  const head: Head<O> = { format: FORMAT, options, rows, steps: state.steps, lengths: state.arrays.map(({ length }) => length) };
  const values = state.arrays.map((array) => {
    const bytes = Buffer.from(Float64Array.from(array).buffer);
    return endianness() === "LE" ? bytes : bytes.swap64();
  });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...values]));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new IsoformError(`cannot write ${path}: ${(error as Error).message.split(",")[0]}`);
  }
}

/** Reads a file of `writeCheckpoint`. Throws IsoformError for another. */
export async function readCheckpoint<O>(path: string): Promise<Checkpoint<O>> {
  const bytes = await readFile(path).catch((error: Error) => {
    throw new IsoformError(`cannot read ${path}: ${error.message.split(",")[0]}`);
  });
  const end = bytes.indexOf("\n");
  const head = parse<O>(bytes.subarray(0, Math.max(0, end)).toString());
  const expected = head?.lengths.reduce((a, b) => a + 8 * b, end + 1);
  if (head === undefined || bytes.length !== expected)
    throw new IsoformError(`${path} is no checkpoint of isoform pic, or not a whole one`);
  let from = end + 1;
  const arrays = head.lengths.map((length) => {
    const piece = Buffer.from(bytes.subarray(from, (from += 8 * length)));
    if (endianness() !== "LE") piece.swap64();
    return new Float64Array(new Uint8Array(piece).buffer);
  });
  return { options: head.options, rows: head.rows, state: { steps: head.steps, arrays } };
}

function parse<O>(text: string): Head<O> | undefined {
  try {
    const head = JSON.parse(text) as Head<O>;
    return head.format === FORMAT ? head : undefined;
  } catch {
    return undefined;
  }
}
