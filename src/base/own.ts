import { describe } from "./describe.js";
import { KernelError, LaunchError } from "./errors.js";
import type { Location } from "./location.js";

/** The value under a user-chosen name. Inherited keys, such as `constructor`, do not count. */
export const own = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Rejects unknown options, such as misspelt ones. Throws LaunchError. */
export function requireOptions(what: string, options: object, known: readonly string[]): void {
  const isObject = typeof options === "object" && options !== null;
  const other = isObject ? Object.keys(options).find((name) => !known.includes(name)) : undefined;
  // A view, say, that was given in place of { input: view }.
  const isOther = other !== undefined && (options.constructor?.name ?? "Object") !== "Object";
  if (!isObject || isOther) throw new LaunchError(`${what} is given ${describe(options)} for its options; write { ${known[0]}: ... }`);
  if (other !== undefined) throw new LaunchError(`${what} has no option "${other}"; it has ${known.join(", ")}`);
}

/** Rejects a value of the wrong kind; `remedy` says how to get a right one. Throws LaunchError. */
export function requireThing(what: string, value: unknown, fits: boolean, remedy: string): void {
  if (!fits) throw new LaunchError(`${what} is given ${describe(value)}; ${remedy}`);
}

/** Refuses a name of a parameter that no object can have as its own. */
export function requireOwnNames(names: readonly string[], kernel: string, location: Location): void {
  if (names.includes("__proto__"))
    throw new KernelError(kernel, location, "a parameter is called __proto__, which is the prototype of an object", "give it another name");
}
