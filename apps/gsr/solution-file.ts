import { readFile } from "node:fs/promises";
import { IsoformError } from "isoform";
import type { Shape } from "./shape.js";
import { sections } from "./shape.js";

const FORMAT = "isoform gsr solution";
const VERSION = 1;

/** Choices that fix a system: solutions of equal ones may be compared. */
export interface SystemKey {
  readonly generator: string;
  readonly seed: number;
  readonly shape: Shape;
  /** Options of the generator `scanning`, with their defaults. */
  readonly options: Readonly<Record<string, number | string | boolean>>;
}

/** A solution with its errors, as `isoform gsr --out` writes it in JSON. */
export interface SolutionFile {
  readonly system: SystemKey;
  readonly precision: string;
  /** Probes that gave the standard errors; absent where they are LSQR's estimate. */
  readonly probes?: number;
  /** uas, uas a year; the last unknown of a scanning system is 1000 (gamma - 1) */
  readonly x: readonly number[];
  readonly standardErrors: readonly number[];
}

/** Text of a solution's file. */
export const solutionText = (solution: SolutionFile): string => `${JSON.stringify({ format: FORMAT, version: VERSION, ...solution })}\n`;

/** Reads a solution's file. Throws IsoformError for a file that is not one. */
export async function readSolution(path: string): Promise<SolutionFile> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new IsoformError(`cannot read ${path}: ${(error as Error).message}`);
  }
  let file: Partial<SolutionFile & { format: string; version: number }> | null;
  try {
    file = JSON.parse(text);
  } catch {
    file = null;
  }
  if (file?.format !== FORMAT) throw new IsoformError(`${path} is not a solution of isoform gsr: write one with isoform gsr --out`);
  if (file.version !== VERSION)
    throw new IsoformError(`${path} has version ${file.version}, and this program reads version ${VERSION}: solve again`);
  const { system, precision, probes, x, standardErrors } = file;
  const length = system?.shape && sections(system.shape).unknowns;
  const isVector = (values: unknown): values is number[] =>
    Array.isArray(values) && values.length === length && values.every((value) => Number.isFinite(value));
  if (!system || typeof precision !== "string" || !isVector(x) || !isVector(standardErrors))
    throw new IsoformError(
      `${path} is damaged: x and standardErrors need a finite number for each of the ${length ?? "system's"} unknowns`,
    );
  return { system, precision, probes, x, standardErrors };
}
