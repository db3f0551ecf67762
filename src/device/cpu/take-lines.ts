import type { FaultBinding } from "../launch/faults.js";
import { printRecords, tellLines } from "../launch/prints.js";
import { hostArray } from "./host-view.js";

/** Prints the lines of a launch whose records are in the host's memory, and that were not printed yet. */
export function takeLines(launch: FaultBinding): void {
  if (!launch.ir.prints) return;
  const [count, ...rows] = printRecords(launch).map(hostArray);
  const lines = [count.slice(), ...rows];
  // The handler may throw.
  count.fill(0);
  tellLines(launch, lines);
}
