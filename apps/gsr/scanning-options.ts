import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import { LaunchError } from "isoform";
import { tableFormatOf } from "isoform/io";
import { count, nonNegative, positive } from "../options.js";
import type { Known, ScanningOptions, ScanningSource, TurnAxes } from "./scanning/index.js";
import { KNOWN, TURN_AXES } from "./scanning/index.js";
import type { Sides } from "./sides.js";
import { SIDES } from "./sides.js";
import type { GeneratorName } from "./solver.js";

/*
 * Options of `isoform gsr` for the generator `scanning`, and what its report says of the system.
 */

/** The options as the command line gives them. */
export interface ScanningWords {
  /** Their number, or a file with a list. */
  stars?: number | string;
  scanLaw?: string;
  epochs?: string;
  /** A file with the rows of a system. */
  system?: string;
  covariances?: string;
  years?: number;
  knot?: number | "auto";
  pixels?: number | "auto";
  axes?: TurnAxes;
  /** True where it is not given. */
  frame: boolean;
  known?: Known;
  outliers?: number;
  errors?: ErrorsBy;
  robust?: boolean;
  sides?: Sides;
}

/** How standard errors are found: from LSQR's sums of squares, or by this many random probes. */
type ErrorsBy = "lsqr" | { readonly probes: number };

/** Probes where no number is given. */
const PROBES = 50;

/** Reads the words of `--errors` one after the other: `lsqr`, `probes`, `probes 50`. */
function errorsBy(word: string, before: ErrorsBy | undefined): ErrorsBy {
  if (before === undefined && word === "lsqr") return word;
  if (before === undefined && word === "probes") return { probes: PROBES };
  if (before === undefined || before === "lsqr") throw new InvalidArgumentError("It needs lsqr, probes, or probes and their number.");
  return { probes: count(word) };
}

/** Reads a number of right-hand sides. */
function sidesOf(text: string): Sides {
  const sides = SIDES.find((one) => String(one) === text);
  if (sides === undefined) throw new InvalidArgumentError(`It needs ${SIDES.slice(0, -1).join(", ")} or ${SIDES.at(-1)}.`);
  return sides;
}

/** Reads a number of stars, or the name of a file with a list. */
function countOrFile(text: string): number | string {
  return tableFormatOf(text) === undefined ? count(text) : text;
}

export function addScanningOptions(command: Command): Command {
  const fraction = (text: string): number => {
    const value = nonNegative(text);
    if (value >= 1) throw new InvalidArgumentError("It needs a number from 0 to below 1.");
    return value;
  };
  const orAuto =
    (parse: (text: string) => number) =>
    (text: string): number | "auto" =>
      text === "auto" ? text : parse(text);
  return command
    .option(
      "--stars <n>",
      "scanning: number of stars, or a file of stars as gaia_source has them, .ecsv, .csv, .fits or .vot (default: 300)",
      countOrFile,
    )
    .option("--scan-law <file>", "scanning: observe by a commanded scan law, .csv or .csv.gz (default: the nominal law)")
    .option("--epochs <file>", "scanning: solve epoch astrometry for the stars' parameters, .ecsv, .csv, .fits or .vot")
    .option("--system <file>", "solve the system of the published structure in the group /system of this file, .h5")
    .option("--years <x>", "scanning: years of observation, 1 to 20 (default: 5)", positive)
    .option(
      "--knot <s>",
      "scanning: seconds between knots of the attitude (default: auto, as short as observations determine)",
      orAuto(positive),
    )
    .option("--pixels <n>", "scanning: pixel columns of a CCD (default: auto, as many as observations determine)", orAuto(count))
    .addOption(new Option("--axes <name>", "scanning: axes that the attitude turns about (default: inertial)").choices(TURN_AXES))
    .option("--no-frame", "scanning: leave the frame's turn and spin free, without the six constraints that fix them")
    .addOption(
      new Option(
        "--known <terms>",
        "scanning: known terms of x = 1 (identity), or of a random solution with noise (default: identity)",
      ).choices(KNOWN),
    )
    .option("--outliers <x>", "scanning: fraction of observations that are off by 10 to 1000 standard errors, with --known truth", fraction)
    .option("--robust", "scanning: weigh observations by their residuals and solve again, until outliers have no say")
    .option(
      "--errors <how...>",
      "scanning: standard errors by lsqr, an estimate only, or by random probes: probes 50 (default: lsqr)",
      errorsBy,
    )
    .addOption(
      new Option(
        "--sides <n>",
        "scanning: probes that are solved for together, in one pass over the matrix: 1, 2 or 4 (default: as many as the memory holds; 1 with --form paper or --norm merged)",
      ).argParser(sidesOf),
    )
    .option(
      "--covariances <what>",
      "scanning: covariances by the probes into --out, of the five parameters of all stars (stars), or of pairs of unknowns i, j in a file",
    );
}

/** The options that were given, but for files. */
export function scanningOptions({ stars: named, years, knot, pixels, axes, frame, known, outliers }: ScanningWords): ScanningOptions {
  const stars = typeof named === "number" ? named : undefined;
  const given = Object.entries({ stars, years, knot, pixels, axes, frame, known, outliers });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** Throws LaunchError if an option for `scanning` is given with another generator. */
export function refuseScanningOptions(words: ScanningWords, generator: GeneratorName): void {
  const { frame, ...given } = scanningOptions(words);
  const [name] = [
    ...(frame ? [] : ["no-frame"]),
    ...Object.keys(given),
    ...(typeof words.stars === "string" ? ["stars"] : []),
    ...(words.scanLaw === undefined ? [] : ["scan-law"]),
    ...(words.epochs === undefined ? [] : ["epochs"]),
    ...(words.system === undefined ? [] : ["system"]),
    ...(words.covariances === undefined ? [] : ["covariances"]),
    ...(words.errors === undefined ? [] : ["errors"]),
    ...(words.sides === undefined ? [] : ["sides"]),
    ...(words.robust ? ["robust"] : []),
  ];
  if (name !== undefined)
    throw new LaunchError(`--${name} is for --generator scanning, and this is --generator ${generator}: leave it out`);
}

/** Describes what was observed, for people and for programs. */
export function describe({ shape, transits, knots, leftOut, leftStars, leftBlocks }: ScanningSource): { text: string; facts: object } {
  const { knots: splines, pixels, intervals } = shape;
  const lines = [
    `${transits.count} transits (${leftOut} left out); attitude: ${splines} splines an axis${knots.pieces.length > 1 ? ` in ${knots.pieces.length} pieces` : ""}, knots of ${knots.length.toFixed(0)} s, ` +
      `${knots.transitsAnInterval.toFixed(1)} transits each; instrument: ${pixels} pixel columns, ${intervals} intervals of time`,
  ];
  if (leftStars.length > 0) lines.push(`${leftStars.length} stars have left the system: they have too few transits`);
  for (const block of ["small scale", "large scale"] as const)
    for (const axis of ["along", "across"] as const) {
      const left = leftBlocks.filter((one) => one.block === block && one.axis === axis);
      if (left.length === 0) continue;
      const most = Math.max(...left.map(({ rows }) => rows));
      lines.push(
        `${left.length} blocks of the instrument have left the system: ${block}, ${axis} scan, ${new Set(left.map(({ ccd }) => ccd)).size} CCDs, ` +
          `${most} observations or fewer for ${left[0].unknowns} unknowns each`,
      );
    }
  const facts = {
    transits: transits.count,
    leftOut,
    knot: knots.length,
    transitsAnInterval: knots.transitsAnInterval,
    leftStars,
    leftBlocks,
  };
  return { text: `${lines.join("\n")}\n`, facts };
}
