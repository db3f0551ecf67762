import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { variablesOf, type Job } from "../../jobs.js";

export const REPOSITORY = fileURLToPath(new URL("../../../../", import.meta.url));
/** Files that no test of the default tier needs, or that may be shared. */
const APART = new Set(["node_modules", ".git", ".ci", ".gpu", "coverage"]);

/** Seconds that a file may take beyond a multiple of what it takes without a change. */
const PATIENCE = 60;
const SLOWER = 8;

/** A test file that noticed a change, and whether it did so by taking too long, as endless loops do. */
export interface Notice {
  readonly name: string;
  readonly late: boolean;
}

/**
 * A copy of the repository as it is compiled now, in which one module at a time can be another. Files are hard links where that is possible:
 * the repository's own are never written to.
 */
export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), "isoform-mutants-"));

  constructor() {
    copyLinked(REPOSITORY, this.folder);
    symlinkSync(join(REPOSITORY, "node_modules"), join(this.folder, "node_modules"));
  }

  /** Runs `then` while a module has another text. */
  async with<T>(module: string, code: string, then: () => Promise<T>): Promise<T> {
    const path = join(this.folder, module);
    renameSync(path, `${path}.own`);
    try {
      writeFileSync(path, code);
      return await then();
    } finally {
      rmSync(path);
      renameSync(`${path}.own`, path);
    }
  }

  /**
   * Runs a test file until its first failure, or until `stopped` aborts. Returns undefined if it passes or is stopped.
   *
   * @param seconds What it takes without a change.
   */
  async notices(job: Job, seconds: number, stopped: AbortSignal): Promise<Notice | undefined> {
    // Results of other mutants must not be found again.
    const cache = mkdtempSync(join(this.folder, "cache-"));
    const child = spawn(process.execPath, ["--test-reporter=tap", join(this.folder, "dist/test", `${job.name}.test.js`)], {
      cwd: this.folder,
      env: { ...process.env, ...variablesOf(job, true), XDG_CACHE_HOME: cache },
      stdio: ["ignore", "pipe", "ignore"],
      // The file's own children end with it.
      detached: true,
    });
    let outcome: "late" | "failed" | "stopped" | undefined;
    const end = (why: "late" | "failed" | "stopped"): void => {
      outcome ??= why;
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    };
    const timer = setTimeout(() => end("late"), 1e3 * (PATIENCE + SLOWER * seconds));
    const stop = (): void => end("stopped");
    stopped.addEventListener("abort", stop);
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output = output.slice(output.lastIndexOf("\n") + 1) + text;
      if (/^ *not ok (?!.*# (TODO|SKIP))/m.test(output)) end("failed");
    });
    const [code] = (await once(child, "close")) as [number | null];
    clearTimeout(timer);
    stopped.removeEventListener("abort", stop);
    rmSync(cache, { recursive: true, force: true });
    outcome ??= code === 0 ? undefined : "failed";
    return outcome === undefined || outcome === "stopped" ? undefined : { name: job.name, late: outcome === "late" };
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function copyLinked(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (APART.has(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyLinked(source, target);
    else if (entry.isFile()) link(source, target);
  }
}

function link(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // Another file system has no hard links to this one.
    writeFileSync(target, readFileSync(source));
  }
}

/** Folder of the tests of a compiled module's room, from `dist/test`: "ir/analysis" for "dist/src/ir/analysis/proofs.js". */
export const roomOf = (module: string): string => dirname(module).replace(/^dist\/(src\/?)?/, "");
