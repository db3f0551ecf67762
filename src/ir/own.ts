import { KernelError } from "./errors.js";
import type { Location } from "./types.js";

/** The value under a name that users chose. What every object inherits, such as `constructor`, is none of it. */
export const own = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Refuses a name of a parameter that no object can have as its own. */
export function requireOwnNames(names: readonly string[], kernel: string, location: Location): void {
  if (names.includes("__proto__"))
    throw new KernelError(
      kernel,
      location,
      "a parameter is called __proto__, by which objects name what they inherit from",
      "give it another name",
    );
}
