import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IsoformError } from "../../base/errors.js";
import { entryName } from "../../schedule/entry.js";
import { endedProcess, lastWords } from "../child-process.js";
import type { KernelCounters } from "../schema.js";
import { Stopped } from "../stop.js";
import { readCounters, type CountedRun, type CounterName } from "./log.js";
import { ncuWords, refusalOf } from "./ncu.js";
import { COUNTERS_COMMAND, type CountersPart, type CountersTask, type LaunchedKernel } from "./task.js";

/** How counting becomes processes. */
export interface CountersTools {
  /** Path of ncu. */
  readonly ncu: string;
  /** Program and words that run `isoform`. */
  readonly program: readonly string[];
  readonly stop?: AbortSignal;
}

type Counted = Omit<KernelCounters, "application" | "platform">;

/**
 * Counts what the kernels of one run move, in a process under ncu. Throws IsoformError where ncu may not count, where the process fails, and for a log that ncu
 * would not write; Stopped where it was stopped.
 */
export async function measureCounters(task: CountersTask, { ncu, program, stop }: CountersTools): Promise<Counted[]> {
  const folder = await mkdtemp(join(tmpdir(), "isoform-counters-"));
  try {
    const file = join(folder, "ncu.csv");
    const words = ncuWords(ncu, file, [...program, COUNTERS_COMMAND, JSON.stringify(task)]);
    // In other locales numbers have other separators.
    const { code, output, errors } = await endedProcess(words, stop, { LC_ALL: "C" });
    if (stop?.aborted) throw new Stopped();
    const log = await readFile(file, "utf8").catch(() => "");
    const refusal = refusalOf([log, output, errors].join("\n"));
    if (refusal) throw refusal;
    const what = `${task.application} on ${task.devices} under ncu`;
    if (code !== 0) throw new IsoformError(`--counters: ${what} ended with status ${code}: ${lastWords(errors)}`);
    const runs = readCounters(log);
    if (runs.length === 0) throw new IsoformError(`--counters: ncu counted no kernel of ${what}: ${lastWords(log)}`);
    return countersOf(runs, partIn(output, what));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The process prints its part last; ncu and the program may print before. */
function partIn(output: string, what: string): CountersPart {
  const last = output.split("\n").findLast((line) => line.startsWith("{")) ?? "";
  try {
    return JSON.parse(last) as CountersPart;
  } catch {
    throw new IsoformError(`--counters: ${what} printed no result, but: ${output.trim().slice(-200) || "nothing"}`);
  }
}

/**
 * Counters of each kernel, means of a launch: a launch may run several functions. Functions of no kernel of the application, which fill or copy, stand by
 * themselves.
 */
function countersOf(runs: readonly CountedRun[], { problem, kernels }: CountersPart): Counted[] {
  const ofKernel = new Map<string, CountedRun[]>();
  for (const run of runs) {
    const name = kernelOf(run.kernel, kernels)?.kernel ?? run.kernel;
    ofKernel.set(name, [...(ofKernel.get(name) ?? []), run]);
  }
  for (const { kernel, launches, bytes } of kernels)
    if (bytes > 0 && (ofKernel.get(kernel)?.length ?? 0) < launches)
      throw new IsoformError(`--counters: ncu counted ${ofKernel.get(kernel)?.length ?? 0} of ${launches} launches of ${kernel}`);
  return [...ofKernel].map(([kernel, own]): Counted => {
    const known = kernels.find((one) => one.kernel === kernel);
    const launches = known?.launches ?? own.length;
    const mean = (name: CounterName): number => own.reduce((sum, { values }) => sum + (values[name] ?? 0), 0) / launches;
    const has = (name: CounterName): boolean => own.every(({ values }) => values[name] !== undefined);
    const longest = own.toSorted((a, b) => b.values.time! - a.values.time!)[0];
    return {
      problem,
      kernel,
      launches,
      ...(known && { bytes: known.bytes / launches, flops: known.flops / launches }),
      read: mean("read"),
      written: mean("written"),
      seconds: mean("time"),
      // A rate of the longest function says most about the kernel's.
      ...(longest.values.l1Hits !== undefined && { l1HitRate: longest.values.l1Hits }),
      ...(has("atomics") && has("reductions") && { atomicSectors: mean("atomics") + mean("reductions") }),
    };
  });
}

/** The kernel that a function belongs to: its code's entries have its name and perhaps more. */
function kernelOf(name: string, kernels: readonly LaunchedKernel[]): LaunchedKernel | undefined {
  const fitting = kernels.filter(({ kernel }) => name === entryName(kernel) || name.startsWith(`${entryName(kernel)}_`));
  return fitting.toSorted((a, b) => b.kernel.length - a.kernel.length)[0];
}
