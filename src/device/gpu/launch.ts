import type { MemoryPart } from "../../schedule/plan/sink.js";
import { unreachable } from "../../base/unreachable.js";
import type { Entry as EntryCode, GpuProgram } from "../../schedule/program.js";
import type { AnySlot } from "../../schedule/slots.js";
import { DeviceError, LaunchError } from "../../base/errors.js";
import type { Binding } from "../launch/binding.js";
import type { LaunchTuning } from "../tuning/tuning.js";
import { checksRemark } from "../launch/faults.js";
import { DeviceLaunch } from "./device-launch.js";
import { digitSortSteps } from "./digit-sort.js";
import type { EntryResources, GpuEntry, GpuMachine, GpuMemory } from "./machine.js";
import { inOneKernel, FinalReduction, piecesOf, type FoldTargets, type Members, type FinalPiece } from "./final-reduction.js";
import { gridRules, SORT_RULES } from "./grids.js";
import { launchPlanOf, teamRemarks, type LaunchPlan, type PlannedStep } from "./launch-plan.js";
import type { Fill, GridShape, StreamStep } from "./steps.js";
import { haveSameCode, programOf, type LaunchProgram } from "./program.js";
import { copyBytes } from "./strategy.js";
import { layOutParts } from "./temporary.js";
import { addressOf, fillRun, type ValueSources } from "./values.js";

/** The compiled entries of a launch's program, by name. */
type Entries = ReadonlyMap<string, GpuEntry>;

type Plan = LaunchPlan<EntryCode, GridShape>;

/** Memory of a launch for itself, and places of its parts. */
interface OwnMemory {
  readonly memory: GpuMemory | undefined;
  at(part: MemoryPart): number;
}

/** Share of a multiprocessor that a launch's main kernel takes. */
interface LaunchResources extends EntryResources {
  /** In a block. */
  readonly threads: number;
  /** On one multiprocessor at a time. */
  readonly blocks?: number;
  /** Threads that are resident, as a fraction of those that a multiprocessor can hold. */
  readonly occupancy?: number;
}

/** A kernel bound to arguments on one GPU: the steps of a run, and the temporary memory that they share. */
export class GpuLaunch extends DeviceLaunch<GpuMachine> {
  /** Memory of `unfolded` partials, by reduce parameter. */
  readonly left: ReadonlyMap<string, FinalPiece>;
  protected readonly reduces: GpuProgram["reduces"];
  private readonly code: LaunchProgram;
  private readonly entries: Entries;
  private plan: Plan;
  private values: ValueSources;
  private own: OwnMemory | undefined;
  private finalReduction: FinalReduction | undefined;
  private readonly steps: StreamStep[] = [];

  constructor(gpu: GpuMachine, binding: Binding) {
    super(gpu, binding);
    const { code, entries, plan } = planned(gpu, binding);
    [this.code, this.entries, this.plan] = [code, entries, plan];
    const copies = copiesOf(binding, code.program);
    this.reduces = binding.partials || binding.unfolded ? [] : code.program.reduces;
    try {
      const { at } = (this.own = allocate(gpu, binding, plan));
      this.values = { binding, at, slots: code.slots, copies: copies.at };
      this.left = leftBy(code.program, plan, at);
      for (const step of plan.steps) this.steps.push(...stepsOf(gpu, entries, this.values, step));
      const { finish } = code.program;
      if (finish && plan.left !== undefined && !binding.unfolded) {
        const partials = new Map([...this.left].map(([name, piece]) => [name, [piece]]));
        this.finalReduction = this.reduceFinally(finish, partials, { results: at({ kind: "results" }), outputs: outputsOf(binding) });
        this.steps.push(this.finalReduction.step);
      }
    } catch (error) {
      this.free();
      throw error;
    }
  }

  get tuning(): LaunchTuning {
    return this.code.tuning;
  }

  get remarks(): readonly string[] {
    const { plan, code, entries } = this;
    return [
      ...teamRemarks(this.binding, code, "blocks"),
      ...gridRemark(code.program, plan),
      ...code.remarks,
      ...checksRemark(this.binding.ir),
      entries.get(code.program.main.name)!.needs,
    ];
  }

  /** Share of a multiprocessor that its main kernel takes; undefined where nothing runs. */
  get resources(): LaunchResources | undefined {
    const { main } = this.code.program;
    const step = this.plan.steps.find((each) => each.kind === "run" && each.entry === main);
    if (step?.kind !== "run") return undefined;
    const { block, shared = 0 } = step.grid;
    const entry = this.entries.get(main.name)!;
    const threads = block.reduce((a, b) => a * b, 1);
    const { sharedBytes } = entry.resources;
    const { residentThreads } = this.gpu.facts;
    const blocks = residentThreads === undefined ? undefined : entry.residentBlocks(threads, shared);
    return {
      ...entry.resources,
      sharedBytes: sharedBytes === undefined ? undefined : sharedBytes + shared,
      threads,
      blocks,
      occupancy: blocks === undefined ? undefined : (blocks * threads) / residentThreads!,
    };
  }

