/** Commands that gather before they are submitted by themselves. */
const MOST = 256;

/** Place in which events put the device's time. */
interface TimestampWrite {
  querySet: GPUQuerySet;
  index: number;
}

/**
 * The commands of one device that are not yet submitted. All its queues share them, as WebGPU has one queue: work runs in the order in which
 * it was given. They are submitted when somebody waits, before the host writes, and otherwise at the end of the running task.
 */
export class Commands {
  private encoder: GPUCommandEncoder | undefined;
  private pass: GPUComputePassEncoder | undefined;
  /** Set last in the pass. */
  private pipeline: GPUComputePipeline | undefined;
  private gathered = 0;
  /** Whether commands given now must not be split over submissions. */
  private held = false;
  /** Command buffers that were submitted. */
  submissions = 0;

  constructor(private readonly device: GPUDevice) {}

  dispatch(pipeline: GPUComputePipeline, bindings: GPUBindGroup, grid: readonly [number, number, number]): void {
    if (!this.pass) {
      this.pass = this.encoding().beginComputePass();
      this.pipeline = undefined;
    }
    if (this.pipeline !== pipeline) this.pass.setPipeline(pipeline);
    this.pipeline = pipeline;
    this.pass.setBindGroup(0, bindings);
    this.pass.dispatchWorkgroups(...grid);
    this.note();
  }

  copy(source: GPUBuffer, sourceOffset: number, target: GPUBuffer, targetOffset: number, bytes: number): void {
    this.outside().copyBufferToBuffer(source, sourceOffset, target, targetOffset, bytes);
    this.note();
  }

  clear(target: GPUBuffer, offset: number, bytes: number): void {
    this.outside().clearBuffer(target, offset, bytes);
    this.note();
  }

  /** Notes the device's time when it is here, 8 bytes of nanoseconds at `offset` of `target`. */
  timestamp({ querySet, index }: TimestampWrite, target: GPUBuffer, offset: number): void {
    const encoder = this.outside();
    encoder.beginComputePass({ timestampWrites: { querySet, beginningOfPassWriteIndex: index } }).end();
    encoder.resolveQuerySet(querySet, index, 1, target, offset);
    this.note();
  }

  /** Lets somebody else add commands after all that was given before. */
  encode(record: (encoder: GPUCommandEncoder) => void): void {
    record(this.outside());
    this.note();
  }

  /** Writes host data after all that was given before. */
  write(target: GPUBuffer, offset: number, data: ArrayBufferView<ArrayBuffer>): void {
    this.flush();
    this.device.queue.writeBuffer(target, offset, data);
  }

  flush(): void {
    if (!this.encoder) return;
    this.pass?.end();
    this.device.queue.submit([this.encoder.finish()]);
    this.submissions++;
    this.encoder = this.pass = undefined;
    this.gathered = 0;
  }

  private encoding(): GPUCommandEncoder {
    if (!this.encoder) {
      this.encoder = this.device.createCommandEncoder();
      queueMicrotask(() => this.flush());
    }
    return this.encoder;
  }

  private outside(): GPUCommandEncoder {
    this.pass?.end();
    this.pass = undefined;
    return this.encoding();
  }

  /** Keeps commands given meanwhile in one submission, which they may share with others. */
  together(give: () => void): void {
    this.held = true;
    try {
      give();
    } finally {
      this.held = false;
    }
    if (this.gathered >= MOST) this.flush();
  }

  private note(): void {
    if (++this.gathered >= MOST && !this.held) this.flush();
  }
}
