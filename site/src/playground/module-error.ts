import type { ProgramProblem } from "./messages.js";

/** A program that cannot be used. */
export class ModuleError extends Error {
  constructor(readonly problems: readonly ProgramProblem[]) {
    super(problems[0]?.message);
  }
}
