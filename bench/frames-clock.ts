import type { Device } from "isoform";
import { encode, nativeDevice } from "isoform/webgpu";

const BYTES = 8;

/** The GPU's own times of stretches of its work, on a device with timestamps. */
export class FramesClock {
  private readonly gpu: GPUDevice;
  private readonly querySet: GPUQuerySet;
  private next = 0;

  /** @param most marks that there may be */
  constructor(
    private readonly device: Device,
    private readonly most: number,
  ) {
    this.gpu = nativeDevice(device);
    this.querySet = this.gpu.createQuerySet({ type: "timestamp", count: most });
  }

  static isOffered = (device: Device): boolean => nativeDevice(device).features.has("timestamp-query");

  /** Notes when the GPU is here, behind all that it was given before. */
  mark(): void {
    if (this.next === this.most) throw new Error(`a clock for ${this.most} marks was asked for more`);
    const beginningOfPassWriteIndex = this.next++;
    encode(this.device, (encoder) =>
      encoder.beginComputePass({ timestampWrites: { querySet: this.querySet, beginningOfPassWriteIndex } }).end(),
    );
  }

  /** Nanoseconds at all marks, in their order; the device must be at rest. */
  async read(): Promise<number[]> {
    const [size, { querySet, gpu }] = [this.next * BYTES, this];
    const times = gpu.createBuffer({ size, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
    const here = gpu.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const encoder = gpu.createCommandEncoder();
    encoder.resolveQuerySet(querySet, 0, this.next, times, 0);
    encoder.copyBufferToBuffer(times, 0, here, 0, size);
    gpu.queue.submit([encoder.finish()]);
    await here.mapAsync(GPUMapMode.READ);
    const read = Array.from(new BigUint64Array(here.getMappedRange()), Number);
    for (const each of [times, here, querySet]) each.destroy();
    return read;
  }
}
