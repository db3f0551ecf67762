import { LaunchError } from "../../kernel/errors.js";
import type { Kernel } from "../../kernel/kernel.js";
import type { Launch } from "../device.js";
import type { Policy } from "../policy.js";
import { BYTES, type View } from "../view.js";
import type { Gathering } from "./gather.js";
import type { GpuLaunch } from "./launch.js";
import type { GpuMachine, GpuMemory } from "./machine.js";

/** Folds what launches of one kernel, on this GPU and on others that it reaches, have left of their reductions. */
export class GpuFold implements Launch {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly precision = "fast";
  readonly cost = { flops: 0, bytes: 0 };
  readonly decisions: readonly string[];
  readonly ran = false;
  private freed = false;

  private constructor(
    readonly gpu: GpuMachine,
    private readonly launches: readonly GpuLaunch[],
    private readonly results: GpuMemory,
    private readonly gathering: Gathering,
  ) {
    ({ kernel: this.kernel, policy: this.policy } = launches[0]);
    this.decisions = [`partials of ${launches.length} launches, folded by ${gathering.blocks} blocks`];
  }

  /** @param outputs views of one element, by reduce parameter; undefined where the launches have folded their partials themselves */
  static of(gpu: GpuMachine, launches: readonly GpuLaunch[], outputs: Readonly<Record<string, View>>): GpuFold | undefined {
    const own = launches.find((launch) => launch.gpu === gpu);
    if (!own) return undefined;
    const results = gpu.allocate(8 * Object.keys(outputs).length);
    const places = Object.entries(outputs).map(([name, { buffer, offset, type }]) => [
      `output:${name}`,
      Number(buffer.address) + offset * BYTES[type],
    ]);
    const gathering = own.gatherFrom(launches, { results: results.address, ...Object.fromEntries(places) });
    if (gathering) return new GpuFold(gpu, launches, results, gathering);
    results.free();
    return undefined;
  }

  /** Throws LaunchError where it, or a launch that leaves partials, was freed. */
  requireReady(): void {
    if (this.freed) throw new LaunchError(`the fold of kernel "${this.kernel.name}" was freed and cannot run again; prepare it anew`);
    for (const launch of this.launches) launch.requireReady();
  }

  enqueue(stream: number): void {
    this.gpu.starts(this.kernel.name);
    this.gathering.step.enqueue(stream);
  }

  source(): string {
    return this.launches[0].source();
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.gathering.free();
    this.results.free();
  }
}
