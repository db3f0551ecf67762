import { link, rename, rm, stat } from "node:fs/promises";
import { IsoformError } from "isoform";
import { readState, writeState } from "isoform/io";
import { z } from "zod";
import { CASES } from "./cases.js";
import { COMPOSITIONS } from "./compositions.js";
import { LAYOUTS } from "./push.js";
import type { Row } from "./run.js";
import type { State } from "./simulation.js";
import { LOADINGS } from "./species.js";

const FORMAT = "isoform pic 3";

const count = z.int().positive();
const text = z.string().regex(/^[\x20-\x7e]*$/, "text beyond ASCII");
const numbers = z.array(z.number());
const keysOf = <T extends object>(table: T) => Object.keys(table) as [keyof T & string, ...(keyof T & string)[]];

/** What decides the bits of a run. */
const savedOptions = z.strictObject({
  case: z.enum(CASES.map(({ name }) => name)),
  cells: count,
  degree: count,
  amplitude: z.number(),
  ionMass: z.number().positive().optional(),
  particles: count,
  dt: z.number().positive(),
  every: count,
  composition: z.enum(keysOf(COMPOSITIONS)),
  loading: z.enum(LOADINGS),
  layout: z.enum(keysOf(LAYOUTS)),
  precision: z.enum(["strict", "fast"]),
  sort: z.int().nonnegative(),
});

const row = z.strictObject({
  time: z.number().nonnegative(),
  mode: z.number(),
  electric: numbers.min(1).max(3),
  magnetic: numbers.max(3),
  kinetic: numbers.min(1),
  momentum: numbers.length(3),
  gauss: z.number(),
  divergence: z.number(),
});

const head = z.strictObject({
  options: savedOptions,
  rows: z
    .array(row)
    .refine(inOrder, "samples that are not in the order of time")
    .refine((rows) => rows.every((each) => shapeOf(each) === shapeOf(rows[0])), "samples of several runs"),
  steps: z.int().nonnegative(),
  about: z.record(text, z.union([text, z.number()])),
});

export type SavedOptions = z.infer<typeof savedOptions>;

/** A run that can be gone on with. */
export interface Checkpoint {
  readonly options: SavedOptions;
  readonly rows: readonly Row[];
  readonly state: State;
}

function inOrder(rows: readonly Row[]): boolean {
  return rows.every(({ time }, n) => n === 0 || time > rows[n - 1].time);
}

const shapeOf = ({ electric, magnetic, kinetic }: Row): string => [electric, magnetic, kinetic].map(({ length }) => length).join();

/** Where the checkpoint is that one at `path` took the place of. */
export const previousOf = (path: string): string => `${path}.previous`;

/**
 * Writes a checkpoint beside what is at `path`, then puts it there and keeps that as `previousOf(path)`: whatever happens, one of both is whole.
 * Throws IsoformError where it cannot.
 */
export async function writeCheckpoint(path: string, { options, rows, state }: Checkpoint): Promise<void> {
  const { arrays, steps, about } = state;
  const values = arrays.map((array) => (array instanceof Float64Array ? array : Float64Array.from(array)));
  try {
    await writeState(path, FORMAT, { head: { options, rows, steps, about }, arrays: values }, () => keepPrevious(path));
  } catch (error) {
    const there = await stat(path).catch(() => undefined);
    const kept = there?.isFile() ? "; the checkpoint before is still there" : "";
    throw new IsoformError(`cannot write ${path}: ${(error as Error).message.split(",")[0]}${kept}`);
  }
}

/** Under both names, where the file system can: there is never a moment without a checkpoint at `path`. */
async function keepPrevious(path: string): Promise<void> {
  const previous = previousOf(path);
  if (!(await stat(path).catch(() => undefined))) return;
  await rm(previous, { force: true });
  await link(path, previous).catch(() => rename(path, previous));
}

/** Reads a file of `writeCheckpoint`. Throws IsoformError for another, for a damaged one with where the one before is. */
export async function readCheckpoint(path: string): Promise<Checkpoint> {
  try {
    return await readWhole(path);
  } catch (error) {
    if (!(error instanceof IsoformError)) throw error;
    const before = previousOf(path);
    const isWhole = await readWhole(before).then(
      () => true,
      () => false,
    );
    throw isWhole ? new IsoformError(`${error.message}; the one before it is whole: --restart ${before}`) : error;
  }
}

async function readWhole(path: string): Promise<Checkpoint> {
  const { head: found, arrays } = await readState(path, FORMAT);
  const { data, error } = head.safeParse(found);
  if (error) {
    const [{ path: at, message }] = error.issues;
    throw new IsoformError(`${path} is no checkpoint of isoform pic: ${at.length > 0 ? `${at.join(".")}: ` : ""}${message}`);
  }
  const { options, rows, steps, about } = data;
  return { options, rows, state: { steps, about, arrays } };
}
