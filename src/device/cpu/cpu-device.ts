import type { CompileOptions } from "../../kernel/compile.js";
import { descending } from "../../kernel/read/depth.js";
import { flatCall, hasLists, writtenResults } from "../../kernel/declare/flat.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { ListElement, Params } from "../../kernel/declare/params.js";
import { INSPECT } from "../../base/inspect.js";
import { DeviceError } from "../../base/errors.js";
import type { ElementType } from "../../ir/types.js";
import { bind } from "../launch/bind.js";
import type { Binding, BindArguments } from "../launch/binding.js";
import { withoutSignal } from "../launch/signal.js";
import { noteCall } from "../launch/written.js";
import { withInitialValues } from "../launch/initial-values.js";
import { DeviceList } from "../launch/list.js";
import { launchWithLists } from "../launch/with-lists.js";
import { ListRuns } from "../launch/list-runs.js";
import { notInCapture } from "../launch/other-numbers.js";
import type {
  Capabilities,
  Args,
  ArrayOptions,
  Device,
  ArrayToken,
  Launch,
  List,
  LaunchOptions,
  DeviceRunOptions,
  Precision,
  Queue,
  Results,
} from "../device.js";
import type { Policy } from "../launch/policy.js";
import { tools } from "../tools/tools.js";
import { atFirstUse, TuningTable } from "../tuning/tuning.js";
import { BYTES, CPU_MEMORY, elementTypeOf, newData, newShape, stridesOf, View } from "../memory/view.js";
import { backlog } from "./backlog.js";
import type { CopiesFold } from "./fold-copies.js";
import { capturing, loopRegion, type CapturedWork, type CapturedRegion } from "./graph.js";
import { writeView } from "./host-view.js";
import { aheadOf, StillCompiling } from "./compile-aside.js";
import { FirstRun } from "./first-run.js";
import { CpuLaunch, freeBinding, type CpuProgram } from "./launch.js";
import { CpuQueue } from "./queue.js";
import { Reruns } from "./reruns.js";
import { cpuStorage, type CpuBuffer } from "./storage.js";

/** Common base of the CPU backends: memory, a queue that works here and now, results. A backend adds `build`. */
export abstract class CpuDevice implements Device {
  readonly memory = CPU_MEMORY;
  readonly tuning = new TuningTable();
  precision: Precision = "fast";
  deterministic?: boolean;
  readonly queue: Queue;
  private readonly own: CpuQueue;
  private readonly buffers = new Set<CpuBuffer>();
  private closed = false;
  private readonly reruns = new Reruns();
  private readonly listRuns = new ListRuns();

  constructor(
    readonly name: string,
    readonly backend: string,
    readonly label: string,
    readonly capabilities: Capabilities,
    readonly versions?: Readonly<Record<string, string>>,
  ) {
    this.queue = this.own = new CpuQueue(this);
  }

  /**
   * Compiles the binding's kernel, or finds it compiled, and binds the arguments; `args` are the arguments of `prepare`. `isOnce`: the launch runs
   * once.
   */
  protected abstract build(binding: Binding, args: Readonly<Record<string, unknown>>, isOnce: boolean): CpuProgram;

  /** Runs captured work as one; by default, one item after the other. */
  region(items: readonly CapturedWork[]): CapturedRegion {
    return loopRegion(items);
  }

  /** Memory that the backend can reach; `what` it is for, in messages. */
  protected allocate(_what: string, bytes: number, onFree?: () => void): CpuBuffer {
    return cpuStorage().allocate(bytes, onFree);
  }

  /** Ends what the backend keeps running; called once. */
  protected async stop(): Promise<void> {}

  /** How kernels are compiled for this device. */
  protected get compileOptions(): CompileOptions {
    return {};
  }

  [INSPECT](): string {
    return `Device ${this.name}: ${this.label}`;
  }

  createQueue(): Queue {
    this.requireOpen();
    return new CpuQueue(this);
  }

  /** One a worker: any of them may have the only team. */
  residentTeams(_league: number): number {
    return this.capabilities.parallelism;
  }

  array<T extends ElementType>(type: ArrayToken<T>, shape: number | readonly number[], options: ArrayOptions = {}): View<T> {
    this.requireOpen();
    const extents = newShape(type, shape, options);
    const element = elementTypeOf(type);
    const buffer = this.allocate(
      `an array of shape [${extents}]`,
      extents.reduce((a, b) => a * b, BYTES[element]),
      () => this.buffers.delete(buffer),
    );
    this.buffers.add(buffer);
    return new View(buffer, element, extents, stridesOf(extents, options.layout ?? "right"));
  }

  from<T extends ElementType>(
    type: ArrayToken<T>,
    data: ArrayLike<unknown>,
    shape?: number | readonly number[],
    options?: ArrayOptions,
  ): View<T> {
    this.requireOpen();
    const { token, extents, numbers } = newData(type, data, shape, options);
    const view = this.array(token, extents, options);
    writeView(view, numbers);
    return view;
  }

  list<T extends ListElement>(type: T, capacity: number): List<T> {
    this.requireOpen();
    return new DeviceList(this, type, capacity);
  }

