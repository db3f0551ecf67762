import type { KernelError } from "../base/errors.js";
import type { Location } from "../base/location.js";
import type { KernelIR } from "../ir/types.js";

/* Results of a check. */

/** A mistake in a kernel, as a run of the program would report it. */
export interface KernelProblem extends Location {
  /** `kernel "axpy"`; undefined for a declaration outside of kernels. */
  readonly what: string | undefined;
  readonly problem: string;
  readonly remedy: string | undefined;
}

/** A kernel, a container or a scalar step. */
export interface CheckedKernel {
  readonly name: string;
  readonly at: Location;
  /** Start and end of its declaration, in characters of the file. */
  readonly span: readonly [begin: number, end: number];
  readonly problems: readonly KernelProblem[];
  /** Why it could not be checked. */
  readonly unknown?: string;
  /** Its code, if it could be lowered. */
  readonly ir?: KernelIR;
}

export interface CheckReport {
  /** How many files were read. */
  readonly files: number;
  readonly kernels: readonly CheckedKernel[];
}

export const problemsOf = ({ kernels }: CheckReport): KernelProblem[] => kernels.flatMap(({ problems }) => problems);

/** The problem and the remedy in one line. */
export const messageOf = ({ what, problem, remedy }: KernelProblem): string =>
  `${what ? `${what}: ` : ""}${problem}${remedy ? ` (${remedy})` : ""}`;

/** An error of the compiler as a problem. */
export const problemOf = ({ message, location, problem, remedy }: KernelError): KernelProblem => ({
  ...location,
  what: message.slice(0, message.indexOf(", ", message.lastIndexOf(`, ${location.file}:`))),
  problem,
  remedy,
});
