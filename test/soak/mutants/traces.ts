import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { GreenRuns } from "../../changed/green.js";
import { compiledTests, jobsOf, variablesOf, type Job } from "../../jobs.js";
import { NODE_TIERS } from "../../tiers.js";
import { executedIn, type Executed } from "./executed.js";
import { inOrder, type Noticed, type Place } from "./order.js";
import type { MutableModule } from "./sites.js";
import { recordTexts } from "./texts.js";

/** What a test file of the default tier executes of the library, and how long that takes. */
export interface Trace {
  readonly seconds: number;
  readonly executed: Executed;
}

/**
 * Traces of the test files of the default tier, each recorded when it is first asked for: the file runs once with the engine's coverage on.
 * They are kept in `dist/test/.traces`, and hold until something that the file read changes. A file that fails under coverage has an empty
 * trace: whatever changes, it is not asked.
 */
export class Traces {
  private readonly green: GreenRuns;
  private readonly jobs: readonly Job[];
  private readonly known = new Map<string, Promise<Trace>>();
  /** Seconds of each file when it last ran, by name. */
  private readonly seconds = new Map<string, number>();
  private readonly noticed: Noticed[];

  constructor(
    private readonly root: string,
    private readonly modules: readonly MutableModule[],
  ) {
    // The traces count changes by their number, so they depend on which changes there are.
    const sites = readFileSync(fileURLToPath(new URL("sites.js", import.meta.url)));
    this.green = new GreenRuns(root, ["traces", createHash("sha256").update(sites).digest("hex")]);
    this.jobs = compiledTests(root)
      .flatMap(jobsOf)
      .filter(({ tier }) => NODE_TIERS.includes(tier));
    for (const { name } of this.jobs) {
      const kept = this.kept(name);
      if (kept) this.seconds.set(name, kept.seconds);
    }
    this.noticed = existsSync(this.noticedPath) ? (JSON.parse(readFileSync(this.noticedPath, "utf8")) as Noticed[]) : [];
  }

  /** All files, in the order in which they are asked about a change. */
  inOrder(place: Place): Job[] {
    return inOrder(this.jobs, this.seconds, place, this.noticed);
  }

  /** Keeps the name of a file that noticed a change: it is asked first about other changes to the module. */
  note(noticed: Noticed): void {
    this.noticed.push(noticed);
    writeFileSync(this.noticedPath, JSON.stringify(this.noticed));
  }

  of(job: Job): Promise<Trace> {
    if (!this.isKnown(job)) this.known.set(job.name, this.find(job));
    return this.known.get(job.name)!;
  }

  private get noticedPath(): string {
    return join(this.root, "dist/test/.traces.noticed.json");
  }

  private pathOf(name: string): string {
    return join(this.root, "dist/test/.traces", `${name.replaceAll("/", "_")}.json`);
  }

  private kept(name: string): Trace | undefined {
    return existsSync(this.pathOf(name)) ? (JSON.parse(readFileSync(this.pathOf(name), "utf8")) as Trace) : undefined;
  }

  /** Whether a file's trace is there and holds. */
  isKnown(job: Job): boolean {
    if (this.known.has(job.name)) return true;
    const kept = this.green.unchanged(job.name, job.devices ?? "") === undefined ? undefined : this.kept(job.name);
    if (kept) this.known.set(job.name, Promise.resolve(kept));
    return kept !== undefined;
  }

  private async find(job: Job): Promise<Trace> {
    const trace = await this.record(job);
    this.seconds.set(job.name, trace.seconds);
    mkdirSync(dirname(this.pathOf(job.name)), { recursive: true });
    writeFileSync(this.pathOf(job.name), JSON.stringify(trace));
    return trace;
  }

  private async record(job: Job): Promise<Trace> {
    const folder = mkdtempSync(join(tmpdir(), "isoform-traces-"));
    const [coverage, texts] = [join(folder, "coverage"), join(folder, "texts")];
    mkdirSync(coverage);
    writeFileSync(texts, "");
    try {
      const recording = this.green.record(job.name, job.devices ?? "");
      const flags = `${recording.env.NODE_OPTIONS} ${recordTexts(texts)}`;
      const begin = performance.now();
      const child = spawn(process.execPath, ["--test-reporter=tap", join(this.root, "dist/test", `${job.name}.test.js`)], {
        env: { ...process.env, ...variablesOf(job, true), ...recording.env, NODE_V8_COVERAGE: coverage, NODE_OPTIONS: flags },
        stdio: ["ignore", "pipe", "ignore"],
      });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
      const [status] = (await once(child, "close")) as [number | null];
      const seconds = Math.round((performance.now() - begin) / 100) / 10;
      recording.end(status === 0, 0);
      if (status !== 0) {
        const failed = /^ *not ok .*/m.exec(output)?.[0].trim() ?? "no test failed";
        console.log(`${job.name} fails while its coverage is recorded, so it is not asked: ${failed}`);
        return { seconds, executed: {} };
      }
      const asked = readFileSync(texts, "utf8").split("\n").filter(Boolean);
      const parsed = asked.map((line) => JSON.parse(line) as string);
      return { seconds, executed: executedIn(coverage, parsed, this.root, this.modules) };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** Whether a file executes a change, by its number in the module. */
export const executes = ({ executed }: Trace, { path }: MutableModule, index: number): boolean => executed[path]?.[index] === "1";
