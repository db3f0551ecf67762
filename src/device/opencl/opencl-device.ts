import type { ElementType } from "../../ir/types.js";
import type { Kernel } from "../../kernel/kernel.js";
import type { Params } from "../../kernel/params.js";
import { bind } from "../bind.js";
import type { Abilities, Args, ArrayOptions, Device, ElementToken, Launch, LaunchOptions, Precision, Queue, Results } from "../device.js";
import { GpuLaunch } from "../gpu/launch.js";
import type { Policy } from "../policy.js";
import { BYTES, newShape, requireData, stridesOf, View, type MemorySpace } from "../view.js";
import type { OpenclFacts } from "./facts.js";
import type { OpenclMachine } from "./machine.js";
import { OpenclQueue } from "./queue.js";
import { requireAbilities } from "./requirements.js";
import { fillView } from "./transfers.js";

export const abilitiesOf = ({ f64, multiprocessors, memory, maxAllocation }: OpenclFacts): Abilities => ({
  f64,
  parallelism: multiprocessors,
  simdBytes: 0,
  memory,
  maxAllocation,
});

/** One OpenCL device. */
export class OpenclDevice implements Device {
  readonly backend = "opencl";
  readonly label: string;
  readonly onHost: boolean;
  readonly abilities: Abilities;
  readonly memory: MemorySpace;
  readonly queue: Queue;
  precision: Precision = "fast";

  constructor(
    readonly name: string,
    private readonly machine: OpenclMachine,
  ) {
    this.label = machine.facts.label;
    this.onHost = machine.facts.cpu;
    this.abilities = abilitiesOf(machine.facts);
    this.memory = machine.memory;
    this.queue = this.createQueue();
  }

  createQueue(): Queue {
    return new OpenclQueue(this, this.machine);
  }

  array<T extends ElementType>(type: ElementToken<T>, shape: number | readonly number[], options: ArrayOptions = {}): View<T> {
    this.machine.enter();
    const extents = newShape(type, shape);
    const buffer = this.machine.allocate(extents.reduce((a, b) => a * b, BYTES[type.type]));
    return new View(buffer, type.type, extents, stridesOf(extents, options.layout ?? "right"));
  }

  from<T extends ElementType>(
    type: ElementToken<T>,
    data: ArrayLike<number>,
    shape: number | readonly number[] = data.length,
    options?: ArrayOptions,
  ): View<T> {
    this.machine.enter();
    requireData(type.type, newShape(type, shape), data);
    const view = this.array(type, shape, options);
    fillView(this.machine, view, data);
    return view;
  }

  prepare<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Launch {
    this.machine.enter();
    const binding = bind(this, kernel, args, policy, options);
    requireAbilities(this.name, this.machine.facts, binding);
    return new GpuLaunch(this.machine, binding);
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
    this.machine.close();
  }
}
