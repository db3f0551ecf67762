import { verifySchedule } from "#verify-schedule";
import type { AccessAnalysis } from "../ir/analysis/access.js";
import { contributionsOf } from "../ir/analysis/contributions.js";
import { sequenceChecks } from "../ir/passes/sequence-checks.js";
import type { Tunables } from "../ir/tuning.js";
import type { KernelIR, ScatterParam } from "../ir/types.js";
import { type ScheduledEntry } from "./entry.js";
import { Program } from "./kernel-program.js";
import type { Features } from "./features.js";
import { withOwnArrays } from "./own-arrays.js";
import { FoldSchedule } from "./fold-entries.js";
import type { GpuAssumptions, ScatterCode, Traversal } from "./program.js";
import { RangeSchedule } from "./range.js";
import { ApplySchedule } from "./sorted.js";
import { DEFAULT_LANES, dynamicScratchBytes, lanesOf, MEMBERS } from "./team-size.js";
import { TeamSchedule } from "./team.js";
import type { Func } from "./nodes.js";

/** A kernel's program for GPUs in the scheduled IR, and what a launch must know of it. */
export interface ScheduledProgram {
  readonly ir: KernelIR;
  readonly assumptions: GpuAssumptions;
  readonly functions: readonly Func[];
  readonly main: ScheduledEntry;
  readonly fold: ScheduledEntry | undefined;
  readonly finish: ScheduledEntry | undefined;
  readonly sorted: readonly { readonly target: ScatterParam; readonly apply: ScheduledEntry }[];
  readonly traversal: Traversal;
  readonly threads: number;
  readonly row: number;
  readonly elements: number;
  readonly planes: number;
  readonly tunables: () => Tunables;
  readonly reduces: Program["reduces"];
  readonly shared: readonly ScatterParam[];
  readonly lanes: number;
  readonly scratchBytes: number;
}

/** Schedules a kernel: its main entry, and what folds its partials and applies its sorted contributions. */
export function scheduleGpu(kernel: KernelIR, access: AccessAnalysis, assumptions: GpuAssumptions, features: Features): ScheduledProgram {
  const sideBySide = (assumptions.abreast ?? 1) > 1;
  const ir = sequenceChecks(features.writesOutTurns && !sideBySide ? withOwnArrays(kernel, assumptions.members) : kernel);
  const program = new Program(ir, access, assumptions, features);
  const traversal = traversalOf(program);
  const team = traversal === "teams" ? new TeamSchedule(program) : undefined;
  const range = traversal === "teams" ? undefined : new RangeSchedule(program, traversal);
  const main = (team ?? range)!.schedule();
  const { reduces } = program;
  const reducing = reduces.length > 0;
  const fold = reducing && !program.reducesInOneKernel ? new FoldSchedule(program, false).schedule() : undefined;
  const finish = reducing ? new FoldSchedule(program, true).schedule() : undefined;
  const sorted = program.scatters("sorted").map((target) => ({ target, apply: new ApplySchedule(program, target).schedule() }));
  const functions = [...program.functions.values()];
  verifySchedule(ir.name, [main, fold, finish, ...sorted.map(({ apply }) => apply)], functions);
  return {
    ir,
    assumptions,
    functions,
    main,
    fold,
    finish,
    sorted,
    traversal,
    threads: range?.shape.threads ?? team!.threads,
    row: range?.shape.row ?? team!.threads,
    elements: range?.shape.elements ?? 1,
    planes: range?.shape.planes ?? 0,
    tunables: () => (range ?? team)!.tunables(),
    reduces,
    shared: program.scatters("shared"),
    lanes: lanesOf(program),
    scratchBytes: dynamicScratchBytes(ir.body),
  };
}

/** The entries of a program, in the order in which they stand in its source. */
export const entriesOf = ({ main, fold, finish, sorted }: ScheduledProgram): ScheduledEntry[] =>
  [main, fold, finish, ...sorted.map(({ apply }) => apply)].filter((entry) => entry !== undefined);

/** Assumptions for code without a launch: dense `right` layouts, small and apart from each other. */
export function defaultAssumptions(ir: KernelIR, strict: boolean): GpuAssumptions {
  const arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  const scatters = arrays.filter((p) => p.kind === "scatter");
  const scatter = (name: string): ScatterCode => (strict ? (contributionsOf(ir, name) === undefined ? "serial" : "sorted") : "atomic");
  return {
    strict,
    sizes: "small",
    wide: false,
    aligned: false,
    members: MEMBERS,
    lanes: strict && scatters.length > 0 ? 1 : DEFAULT_LANES,
    restrict: true,
    unitStrides: Object.fromEntries(arrays.map(({ name, rank }) => [name, Array.from({ length: rank }, (_, axis) => axis === rank - 1)])),
    scatter: Object.fromEntries(scatters.map(({ name }) => [name, scatter(name)])),
  };
}

function traversalOf(program: Program): Traversal {
  if (program.ir.policy.kind === "team") return "teams";
  if (program.serial) return "serial";
  const reducing = program.reduces.length > 0;
  // Sorting goes by batches, whose chunks have partials of their own.
  if (reducing && (program.ordered || program.scatters("sorted").length > 0)) return "chunks";
  if (program.scatters("cached").length > 0) return "segments";
  return reducing || program.scatters("shared").length > 0 ? "strided" : "elements";
}
