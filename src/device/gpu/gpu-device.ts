import { INSPECT } from "../../ir/inspect.js";
import type { ElementType } from "../../ir/types.js";
import { descending } from "../../kernel/depth.js";
import type { Kernel } from "../../kernel/kernel.js";
import type { Params } from "../../kernel/params.js";
import { bind } from "../launch/bind.js";
import type { Binding } from "../launch/binding.js";
import type {
  Capabilities,
  Args,
  ArrayOptions,
  Device,
  ElementToken,
  Launch,
  LaunchOptions,
  Precision,
  Queue,
  Results,
} from "../device.js";
import type { Policy } from "../launch/policy.js";
import { atFirstUse, TuningTable } from "../tuning/tuning.js";
import { BYTES, newShape, requireData, stridesOf, View, type Buffer, type MemorySpace } from "../memory/view.js";

/** What owns the memory of a GPU, whatever drives it. */
export interface MemoryOwner {
  readonly memory: MemorySpace;
  /** Throws DeviceError once closed. */
  requireOpen(): void;
  /** Zeroed memory. Throws DeviceError where it does not fit. */
  allocate(bytes: number): Buffer;
  close(): void;
}

/** Teams with scratch of level 1 that a multiprocessor works on at a time: as many as fit it, of the usual size. */
const RESIDENT_TEAMS = 8;

/** What devices of all backends for GPUs have in common. */
export abstract class GpuDevice<Owner extends MemoryOwner> implements Device {
  abstract readonly backend: string;
  abstract readonly label: string;
  abstract readonly capabilities: Capabilities;
  readonly memory: MemorySpace;
  readonly tuning = new TuningTable();
  precision: Precision = "fast";
  deterministic?: boolean;
  private first: Queue | undefined;

  constructor(
    readonly name: string,
    readonly gpu: Owner,
  ) {
    this.memory = gpu.memory;
  }

  [INSPECT](): string {
    return `Device ${this.name}: ${this.label}`;
  }

  get queue(): Queue {
    return (this.first ??= this.createQueue());
  }

  residentTeams(league: number): number {
    return Math.min(league, RESIDENT_TEAMS * this.capabilities.parallelism);
  }

  abstract createQueue(): Queue;

  /** Puts data in `right` order into a new view, before whatever is enqueued later. */
  protected abstract fill(view: View, data: ArrayLike<number>): void;

  protected abstract launch(binding: Binding): Launch;

  array<T extends ElementType>(type: ElementToken<T>, shape: number | readonly number[], options: ArrayOptions = {}): View<T> {
    this.gpu.requireOpen();
    const extents = newShape(type, shape, options);
    const buffer = this.gpu.allocate(extents.reduce((a, b) => a * b, BYTES[type.type]));
    return new View(buffer, type.type, extents, stridesOf(extents, options.layout ?? "right"));
  }

  from<T extends ElementType>(
    type: ElementToken<T>,
    data: ArrayLike<number>,
    shape: number | readonly number[] = data?.length ?? 0,
    options?: ArrayOptions,
  ): View<T> {
    this.gpu.requireOpen();
    const extents = newShape(type, shape, options);
    requireData(type.type, extents, data);
    const view = this.array(type, extents, options);
    this.fill(view, data);
    return view;
  }

  prepare<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Launch {
    this.gpu.requireOpen();
    return descending(kernel, () => this.launch(bind(this, kernel, args, policy, options)));
  }

  async run<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Promise<Results<P>> {
    const prepared = this.prepare(kernel, args, policy, options);
    const launch = this.tuning.measuring ? await atFirstUse(this, prepared) : prepared;
    try {
      this.queue.submit(launch);
      await this.queue.finish();
      return (await this.queue.results(launch)) as Results<P>;
    } finally {
      launch.free();
    }
  }

  async close(): Promise<void> {
    this.gpu.close();
  }
}
