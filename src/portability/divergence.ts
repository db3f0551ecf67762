import { z } from "zod";
import { type CsvField, type CsvTable, readCsv } from "./csv.js";
import { groupBy } from "./group.js";
import type { Metric } from "./metric.js";
import { isOwnSource } from "./portable.js";
import { mean } from "./statistics.js";

/** Lines of one file that a program uses on a platform. */
interface CoveredFile {
  file: string;
  /** Tells versions of a file apart, such as its hash. */
  id: string;
  /** Numbers of lines in rising order, stretches by their ends: `8,10-12`. */
  lines: string;
}

/** Source code that an application needs on a platform. */
export interface Coverage {
  application: string;
  platform: string;
  problem: string;
  files: CoveredFile[];
}

/** Code divergence of one application and problem over a set of platforms. */
export interface Divergence {
  setName: string;
  /** Platforms of the set whose source code is known. */
  set: string[];
  problem: string;
  application: string;
  /** Mean distance of two platforms' sources; 0 if all is shared, and on one platform. */
  divergence: number;
  /** 1 - divergence. */
  convergence: number;
  /** Whether lines were counted, or it is one source on all platforms by construction. */
  by: "coverage" | "one source";
}

/** A coverage trace as p3-analysis-library has it. */
const trace = z.array(
  z.object({
    file: z.string(),
    id: z.string(),
    used_lines: z.array(z.int().nonnegative()),
    unused_lines: z.array(z.int().nonnegative()),
  }),
);

/** The coverage in a field, in JSON. Throws InputError for another form, and where no line is used. */
export function readCoverage(table: CsvTable, field: CsvField): CoveredFile[] {
  let json: unknown;
  try {
    json = JSON.parse(field.text);
  } catch (error) {
    throw table.error(field, `coverage is not JSON: ${(error as Error).message}`);
  }
  const read = trace.safeParse(json);
  if (!read.success) {
    const [{ path, message }] = read.error.issues;
    throw table.error(field, `coverage must be [{"file", "id", "used_lines", "unused_lines"}, ...]: ${path.join(".")}: ${message}`);
  }
  const files = [...groupBy(read.data, ({ file, id }) => JSON.stringify([file, id])).values()].map((parts) => ({
    file: parts[0].file,
    id: parts[0].id,
    lines: lineStretches(parts.flatMap(({ used_lines }) => used_lines)),
  }));
  const used = files.filter(({ lines }) => lines !== "");
  if (used.length === 0) throw table.error(field, "coverage has no used line: leave the field empty where it is unknown");
  return used;
}

/** Reads a CSV file with the columns coverage_key and coverage. Throws InputError with line and column. */
export async function readCoverages(file: string): Promise<Map<string, CoveredFile[]>> {
  const table = await readCsv(file);
  const [key, coverage] = [table.column("coverage_key"), table.column("coverage")];
  const read = new Map<string, CoveredFile[]>();
  for (const row of table.rows) {
    const name = table.text(row[key], "coverage_key");
    if (read.has(name)) throw table.error(row[key], `the key ${name} appears twice`);
    read.set(name, readCoverage(table, row[coverage]));
  }
  return read;
}

/** `8,10-12` of 10, 11, 12, 8. */
export function lineStretches(lines: readonly number[]): string {
  const stretches: [number, number][] = [];
  for (const number of [...new Set(lines)].sort((a, b) => a - b)) {
    const last = stretches.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else stretches.push([number, number]);
  }
  return stretches.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

/** Every line by the file, its version and its number. */
function linesOf(files: readonly CoveredFile[]): Set<string> {
  const all = new Set<string>();
  for (const { file, id, lines } of files)
    for (const stretch of lines.split(",")) {
      const [first, last = first] = stretch.split("-").map(Number);
      for (let number = first; number <= last; number++) all.add(JSON.stringify([file, id, number]));
    }
  return all;
}

/** Lines that two sources do not share, over the lines of either: the Jaccard distance. */
function distance(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const each of a) if (b.has(each)) both++;
  return 1 - both / (a.size + b.size - both);
}

/**
 * Code divergence (Harrell and Kitson, P3HPC 2018): the mean over all pairs of platforms of 1 - |lines of both| / |lines of either|, and 0 for one
 * platform. A line is a file, its version and a number.
 */
export function codeDivergence(sources: readonly (readonly CoveredFile[])[]): number {
  const lines = sources.map(linesOf);
  const distances = lines.flatMap((a, i) => lines.slice(i + 1).map((b) => distance(a, b)));
  return distances.length === 0 ? 0 : mean(distances);
}

/** Divergences of the applications that have metrics, and notes on the ones left out because a platform's source is unknown. */
export function divergencesOf(metrics: readonly Metric[], coverage: readonly Coverage[]): { divergences: Divergence[]; notes: string[] } {
  const notes: string[] = [];
  const groups = groupBy(metrics, ({ setName, problem, application }) => JSON.stringify([setName, problem, application]));
  const divergences = [...groups.values()].flatMap(([{ setName, set, problem, application, efficiencies }]): Divergence[] => {
    const names = { setName, problem, application };
    const runsOn = efficiencies.filter(({ value }) => value > 0).map(({ platform }) => platform);
    if (isOwnSource(application)) return [{ ...names, set: runsOn, divergence: 0, convergence: 1, by: "one source" }];
    const sources = coverage.filter((one) => one.application === application && one.problem === problem && set.includes(one.platform));
    if (sources.length === 0) return [];
    const unknown = runsOn.filter((platform) => !sources.some((one) => one.platform === platform));
    if (unknown.length > 0) {
      notes.push(
        `${problem}, ${setName}: no code divergence of ${application}, whose coverage on ${unknown.join(", ")} is unknown, or differs between runs`,
      );
      return [];
    }
    const divergence = codeDivergence(sources.map(({ files }) => files));
    return [{ ...names, set: sources.map(({ platform }) => platform), divergence, convergence: 1 - divergence, by: "coverage" }];
  });
  return { divergences, notes };
}
