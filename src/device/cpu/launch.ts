import { LaunchError, type KernelError } from "../../base/errors.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import { requireLiveViews } from "../launch/bind.js";
import type { Binding, BindArguments } from "../launch/binding.js";
import type { Cost, Device, Launch, Precision } from "../device.js";
import type { Policy } from "../launch/policy.js";
import { checksRemark, giveBackFaultRecord } from "../launch/faults.js";
import { freePrintRecords } from "../launch/prints.js";
import { withNumbers, type ScalarValues } from "../launch/other-numbers.js";
import { freeTeamRows } from "../launch/team-rows.js";
import type { LaunchTuning } from "../tuning/tuning.js";
import type { Buffer } from "../memory/view.js";
import type { WritingWork } from "../memory/writes.js";
import { buffersWritten } from "../launch/written.js";
import { builtOrLater } from "./compile-aside.js";
import { backlog, type Failure, type WorkSteps, type QueuedWork } from "./backlog.js";
import { guessOf, Lasted } from "./lasted.js";
import type { Rerun } from "./rerun.js";
import { stepsOf, type Runnable } from "./runnable.js";
import { cpuStorage } from "./storage.js";
import { takeFault } from "./take-fault.js";
import { takeLines } from "./take-lines.js";

/** Program that a CPU backend makes from a binding: code bound to its arguments. */
export interface CpuProgram {
  readonly remarks: readonly string[];
  readonly tuning: LaunchTuning;
  /**
   * Runs to the end, on all workers; puts the reduce parameters' values, or their partials, into the outputs, and returns the values: none
   * where there are partials.
   */
  run(): Record<string, number>;
  /** For programs that other threads can run: the same, about to begin. */
  begin?(): Runnable;
  source(): string;
  /** Gives back temporary memory. */
  free(): void;
  /** For programs whose code and memory other launches can use: hands them over, and is of no use afterwards. Undefined where they cannot. */
  handOver?(): Rerun | undefined;
}

/** A device whose launches run here and now, but for long ones. */
export interface CpuHost extends Device {
  /** Throws DeviceError once the device was closed. */
  requireOpen(): void;
  /** Runs a call in its turn, and gives its results to `done`. Throws LaunchError for what `prepare` refuses. */
  runInTurn(call: BindArguments, done: (results: Record<string, number>) => void): void;
}

/** A program of one device, with its last results. */
export class CpuLaunch implements Launch, QueuedWork, WritingWork {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly precision: Precision;
  /** Results of a run with other numbers than its own, until it runs itself. */
  latest: Record<string, number> | undefined;
  /** Undefined before the first run, and once freed. */
  results: Record<string, number> | undefined;
  /** Failure of its last run, where that is told to nobody but who asks for its results. */
  failure: Failure | undefined;
  /** Ends its only run, if that is long. */
  signal: AbortSignal | undefined;
  readonly lasted = new Lasted(() => guessOf(this.cost));
  private freed = false;
  /** Undefined while its code is being compiled together with others. */
  private built: CpuProgram | undefined;
  private memory: WebAssembly.Memory | undefined;
  private readonly storage = cpuStorage();
  readonly buffers: readonly Buffer[];
  readonly written: readonly Buffer[];
  /** `frees` of the storage when all buffers were seen to be live: a run takes less than a microsecond, and so should its checks. */
  private liveAt = -1;

  constructor(
    readonly device: CpuHost,
    readonly binding: Binding,
    private readonly build: () => CpuProgram,
  ) {
    this.built = builtOrLater(build, () => void this.settled);
    this.memory = this.storage.memory;
    this.buffers = [...Object.values(binding.views), ...Object.values(binding.outputs)].flatMap((view) => view?.buffer ?? []);
    this.written = buffersWritten(binding);
    ({ kernel: this.kernel, policy: this.policy, precision: this.precision } = binding);
  }

  get cost(): Cost {
    return this.binding.cost();
  }

