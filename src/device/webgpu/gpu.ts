import { DeviceError, LaunchError, type IsoformError } from "../../base/errors.js";
import type { ShaderEntry } from "../../emit/wgsl/shader-program.js";
import type { Buffer, MemorySpace } from "../memory/view.js";
import { Commands } from "./commands.js";
import type { Captured } from "./capture.js";

/* Numbers of the WebGPU standard; in Node its constants are not globals. */
const USAGE = { mapRead: 1, copySource: 4, copyTarget: 8, uniform: 64, storage: 128, queryResolve: 512 };
const READ = 1;

/** Buffers for reads that are kept for the next: how many, and the largest. */
const READERS = 8;
const LARGEST_KEPT = 16 << 20;

/** A shader that is ready to be dispatched. */
export interface Pipeline {
  readonly handle: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
  /** The driver's error, once it has reported one. */
  failure: IsoformError | undefined;
}

/** One WebGPU device: its memory, its pipelines, and the commands that are not yet submitted. */
export class Gpu {
  readonly memory: MemorySpace;
  readonly commands: Commands;
  /** `fma` is known to round once: set by the self-test of emulated f64. */
  exactFma = false;
  /** Set while what its queues are given is captured. */
  capture: Captured | undefined;
  private readonly pipelines = new Map<string, Pipeline>();
  /** Answers that the driver still owes. */
  private readonly owed = new Set<Promise<void>>();
  private readonly failures: IsoformError[] = [];
  private readonly buffers = new Set<GpuBuffer>();
  private readonly readers: GPUBuffer[] = [];
  private lost: string | undefined;
  private closed = false;

  constructor(
    readonly name: string,
    readonly device: GPUDevice,
    /** Kept, as Dawn ends with it. */
    readonly api: GPU,
    /** f64 is computed as the sum of two f32. */
    readonly emulates: boolean,
  ) {
    this.memory = { name };
    this.commands = new Commands(device);
    void device.lost.then(({ message, reason }) => {
      if (!this.closed) this.lost = message || reason || "the driver gave no reason";
    });
    device.onuncapturederror = ({ error }) => {
      // Skips errors that follow from an error that is reported already.
      if (!error.message.includes("due to a previous error"))
        this.failures.push(new DeviceError(name, `WebGPU says: ${firstLine(error.message)}`));
    };
  }

  get limits(): GPUSupportedLimits {
    return this.device.limits;
  }

  requireOpen(): void {
    this.enter();
  }

  /** Every use starts here. Throws DeviceError once closed or lost. */
  enter(): GPUDevice {
    if (this.closed) throw new DeviceError(this.name, "it is closed", "open it again");
    if (this.lost !== undefined)
      throw new DeviceError(
        this.name,
        `it was lost: ${firstLine(this.lost)}`,
        "open it again with new arrays; a smaller problem may avoid the loss",
      );
    return this.device;
  }

  /** Zeroed memory. Throws DeviceError if it is more than one buffer can be. */
  allocate(bytes: number): GpuBuffer {
    const device = this.enter();
    if (this.capture) throw new DeviceError(this.name, "memory is allocated during a capture", "make arrays and launches before it");
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    if (size > this.limits.maxBufferSize)
      throw new DeviceError(
        this.name,
        `${gib(bytes)} asked for, and a buffer of this adapter has at most ${gib(this.limits.maxBufferSize)}`,
        "use several smaller arrays or a smaller size",
      );
    const handle = this.guarded(
      "out-of-memory",
      () => device.createBuffer({ size, usage: USAGE.storage | USAGE.copySource | USAGE.copyTarget }),
      () => new DeviceError(this.name, `${gib(bytes)} asked for, which is more than is free`, "free arrays or use a smaller size"),
    );
    const buffer = new GpuBuffer(this, handle, bytes);
    this.buffers.add(buffer);
    return buffer;
  }

  release(buffer: GpuBuffer): void {
    if (!this.buffers.delete(buffer) || this.closed) return;
    this.commands.flush();
    buffer.handle.destroy();
  }

  /** A block of numbers for shaders. */
  uniforms(data: ArrayBuffer): GPUBuffer {
    const buffer = this.enter().createBuffer({ size: data.byteLength, usage: USAGE.uniform | USAGE.copyTarget, mappedAtCreation: true });
    new Uint8Array(buffer.getMappedRange()).set(new Uint8Array(data));
    buffer.unmap();
    return buffer;
  }

  /** The pipeline of a shader, made or found; `kernel` and `file` are for messages. What is wrong with it is reported by `awaitErrors`. */
  pipeline(entry: ShaderEntry<unknown>, kernel: { name: string; file: string }): Pipeline {
    const known = this.pipelines.get(entry.source);
    if (known) return known;
    const device = this.enter();
    const pipeline = this.build(device, entry);
    this.pipelines.set(entry.source, pipeline);
    this.owe(
      Promise.all([pipeline.scope, pipeline.module.getCompilationInfo()]).then(async ([error, { messages }]) => {
        const wrong = messages.find(({ type }) => type === "error");
        if (!error && !wrong) return;
        const { shaderError } = await import("./shader-error.js");
        pipeline.failure = shaderError(this.name, kernel, entry, wrong, error?.message);
        this.failures.push(pipeline.failure);
      }),
    );
    return pipeline;
  }

