import { LaunchError } from "../../base/errors.js";
import type { Graph } from "../device.js";
import type { Binding } from "../launch/binding.js";
import type { Captured } from "./capture.js";
import type { Gpu } from "./gpu.js";
import { DispatchStep } from "./steps.js";

/** Captured work, which is never cut into several submissions: WebGPU's command buffers are for one use, so it is encoded anew each time. */
export class WebGpuGraph implements Graph {
  readonly remarks: readonly string[];
  readonly recorded: readonly Binding[];
  private freed = false;

  constructor(
    readonly gpu: Gpu,
    private readonly captured: Captured,
  ) {
    const { steps, launches } = captured;
    const dispatches = steps.filter((step) => step instanceof DispatchStep).length;
    this.recorded = [...launches].flatMap((launch) => launch.recorded);
    this.remarks = [
      `one submission of ${dispatches} dispatches and ${steps.length - dispatches} copies and clears, for ${launches.size} launches and what is between them`,
    ];
  }

  run(): void {
    if (this.freed) throw new LaunchError("a graph was freed and cannot run again; capture it anew");
    for (const launch of this.captured.launches) launch.requireReady();
    if ([...this.captured.buffers].some((buffer) => buffer.live === false))
      throw new LaunchError(`a graph on ${this.gpu.name} copies a view whose memory was freed; free arrays only when no graph uses them`);
    this.gpu.commands.together(() => {
      for (const step of this.captured.steps) step.encode(this.gpu.commands);
    });
    for (const launch of this.captured.launches) launch.ran = true;
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    for (const dispatches of this.captured.dispatches) dispatches.free();
  }
}