  protected setScalars(scalars: Binding["scalars"]): void {
    for (const step of this.steps) step.setScalars?.(scalars);
  }

  protected coverRange(binding: Binding): boolean {
    if (this.plan.parts.length > 0 || !haveSameCode(this.binding, binding)) return false;
    const plan = planFor(this.gpu, binding, this.code, this.entries);
    const runs = plan.steps.flatMap((step) => (step.kind === "run" ? [step] : []));
    const before = this.plan.steps;
    const same = plan.parts.length === 0 && plan.steps.length === before.length && runs.length === this.steps.length;
    if (!same || !runs.every((run, n) => run.entry === (before[n] as typeof run).entry && this.steps[n].refill)) return false;
    this.plan = plan;
    this.values = { ...this.values, binding };
    for (const [n, run] of runs.entries()) this.steps[n].refill!(run.grid, fillRun(this.values, run.values) as Fill<AnySlot>);
    return true;
  }

  /** Enqueues the steps of one run; see `requireReady`. */
  enqueue(stream: number): void {
    this.gpu.starts(this.kernel.name);
    for (const step of this.steps) step.enqueue(stream);
    this.ran = true;
  }

  source(): string {
    const { source, sorted } = this.code.program;
    return sorted.length > 0 ? `${source}\n${this.gpu.language.sort}` : source;
  }

  /** Address of the results, and their number, 8 bytes each. */
  get resultRange(): { address: number; count: number } {
    return { address: this.values.at({ kind: "results" }), count: this.reduces.length };
  }

  protected release(): void {
    this.own?.memory?.free();
    this.own = undefined;
    this.finalReduction?.free();
    this.finalReduction = undefined;
    for (const step of this.steps.splice(0)) step.free?.();
  }

  get ownBytes(): number {
    return this.own?.memory?.bytes ?? 0;
  }

  /* Partials that are left. */

  /** Folds partials of this launch, and of others of its kernel, on this GPU; undefined if they were folded at once, or are too many. */
  finalReductionOf(launches: readonly GpuLaunch[], to: FoldTargets, members?: Members): FinalReduction | undefined {
    const { finish } = this.code.program;
    return finish && this.reducesInOneKernel(launches) ? this.reduceFinally(finish, this.partialsOf(launches), to, members) : undefined;
  }

  /** Blocks of that fold on one of `members` GPUs; undefined likewise. */
  finalReductionBlocks(launches: readonly GpuLaunch[], members: number): number | undefined {
    if (!this.reducesInOneKernel(launches)) return undefined;
    const [partials] = this.partialsOf(launches).values();
    return piecesOf(this.gpu.language, partials, 0, members).length;
  }

  private reducesInOneKernel(launches: readonly GpuLaunch[]): boolean {
    const { finish, fold } = this.code.program;
    if (!finish || fold || launches.some(({ binding }) => !binding.unfolded)) return false;
    return inOneKernel(this.gpu.language, launches.length);
  }

  private partialsOf(launches: readonly GpuLaunch[]): Map<string, FinalPiece[]> {
    return new Map(this.code.program.reduces.map(({ name }) => [name, launches.map(({ left }) => left.get(name)!)]));
  }

  private reduceFinally(
    finish: EntryCode,
    pieces: ReadonlyMap<string, readonly FinalPiece[]>,
    to: FoldTargets,
    members?: Members,
  ): FinalReduction {
    return new FinalReduction(this.gpu, this.code.program, finish, this.entries.get(finish.name)!, pieces, to, members);
  }
}

/* The stages of a launch, in order: emit, compile, plan (launch-plan.ts), allocate, fill. */

/** The first three. Throws LaunchError and DeviceError. */
function planned(gpu: GpuMachine, binding: Binding): { code: LaunchProgram; entries: Entries; plan: Plan } {
  const code = emit(gpu, binding);
  const entries = compile(gpu, binding, code.program);
  return { code, entries, plan: planFor(gpu, binding, code, entries) };
}

function planFor(gpu: GpuMachine, binding: Binding, code: LaunchProgram, entries: Entries): Plan {
  const main = entries.get(code.program.main.name)!;
  const rules = gridRules(gpu, binding, code, main, copiesOf(binding, code.program).bytes);
  return launchPlanOf(binding, code, rules, SORT_RULES);
}

