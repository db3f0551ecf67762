import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

/** Records of all runs, the oldest first. */
export const RECORDS = fileURLToPath(new URL("../../../bench/results/soak.json", import.meta.url));

export interface Defect {
  readonly subject: string;
  readonly seed: number;
  /** The first line of what was wrong. */
  readonly what: string;
}

/** What one run tried and found. */
export interface SoakRecord {
  readonly date: string;
  readonly processor: string;
  readonly threads: number;
  readonly node: string;
  readonly commit: string;
  seconds: number;
  /** The seed of the first trial of each subject; the next has the next. */
  readonly seed: number;
  readonly trials: Record<string, number>;
  readonly counts: Record<string, number>;
  readonly missing: Record<string, string>;
  readonly defects: Defect[];
}

export const newRecord = (seed: number): SoakRecord => ({
  date: new Date().toISOString().slice(0, 10),
  processor: cpus()[0].model.trim(),
  threads: cpus().length,
  node: process.version,
  commit: commit(),
  seconds: 0,
  seed,
  trials: {},
  counts: {},
  missing: {},
  defects: [],
});

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "unknown";
  }
}

/** Puts the record behind those of other runs; once more, and it takes the place that it has. */
export class Records {
  private readonly before: readonly unknown[];

  constructor(private readonly path: string) {
    this.before = before(path);
  }

  write(record: SoakRecord): void {
    const partial = `${this.path}.${process.pid}`;
    writeFileSync(partial, `${JSON.stringify([...this.before, record], undefined, 1)}\n`);
    renameSync(partial, this.path);
  }
}

function before(path: string): readonly unknown[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  const found: unknown = JSON.parse(text);
  if (!Array.isArray(found)) throw new Error(`${path} is no list of records`);
  return found;
}
