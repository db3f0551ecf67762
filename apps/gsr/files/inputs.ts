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
import type { SystemRead } from "./system-file.js";
import { readSystem } from "./system-file.js";

/*
 * Files that `isoform gsr` starts from: stars, a scanning law, epoch astrometry, a whole system, pairs of unknowns.
 */

/** Content of the files, with their digests. */
export interface Inputs {
  readonly stars?: StarsRead;
  readonly law?: ScanningLaw;
  readonly epochs?: Epochs;
  readonly system?: SystemRead;
  readonly pairs?: PairsRead;
  /** By option: the SHA-256 of the file. */
  readonly digests: Readonly<Record<string, string>>;
}

/** An option as it is typed. */
export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;

/** Options that change nothing where positions were measured. */
const NOT_WITH_EPOCHS = ["years", "knot", "pixels", "axes", "known", "outliers", "robust", "scanLaw"] as const;

/** Whether the table of stars can be written: their places are known. */
export const hasStars = ({ epochs, stars, system }: ScanningWords): boolean =>
  system === undefined && (epochs === undefined || typeof stars === "string");

/** Throws LaunchError for options that do not go together. */
export function requireInputs(words: ScanningWords & { readonly gib?: number; readonly out?: string }): void {
  if (words.epochs !== undefined) {
    const other = NOT_WITH_EPOCHS.find((name) => words[name] !== undefined) ?? (words.gib === undefined ? undefined : "gib");
    if (other !== undefined) throw new LaunchError(`${flagOf(other)} is not for --epochs, whose file has the observations: leave it out`);
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
  if (words.covariances === "stars" && !hasStars(words) && !/\.json$/i.test(words.out))
    throw new LaunchError(
      `--covariances stars go into the table of stars, and ${words.system === undefined ? "--epochs alone has no places of stars: add --stars with a list, or" : "--system has no places of stars:"} write .json`,
    );
}

/** Options that may name a file that a system is made from. */
const OF_SYSTEM = ["stars", "scanLaw", "epochs", "system"] as const;

/** Paths of the files that the options name, by option. */
export function inputPaths({ stars, scanLaw, epochs, system, covariances }: ScanningWords): Readonly<Record<string, string>> {
  const named = { stars: typeof stars === "string" ? stars : undefined, scanLaw, epochs, system };
  const all = { ...named, covariances: covariances === "stars" ? undefined : covariances };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Traits that tell a system apart that was made from files. */
export const systemDigests = ({ digests }: Pick<Inputs, "digests">): Readonly<Record<string, string>> =>
  Object.fromEntries(OF_SYSTEM.flatMap((name) => (digests[name] === undefined ? [] : [[`${name} file`, digests[name].slice(0, 16)]])));

/**
 * Refuses files other than a checkpoint was made with. Pairs that are given anew may be others.
 * @param paths by option
 * @param then digests of the checkpoint
 * @throws LaunchError with the file and both digests
 */
export function requireSameFiles(
  paths: Readonly<Record<string, string>>,
  { files: then }: { readonly files: Readonly<Record<string, string>> },
  now: Inputs["digests"],
  isGiven: (name: string) => boolean,
): void {
  for (const [name, digest] of Object.entries(now)) {
    if (then[name] === digest || (name === "covariances" && isGiven(name))) continue;
    throw new LaunchError(
      `${paths[name]} is not the file that the checkpoint was made with (SHA-256 ${then[name]?.slice(0, 16)}..., and now ${digest.slice(0, 16)}...): ` +
        `put that one back, give ${flagOf(name)} its path, or start anew`,
    );
  }
}

/** Digests of files, by option. Throws IsoformError for one that cannot be read. */
export async function digestsOf(paths: Readonly<Record<string, string>>): Promise<Inputs["digests"]> {
  const digests: Record<string, string> = {};
  for (const [name, path] of Object.entries(paths)) digests[name] = await digestOf(path);
  return digests;
}

/** Reads the files that the options name. Throws IsoformError, with file and line, for what is wrong in them. */
export async function readInputs(words: ScanningWords, digests: Inputs["digests"]): Promise<Inputs> {
  const { stars: starsPath, scanLaw, epochs, system: systemPath, covariances } = inputPaths(words);
  const list = starsPath === undefined ? undefined : await readStars(starsPath);
  const law = scanLaw === undefined ? undefined : await readLaw(scanLaw);
  const observations = epochs === undefined ? undefined : await readEpochs(epochs, list?.list, starsPath);
  const system = systemPath === undefined ? undefined : await readSystem(systemPath);
  const pairs = covariances === undefined ? undefined : await readPairs(covariances);
  return {
    ...(list ? { stars: list } : {}),
    ...(law ? { law } : {}),
    ...(observations ? { epochs: observations } : {}),
    ...(system ? { system } : {}),
    ...(pairs ? { pairs } : {}),
    digests,
  };
}

/** Pairs that `--covariances` asks for. */
interface PairsRead {
  readonly pairs: Pairs;
  /** Throws LaunchError with the row for an unknown that a system does not have. */
  requireIn(shape: Shape): void;
}

/** Reads pairs, as numbers of unknowns from 0 on. Throws IsoformError with the row for a number that is missing. */
export async function readPairs(path: string): Promise<PairsRead> {
  const table = await readTable(path, { columns: ["i", "j"] });
  const [first, second] = ["i", "j"].map((name) => idsOf(columnOf(table, name, path), table, table.rows));
  if (first.length === 0) throw new LaunchError(`${path} has no pairs: give a row each, i and j`);
  return {
    pairs: { first: Int32Array.from(first, Number), second: Int32Array.from(second, Number) },
    requireIn(shape) {
      const { unknowns } = sections(shape);
      for (const [name, ids] of Object.entries({ i: first, j: second })) {
        const row = ids.findIndex((id) => id < 0n || id >= BigInt(unknowns));
        if (row >= 0)
          throw new LaunchError(`${table.where(row)}: ${name} is ${ids[row]}, and the system has the unknowns 0 to ${unknowns - 1}`);
      }
    },
  };
}

/** Covariances that the options ask for: of the pairs of a file, or of all stars. */
export function askedCovariances(
  asked: string | undefined,
  { pairs }: Pick<Inputs, "pairs">,
  shape: Shape,
  probes: Probes | undefined,
): Covariances | undefined {
  if (asked === undefined || !probes) return undefined;
  return pairs ? covariancesOf(probes, "pairs", pairs.pairs) : covariancesOf(probes, "stars", starPairs(shape.stars));
}
