import { IsoformError } from "isoform";
import type { Checkpoint, CheckpointedArray } from "isoform/io";
import { previousOf, readCheckpoint as readFile, writeCheckpoint as writeFile } from "isoform/io";
import type { DeviceSet } from "isoform/set";
import { z } from "zod";
import type { Solver } from "./solver.js";

/*
 * Checkpoints of `isoform gsr`: the iteration's vectors and scalars, weights, results of probes, and where the loops around the iteration are.
 */

const FORMAT = "isoform gsr 2";

const whole = z.int().nonnegative();
const turn = z.strictObject({ deviation: z.number(), change: z.number(), rejected: z.number(), lost: z.number().optional() });
const solution = z.strictObject({
  istop: z.int(),
  iterations: whole,
  bnorm: z.number(),
  anorm: z.number(),
  rnorm: z.number(),
  arnorm: z.number(),
  xnorm: z.number(),
  dnorm: z.number(),
  acond: z.number(),
  secondsPerIteration: z.number(),
  steps: z.record(z.string(), z.number()),
  corrections: whole.optional(),
});
const refinement = z.strictObject({
  corrections: whole,
  first: solution,
  iterations: whole,
  secondsPerIteration: z.number(),
  rnorm: z.number(),
  arnorm: z.number(),
});

const head = z.strictObject({
  /** Options that decide the bits of a run, by name. */
  options: z.record(z.string(), z.json()),
  /** SHA-256 of the files that options name, by option. */
  files: z.record(z.string(), z.string()),
  /** Iterations that the solution in work has made. */
  iterations: whole,
  /** Turns of the robust loop that are over. */
  turns: z.array(turn),
  settled: z.boolean(),
  /** The solution whose errors are asked for, and probes that are over, once there is one. */
  solution: solution.optional(),
  probes: whole,
  /** Place of the solution in work between its corrections, with coefficients in f32, if a correction is in work. */
  refinement: refinement.optional(),
  /** Right-hand sides of the solution in work. */
  sides: z.union([z.literal(1), z.literal(2), z.literal(4)]),
});

/** Place of a run, but for its arrays. */
export type Place = z.infer<typeof head>;

/** Arrays of a run on the host. */
export interface HostArrays {
  /** Weights of the observations, where they are weighed. */
  weights?: Float64Array;
  /** The solution and its errors by LSQR, and the results of probes, once probes are solved for. */
  found?: { x: Float64Array; errors: Float64Array };
  readonly draws: Float64Array[];
}

/** A host array as part of a checkpoint; all processes have the same. */
const hostArray = (set: DeviceSet, name: string, values: Float64Array): CheckpointedArray => ({
  name,
  type: "f64",
  length: values.length,
  set,
  read: async () => values,
  write: (stored) => values.set(stored),
});

/** The arrays on the host. */
function onHost({ set }: Solver, { weights, found, draws }: HostArrays): CheckpointedArray[] {
  return [
    ...(weights ? [hostArray(set, "weights", weights)] : []),
    ...(found ? [hostArray(set, "solution", found.x), hostArray(set, "errors", found.errors)] : []),
    ...draws.map((draw, n) => hostArray(set, `probe ${n}`, draw)),
  ];
}

const contentOf = async (solver: Solver, arrays: HostArrays, { sides }: Place): Promise<CheckpointedArray[]> => [
  ...(await solver.state(sides)),
  ...onHost(solver, arrays),
];

/** Writes a checkpoint; the one before is kept beside it. All processes of the set call it. Throws IsoformError if it cannot be written. */
export const writeCheckpoint = async (path: string, solver: Solver, arrays: HostArrays, place: Place): Promise<void> =>
  writeFile(path, await contentOf(solver, arrays, place), place, { format: FORMAT });

/** A run to go on with. */
export interface SavedRun {
  readonly path: string;
  readonly place: Place;
  readonly file: Checkpoint;
}

/**
 * Reads a checkpoint. Where it is damaged and the one before is whole, that one is taken, and `tell` says so. Throws IsoformError for other files than a
 * checkpoint of this program.
 */
export async function readCheckpoint(path: string, tell: (text: string) => void): Promise<SavedRun> {
  try {
    return await openCheckpoint(path);
  } catch (error) {
    const previous = await openCheckpoint(previousOf(path)).catch(() => undefined);
    if (!(error instanceof IsoformError) || !previous) throw error;
    tell(`${error.message}: goes on from there\n`);
    return previous;
  }
}

async function openCheckpoint(path: string): Promise<SavedRun> {
  const file = await readFile(path, { format: FORMAT });
  const { data, error } = head.safeParse(file.metadata);
  if (error) {
    const [{ path: at, message }] = error.issues;
    throw new IsoformError(`${path} is not a checkpoint of isoform gsr: ${at.length > 0 ? `${at.join(".")}: ` : ""}${message}`);
  }
  return { path, place: data, file };
}

/** Brings the solver, and host arrays of the right lengths, to where the run was. Throws IsoformError for another system, with what differs. */
export const restore = async ({ file, place }: SavedRun, solver: Solver, arrays: HostArrays): Promise<void> =>
  file.restore(await contentOf(solver, arrays, place));

/** Brings only the host arrays to where the run was: a solution for another number of sides begins anew. */
export async function restoreResults({ file }: SavedRun, solver: Solver, arrays: HostArrays): Promise<void> {
  for (const { name, write } of onHost(solver, arrays)) await write(await file.array(name));
}
