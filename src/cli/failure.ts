import { CommanderError } from "commander";
import { FortranError } from "../fortran/errors.js";
import { IsoformError, KernelError } from "../ir/errors.js";

/** Bad input: the exit code for everything that the user can put right. */
const BAD_INPUT = 2;
/** A mistake of isoform itself: EX_SOFTWARE of sysexits.h. */
const DEFECT = 70;

/** How a command ends that could not go on: what standard error is told, nothing where that is done, and the exit code. */
export interface Failure {
  readonly text?: string;
  readonly code: number;
}

/** What an error means for whoever typed the command. The stack is for those who ask for it. */
export function failureOf(error: unknown, debug: boolean): Failure {
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : BAD_INPUT };
  const stack = debug && error instanceof Error ? `\n${error.stack}` : "";
  if (error instanceof KernelError && error.frame && !debug) return { text: `isoform: ${error.message}\n${error.frame}`, code: BAD_INPUT };
  // One problem a line, as linters tell them: editors find the places.
  if (error instanceof FortranError) {
    const count = error.problems.length;
    return { text: `${error.message}\nisoform: ${count} problem${count === 1 ? "" : "s"} in Fortran${stack}`, code: BAD_INPUT };
  }
  if (error instanceof IsoformError) return { text: `isoform: ${error.message}${stack}`, code: BAD_INPUT };
  if (isOfTheSystem(error)) return { text: `isoform: ${systemText(error)}${stack}`, code: BAD_INPUT };
  if (isOutOfMemory(error))
    return { text: `isoform: this machine has no room for that (${error.message}): choose a smaller size${stack}`, code: BAD_INPUT };
  const what = error instanceof Error ? `${error.name}: ${error.message.split("\n")[0]}` : String(error);
  const ask = debug ? "" : "; ISOFORM_DEBUG=1 prints where";
  return { text: `isoform: a defect of isoform, please report it: ${what}${ask}${stack}`, code: DEFECT };
}

/** A full disk, a missing folder, a closed pipe: whatever a call of the system was refused with. */
const isOfTheSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && /^E[A-Z0-9]+$/.test((error as NodeJS.ErrnoException).code ?? "") && "syscall" in error;

/** `no space left on device (ENOSPC, write /tmp/a)` */
function systemText({ code, message, syscall, path }: NodeJS.ErrnoException): string {
  const words = message.replace(`${code}: `, "").split(", ")[0];
  return `${words} (${code}, ${[syscall, path].filter(Boolean).join(" ")})`;
}

const isOutOfMemory = (error: unknown): error is RangeError =>
  error instanceof RangeError && /allocation failed|Invalid (typed )?array (buffer )?length|could not allocate/i.test(error.message);