  /** Built anew where the storage has moved to another memory. */
  get program(): CpuProgram {
    const known = this.settled;
    if (this.memory === this.storage.memory || this.freed) return known;
    const built = this.build();
    known.free();
    this.built = built;
    this.memory = this.storage.memory;
    return built;
  }

  /** The program as it was built; waits for its code. */
  private get settled(): CpuProgram {
    if (!this.built) {
      this.built = this.build();
      this.memory = this.storage.memory;
    }
    return this.built;
  }

  get remarks(): readonly string[] {
    return [...this.program.remarks, ...checksRemark(this.binding.ir), ...this.tuning.remarks];
  }

  get tuning(): LaunchTuning {
    return this.settled.tuning;
  }

  /** Throws IsoformError if the device is closed, or the launch or the memory of its views was freed. */
  requireReady(): void {
    this.device.requireOpen();
    this.requireKept();
    this.requireLive();
  }

  private requireLive(): void {
    if (this.liveAt === this.storage.frees) return;
    for (const buffer of this.buffers) if (buffer.live === false) requireLiveViews(this.device, this.binding);
    this.liveAt = this.storage.frees;
  }

  /** Throws LaunchError if the launch was freed. */
  requireKept(): void {
    if (this.freed) throw new LaunchError(`the launch of kernel "${this.kernel.name}" was freed and cannot run again; prepare it anew`);
  }

  get isLong(): boolean {
    return this.lasted.isLong() && this.settled.begin !== undefined;
  }

  run(): void {
    this.runUnseen();
    this.look();
  }

  *steps(): WorkSteps {
    yield* this.stepsUnseen();
    this.look();
  }

  /** Runs, and leaves an index outside for `takeFault`. */
  runUnseen(): void {
    this.requireReady();
    this.latest = this.failure = undefined;
    const { lasted } = this;
    const start = lasted.isDue() ? performance.now() : undefined;
    try {
      this.results = this.program.run();
    } catch (error) {
      this.lookAfterFailure();
      throw error;
    }
    if (start !== undefined) lasted.note(performance.now() - start);
  }

  /** The same in steps. Since it was submitted, the launch may have been freed or its device closed, which both wait until all is done. */
  *stepsUnseen(): WorkSteps {
    this.requireLive();
    this.latest = this.failure = undefined;
    const start = performance.now();
    try {
      const { program } = this;
      const begun = program.begin?.();
      const results = begun ? yield* stepsOf(begun, this.lasted.expected(), this.signal) : program.run();
      if (!this.freed) this.results = results;
    } catch (error) {
      this.lookAfterFailure();
      throw error;
    }
    this.lasted.note(performance.now() - start);
  }

  private look(): void {
    takeLines(this.binding);
    const fault = this.takeFault();
    if (fault) throw fault;
  }

  private lookAfterFailure(): void {
    takeLines(this.binding);
    this.takeFault();
  }

  /** The error of an index that was outside since it was last asked for. The results are gone then. */
  takeFault(): KernelError | undefined {
    const fault = takeFault(this.binding);
    if (fault) this.results = undefined;
    return fault;
  }

  submit(scalars?: ScalarValues, policy?: Policy): void {
    if (!scalars && !policy) return this.device.queue.submit(this);
    this.requireReady();
    this.device.runInTurn(withNumbers(this.binding.call, scalars, policy), (results) => (this.latest = results));
  }

  source(): string {
    return this.program.source();
  }

  /** Hands over what a launch over the same views can use; otherwise undefined, and `free` is still to be called. */
  handOver(): Rerun | undefined {
    const rerun = this.freed || this.memory !== this.storage.memory ? undefined : this.settled.handOver?.();
    if (!rerun) return undefined;
    this.freed = true;
    this.results = undefined;
    return rerun;
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.results = undefined;
    this.latest = undefined;
    backlog.whenIdle(() => {
      this.built?.free();
      freeBinding(this.binding);
    });
  }
}

/** Gives back what was made for a binding. */
export function freeBinding(binding: Binding): void {
  freeTeamRows(binding);
  giveBackFaultRecord(binding);
  freePrintRecords(binding);
}
