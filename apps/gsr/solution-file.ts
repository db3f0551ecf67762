import { IsoformError } from "isoform";
import type { Covariances } from "./covariances.js";
import type { Shape } from "./shape.js";
import { sections } from "./shape.js";

/** Format of the files, and its version. */
export const SOLUTION_FORMAT = "isoform gsr solution";
export const SOLUTION_VERSION = 1;

/** Choices that fix a system: solutions of equal ones may be compared. */
export interface SystemKey {
  readonly generator: string;
  readonly seed: number;
  readonly shape: Shape;
  /** Options of the generator `scanning`, with their defaults. */
  readonly options: Readonly<Record<string, number | string | boolean>>;
}

/** A solution with its errors, as `isoform gsr --out` writes it. */
export interface SolutionFile {
  readonly system: SystemKey;
  readonly precision: string;
  /** Type of the coefficients of iterations where it is not f64. */
  readonly coefficients?: string;
  /** Probes that gave the standard errors; absent where they are LSQR's estimate. */
  readonly probes?: number;
  /** uas, uas a year; the last unknown of a scanning system is 1000 (gamma - 1) */
  readonly x: readonly number[];
  readonly standardErrors: readonly number[];
  /** Covariances of pairs of unknowns, if they were asked for. */
  readonly covariances?: Covariances;
}

/** Text of a solution's file. */
export const solutionText = ({ covariances, ...solution }: SolutionFile): string => {
  const lists = covariances && {
    ...covariances,
    first: Array.from(covariances.first),
    second: Array.from(covariances.second),
    values: Array.from(covariances.values),
  };
  return `${JSON.stringify({ format: SOLUTION_FORMAT, version: SOLUTION_VERSION, ...solution, covariances: lists })}\n`;
};

/** Reads the text of a solution's file. Throws IsoformError for a file that is not one. */
export function parseSolution(path: string, text: string): SolutionFile {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    file = undefined;
  }
  return solutionOf(path, file);
}

/** A solution from a file's content. Throws IsoformError where it is not one. */
export function solutionOf(path: string, content: unknown): SolutionFile {
  const file = content as { readonly [key in keyof SolutionFile | "format" | "version"]?: unknown } | null | undefined;
  if (file?.format !== SOLUTION_FORMAT)
    throw new IsoformError(`${path} is not a solution of isoform gsr: write one with isoform gsr --out`);
  if (file.version !== SOLUTION_VERSION)
    throw new IsoformError(`${path} has version ${file.version}, and this program reads version ${SOLUTION_VERSION}: solve again`);
  const { precision, coefficients, probes, x, standardErrors } = file;
  const system = file.system as SystemKey | undefined;
  const length = system?.shape && sections(system.shape).unknowns;
  const isVector = (values: unknown): values is number[] =>
    Array.isArray(values) && values.length === length && values.every((value) => Number.isFinite(value));
  if (!system || typeof precision !== "string" || !isVector(x) || !isVector(standardErrors))
    throw new IsoformError(
      `${path} is damaged: x and standardErrors need a finite number for each of the ${length ?? "system's"} unknowns`,
    );
  const rounded = coefficients === undefined ? {} : { coefficients: String(coefficients) };
  return { system, precision, ...rounded, ...(probes === undefined ? {} : { probes: Number(probes) }), x, standardErrors };
}
