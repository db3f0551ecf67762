import { LaunchError } from "../../base/errors.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { Cost, Launch } from "../device.js";
import type { Policy } from "../launch/policy.js";
import { meetsItself } from "../memory/overlap.js";
import type { Buffer, View } from "../memory/view.js";
import type { WritingWork } from "../memory/writes.js";
import type { GpuMachine, GpuMemory } from "./machine.js";
import type { StreamStep } from "./steps.js";

/** Code of a GPU's own for a part of a pattern, such as one pass of a sort. */
interface OwnCode {
  /** A part of a pattern in words, for messages: a pass of a sort. */
  readonly what: string;
  /** Stands for it in profiles and errors: does the same on other devices. */
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly cost: Cost;
  readonly remarks: readonly string[];
  readonly read: readonly (View | undefined)[];
  readonly written: readonly (View | undefined)[];
  readonly source: string;
  /** Memory that its steps need between them. */
  readonly bytes: number;
  /** Its steps, with the address of this memory. */
  steps(address: number): readonly StreamStep[];
}

/** A launch of it. */
export class OwnWork implements Launch, WritingWork {
  readonly precision = "fast";
  readonly ran = false;
  readonly recorded = [];
  readonly written: readonly Buffer[];
  private readonly memory: GpuMemory;
  private readonly steps: readonly StreamStep[];
  private freed = false;

  /** Throws DeviceError where the device's memory does not suffice. */
  constructor(
    readonly gpu: GpuMachine,
    private readonly code: OwnCode,
  ) {
    requireOwnMemory(gpu, code);
    this.written = code.written.flatMap((view) => view?.buffer ?? []);
    this.memory = gpu.allocate(code.bytes);
    this.steps = code.steps(this.memory.address);
  }

  get kernel(): Kernel {
    return this.code.kernel;
  }
  get policy(): Policy {
    return this.code.policy;
  }
  get cost(): Cost {
    return this.code.cost;
  }
  get remarks(): readonly string[] {
    return this.code.remarks;
  }

  /** Throws LaunchError if it, or the memory of its views, was freed. */
  requireReady(): void {
    const { what, read, written } = this.code;
    if (this.freed) throw new LaunchError(`${what} was freed and cannot run again; prepare it anew`);
    if ([...read, ...written].some((view) => view?.buffer.live === false))
      throw new LaunchError(`${what} has a view whose memory was freed; free arrays only when no pattern uses them`);
  }

  enqueue(stream: number): void {
    this.gpu.starts(this.kernel.name);
    for (const step of this.steps) step.enqueue(stream);
  }

  source(): string {
    return this.code.source;
  }

  submit(): void {
    throw new LaunchError(`${this.code.what} has no numbers and no range of its own; submit it to a queue`);
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    for (const step of this.steps) step.free?.();
    this.memory.free();
  }
}

/** Throws LaunchError where a view lies in other memory, or elements of a written one share a place. */
function requireOwnMemory(gpu: GpuMachine, { what, read, written }: OwnCode): void {
  for (const view of [...read, ...written])
    if (view && view.buffer.memory !== gpu.memory)
      throw new LaunchError(
        `${what} has a view in the memory of ${view.buffer.memory.name}, which ${gpu.name} does not reach: read it and write it to a view of ${gpu.name}`,
      );
  for (const view of written)
    if (view && meetsItself(view))
      throw new LaunchError(
        `${what} writes a view of shape [${view.shape}] with strides [${view.strides}], in which several elements share one place: give a view whose elements do not overlap`,
      );
}
