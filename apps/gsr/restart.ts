import { LaunchError } from "isoform";
import type { Place } from "./checkpoint.js";
import type { GsrOptions } from "./gsr-options.js";

/*
 * Options that a checkpoint has with it.
 */

/** Options that decide the bits of a run, but for devices; the limit of iterations may be another one. */
const NAMES = [
  "generator",
  "gib",
  "seed",
  "form",
  "layout",
  "norm",
  "precision",
  "atol",
  "btol",
  "conlim",
  "compatibleErrors",
  "stars",
  "years",
  "knot",
  "pixels",
  "axes",
  "frame",
  "known",
  "outliers",
  "robust",
  "errors",
] as const satisfies readonly (keyof GsrOptions)[];

/** The options of a run for its checkpoints. */
export const savedOptions = (options: GsrOptions): Place["options"] =>
  Object.fromEntries(NAMES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name] as Place["options"][string]]])));

/**
 * The options of a run that goes on: the checkpoint's, and the others as they are given. Throws LaunchError for an option that is given and differs.
 */
export function restarted(given: GsrOptions, saved: Place["options"], isGiven: (name: string) => boolean): GsrOptions {
  for (const name of NAMES) {
    const differs = JSON.stringify(given[name]) !== JSON.stringify(saved[name]);
    if (isGiven(name) && differs)
      throw new LaunchError(
        `the checkpoint was made ${saved[name] === undefined ? `without ${wordOf(name)}` : `with ${wordOf(name)} ${textOf(saved[name])}`}: leave ${wordOf(name)} out, or start anew`,
      );
  }
  const without = Object.fromEntries(Object.entries(given).filter(([name]) => !NAMES.some((one) => one === name)));
  return { ...without, ...saved } as unknown as GsrOptions;
}

const wordOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
const textOf = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? Object.entries(value)
        .map(([name, one]) => `${name} ${one}`)
        .join(" ")
    : String(value);
