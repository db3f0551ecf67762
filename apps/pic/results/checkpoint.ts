import { IsoformError } from "isoform";
import { readCheckpoint as readFile, writeCheckpoint as writeFile } from "isoform/io";
import type { DeviceSet } from "isoform/set";
import { z } from "zod";
import { CASES } from "../simulation/cases.js";
import { COMPOSITIONS } from "../simulation/compositions.js";
import { LAYOUTS } from "../push/push.js";
import type { Row } from "../simulation/run.js";
import type { Simulation, State } from "../simulation/simulation.js";
import { LOADINGS } from "../particles/species.js";

const FORMAT = "isoform pic 5";

const count = z.int().positive();
const text = z.string().regex(/^[\x20-\x7e]*$/, "text beyond ASCII");
const numbers = z.array(z.number());
const keysOf = <T extends object>(table: T) => Object.keys(table) as [keyof T & string, ...(keyof T & string)[]];

/** Options that decide the bits of a run. */
const savedOptions = z.strictObject({
  case: z.enum(CASES.map(({ name }) => name)),
  cells: count,
  degree: count,
  amplitude: z.number(),
  k: z.number().positive(),
  mode: count,
  fractions: numbers.min(1).readonly(),
  drifts: numbers.min(1).readonly(),
  temperatures: numbers.min(1).readonly(),
  /** File and digest of the electrons' distribution; the file is never read again. */
  distribution: z
    .strictObject(
      { file: z.string(), digest: z.string().regex(/^[0-9a-f]{64}$/, "no digest") },
      "no file's name and digest, as checkpoints have them now",
    )
    .optional(),
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
  noise: z.number().nonnegative().optional(),
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
interface PlasmaRun {
  readonly options: SavedOptions;
  readonly rows: readonly Row[];
  readonly state: State;
}

function inOrder(rows: readonly Row[]): boolean {
  return rows.every(({ time }, n) => n === 0 || time > rows[n - 1].time);
}

const shapeOf = ({ electric, magnetic, kinetic }: Row): string => [electric, magnetic, kinetic].map(({ length }) => length).join();

/**
 * Writes a checkpoint as `isoform/io` does: the one before is kept. Throws IsoformError if it cannot.
 * @param set whose processes all write, where the state is one of several
 */
export async function writeCheckpoint(path: string, { options, rows, state }: PlasmaRun, set?: DeviceSet): Promise<void> {
  const { arrays, steps, about, pieces } = state;
  const named = arrays.map((array, n) => {
    const piece = pieces?.[n];
    return {
      name: `array ${n}`,
      type: "f64" as const,
      length: piece?.whole ?? array.length,
      ...(piece && set && { piece: { set, first: piece.first, length: array.length } }),
      read: async () => (array instanceof Float64Array ? array : Float64Array.from(array)),
      write: () => undefined,
    };
  });
  await writeFile(path, named, { options, rows, steps, about }, { format: FORMAT });
}

/** Arrays that a simulation takes from a state: their lengths, and in several processes the pieces that these are. */
type Taking = Partial<Pick<Simulation, "lengths" | "pieces" | "set">>;

/** A checkpoint whose values are not read yet. */
interface OpenCheckpoint extends Omit<PlasmaRun, "state"> {
  /**
   * Reads the values that a simulation takes; in several processes all call it. Throws IsoformError, on all ranks alike, for damaged ones.
   * @param taking the simulation; without one all values are read
   */
  state(taking?: Taking): Promise<State>;
}

/** Opens a file of `writeCheckpoint`. Throws IsoformError for another, for a damaged one with where the one before is. */
export async function openCheckpoint(path: string): Promise<OpenCheckpoint> {
  const file = await readFile(path, { format: FORMAT });
  const { data, error } = head.safeParse(file.metadata);
  if (error) {
    const [{ path: at, message }] = error.issues;
    throw new IsoformError(`${path} is not a checkpoint of isoform pic: ${at.length > 0 ? `${at.join(".")}: ` : ""}${message}`);
  }
  const { options, rows, steps, about } = data;
  const state: OpenCheckpoint["state"] = async ({ lengths, pieces, set } = {}) => {
    const arrays = await file.read(set ?? {}, ({ length }, n) => {
      const piece = pieces?.[n];
      // Pieces of an array of another length would be other particles.
      const isPiece = piece !== undefined && lengths !== undefined && piece.whole === length;
      return isPiece ? { first: piece.first, end: piece.first + lengths[n] } : undefined;
    });
    return { steps, about, arrays, ...(pieces && { pieces }) };
  };
  return { options, rows, state };
}
