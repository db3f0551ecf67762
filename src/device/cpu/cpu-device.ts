import type { CompileOptions } from "../../kernel/compile.js";
import type { Kernel } from "../../kernel/kernel.js";
import type { Params } from "../../kernel/params.js";
import { DeviceError, LaunchError } from "../../kernel/errors.js";
import type { ElementType, NumericType } from "../../ir/types.js";
import { bind, requireLiveViews, type Binding } from "../bind.js";
import type {
  Abilities,
  Args,
  ArrayOptions,
  Cost,
  Device,
  DeviceEvent,
  ElementToken,
  Launch,
  LaunchOptions,
  Precision,
  Queue,
  Results,
} from "../device.js";
import type { Policy } from "../policy.js";
import { BYTES, newShape, requireFitting, stridesOf, View, type Buffer, type TypedArrayOf } from "../view.js";
import { clearView, copyView, hostArray, readView, writeView } from "./host-view.js";
import { CPU_MEMORY, cpuStorage, type CpuBuffer } from "./storage.js";

/** What a CPU backend makes of a binding: code bound to its arguments. */
export interface CpuProgram {
  readonly decisions: readonly string[];
  /** Runs to the end, on all workers, and returns the reduce parameters' values. */
  run(): Record<string, number>;
  source(): string;
  /** Gives back temporary memory. */
  free(): void;
}

/** What the CPU backends have in common: memory, a queue that works here and now, results. A backend adds `build`. */
export abstract class CpuDevice implements Device {
  readonly memory = CPU_MEMORY;
  precision: Precision = "fast";
  readonly queue: Queue;
  private readonly buffers = new Set<CpuBuffer>();
  private closed = false;

  constructor(
    readonly name: string,
    readonly backend: string,
    readonly label: string,
    readonly abilities: Abilities,
  ) {
    this.queue = new CpuQueue(this);
  }

  /** Compiles the binding's kernel, or finds it compiled, and binds the arguments; `args` are those of `prepare`. */
  protected abstract build(binding: Binding, args: Readonly<Record<string, unknown>>): CpuProgram;

  /** Ends what the backend keeps running; called once. */
  protected async stop(): Promise<void> {}

  /** How kernels are compiled for this device. */
  protected get compileOptions(): CompileOptions {
    return {};
  }

  createQueue(): Queue {
    return new CpuQueue(this);
  }

  array<T extends ElementType>(type: ElementToken<T>, shape: number | readonly number[], options: ArrayOptions = {}): View<T> {
    this.requireOpen();
    const extents = newShape(type, shape);
    const buffer = cpuStorage().allocate(
      extents.reduce((a, b) => a * b, BYTES[type.type]),
      () => this.buffers.delete(buffer),
    );
    this.buffers.add(buffer);
    return new View(buffer, type.type, extents, stridesOf(extents, options.layout ?? "right"));
  }

  from<T extends NumericType | "u8">(
    type: ElementToken<T>,
    data: ArrayLike<number>,
    shape: number | readonly number[] = data.length,
    options?: ArrayOptions,
  ): View<T> {
    const view = this.array(type, shape, options);
    requireFitting(type.type, data);
    writeView(view, data);
    return view;
  }

  prepare<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Launch {
    this.requireOpen();
    const binding = bind(this, kernel, args, policy, options, this.compileOptions);
    return new CpuLaunch(this, binding, this.build(binding, args));
  }

  async run<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Promise<Results<P>> {
    const launch = this.prepare(kernel, args, policy, options);
    try {
      this.queue.submit(launch);
      return (await this.queue.results(launch)) as Results<P>;
    } finally {
      launch.free();
    }
  }

  /** Stops the workers, and frees the arrays that this device made. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.stop();
    for (const buffer of this.buffers) buffer.free();
  }

  /** Throws DeviceError once the device was closed. */
  requireOpen(): void {
    if (this.closed) throw new DeviceError(this.name, "it is closed", "open it again");
  }
}

/** A program of one device, with its last results. */
export class CpuLaunch implements Launch {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly precision: Precision;
  readonly cost: Cost;
  /** Absent before the first run, and once freed. */
  results: Record<string, number> | undefined;
  private freed = false;
  /** Lists, for a run takes less than a microsecond. */
  private readonly buffers: readonly Buffer[];
  private readonly outputs: readonly (readonly [name: string, view: View])[];

  constructor(
    readonly device: CpuDevice,
    private readonly binding: Binding,
    private readonly program: CpuProgram,
  ) {
    this.outputs = Object.entries(binding.outputs).filter((e): e is [string, View] => e[1] !== undefined);
    this.buffers = [...Object.values(binding.views), ...this.outputs.map(([, view]) => view)].map((view) => view.buffer);
    ({ kernel: this.kernel, policy: this.policy, precision: this.precision, cost: this.cost } = binding);
  }

  get decisions(): readonly string[] {
    return this.program.decisions;
  }

  run(): void {
    this.device.requireOpen();
    if (this.freed) throw new LaunchError(`the launch of kernel "${this.kernel.name}" was freed and cannot run again; prepare it anew`);
    if (this.buffers.some((buffer) => buffer.live === false)) requireLiveViews(this.device, this.binding);
    this.results = this.program.run();
    for (const [name, view] of this.outputs) hostArray(view)[0] = this.results[name];
  }

  source(): string {
    return this.program.source();
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.results = undefined;
    this.program.free();
  }
}

/** Work is done before `submit` returns, so queues and events need no waiting. */
class CpuQueue implements Queue {
  constructor(readonly device: Device) {}

  submit(launch: Launch): void {
    if (!(launch instanceof CpuLaunch) || launch.device !== this.device)
      throw new LaunchError(
        `a launch of kernel "${launch.kernel.name}" that another device prepared was submitted to "${this.device.name}"`,
      );
    launch.run();
  }

  write(target: View, data: ArrayLike<number>): void {
    writeView(target, data);
  }

  copy(source: View, target: View): void {
    copyView(source, target);
  }

  clear(target: View): void {
    clearView(target);
  }

  async read<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    return readView(source);
  }

  async results(launch: Launch): Promise<Record<string, number>> {
    if (!(launch instanceof CpuLaunch) || launch.device !== this.device || !launch.results)
      throw new LaunchError(
        `results of a launch of kernel "${launch.kernel.name}" that has not run on "${this.device.name}", or was freed`,
      );
    return { ...launch.results };
  }

  record(): DeviceEvent {
    return new CpuEvent(performance.now() / 1000);
  }

  wait(): void {}

  async finish(): Promise<void> {}
}

class CpuEvent implements DeviceEvent {
  constructor(private readonly seconds: number) {}

  async since(earlier: DeviceEvent): Promise<number> {
    if (!(earlier instanceof CpuEvent)) throw new LaunchError("the earlier event is another device's");
    return this.seconds - earlier.seconds;
  }

  async done(): Promise<void> {}
}
