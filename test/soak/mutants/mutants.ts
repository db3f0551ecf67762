import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { picks, type Pick } from "../mutate.js";
import type { Counts, Subject } from "../subject.js";
import { EQUIVALENT, type Equivalent } from "./equivalent.js";
import { mutated, mutationsOf, type MutableModule, type Mutation } from "./sites.js";
import type { Job } from "../../jobs.js";
import { executes, Traces, type Trace } from "./traces.js";
import { REPOSITORY, Workspace, type Notice } from "./workspace.js";

/** Rooms whose tests need compilers, drivers, MPI or browsers, or that are tests themselves. */
const APART =
  /^dist\/src\/(emit\/(c|wgsl)|device\/(cuda|hip|opencl|webgpu|native|gpu|browser)|set\/mpi|cli|testing|portability)\/|\/browser\//;

/** One change to one module. */
interface Mutant {
  readonly module: MutableModule;
  readonly index: number;
}

const mutationOf = ({ module, index }: Mutant): Mutation => module.mutations[index];
const lineOf = (mutant: Mutant): string => mutant.module.code.split("\n")[mutationOf(mutant).line - 1].trim();

/** One line for a mutant's place and change, one for the code. */
const describe = (mutant: Mutant): string =>
  `${mutant.module.path}:${mutationOf(mutant).line}: ${mutationOf(mutant).what}\n    ${lineOf(mutant)}`;

/** Why a mutant does what its original does, where that has been shown. */
export function equivalence(list: readonly Equivalent[], module: string, line: string, what: string): string | undefined {
  return list.find((each) => each.module === module && line.includes(each.line) && each.what.test(what))?.why;
}

/** All compiled modules of the library that are mutated. */
function modules(): MutableModule[] {
  return readdirSync(join(REPOSITORY, "dist/src"), { recursive: true, encoding: "utf8" })
    .map((file) => `dist/src/${file.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".js") && !APART.test(path) && existsSync(join(REPOSITORY, path.slice(5).replace(/\.js$/, ".ts"))))
    .sort()
    .map((path) => {
      const code = readFileSync(join(REPOSITORY, path), "utf8");
      return { path, code, mutations: mutationsOf(code) };
    });
}

/** A change anywhere: each has the same chance, so that long modules get more. */
function choose(all: readonly MutableModule[], pick: Pick): Mutant {
  let index = pick(all.reduce((sum, { mutations }) => sum + mutations.length, 0));
  for (const module of all) {
    if (index < module.mutations.length) return { module, index };
    index -= module.mutations.length;
  }
  throw new Error("there are no modules to change");
}

/** Seconds of tests, by what they take without a change, that are spent on one mutant before it counts as one that nobody noticed. */
const BUDGET_SECONDS = 240;

/** What came of running tests over a mutant. */
export interface Verdict {
  readonly notice?: Notice;
  /** Files that were asked. */
  readonly asked: number;
  /** Whether the budget ended before all files that execute the change were asked. */
  readonly cut: boolean;
}

/** The parts of a verdict: which files execute the change and how long they take, and whether a file notices it. */
export interface Asking {
  readonly jobs: readonly Job[];
  /** Whether a file's trace is there: `traceOf` need not run the file. */
  readonly isKnown: (job: Job) => boolean;
  readonly traceOf: (job: Job) => Promise<Trace>;
  readonly executes: (trace: Trace) => boolean;
  readonly notices: (job: Job, seconds: number, stopped: AbortSignal) => Promise<Notice | undefined>;
  readonly budget: number;
  /** Files that run at the same time. */
  readonly width: number;
}

/**
 * Asks the files that execute a change, in order and some at a time, until one notices it or the budget is spent. As much again may be spent on
 * finding out which files do; from then on only those are asked for which that is known.
 */
export async function ask({ jobs, isKnown, traceOf, executes: isExecuted, notices, budget, width }: Asking): Promise<Verdict> {
  const stop = new AbortController();
  let [next, asked, spent, tracing, left] = [0, 0, 0, 0, 0];
  let notice: Notice | undefined;
  const worker = async (): Promise<void> => {
    while (notice === undefined && spent < budget && next < jobs.length) {
      const job = jobs[next++];
      const isNew = !isKnown(job);
      if (isNew && tracing >= budget) {
        left++;
        continue;
      }
      const trace = await traceOf(job);
      if (isNew) tracing += trace.seconds;
      if (!isExecuted(trace) || stop.signal.aborted) continue;
      asked++;
      spent += trace.seconds;
      const found = await notices(job, trace.seconds, stop.signal);
      if (found === undefined) continue;
      notice ??= found;
      stop.abort();
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return { notice, asked, cut: notice === undefined && (left > 0 || next < jobs.length) };
}

/**
 * Single changes to the compiled library: does any test of the default tier notice? Asks the test files that execute the changed code, the
 * likely ones first (`order.ts`); no other can notice. Prints survivors with their line; those in `equivalent.ts`
 * count apart. A survivor of the budget alone may be one that a slow test far away would notice. Works in its own copy of the repository.
 */
export const mutants: Subject = {
  name: "mutants",
  weight: 1,
  onlyWhenNamed: true,
  limitSeconds: 3600,
  async open() {
    const all = modules();
    const traces = new Traces(REPOSITORY, all);
    const workspace = new Workspace();
    return {
      async trial(seed): Promise<Counts> {
        const mutant = choose(all, picks(seed));
        const { module, index } = mutant;
        const mutation = mutationOf(mutant);
        const why = equivalence(EQUIVALENT, module.path, lineOf(mutant), mutation.what);
        if (why !== undefined) return { mutants: 1, "shown equivalent": 1 };
        const place = { module: module.path, line: mutation.line };
        const { notice, asked, cut } = await workspace.with(module.path, mutated(module.code, mutation), () =>
          ask({
            jobs: traces.inOrder(place),
            isKnown: (job) => traces.isKnown(job),
            traceOf: (job) => traces.of(job),
            executes: (trace) => executes(trace, module, index),
            notices: (job, seconds, stopped) => workspace.notices(job, seconds, stopped),
            budget: Number(process.env.ISOFORM_SOAK_BUDGET ?? BUDGET_SECONDS),
            width: Number(process.env.ISOFORM_SOAK_JOBS ?? availableParallelism()),
          }),
        );
        if (notice) traces.note({ ...place, name: notice.name });
        if (notice?.late) console.log(`took too long in ${notice.name}, seed ${seed}: ${describe(mutant)}`);
        if (notice) return { mutants: 1, [notice.late ? "seen by the time limit" : "seen"]: 1 };
        console.log(`SURVIVOR of ${cut ? `the first ${asked}` : asked} test files, seed ${seed}: ${describe(mutant)}`);
        return { mutants: 1, [cut ? "survivors of the budget" : "survivors"]: 1 };
      },
      async close() {
        workspace.close();
      },
    };
  },
};
