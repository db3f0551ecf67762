import type { Binding } from "../launch/binding.js";
import type { Capabilities } from "../device.js";
import { GpuDevice } from "../gpu/gpu-device.js";
import type { View } from "../memory/view.js";
import { Clock } from "./event.js";
import type { Gpu } from "./gpu.js";
import { WebGpuLaunch } from "./launch.js";
import { WebGpuQueue, writeView } from "./queue.js";

/** Least number of bits that the arithmetic of emit/wgsl/double.ts keeps. */
const EMULATED_BITS = 44;

/** Capabilities from a WebGPU adapter; WebGPU tells neither how much memory there is nor how many processors. */
export const capabilitiesOf = (limits: GPUSupportedLimits, emulates: boolean): Capabilities => ({
  f64: emulates,
  f64Bits: emulates ? EMULATED_BITS : undefined,
  subnormals: false,
  parallelism: 1,
  simdBytes: 0,
  memory: Infinity,
  maxAllocation: limits.maxBufferSize,
});

/** One device of WebGPU, in Node or in a browser. */
export class WebGpuDevice extends GpuDevice<Gpu> {
  readonly backend = "webgpu";
  readonly capabilities: Capabilities;
  private clock: Clock | undefined;

  constructor(
    name: string,
    readonly label: string,
    gpu: Gpu,
  ) {
    super(name, gpu);
    this.capabilities = capabilitiesOf(gpu.limits, gpu.emulates);
  }

  /** How many an adapter can run at a time is not known. */
  override residentTeams(league: number): number {
    return Math.min(league, 256);
  }

  createQueue(): WebGpuQueue {
    this.gpu.enter();
    return new WebGpuQueue(this, this.gpu, () => (this.gpu.hasTimestamps ? (this.clock ??= new Clock(this.gpu)) : undefined));
  }

  protected fill(view: View, data: ArrayLike<number>): void {
    writeView(this.gpu, view, data);
  }

  protected launch(binding: Binding): WebGpuLaunch {
    return new WebGpuLaunch(this.gpu, binding);
  }
}
