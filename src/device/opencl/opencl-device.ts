import type { Binding } from "../launch/binding.js";
import type { Capabilities } from "../device.js";
import { GpuDevice } from "../gpu/gpu-device.js";
import { GpuLaunch } from "../gpu/launch.js";
import { hostBuffer, type Buffer, type View } from "../memory/view.js";
import type { OpenclFacts } from "./facts.js";
import type { OpenclMachine } from "./machine.js";
import { OpenclQueue } from "./queue.js";
import { requireCapabilities } from "./requirements.js";
import { fillBuffer } from "./transfers.js";

export const openclCapabilities = ({ f64, multiprocessors, memory, maxAllocation }: OpenclFacts): Capabilities => ({
  f64,
  parallelism: multiprocessors,
  simdBytes: 0,
  memory,
  maxAllocation,
});

/** One OpenCL device. */
export class OpenclDevice extends GpuDevice<OpenclMachine> {
  readonly backend = "opencl";
  readonly label: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly onHost: boolean;
  readonly capabilities: Capabilities;

  constructor(name: string, machine: OpenclMachine) {
    super(name, machine);
    this.label = machine.facts.label;
    this.versions = { driver: machine.facts.driver };
    this.onHost = machine.facts.cpu;
    this.capabilities = openclCapabilities(machine.facts);
  }

  createQueue(): OpenclQueue {
    return new OpenclQueue(this, this.gpu);
  }

  hostMemory(bytes: number): Buffer {
    return hostBuffer(bytes);
  }

  protected fill(view: View, data: ArrayLike<number>): void {
    fillBuffer(this.gpu, view, data);
  }

  protected launch(binding: Binding): GpuLaunch {
    requireCapabilities(this.name, this.gpu.facts, binding);
    return new GpuLaunch(this.gpu, binding);
  }
}
