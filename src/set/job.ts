/*
 * The job of this process, if several run together: whoever ends a process asks here, without loading MPI.
 */

/** Processes that work together. */
export interface Job {
  readonly rank: number;
  readonly count: number;
  readonly host: string;
  /** Prints the text with rank and host, then ends all processes with the exit code. */
  abort(text: string, code: number): never;
  /** Says that all processes are about to exit with an error, so that none ends the others. */
  leaveTogether(): void;
}

let running: Job | undefined;
const agreed = new WeakSet<object>();

/** The job that this process belongs to once `devices("mpi:...")` has joined it. */
export const runningJob = (): Job | undefined => running;

/** Makes a job the one of this process. */
export const joinJob = (job: Job): void => void (running = job);

/** Marks an error that all processes throw alike: one of them prints it, and each ends by itself. */
export function agreedByAll<E extends Error>(error: E): E {
  agreed.add(error);
  return error;
}

/** Whether all processes throw the error. */
export const isAgreed = (error: unknown): boolean => typeof error === "object" && error !== null && agreed.has(error);