  prepare<P extends Params>(written: Kernel<P>, given: Args<P>, policy: Policy, options: LaunchOptions = {}): Launch {
    this.requireOpen();
    const { kernel, args } = flatCall(written, given);
    const call = { device: this, kernel, args, policy, options, compile: this.compileOptions };
    return launchWithLists(call) ?? this.launch(kernel, args, policy, options, false);
  }

  private launch<P extends Params>(
    kernel: Kernel<P>,
    args: Args<P>,
    policy: Policy,
    options: LaunchOptions | undefined,
    isOnce: boolean,
  ): CpuLaunch {
    this.requireOpen();
    return descending(kernel, () => {
      const binding = bind(this, kernel, args, policy, options, this.compileOptions);
      try {
        return new CpuLaunch(this, binding, () => this.build(binding, args, isOnce));
      } catch (error) {
        freeBinding(binding);
        throw error;
      }
    });
  }

  /** A launch that belongs to another one's program. */
  inner({ kernel, args, policy }: CopiesFold): CpuLaunch {
    return this.launch<Params>(kernel, args, policy, { precision: "strict", checked: false }, false);
  }

  async run<P extends Params>(written: Kernel<P>, given: Args<P>, policy: Policy, asked: DeviceRunOptions = {}): Promise<Results<P>> {
    this.requireOpen();
    const { kernel, args } = flatCall(written, given);
    const [options, signal] = withoutSignal(asked);
    const call = { device: this, kernel, args, policy, options, compile: this.compileOptions };
    if (hasLists(kernel)) {
      signal?.throwIfAborted();
      return this.listRuns.run(this.own, call, () => launchWithLists(call)!) as Promise<Results<P>>;
    }
    const captured = capturing();
    // Code and arguments of earlier launches may be in use.
    const begun = captured || backlog.busy ? undefined : this.reruns.begin(call);
    if (begun) {
      begun.signal = signal;
      await this.own.untilRun(begun);
      return writtenResults(kernel, begun.results!) as Results<P>;
    }
    const prepare = (): CpuLaunch => this.launch(kernel, args, policy, options, true);
    const waits = captured || tools.size > 0 || this.tuning.measuring;
    const prepared = waits ? prepare() : aheadOf(prepare);
    if (prepared instanceof StillCompiling || this.tuning.measuring) noteCall(call);
    if (prepared instanceof StillCompiling) {
      const kept = { ...args };
      const results = await this.runCompiled(prepared, () => this.launch(kernel, kept, policy, options, true), signal);
      return writtenResults(kernel, results) as Results<P>;
    }
    const launch = this.tuning.measuring ? await atFirstUse(this, prepared) : prepared;
    let results: Record<string, number> | undefined;
    try {
      (launch as CpuLaunch).signal = signal;
      this.own.submitAlone(launch);
      return (results = await this.queue.results(launch)) as Results<P>;
    } finally {
      this.keepOrFree(launch as CpuLaunch, results !== undefined && !captured);
    }
  }

  private async runCompiled({ compile }: StillCompiling, prepare: () => CpuLaunch, signal?: AbortSignal): Promise<Record<string, number>> {
    const run = new FirstRun(compile, () => Object.assign(this.asBegun(prepare), { signal }));
    let done = false;
    try {
      await this.own.untilRun(run);
      done = true;
      return run.results;
    } finally {
      if (run.launch) this.keepOrFree(run.launch, done);
    }
  }

  /** Prepares a run that began while the device was open, and comes to its end though it is closed meanwhile. */
  private asBegun<T>(prepare: () => T): T {
    const { closed } = this;
    this.closed = false;
    try {
      return prepare();
    } finally {
      this.closed = closed;
    }
  }

  private keepOrFree(launch: CpuLaunch, isKept: boolean): void {
    if (isKept && !this.closed) this.reruns.keep(launch);
    else launch.free();
  }

  runInTurn(call: BindArguments, done: (results: Record<string, number>) => void): void {
    this.requireOpen();
    if (capturing()) throw notInCapture(call);
    const begun = backlog.busy ? undefined : this.reruns.begin(call);
    if (begun) return this.own.put(begun, () => done(begun.results!));
    const launch = this.launch<Params>(call.kernel, call.args, call.policy, call.options, true);
    try {
      this.queue.submit(launch);
    } catch (error) {
      launch.free();
      throw error;
    }
    backlog.afterSoFar(() => {
      // Its failure is told by the queue.
      if (launch.results) done(withInitialValues(launch.binding, { ...launch.results }));
      this.keepOrFree(launch, launch.results !== undefined);
    });
  }

  /** Stops the workers, and frees the arrays that this device made. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    const left = backlog.soFar();
    if (left) await left;
    this.reruns.clear();
    this.listRuns.clear();
    await this.stop();
    for (const buffer of this.buffers) buffer.free();
  }

  /** Throws DeviceError once the device was closed. */
  requireOpen(): void {
    if (this.closed) throw new DeviceError(this.name, "it is closed", "open it again");
  }
}
