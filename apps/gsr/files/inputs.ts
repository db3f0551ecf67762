import { LaunchError } from "isoform";
import { columnOf, readTable } from "isoform/io";
import type { Covariances, Pairs } from "../covariances.js";
import { covariancesOf, starPairs } from "../covariances.js";
import type { Probes } from "../probes.js";
import type { ScanningLaw } from "../scanning/law.js";
import type { ScanningWords } from "../scanning-options.js";
import type { Shape } from "../shape.js";
import { sections } from "../shape.js";
import type { Epochs } from "./epochs.js";
import { readEpochs } from "./epochs.js";
import { readLaw } from "./scan-law.js";
import type { StarsRead } from "./star-lists.js";
import { digestOf, idsOf, readStars } from "./star-lists.js";

/*
 * Files that `isoform gsr` starts from: stars, a scanning law, epoch astrometry, pairs of unknowns.
 */

/** Content of the files, with their digests. */
export interface Inputs {
  readonly stars?: StarsRead;
  readonly law?: ScanningLaw;
  readonly epochs?: Epochs;
  /** By option: a digest of the file. */
  readonly digests: Readonly<Record<string, string>>;
}

/** Options that change nothing where positions were measured. */
const NOT_WITH_EPOCHS = ["years", "knot", "pixels", "axes", "known", "outliers", "robust", "scanLaw"] as const;

/** Throws LaunchError for options that do not go together. */
export function requireInputs(words: ScanningWords & { readonly gib?: number; readonly out?: string }): void {
  const flag = (name: string) => `--${name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;
  if (words.epochs !== undefined) {
    const other = NOT_WITH_EPOCHS.find((name) => words[name] !== undefined) ?? (words.gib === undefined ? undefined : "gib");
    if (other !== undefined) throw new LaunchError(`${flag(other)} is not for --epochs, whose file has the observations: leave it out`);
    if (!words.frame) throw new LaunchError("--no-frame is not for --epochs, whose attitude is known: leave it out");
    if (typeof words.stars === "number")
      throw new LaunchError("--epochs observes the stars of its file: give --stars a list of stars, or leave it out");
  }
  if (words.scanLaw !== undefined && words.years !== undefined)
    throw new LaunchError("--years is not for --scan-law, whose file says how long it is: leave it out");
  if (words.covariances === undefined) return;
  if (words.errors === undefined || words.errors === "lsqr")
    throw new LaunchError("--covariances come from random probes: add --errors probes 50");
  if (words.out === undefined) throw new LaunchError("--covariances go into the file of the solution: add --out");
}

/** Reads the files that the options name. Throws IsoformError, with file and line, for what is wrong in them. */
export async function readInputs({ stars, scanLaw, epochs }: ScanningWords): Promise<Inputs> {
  const starsPath = typeof stars === "string" ? stars : undefined;
  const list = starsPath === undefined ? undefined : await readStars(starsPath);
  const law = scanLaw === undefined ? undefined : await readLaw(scanLaw);
  const observations = epochs === undefined ? undefined : await readEpochs(epochs, list?.list, starsPath);
  const digests: Record<string, string> = {};
  for (const [name, path] of Object.entries({ stars: starsPath, scanLaw, epochs }))
    if (path !== undefined) digests[`${name} file`] = await digestOf(path);
  return { ...(list ? { stars: list } : {}), ...(law ? { law } : {}), ...(observations ? { epochs: observations } : {}), digests };
}

/** Pairs that `--covariances` asks for, as numbers of unknowns from 0 on. Throws IsoformError with the row for one that the system does not have. */
export async function readPairs(path: string, shape: Shape): Promise<Pairs> {
  const table = await readTable(path, { columns: ["i", "j"] });
  const { unknowns } = sections(shape);
  const [first, second] = ["i", "j"].map((name) =>
    Int32Array.from(idsOf(columnOf(table, name, path), table, table.rows), (id, row) => {
      if (id >= 0n && id < BigInt(unknowns)) return Number(id);
      throw new LaunchError(`${table.where(row)}: ${name} is ${id}, and the system has the unknowns 0 to ${unknowns - 1}`);
    }),
  );
  if (first.length === 0) throw new LaunchError(`${path} has no pairs: give a row each, i and j`);
  return { first, second };
}

/** Covariances that the options ask for. */
export async function askedCovariances(
  asked: string | undefined,
  shape: Shape,
  probes: Probes | undefined,
): Promise<Covariances | undefined> {
  if (asked === undefined || !probes) return undefined;
  return asked === "stars"
    ? covariancesOf(probes, "stars", starPairs(shape.stars))
    : covariancesOf(probes, "pairs", await readPairs(asked, shape));
}
