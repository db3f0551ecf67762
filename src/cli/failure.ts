import { CommanderError } from "commander";
import { FortranError } from "../fortran/errors.js";
import { IsoformError, KernelError } from "../base/errors.js";

/** Exit code for bad input: everything that the user can put right. */
const BAD_INPUT = 2;
/** Exit code for a defect of isoform itself: EX_SOFTWARE of sysexits.h. */
const DEFECT = 70;

/** End of a command that could not go on: the text for standard error, if it was not printed yet, and the exit code. */
export interface Failure {
  readonly text?: string;
  readonly code: number;
}

/** Turns an error into a text for the user, with the stack where `debug` asks for it. */
export function failureOf(error: unknown, debug: boolean): Failure {
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : BAD_INPUT };
  const stack = debug && error instanceof Error ? `\n${error.stack}` : "";
  if (error instanceof KernelError && error.frame && !debug) return { text: `isoform: ${error.message}\n${error.frame}`, code: BAD_INPUT };
  // One problem a line, as linters print them: editors find the places.
  if (error instanceof FortranError) {
    const count = error.problems.length;
    return { text: `${error.message}\nisoform: ${count} problem${count === 1 ? "" : "s"} in Fortran${stack}`, code: BAD_INPUT };
  }
  if (error instanceof IsoformError) return { text: `isoform: ${error.message}${stack}`, code: BAD_INPUT };
  if (isOfTheSystem(error)) return { text: `isoform: ${systemText(error)}${stack}`, code: BAD_INPUT };
  if (isOutOfMemory(error))
    return { text: `isoform: this machine does not have the memory (${error.message}): choose a smaller size${stack}`, code: BAD_INPUT };
  const what = error instanceof Error ? `${error.name}: ${error.message.split("\n")[0]}` : String(error);
  const ask = debug ? "" : "; ISOFORM_DEBUG=1 prints where";
  return { text: `isoform: this is a defect of isoform, please report it: ${what}${ask}${stack}`, code: DEFECT };
}

/** Whether a system call failed: a full disk, a missing folder, a closed pipe. */
const isOfTheSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && /^E[A-Z0-9]+$/.test((error as NodeJS.ErrnoException).code ?? "") && "syscall" in error;

/** `no space left on device (ENOSPC, write /tmp/a)` */
function systemText({ code, message, syscall, path }: NodeJS.ErrnoException): string {
  const words = message.replace(`${code}: `, "").split(", ")[0];
  return `${words} (${code}, ${[syscall, path].filter(Boolean).join(" ")})`;
}

const isOutOfMemory = (error: unknown): error is RangeError =>
  error instanceof RangeError && /allocation failed|Invalid (typed )?array (buffer )?length|could not allocate/i.test(error.message);
