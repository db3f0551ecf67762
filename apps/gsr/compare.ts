import { IsoformError } from "isoform";
import { plot, type Panel } from "isoform/draw";
import type { SystemKey, SolutionFile } from "./solution-file.js";
import { sections } from "./shape.js";

/*
 * Two solutions of one system, of two backends, forms or programs. What decides: unknowns agree to a hundredth of a standard error; standard errors by
 * the same probes agree to a thousandth. LSQR's own estimates depend on the order of summation and get no bar, and neither does the difference of
 * errors in uas, for which Malenza et al. 2024 (SC24-W, section V-C) use 10 uas: errors half as large as true ones would pass it.
 */

/** Largest difference of unknowns, in standard errors. */
const UNKNOWNS_BAR = 0.01;
/** Largest difference of standard errors from probes, relative to them. */
const ERRORS_BAR = 1e-3;
/** The same where one solution's iterations had coefficients in f32: probes are not corrected. */
const ROUNDED_BAR = 1e-2;
/** Points of a scatter plot, at most. */
const MOST_POINTS = 4000;

/** How two solutions of a system differ. */
interface Comparison {
  /** Unknowns with an error, which are compared. */
  readonly unknowns: number;
  /** Share of unknowns that differ by less than one standard error, and the largest difference in standard errors. */
  readonly withinOne: number;
  readonly worst: number;
  /** Mean and standard deviation of the differences of the stars' errors, uas and uas a year. */
  readonly errorDifferences: { readonly mean: number; readonly deviation: number };
  /** Largest relative difference of standard errors, and whether both are of the same probes, so that it decides. */
  readonly worstErrorRatio: number;
  readonly sameProbes: boolean;
  /** Largest relative difference of standard errors that passes. */
  readonly errorsBar: number;
  readonly sameBits: boolean;
  readonly ok: boolean;
}

/** Compares solutions `a` and `b`. Throws IsoformError for different systems, and where the frame is free. */
export function compareSolutions(a: SolutionFile, b: SolutionFile): Comparison {
  requireSameSystem(a.system, b.system);
  const stars = sections(a.system.shape).attitude;
  let [unknowns, within, worst, worstErrorRatio, sameBits] = [0, 0, 0, 0, true];
  const differences: number[] = [];
  for (let j = 0; j < a.x.length; j++) {
    const [errorA, errorB] = [a.standardErrors[j], b.standardErrors[j]];
    sameBits &&= Object.is(a.x[j], b.x[j]);
    if (errorA === 0 && errorB === 0 && a.x[j] === b.x[j]) continue;
    const distance = Math.abs(a.x[j] - b.x[j]) / Math.min(errorA, errorB);
    unknowns++;
    if (distance < 1) within++;
    worst = Math.max(worst, Number.isNaN(distance) ? Infinity : distance);
    worstErrorRatio = Math.max(worstErrorRatio, errorB > 0 ? Math.abs(errorA / errorB - 1) : Infinity);
    if (j < stars) differences.push(errorA - errorB);
  }
  const mean = differences.reduce((sum, e) => sum + e, 0) / differences.length;
  const deviation = Math.sqrt(differences.reduce((sum, e) => sum + (e - mean) ** 2, 0) / differences.length);
  const sameProbes = a.probes !== undefined && a.probes === b.probes;
  const errorsBar = [a, b].some(({ coefficients }) => coefficients === "f32") ? ROUNDED_BAR : ERRORS_BAR;
  const ok = unknowns > 0 && worst <= UNKNOWNS_BAR && (!sameProbes || worstErrorRatio <= errorsBar);
  const errorDifferences = { mean, deviation };
  return { unknowns, withinOne: within / unknowns, worst, errorDifferences, worstErrorRatio, sameProbes, errorsBar, sameBits, ok };
}

function requireSameSystem(a: SystemKey, b: SystemKey): void {
  const flat = ({ generator, seed, shape, options }: SystemKey) => Object.entries({ generator, seed, ...shape, ...options });
  const other = new Map(flat(b));
  const different = flat(a).find(([name, value]) => other.get(name) !== value);
  if (different || other.size !== flat(a).length)
    throw new IsoformError(
      `these are solutions of different systems${different ? `: ${different[0]} is ${different[1]} and ${other.get(different[0])}` : ""}; solve one system twice`,
    );
  if (a.options.frame === false)
    throw new IsoformError("the frame of these solutions is free, so they may differ by its turn and spin: solve without --no-frame");
}

/** The report of a comparison. */
export function comparisonText(c: Comparison): string {
  const e = (value: number) => value.toExponential(2);
  const bar = (ok: boolean) => (ok ? "passes" : "fails");
  const { mean, deviation } = c.errorDifferences;
  const errors = c.sameProbes
    ? `${bar(c.worstErrorRatio <= c.errorsBar)}: at most ${c.errorsBar}`
    : "decides nothing: not of the same number of probes";
  return [
    `unknowns         ${c.unknowns} compared, ${(100 * c.withinOne).toFixed(2)} % within one standard error, bits ${c.sameBits ? "equal" : "different"}`,
    `worst difference ${e(c.worst)} standard errors; ${bar(c.worst <= UNKNOWNS_BAR)}: at most ${UNKNOWNS_BAR}`,
    `standard errors  differ by ${e(c.worstErrorRatio)} of themselves at most; ${errors}`,
    `                 of stars by ${e(mean)} uas on average, deviation ${e(deviation)} uas (the published bar of 10 uas decides nothing)`,
    c.ok ? "the solutions agree" : "the solutions do not agree",
    "",
  ].join("\n");
}

/** Scatter plots of both solutions' unknowns and of their standard errors, as an SVG file. */
export function comparisonPlot(a: SolutionFile, b: SolutionFile, names: readonly [string, string]): string {
  const stride = Math.ceil(a.x.length / MOST_POINTS);
  const thin = (values: readonly number[]) => values.filter((_, j) => j % stride === 0);
  const panel = (title: string, x: readonly number[], y: readonly number[], log: boolean): Panel => ({
    title,
    x: { label: names[0], log },
    y: { label: names[1], log },
    curves: [{ name: title, as: "points", x: thin(x), y: thin(y) }],
  });
  return plot("Two solutions", [panel("unknowns", a.x, b.x, false), panel("standard errors", a.standardErrors, b.standardErrors, true)]);
}
