import type { GpuWork } from "../gpu/work.js";
import type { Buffer } from "../memory/view.js";
import type { Handle } from "./calls.js";

/** Objects that a graph refers to, gathered while it is captured. */
export class CudaCapture {
  /** @param urgent whether some of its streams are, see `Gpu.createStream` */
  constructor(readonly urgent: boolean) {}

  readonly launches = new Set<GpuWork>();
  readonly buffers = new Set<Buffer>();
  /** Streams in which a kernel came last, and nothing else that the next must wait for. */
  readonly afterKernel = new Set<Handle>();
}
