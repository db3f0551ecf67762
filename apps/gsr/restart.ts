import { resolve } from "node:path";
import { LaunchError } from "isoform";
import type { Place } from "./checkpoint.js";
import { flagOf, inputPaths } from "./files/inputs.js";
import type { GsrOptions } from "./gsr-options.js";

/*
 * Options that a checkpoint has with it.
 */

/** Options that decide the bits of a run, but for devices; the limit of iterations may be another one. */
const NAMES = [
  "generator",
  "gib",
  "seed",
  "global",
  "form",
  "layout",
  "norm",
  "precision",
  "coefficients",
  "corrections",
  "atol",
  "btol",
  "conlim",
  "compatibleErrors",
  "stars",
  "scanLaw",
  "epochs",
  "system",
  "years",
  "knot",
  "pixels",
  "axes",
  "frame",
  "known",
  "outliers",
  "robust",
  "errors",
  "sides",
  "covariances",
] as const satisfies readonly (keyof GsrOptions)[];

/** The options of a run for its checkpoints; files have their whole paths. */
export function savedOptions(options: GsrOptions): Place["options"] {
  const paths = Object.entries(inputPaths(options)).map(([name, path]) => [name, resolve(path)]);
  const whole = { ...options, ...Object.fromEntries(paths) } as GsrOptions;
  return Object.fromEntries(NAMES.flatMap((name) => (whole[name] === undefined ? [] : [[name, whole[name] as Place["options"][string]]])));
}

/**
 * The options of a run that goes on: the checkpoint's, and the others as they are given. A file may have another path, as its digest tells whether it is the
 * same, and other covariances and numbers of sides may be asked for. Throws LaunchError for an option that is given and differs.
 */
export function restarted(given: GsrOptions, saved: Place["options"], isGiven: (name: string) => boolean): GsrOptions {
  const givenPaths = inputPaths(given);
  const savedPaths = inputPaths(saved as unknown as GsrOptions);
  const replaced: Record<string, unknown> = {};
  for (const name of NAMES) {
    if (
      isGiven(name) &&
      (name === "covariances" || name === "sides" || (givenPaths[name] !== undefined && savedPaths[name] !== undefined))
    ) {
      replaced[name] = given[name];
      continue;
    }
    const differs = JSON.stringify(given[name]) !== JSON.stringify(saved[name]);
    if (isGiven(name) && differs)
      throw new LaunchError(
        `the checkpoint was made ${saved[name] === undefined ? `without ${flagOf(name)}` : `with ${flagOf(name)} ${textOf(saved[name])}`}: leave ${flagOf(name)} out, or start anew`,
      );
  }
  const without = Object.fromEntries(Object.entries(given).filter(([name]) => !NAMES.some((one) => one === name)));
  return { ...without, ...saved, ...replaced } as unknown as GsrOptions;
}

const textOf = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? Object.entries(value)
        .map(([name, one]) => `${name} ${one}`)
        .join(" ")
    : String(value);
