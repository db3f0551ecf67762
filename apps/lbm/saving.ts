import { IsoformError } from "isoform";
import { readCheckpoint, writeCheckpoint, type Checkpoint } from "isoform/io";
import { onAnyRank } from "isoform/set";
import type { RunWatch } from "./run.js";
import type { Simulation } from "./simulation.js";

/*
 * Runs that are saved, and gone on with.
 */

/** Tells checkpoints of this solver from others. */
const FORMAT = "isoform lbm 1";

/** Options that say what flow it is and how cells are computed: a run goes on with the ones that it began with. */
export const KEPT = [
  "re",
  "size",
  "speed",
  "dimension",
  "box",
  "type",
  "collision",
  "pattern",
  "wall",
  "storage",
  "smagorinsky",
  "periodic",
] as const;
type Kept = Readonly<Partial<Record<(typeof KEPT)[number], unknown>>>;

/** A run's place, beside what the fields hold. */
interface Place {
  readonly case: string;
  readonly options: Kept;
  readonly steps: number;
  /** Results of its intervals. */
  readonly samples: readonly unknown[];
}

/** A run in a checkpoint. */
export interface SavedFlow {
  readonly file: string;
  readonly checkpoint: Checkpoint;
  readonly place: Place;
}

/** Ends a run between two intervals. */
export class Interrupted extends Error {}

/** Opens a checkpoint of a case. Throws IsoformError for another file, another case, and options that differ from the ones that it began with. */
export async function openSaved(file: string, name: string, asked: Kept): Promise<SavedFlow> {
  const checkpoint = await readCheckpoint(file, { format: FORMAT });
  const place = checkpoint.metadata as Partial<Place> | null;
  const isWhole =
    typeof place?.case === "string" &&
    typeof place.options === "object" &&
    Number.isSafeInteger(place.steps) &&
    Array.isArray(place.samples);
  if (!isWhole) throw new IsoformError(`${file} does not say what flow it has: start anew`);
  if (place.case !== name) throw new IsoformError(`${file} is of the case ${place.case}: run isoform lbm ${place.case}`);
  for (const key of KEPT) {
    const [there, here] = [place.options?.[key], asked[key]].map((value) => JSON.stringify(value));
    if (here !== undefined && here !== there)
      throw new IsoformError(`${file} was made with ${key} ${there}, and ${here} is asked for: leave it out, or start anew`);
  }
  return { file, checkpoint, place: place as Place };
}

/** Brings a simulation to where a checkpoint was written. */
export async function restoreFlow(simulation: Simulation, { checkpoint, place }: SavedFlow): Promise<void> {
  await checkpoint.restore(simulation.checkpointed());
  simulation.steps = place.steps;
}

/** How a run is saved. */
interface Saving {
  readonly case: string;
  readonly options: Kept;
  /** Absent: only signals are looked for. */
  readonly file?: string;
  /** Intervals from one checkpoint to the next. */
  readonly every: number;
  readonly stop: AbortSignal;
}

/** Saves a run after its intervals; ends it, saved, where a signal has come to any process. */
export function keeper(simulation: Simulation, { file, every, stop, ...of }: Saving): NonNullable<RunWatch<unknown>["keep"]> {
  const { set } = simulation.grid;
  const save = async (samples: readonly unknown[]): Promise<void> => {
    if (file === undefined) return;
    const place: Place = { case: of.case, options: of.options, steps: simulation.steps, samples };
    await writeCheckpoint(file, simulation.checkpointed(), place, { format: FORMAT });
  };
  let intervals = 0;
  return async (samples, isLast) => {
    // Lets an interrupt be seen.
    await new Promise((resolve) => setImmediate(resolve));
    const ends = await onAnyRank(set, stop.aborted, "a signal");
    if (ends || isLast || ++intervals % every === 0) await save(samples);
    if (ends && !isLast) throw new Interrupted();
  };
}
