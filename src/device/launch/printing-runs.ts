import type { TypedArray, View } from "../memory/view.js";
import type { FaultBinding } from "./faults.js";
import { holdPrintRecords, printRecords, releasePrintRecords, tellLines } from "./prints.js";

/** How a queue reads the records of a launch. */
interface Reading {
  read(view: View): Promise<ArrayLike<number>> | ArrayLike<number>;
  clear(view: View): void;
}

/** Launches that print and that a queue has run: their lines are still to be read. */
export class PrintingRuns {
  private launches = new Set<FaultBinding>();

  note(launch: FaultBinding): void {
    if (!launch.ir.prints || this.launches.has(launch)) return;
    holdPrintRecords(launch);
    this.launches.add(launch);
  }

  get none(): boolean {
    return this.launches.size === 0;
  }

  /** Takes the launches that `test` picks off the list. */
  take(test: (launch: FaultBinding) => boolean): FaultBinding[] {
    const taken = [...this.launches].filter(test);
    for (const launch of taken) this.launches.delete(launch);
    return taken;
  }
}

/** Reads the lines of launches, and prints them launch by launch. All that the device is to do is enqueued before this returns. */
export async function readPrinted(launches: readonly FaultBinding[], { read, clear }: Reading): Promise<void> {
  const reads = launches.map((launch) => {
    const records = printRecords(launch);
    const values = Promise.all(records.map(async (view) => read(view)));
    clear(records[0]);
    return values;
  });
  try {
    const values = await Promise.all(reads);
    launches.forEach((launch, n) => tellLines(launch, values[n]));
  } finally {
    launches.forEach(releasePrintRecords);
  }
}

/** The same; the calling thread waits. */
export function readLinesNow(launches: readonly FaultBinding[], read: (view: View) => TypedArray, clear: (view: View) => void): void {
  try {
    for (const launch of launches) {
      const records = printRecords(launch);
      const values = records.map(read);
      clear(records[0]);
      tellLines(launch, values);
    }
  } finally {
    launches.forEach(releasePrintRecords);
  }
}
