import { writeSync } from "node:fs";
import { runningJob } from "./job.js";
import { speaks } from "./launched.js";

/** Milliseconds in which rank 0 tells before the others end: Open MPI kills all ranks as soon as one has ended with an error. */
const HEAD_START = 2000;

/** Milliseconds in which rank 0 may tell of an error that all ranks throw alike, before another one tells of its own. */
const COURTESY = 500;

/** Waits a moment on all ranks but rank 0, which ends them if it throws the same: errors of bad input are mostly thrown by all. */
export function letFirstTell(): void {
  if (!speaks()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, COURTESY);
}

/** Ends this process for a reason that ends all others of its job alike: rank 0 prints the text, the others nothing. */
export function leaveTogether(text: string | undefined, code: number): never {
  const job = runningJob();
  job?.leaveTogether();
  if (speaks()) writeSync(2, text === undefined ? "" : `${text}\n`);
  // Without a job there is no barrier at the end.
  else if (!job) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HEAD_START);
  process.exit(code);
}
