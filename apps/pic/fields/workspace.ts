import type { Args, Device, Kernel, Launch, Params, Policy, Precision, Queue, View } from "isoform";
import { atFirstUse, f64 } from "isoform";

/** One thing to do in a queue. */
export type QueueWork = (queue: Queue) => void;

/** Arrays and launches on a device that are given back together. */
export class Workspace {
  private readonly owned: { free(): void }[] = [];
  private readonly submitted: { launch: Launch }[] = [];

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

  /** A launch of the workspace's precision, which is the caller's. */
  launch<P extends Params>(kernel: Kernel<P, "range">, args: Args<P>, policy: Policy & { kind: "range" }): Launch {
    return this.device.prepare(kernel, args, policy, { precision: this.precision });
  }

  /** The same as work, to be done as often as wanted. */
  work<P extends Params>(kernel: Kernel<P, "range">, args: Args<P>, policy: Policy & { kind: "range" }): QueueWork {
    return this.submits(this.launch(kernel, args, policy));
  }

  /** A launch, the workspace's from now on, to be done as often as wanted. */
  submits(launch: Launch): QueueWork {
    const slot = { launch };
    this.submitted.push(slot);
    return (queue) => queue.submit(slot.launch);
  }

  /** Tunes all work that was made so far, on devices that measure launches on first use. */
  async tune(): Promise<void> {
    for (const slot of this.submitted) slot.launch = await atFirstUse(this.device, slot.launch);
  }

  /** Does some work now. */
  do(works: readonly QueueWork[]): void {
    for (const work of works) work(this.device.queue);
  }

  own<T extends { free(): void }>(thing: T): T {
    this.owned.push(thing);
    return thing;
  }

  free(): void {
    for (const { launch } of this.submitted.splice(0)) launch.free();
    for (const thing of this.owned.splice(0).reverse()) thing.free();
  }
}
