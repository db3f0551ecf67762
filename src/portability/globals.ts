import { LaunchError } from "../base/errors.js";
import type { Application, ProblemOptions } from "./application.js";

/** Throws LaunchError where a global section is asked of an application that has none. */
export function requireGlobals({ name, hasGlobals }: Pick<Application, "name" | "hasGlobals">, globals: ProblemOptions["globals"]): void {
  if (globals !== undefined && !hasGlobals)
    throw new LaunchError(`--global: ${name} has no global section; leave the option out, or name only applications with one: gsr`);
}
