import type { Args, Device, Kernel, Launch, Params, Policy, Precision, Queue, View } from "isoform";
import { f64 } from "isoform";

/** One thing to do in a queue. */
export type Work = (queue: Queue) => void;

/** Arrays and launches on a device that are given back together. */
export class Workspace {
  private readonly owned: { free(): void }[] = [];

  constructor(
    readonly device: Device,
    readonly precision: Precision,
  ) {}

  /** New zeros. */
  array<const S extends number | readonly number[]>(shape: S) {
    return this.own(this.device.array(f64, shape));
  }

  /** A vector with these values. */
  vector(values: ArrayLike<number>): View<"f64", 1> {
    return this.own(this.device.from(f64, values));
  }

  /** A launch, to be submitted as often as wanted. */
  launch<P extends Params>(kernel: Kernel<P, "range">, args: Args<P>, policy: Policy & { kind: "range" }): Launch {
    return this.own(this.device.prepare(kernel, args, policy, { precision: this.precision }));
  }

  /** The same as work. */
  work<P extends Params>(kernel: Kernel<P, "range">, args: Args<P>, policy: Policy & { kind: "range" }): Work {
    const launch = this.launch(kernel, args, policy);
    return (queue) => queue.submit(launch);
  }

  /** Does some work now. */
  do(works: readonly Work[]): void {
    for (const work of works) work(this.device.queue);
  }

  own<T extends { free(): void }>(thing: T): T {
    this.owned.push(thing);
    return thing;
  }

  free(): void {
    for (const thing of this.owned.splice(0).reverse()) thing.free();
  }
}
