import type { Args, Cost, Device, ElementToken, Launch, PolicyOf, Precision, Queue } from "../device/device.js";
import { isChecked } from "../device/launch/known-bindings.js";
import { overlap } from "../device/memory/overlap.js";
import { View, type LayoutName } from "../device/memory/view.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import type { NumberElement } from "../ir/types.js";
import type { Kernel, PolicyKind } from "../kernel/declare/kernel.js";
import type { Params } from "../kernel/declare/params.js";

/** Properties of a launch of a pattern. */
interface StepOptions {
  /** Indices come from the caller's data, and are checked if other launches are; otherwise they are right by construction. */
  readonly given?: boolean;
  /** Sums keep their order in fast mode, too. */
  readonly ordered?: boolean;
  /** Work of the launch where its code does not tell, as data bound its loops. */
  readonly cost?: Cost;
}

/** Launches that were prepared together, and the temporary memory between them. */
export interface Pattern {
  /** In the order in which `submit` enqueues them. */
  readonly launches: readonly Launch[];
  /** Operations and bytes of one run, all launches together. */
  readonly cost: Cost;
  /** Enqueues all of it, in order; the host does not wait. May be captured in a graph. Not on two queues at once: its runs share temporary memory. */
  submit(queue?: Queue): void;
  /** Submits and waits until it is done. */
  run(queue?: Queue): Promise<void>;
  /** Throws LaunchError: a pattern is not a promise, so `await scan(...)` would wait for nothing. */
  then(): never;
  /** Gives back launches and temporary memory. The views that were handed over stay. */
  free(): void;
}

/** Options of patterns. */
export interface PatternOptions {
  /** Default: the device's precision. */
  precision?: Precision;
}

/** The pattern that `plan` puts together; what was prepared until an error is given back. */
export function makePattern(device: Device, options: PatternOptions, plan: (steps: PatternSteps) => void): Pattern {
  requireOptions("a pattern", options, ["precision"]);
  requireThing(
    "a pattern",
    device,
    typeof (device as Partial<Device> | undefined)?.prepare === "function",
    "give the device first, what await open(...) returns",
  );
  const steps = new PatternSteps(device, options);
  try {
    plan(steps);
  } catch (error) {
    steps.free();
    throw error;
  }
  return steps;
}

/** Rejects a value that is not a view. Throws LaunchError. */
export const requireView = (what: string, view: unknown): void =>
  requireThing(what, view, view instanceof View, "give a view, from device.array or device.from");

/** Views by the names that messages give them. */
type NamedViews = readonly (readonly [name: string, view: View | undefined])[];

/**
 * Throws LaunchError where a view that a pattern writes shares memory with another one. The pattern's launches cannot see that: one may have
 * written what a later one still has to read.
 */
export function requireSeparate(pattern: string, written: NamedViews, read: NamedViews): void {
  written.forEach(([name, view], n) => {
    for (const [other, its] of [...written.slice(0, n), ...read])
      if (view && its && overlap(view, its))
        throw new LaunchError(`${pattern}: ${name} and ${other} share memory, and ${name} is written: give it memory of its own`);
  });
}

/** A pattern in the making: each method adds what runs next. */
export class PatternSteps implements Pattern {
  readonly launches: Launch[] = [];
  private readonly owned: { free(): void }[] = [];
  private readonly known = new Map<Launch, Cost>();

  constructor(
    readonly device: Device,
    private readonly options: PatternOptions,
  ) {}

  /** Whether indices that come from the caller's data are checked; `js-debug` always checks them. */
  get checked(): boolean {
    return this.device.backend === "js-debug" || isChecked({ device: this.device, options: this.options, compile: {} });
  }

  get precision(): Precision {
    return this.options.precision ?? this.device.precision;
  }

  /** Temporary memory, undefined at first: contiguous, of at least one element. */
  array<T extends NumberElement>(type: T, length: number): View<T, 1> {
    const token: ElementToken<T> = { type };
    return this.own(this.device.array(token, Math.max(1, length))).slice([0, length]);
  }

  /** The same, of two axes. */
  rows<T extends NumberElement>(type: T, shape: readonly [number, number], layout: LayoutName): View<T, 2> {
    const token: ElementToken<T> = { type };
    return this.own(this.device.array(token, shape, { layout }));
  }

  launch<P extends Params, K extends PolicyKind>(
    kernel: Kernel<P, K>,
    args: Args<P>,
    policy: PolicyOf<K>,
    { given = false, ordered, cost }: StepOptions = {},
  ): void {
    const { precision } = this.options;
    const checks = given ? {} : { checked: false };
    const launch = this.device.prepare(kernel, args, policy, { precision, ...checks, ...(ordered && { deterministic: true }) });
    if (cost) this.known.set(launch, cost);
    this.add(launch);
  }

  /** Adds a launch that was prepared elsewhere, and is given back with the others. */
  add(launch: Launch): void {
    this.launches.push(this.own(launch));
  }

  submit(queue: Queue = this.device.queue): void {
    for (const launch of this.launches) queue.submit(launch);
  }

  async run(queue: Queue = this.device.queue): Promise<void> {
    this.submit(queue);
    await queue.finish();
  }

  get cost(): Cost {
    const total = (of: keyof Cost): number => this.launches.reduce((sum, launch) => sum + (this.known.get(launch) ?? launch.cost)[of], 0);
    return { flops: total("flops"), bytes: total("bytes") };
  }

  then(): never {
    throw new LaunchError(
      "a pattern was awaited before it was submitted: write await pattern.run(), or pattern.submit() without waiting; an async function returns { pattern }",
    );
  }

  free(): void {
    for (const thing of this.owned.splice(0).reverse()) thing.free();
  }

  /** Takes ownership of an object that is freed with the pattern. */
  own<O extends { free(): void }>(thing: O): O {
    this.owned.push(thing);
    return thing;
  }
}
