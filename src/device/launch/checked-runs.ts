import { FAULT } from "../../ir/passes/check-indices.js";
import type { KernelError } from "../../base/errors.js";
import type { View } from "../memory/view.js";
import { faultError, faultRecord, holdFaultRecord, recordsAround, releaseFaultRecord, type FaultBinding } from "./faults.js";

/** Runs of launches with checked indices up to some moment, each with its number. */
export type RunsSoFar = readonly (readonly [launch: FaultBinding, number: number])[];

/** Contents of the chunks of records, by chunk. */
type ChunkWords = ReadonlyMap<View, ArrayLike<number>>;

/** Launches with checked indices that a queue has run and whose records nobody has looked at since: their failures are still to be told. */
export class CheckedRuns {
  /** By launch: the number of its last run. */
  private readonly runs = new Map<FaultBinding, number>();
  private count = 0;

  note(launch: FaultBinding): void {
    if (!launch.ir.checks) return;
    if (!this.runs.has(launch)) holdFaultRecord(launch);
    this.runs.set(launch, ++this.count);
  }

  soFar(): RunsSoFar {
    return this.runs.size === 0 ? [] : [...this.runs];
  }

  /** The runs that nobody has looked at yet. */
  unseen(runs: RunsSoFar): RunsSoFar {
    return runs.filter(([launch]) => this.runs.has(launch));
  }

  /** Takes note that somebody has looked at the records of these runs, which are all 0 now. */
  seen(runs: RunsSoFar): void {
    for (const [launch, number] of runs)
      if (this.runs.get(launch) === number) {
        this.runs.delete(launch);
        releaseFaultRecord(launch);
      }
  }
}

/** The chunks in which the records of these runs lie. */
export const checkedChunks = (runs: RunsSoFar): View<"i32">[] => [...new Set(runs.map(([launch]) => recordsAround(launch)))];

/** The runs whose records tell of a failure. */
export const failedIn = (runs: RunsSoFar, chunks: ChunkWords): RunsSoFar =>
  runs.filter(([launch]) => recordIn(launch, chunks)[FAULT.failed] !== 0);

/** The error of the first of these runs. */
export const errorOf = ([[launch]]: RunsSoFar, chunks: ChunkWords): KernelError => faultError(launch, recordIn(launch, chunks));

function recordIn(launch: FaultBinding, chunks: ChunkWords): ArrayLike<number> {
  const [chunk, { offset, size }] = [recordsAround(launch), faultRecord(launch)];
  const words = chunks.get(chunk)!;
  return Array.from({ length: size }, (_, n) => words[offset - chunk.offset + n]);
}
