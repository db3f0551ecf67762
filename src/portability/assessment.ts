import { IsoformError } from "../base/errors.js";
import { InputError, readText } from "./csv.js";
import { type Cell, cellsOf, betterOf, isTimed, type Run } from "./cells.js";
import { type Coverage, divergencesOf } from "./divergence.js";
import {
  applicationMetrics,
  architectureMetrics,
  kernelEfficiencies,
  kernelMeans,
  type PlatformSet,
  type Roof,
  YARDSTICKS,
  type Yardstick,
} from "./metric.js";
import { groupBy } from "./group.js";
import { fastestBackends } from "./portable.js";
import { readRoofs, readTimings } from "./published.js";
import type { ReadingOptions } from "./read-rows.js";
import {
  type AssessedDevice,
  type Assessment,
  assessmentSchema,
  type Build,
  type KernelCounters,
  type KernelResources,
  type Machine,
  type Missing,
  SCHEMA,
  type Setting,
  type Validation,
} from "./schema.js";

/** Input of an assessment. */
export interface Evidence {
  host: Machine[];
  devices: AssessedDevice[];
  runs: Run[];
  validation: Validation[];
  settings?: Setting[];
  builds?: Build[];
  resources?: KernelResources[];
  counters?: KernelCounters[];
  missing?: Missing[];
  coverage?: Coverage[];
}

/**
 * Computes all metrics. Without sets, one set holds every platform that has runs. Where several platforms ran Isoform's backends, the
 * application `isoform` stands for the fastest of them on each. Where no run counted there are no metrics. Throws IsoformError if
 * nothing ran on a platform of a set.
 * @param yardstick of application efficiencies in figures and the summary; all are computed
 */
export function assess(evidence: Evidence, sets?: readonly PlatformSet[], yardstick: Yardstick = "any"): Assessment {
  const measured = cellsOf(evidence.runs);
  requireOneMeasure(measured);
  const cells = [...measured, ...fastestBackends(measured)];
  const roofs = roofsOf(evidence.devices);
  const platforms = [...new Set(evidence.runs.map((r) => r.platform))];
  const asked = sets?.length ? sets : [{ name: platforms.length > 1 ? "all" : platforms[0], platforms }];
  checkSets(asked, [...new Set([...evidence.runs, ...evidence.validation, ...(evidence.missing ?? [])].map((each) => each.platform))]);
  const metrics = [...YARDSTICKS.flatMap((one) => applicationMetrics(cells, asked, one)), ...architectureMetrics(cells, asked, roofs)];
  const { divergences, notes } = divergencesOf(metrics, evidence.coverage ?? []);
  return finite({
    schema: SCHEMA,
    ...evidence,
    yardstick,
    metrics,
    kernels: kernelEfficiencies(measured, roofs),
    kernelMeans: kernelMeans(kernelEfficiencies(cells, roofs), asked),
    divergences,
    notes: [...leftOut(evidence, cells, asked), ...notes],
  });
}

/** Throws IsoformError where one quantity of a problem is in seconds here and a figure of merit there. */
function requireOneMeasure(cells: readonly Cell[]): void {
  const words = (cell: Cell) => (isTimed(cell) ? "seconds" : `a figure of merit, the ${betterOf(cell)} the better`);
  for (const group of groupBy(cells, ({ problem, quantity }) => JSON.stringify([problem, quantity])).values()) {
    const [first] = group;
    const other = group.find((cell) => words(cell) !== words(first));
    if (other)
      throw new IsoformError(
        `${first.problem}: ${first.quantity} of ${first.application} on ${first.platform} is ${words(first)}, and of ${other.application} on ${other.platform} ${words(other)}: give the problems different names`,
      );
  }
}

/** Notes on platforms of sets on which nobody ran a problem. */
function leftOut({ missing = [] }: Evidence, cells: readonly Cell[], sets: readonly PlatformSet[]): string[] {
  return [...groupBy(cells, ({ problem }) => problem)].flatMap(([problem, ofProblem]) =>
    sets.flatMap(({ name, platforms }) => {
      const wanted = [...platforms, ...missing.filter((one) => one.problem === problem).map(({ platform }) => platform)];
      const absent = [...new Set(wanted)].filter((platform) => !ofProblem.some((cell) => cell.platform === platform));
      return absent.length > 0 ? [`${problem}, set ${name}: nobody ran it on ${absent.join(", ")}, left out of the set`] : [];
    }),
  );
}

/** `known` are the platforms that something ran on, with a right result or a wrong one. */
function checkSets(sets: readonly PlatformSet[], known: readonly string[]): void {
  for (const { name, platforms } of sets) {
    const missing = platforms.filter((p) => !known.includes(p));
    if (missing.length) throw new IsoformError(`set ${name}: nothing ran on ${missing.join(", ")}; choose from ${known.join(", ")}`);
  }
}

/** Best figures of each platform: several backends may have measured the same hardware. */
export function roofsOf(devices: readonly AssessedDevice[]): Map<string, Roof> {
  return new Map(
    [...groupBy(devices, (d) => d.platform)].map(([platform, group]) => [
      platform,
      {
        bandwidth: Math.max(...group.map((d) => d.peakBandwidth)),
        flops: Math.max(...group.map((d) => d.peakFlops ?? 0)) || undefined,
      },
    ]),
  );
}

/** JSON knows no NaN: an unknown sigma becomes null, as the schema says. */
function finite(assessment: object): Assessment {
  return JSON.parse(JSON.stringify(assessment)) as Assessment;
}

/** Evidence from timings measured elsewhere, and from the bandwidths of their platforms where given. */
export async function published(timings: string, bandwidth?: string, options: ReadingOptions = {}): Promise<Evidence> {
  const { runs, missing, coverage } = await readTimings(timings, options);
  const roofs = bandwidth === undefined ? new Map<string, Roof>() : await readRoofs(bandwidth);
  const counted = new Set(
    runs
      .filter(isTimed)
      .filter((r) => r.bytes !== undefined)
      .map((r) => r.platform),
  );
  if (bandwidth !== undefined) {
    const missing = [...counted].filter((platform) => !roofs.has(platform));
    if (missing.length)
      throw new InputError(`${bandwidth}: the bandwidth of ${missing.join(", ")} is missing, and ${timings} has kernels for it`);
    if (counted.size === 0) throw new InputError(`${timings}: no kernel has bytes, so bandwidths cannot be used; leave out --bandwidth`);
  }
  const devices = [...roofs].map(([platform, roof]): AssessedDevice => ({
    name: platform,
    platform,
    backend: "published",
    label: platform,
    peakBandwidth: roof.bandwidth,
    peakFlops: roof.flops ?? null,
    source: "published",
  }));
  return { host: [], devices, runs, validation: [], missing, coverage };
}

/** Reads an assessment's JSON. Throws InputError with the place of what does not fit the schema. */
export async function readAssessment(file: string): Promise<Assessment> {
  let json: unknown;
  const text = await readText(file);
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new InputError(`${file}: this is not JSON: ${(error as Error).message}`);
  }
  const result = assessmentSchema.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new InputError(`${file}: ${issue.path.join(".") || "the file"}: ${issue.message}`);
}
