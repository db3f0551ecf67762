import type { Problem } from "./messages.js";

/** A program that cannot be used. */
export class ModuleError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems[0]?.message);
  }
}