/** The program, emitted or found. Throws LaunchError if it cannot do what was asked for. */
function emit(gpu: GpuMachine, binding: Binding): LaunchProgram {
  const code = programOf(binding, gpu.language, gpu.facts);
  if (binding.peerStores.length > 0 && code.program.planes === 0)
    throw new LaunchError(
      `kernel "${binding.kernel.name}" on ${gpu.name}: only grids over ranges of three axes, in fast mode, can store planes in other memory`,
    );
  return code;
}

/** Its entries, compiled or found. Throws DeviceError. */
function compile(gpu: GpuMachine, { precision, kernel }: Binding, { main, fold, finish, sorted, source }: GpuProgram): Entries {
  const entries = [main, fold, finish, ...sorted.map(({ apply }) => apply)].filter((entry) => entry !== undefined);
  return gpu.load(
    source,
    precision === "fast",
    kernel.name,
    entries.map(({ name }) => name),
  );
}

/** Memory for the plan's parts. Throws DeviceError if it is too much. */
function allocate(
  gpu: GpuMachine,
  { kernel }: Binding,
  { parts }: LaunchPlan<EntryCode, GridShape>,
): { memory: GpuMemory | undefined; at: (part: MemoryPart) => number } {
  for (const { part, count } of parts)
    if (part.kind === "keys" && count >= 2 ** 32)
      throw new DeviceError(
        gpu.name,
        `kernel "${kernel.name}": one row of the range scatters ${count} times into "${part.name}"`,
        "use a range with more and shorter rows",
      );
  const layout = layOutParts(parts);
  const memory = layout.bytes > 0 ? gpu.allocate(layout.bytes) : undefined;
  const at = (part: MemoryPart): number => {
    const offset = layout.offset(part);
    return offset === undefined ? 0 : memory!.address + offset;
  };
  return { memory, at };
}

/** One step of the plan with its parameters. */
function stepsOf(gpu: GpuMachine, entries: Entries, values: ValueSources, step: PlannedStep<EntryCode, GridShape>): StreamStep[] {
  switch (step.kind) {
    case "run":
      return [gpu.kernelStep(step.entry, entries.get(step.entry.name)!, step.grid, fillRun(values, step.values))];
    case "clear":
      return [gpu.fillStep(values.at({ kind: "keys", name: step.name }), 0xff, 4 * step.count)];
    case "sort":
      return sortSteps(gpu, values, step);
    default:
      return unreachable(step);
  }
}

/** A pass of the sort of a target's contributions. */
function sortSteps(
  gpu: GpuMachine,
  { at }: ValueSources,
  { name, pass, count, tiles }: PlannedStep<EntryCode, GridShape> & { kind: "sort" },
): StreamStep[] {
  return digitSortSteps(gpu, {
    keys: at({ kind: pass.keys, name }),
    order: pass.order ? at({ kind: pass.order, name }) : 0,
    sortedKeys: at({ kind: pass.sortedKeys, name }),
    sortedOrder: at({ kind: pass.sortedOrder, name }),
    counts: at({ kind: "counts", name }),
    totals: at({ kind: "totals", name }),
    count,
    tiles,
    shift: pass.shift,
  });
}

/** The copies of scatter targets in shared memory: where each begins, in units of 8 bytes, and bytes of all. */
function copiesOf(binding: Binding, { shared }: GpuProgram): { at: Record<string, number>; bytes: number } {
  const at: Record<string, number> = {};
  let bytes = 0;
  for (const { name, type } of shared) {
    at[name] = bytes / 8;
    bytes += copyBytes(binding, { name, element: type });
  }
  return { at, bytes };
}

const leftBy = (
  { reduces }: GpuProgram,
  { left }: LaunchPlan<EntryCode, GridShape>,
  at: (part: MemoryPart) => number,
): Map<string, FinalPiece> =>
  new Map(left === undefined ? [] : reduces.map(({ name }) => [name, { address: at({ kind: "partials", name }), count: left }]));

const outputsOf = ({ outputs }: Binding): Record<string, number> =>
  Object.fromEntries(Object.entries(outputs).map(([name, view]) => [name, view ? addressOf(view) : 0]));

/** The grid of the first run of the main entry. */
function gridRemark({ main, traversal, elements }: GpuProgram, { steps }: LaunchPlan<EntryCode, GridShape>): string[] {
  for (const step of steps)
    if (step.kind === "run" && step.entry === main) {
      const { grid, block } = step.grid;
      return [
        `grid ${grid.join(" x ")} of blocks of ${block.join(" x ")} threads, ${traversal}${elements > 1 ? `, ${elements} a thread` : ""}`,
      ];
    }
  return [];
}
