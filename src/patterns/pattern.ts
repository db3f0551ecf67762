import type { Args, Device, ElementToken, Launch, PolicyOf, Precision, Queue } from "../device/device.js";
import type { View } from "../device/view.js";
import type { ElementType } from "../ir/types.js";
import type { Kernel, PolicyKind } from "../kernel/kernel.js";
import type { Params } from "../kernel/params.js";

/** Launches that were prepared together, and the temporary memory between them. */
export interface Pattern {
  /** Enqueues all of it, in order; the host does not wait. May be captured in a graph. */
  submit(queue?: Queue): void;
  /** Gives back launches and temporary memory. The views that were handed over stay. */
  free(): void;
}

export interface PatternOptions {
  /** The device's own precision where absent. */
  precision?: Precision;
}

/** The pattern that `plan` puts together; what was prepared until an error is given back. */
export function patternOf(device: Device, options: PatternOptions, plan: (steps: Steps) => void): Pattern {
  const steps = new Steps(device, options);
  try {
    plan(steps);
  } catch (error) {
    steps.free();
    throw error;
  }
  return steps;
}

/** A pattern in the making: each method adds what runs next. */
export class Steps implements Pattern {
  private readonly enqueue: ((queue: Queue) => void)[] = [];
  private readonly owned: { free(): void }[] = [];

  constructor(
    readonly device: Device,
    private readonly options: PatternOptions,
  ) {}

  /** Temporary memory, undefined at first: one stretch of at least one element. */
  array<T extends ElementType>(type: T, length: number): View<T, 1> {
    const token: ElementToken<T> = { type };
    return this.own(this.device.array(token, Math.max(1, length))).slice([0, length]);
  }

  launch<P extends Params, K extends PolicyKind>(kernel: Kernel<P, K>, args: Args<P>, policy: PolicyOf<K>): void {
    const { precision } = this.options;
    const launch: Launch = this.own(this.device.prepare(kernel, args, policy, { precision }));
    this.enqueue.push((queue) => queue.submit(launch));
  }

  clear(view: View): void {
    this.enqueue.push((queue) => queue.clear(view));
  }

  copy(source: View, target: View): void {
    this.enqueue.push((queue) => queue.copy(source, target));
  }

  submit(queue: Queue = this.device.queue): void {
    for (const enqueue of this.enqueue) enqueue(queue);
  }

  free(): void {
    for (const thing of this.owned.splice(0).reverse()) thing.free();
  }

  private own<O extends { free(): void }>(thing: O): O {
    this.owned.push(thing);
    return thing;
  }
}
