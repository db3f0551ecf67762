import type { ElementType } from "../../ir/types.js";
import type { Kernel } from "../../kernel/kernel.js";
import type { Params } from "../../kernel/params.js";
import { bind } from "../bind.js";
import type {
  Abilities,
  Args,
  ArrayOptions,
  Device,
  ElementToken,
  Fold,
  FoldPart,
  Launch,
  LaunchOptions,
  Precision,
  Queue,
  Results,
  TheoreticalPeaks,
} from "../device.js";
import type { Policy } from "../policy.js";
import { BYTES, newShape, requireData, stridesOf, View, type MemorySpace } from "../view.js";
import { GpuFold } from "../gpu/fold.js";
import { GpuLaunch } from "../gpu/launch.js";
import type { Gpu, GpuFacts } from "./gpu.js";
import { CudaQueue, writeView } from "./queue.js";

export const abilitiesOf = ({ multiprocessors, memory }: GpuFacts): Abilities => ({
  f64: true,
  parallelism: multiprocessors,
  simdBytes: 0,
  memory,
  maxAllocation: memory,
});

/** The null stream: in order with every stream of the device. */
const NULL_STREAM = 0;

/** One GPU of NVIDIA or, through HIP, of AMD. */
export class CudaDevice implements Device {
  readonly backend: string;
  readonly label: string;
  readonly abilities: Abilities;
  readonly theoretical: TheoreticalPeaks;
  readonly memory: MemorySpace;
  readonly queue: Queue;
  precision: Precision = "fast";

  constructor(
    readonly name: string,
    private readonly gpu: Gpu,
  ) {
    this.backend = gpu.driver.api.backend;
    this.label = gpu.facts.label;
    this.abilities = abilitiesOf(gpu.facts);
    this.theoretical = { bandwidth: gpu.facts.bandwidth };
    this.memory = gpu.memory;
    this.queue = this.createQueue();
  }

  createQueue(): Queue {
    return new CudaQueue(this, this.gpu);
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
    writeView(this.gpu, view, data, NULL_STREAM);
    return view;
  }

  prepare<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Launch {
    this.gpu.enter();
    return new GpuLaunch(this.gpu, bind(this, kernel, args, policy, options));
  }

  fold(parts: readonly FoldPart[]): Fold | undefined {
    const own = parts.map(({ device, launches, results }) => {
      const mine = launches.filter((launch) => launch instanceof GpuLaunch);
      return device instanceof CudaDevice && mine.length === launches.length ? { gpu: device.gpu, launches: mine, results } : undefined;
    });
    const known = own.filter((part) => part !== undefined);
    const reached = known.every(({ gpu }) => known.every((other) => other.gpu === gpu || gpu.reaches(other.gpu)));
    const together = known.length === parts.length && reached ? GpuFold.together(known) : undefined;
    return together && { launches: together.folds, meets: together.meets };
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
