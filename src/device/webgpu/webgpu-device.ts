import type { ElementType } from "../../ir/types.js";
import type { Kernel } from "../../kernel/kernel.js";
import type { Params } from "../../kernel/params.js";
import { bind } from "../bind.js";
import type { Abilities, Args, ArrayOptions, Device, ElementToken, Launch, LaunchOptions, Precision, Queue, Results } from "../device.js";
import type { Policy } from "../policy.js";
import { BYTES, newShape, requireData, stridesOf, View, type MemorySpace } from "../view.js";
import { Clock } from "./event.js";
import type { Gpu } from "./gpu.js";
import { WebGpuLaunch } from "./launch.js";
import { WebGpuQueue, writeView } from "./queue.js";

/** What the arithmetic of emit/wgsl/double.ts keeps at least. */
export const EMULATED_BITS = 44;

/** What WebGPU tells of an adapter; it says neither how much memory there is nor how many processors. */
export const abilitiesOf = (limits: GPUSupportedLimits, emulates: boolean): Abilities => ({
  f64: emulates,
  f64Bits: emulates ? EMULATED_BITS : undefined,
  subnormals: false,
  parallelism: 1,
  simdBytes: 0,
  memory: limits.maxBufferSize,
  maxAllocation: limits.maxBufferSize,
});

/** One device of WebGPU, in Node or in a browser. */
export class WebGpuDevice implements Device {
  readonly backend = "webgpu";
  readonly abilities: Abilities;
  readonly memory: MemorySpace;
  readonly queue: Queue;
  precision: Precision = "fast";
  private clock: Clock | undefined;

  constructor(
    readonly name: string,
    readonly label: string,
    readonly gpu: Gpu,
  ) {
    this.abilities = abilitiesOf(gpu.limits, gpu.emulates);
    this.memory = gpu.memory;
    this.queue = this.createQueue();
  }

  createQueue(): Queue {
    this.gpu.enter();
    return new WebGpuQueue(this, this.gpu, () => (this.gpu.hasTimestamps ? (this.clock ??= new Clock(this.gpu)) : undefined));
  }

  array<T extends ElementType>(type: ElementToken<T>, shape: number | readonly number[], options: ArrayOptions = {}): View<T> {
    this.gpu.enter();
    const extents = newShape(type, shape);
    const buffer = this.gpu.allocate(extents.reduce((a, b) => a * b, BYTES[type.type]));
    return new View(buffer, type.type, extents, stridesOf(extents, options.layout ?? "right"));
  }

  from<T extends ElementType>(
    type: ElementToken<T>,
    data: ArrayLike<number>,
    shape: number | readonly number[] = data.length,
    options?: ArrayOptions,
  ): View<T> {
    this.gpu.enter();
    requireData(type.type, newShape(type, shape), data);
    const view = this.array(type, shape, options);
    writeView(this.gpu, view, data);
    return view;
  }

  prepare<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Launch {
    this.gpu.enter();
    return new WebGpuLaunch(this.gpu, bind(this, kernel, args, policy, options));
  }

  async run<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Promise<Results<P>> {
    const launch = this.prepare(kernel, args, policy, options);
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
