import { LaunchError } from "../../kernel/errors.js";
import type { Kernel } from "../../kernel/kernel.js";
import { requireLiveViews, type Binding } from "../bind.js";
import type { Cost, Launch, Precision } from "../device.js";
import type { Policy } from "../policy.js";
import type { Buffer, View } from "../view.js";
import type { CpuDevice } from "./cpu-device.js";
import { hostArray } from "./host-view.js";

/** What a CPU backend makes of a binding: code bound to its arguments. */
export interface CpuProgram {
  readonly decisions: readonly string[];
  /** Runs to the end, on all workers, and returns the reduce parameters' values. */
  run(): Record<string, number>;
  source(): string;
  /** Gives back temporary memory. */
  free(): void;
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