  private build(device: GPUDevice, entry: ShaderEntry<unknown>): Pipeline & { scope: Promise<GPUError | null>; module: GPUShaderModule } {
    device.pushErrorScope("validation");
    const compute = 4;
    const layout = device.createBindGroupLayout({
      entries: [
        ...(entry.fields.length > 0 ? [{ binding: 0, visibility: compute, buffer: { type: "uniform" as const } }] : []),
        ...entry.buffers.map(({ written }, n) => ({
          binding: n + 1,
          visibility: compute,
          buffer: { type: written ? ("storage" as const) : ("read-only-storage" as const) },
        })),
      ],
    });
    const module = device.createShaderModule({ code: entry.source });
    const handle = device.createComputePipeline({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: "main" },
    });
    return { handle, layout, module, scope: device.popErrorScope(), failure: undefined };
  }

  /** The first `bytes` from `offset` of a buffer, once what was submitted before is done. */
  async read(source: GPUBuffer, offset: number, bytes: number): Promise<ArrayBuffer> {
    const device = this.enter();
    const kept = bytes <= LARGEST_KEPT;
    const size = kept ? Math.max(16, 2 ** Math.ceil(Math.log2(bytes))) : Math.ceil(bytes / 16) * 16;
    const at = this.readers.findIndex((reader) => reader.size === size);
    const reader = at >= 0 ? this.readers.splice(at, 1)[0] : device.createBuffer({ size, usage: USAGE.mapRead | USAGE.copyTarget });
    this.commands.copy(source, offset, reader, 0, Math.ceil(bytes / 4) * 4);
    this.commands.flush();
    await this.waited(reader.mapAsync(READ));
    const copy = reader.getMappedRange().slice(0, bytes);
    reader.unmap();
    if (kept && this.readers.length < READERS) this.readers.push(reader);
    else reader.destroy();
    await this.awaitErrors();
    return copy;
  }

  /** Waits for all that was submitted. */
  async finished(): Promise<void> {
    const device = this.enter();
    this.commands.flush();
    await this.waited(device.queue.onSubmittedWorkDone());
    await this.awaitErrors();
  }

  /** Throws what the driver has refused since the last time. */
  async awaitErrors(): Promise<void> {
    await Promise.all(this.owed);
    const failure = this.failures[0];
    this.failures.length = 0;
    if (failure) throw failure;
  }

  close(): void {
    if (this.closed) return;
    this.commands.flush();
    this.closed = true;
    this.device.destroy();
  }

  /** Subgroups can be folded over, and are numbered. */
  get hasSubgroups(): boolean {
    return this.device.features.has("subgroups") && (this.api.wgslLanguageFeatures as ReadonlySet<string>).has("subgroup_id");
  }

  /** Invocations of a subgroup that is full, where the adapter has one size. */
  get subgroupSize(): number | undefined {
    if (!this.hasSubgroups) return undefined;
    const { subgroupMinSize, subgroupMaxSize } = this.device.adapterInfo;
    return subgroupMinSize === subgroupMaxSize ? subgroupMinSize : undefined;
  }

  get hasTimestamps(): boolean {
    return this.device.features.has("timestamp-query");
  }

  /** Makes something under an error scope; what the driver says against it becomes an error of ours. */
  private guarded<T>(filter: GPUErrorFilter, make: () => T, error: () => IsoformError): T {
    this.device.pushErrorScope(filter);
    const made = make();
    this.owe(this.device.popErrorScope().then((refused) => void (refused && this.failures.push(error()))));
    return made;
  }

  private owe(answer: Promise<void>): void {
    // A device that is lost or closed meanwhile answers no more.
    const answered: Promise<void> = answer.catch(() => {}).finally(() => this.owed.delete(answered));
    this.owed.add(answered);
  }

  /** An answer of the driver; where there is none, the reason why. */
  private async waited<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      await this.awaitErrors();
      this.enter();
      throw new DeviceError(this.name, firstLine((error as Error).message));
    }
  }
}

/** Memory of one WebGPU device. */
export class GpuBuffer implements Buffer {
  readonly address = 0;
  writes = 0;
  private freed = false;

  constructor(
    readonly gpu: Gpu,
    readonly handle: GPUBuffer,
    readonly bytes: number,
  ) {}

  get memory(): MemorySpace {
    return this.gpu.memory;
  }
  get live(): boolean {
    return !this.freed;
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.gpu.release(this);
  }
}

/** The buffer of a view of this device. Throws LaunchError for another's. */
export function bufferOf(gpu: Gpu, buffer: Buffer): GpuBuffer {
  if (buffer instanceof GpuBuffer && buffer.gpu === gpu) return buffer;
  throw new LaunchError(
    `a view in the memory of ${buffer.memory.name} was given to "${gpu.name}"; read it, and write it to a view of ${gpu.name}`,
  );
}

const firstLine = (text: string): string => text.trim().split("\n")[0];

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toPrecision(3)} GiB`;
