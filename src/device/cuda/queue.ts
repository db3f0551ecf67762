import type { CopiedSize } from "../../emit/c/gpu/copy.js";
import type { ElementType } from "../../ir/types.js";
import { DeviceError, LaunchError } from "../../base/errors.js";
import { readView, writeView as writeHostView } from "../cpu/host-view.js";
import type { Device, DeviceEvent, Graph, Launch, Queue } from "../device.js";
import type { Binding } from "../launch/binding.js";
import { DeviceQueue, type CheckingEvent, type FaultsBefore } from "../launch/device-queue.js";
import { BYTES, type Buffer, type TypedArray, type TypedArrayOf, type View } from "../memory/view.js";
import { denseMemory, stridedMemory, stridedCopy } from "../gpu/copies.js";
import { GpuLaunch } from "../gpu/launch.js";
import { isGpuWork, type GpuWork } from "../gpu/work.js";
import type { Handle } from "./calls.js";
import { CudaCapture } from "./capture.js";
import { CudaBuffer, type CudaGpu } from "./gpu.js";
import { CudaGraph } from "./graph.js";
import { PinnedBuffer } from "./pinned.js";
import { untilReady } from "./staging.js";

/** Events that nothing refers to any more go back to the driver. */
const forgotten = new FinalizationRegistry<{ gpu: CudaGpu; event: Handle }>(({ gpu, event }) => {
  if (!gpu.isClosed) gpu.enter().call("cuEventDestroy_v2", event);
});

/** A stream of one GPU. */
export class CudaQueue extends DeviceQueue<GpuWork, CudaGraph> {
  private made: Handle | undefined;

  constructor(
    readonly device: Device,
    readonly gpu: CudaGpu,
    /** See `CudaGpu.createStream`. */
    readonly urgent = false,
  ) {
    super();
    gpu.requireOpen();
  }

  /** Made when it is first needed, as a GPU that was opened may not be there yet. */
  get stream(): Handle {
    return (this.made ??= this.gpu.createStream(this.urgent));
  }

  protected requireOpen(): void {
    this.gpu.enter();
  }

  get capturing(): boolean {
    return this.gpu.capture !== undefined;
  }

  protected ownLaunch(work: Launch | Graph): GpuWork | undefined {
    return isGpuWork(work) && work.gpu === this.gpu ? work : undefined;
  }

  protected ownGraph(work: Launch | Graph): CudaGraph | undefined {
    return work instanceof CudaGraph ? work : undefined;
  }

  protected enqueue(launch: GpuWork): void {
    launch.requireReady();
    this.gpu.capture?.launches.add(launch);
    launch.enqueue(this.stream);
  }

  protected override recordedBy(work: GpuWork | CudaGraph): readonly Binding[] {
    return work.recorded;
  }

  protected enqueueGraph(graph: CudaGraph): void {
    if (graph.gpu !== this.gpu)
      throw new LaunchError(`a graph that a queue of "${graph.gpu.name}" has captured was submitted to "${this.device.name}"`);
    graph.enqueue(this.stream);
  }

  protected capturesWith(other: Queue): other is CudaQueue {
    return other instanceof CudaQueue && other.gpu.driver === this.gpu.driver;
  }

  protected captureWork(record: () => void, others: readonly Queue[]): Graph {
    const forks = others.filter((other) => this.capturesWith(other));
    const gpus = new Set([this, ...forks].map(({ gpu }) => gpu));
    const captured = new CudaCapture([this, ...forks].some(({ urgent }) => urgent));
    return CudaGraph.capture(this, gpus, captured, () => {
      const start = this.record();
      for (const fork of forks) fork.wait(start);
      record();
      for (const fork of forks) this.wait(fork.record());
    });
  }

  protected writeData(target: View, data: ArrayLike<number>): void {
    enqueueWrite(this.gpu, target, data, this.stream);
  }

  protected copyViews(source: View, target: View): void {
    this.gpu.capture?.afterKernel.delete(this.stream);
    if (source.size === 0) return;
    if (source.buffer instanceof PinnedBuffer && source.contiguous && target.contiguous) return this.copyFromPinned(source, target);
    if (source.buffer.host) return this.write(target, readView(source));
    if (target.buffer instanceof PinnedBuffer && source.contiguous && target.contiguous) return this.copyToPinned(source, target);
    if (target.buffer.host) return writeHostView(target, this.readNow(source));
    const far = [source, target].find(({ buffer }) => buffer.memory !== this.gpu.memory)?.buffer;
    if (far) return this.copyToPeer(source, target, far);
    const driver = this.enter(source, target);
    const bytes = source.size * BYTES[source.type];
    if (source.contiguous && target.contiguous)
      driver.call("cuMemcpyDtoDAsync_v2", stridedMemory(target).address, stridedMemory(source).address, bytes, this.stream);
    else this.copyStrided(source, target);
  }

  protected clearView(target: View): void {
    const driver = this.enter(target);
    this.gpu.capture?.afterKernel.delete(this.stream);
    if (target.size === 0) return;
    if (target.contiguous) driver.call("cuMemsetD8Async", stridedMemory(target).address, 0, target.size * BYTES[target.type], this.stream);
    else this.write(target, new Uint8Array(target.size));
  }

  protected async readData<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    this.enter(source);
    const beforePoll = () => this.gpu.poll();
    if (source.contiguous || source.size === 0)
      return this.gpu.staging.read(stridedMemory(source).address, source.type, source.size, this.stream, beforePoll);
    const dense = this.pack(source);
    try {
      return await this.gpu.staging.read(dense.address, source.type, source.size, this.stream, beforePoll);
    } finally {
      dense.free();
    }
  }

  protected override readAside(source: View): Promise<TypedArray> {
    return this.gpu.staging.read(stridedMemory(source).address, source.type, source.size, this.gpu.aside, () => this.gpu.poll());
  }

  protected override readBlocking(source: View): TypedArray {
    return this.gpu.staging.readNow(stridedMemory(source).address, source.type, source.size, this.stream);
  }

  protected resultsOf(launch: Launch): Promise<Record<string, number>> | undefined {
    return launch instanceof GpuLaunch && launch.gpu === this.gpu && launch.ran ? this.readResults(launch) : undefined;
  }

  private async readResults(launch: GpuLaunch): Promise<Record<string, number>> {
    const { address, count } = launch.resultRange;
    const bytes = await this.gpu.staging.read(address, "f64", count, this.stream, () => this.gpu.poll());
    return launch.decodeResults(bytes.buffer);
  }

  protected recordEvent(): DeviceEvent {
    const driver = this.gpu.enter();
    const event = new CudaEvent(this.gpu, driver.handle("cuEventCreate", 0));
    driver.call("cuEventRecord", event.handle, this.stream);
    return event;
  }

  /** Ignores events of a CPU's queue: they have happened already. */
  protected waitFor(event: DeviceEvent): void {
    const driver = this.gpu.enter();
    if (!(event instanceof CudaEvent) || event.gpu.driver !== driver) return event.block();
    this.gpu.capture?.afterKernel.delete(this.stream);
    driver.call("cuStreamWaitEvent", this.stream, event.handle, 0);
  }

  protected async untilDone(): Promise<void> {
    const driver = this.gpu.enter();
    this.refuseInCapture("waiting for the end");
    await untilReady(driver, "cuStreamQuery", this.stream, () => this.gpu.poll());
  }

  /** The stream writes the memory later. */
  private copyToPinned(source: View, target: View): void {
    this.refuseInCapture("a copy to a CPU");
    const driver = this.enter(source);
    driver.call("cuMemcpyDtoHAsync_v2", placeOf(target), stridedMemory(source).address, source.size * BYTES[source.type], this.stream);
  }

  /** The stream reads the memory later. */
  private copyFromPinned(source: View, target: View): void {
    this.refuseInCapture("a copy from a CPU");
    const driver = this.enter(target);
    driver.call("cuMemcpyHtoDAsync_v2", stridedMemory(target).address, placeOf(source), source.size * BYTES[source.type], this.stream);
  }

  /** GPUs that reach each other do it without the host; else the driver takes the way through pinned host memory. */
  private copyToPeer(source: View, target: View, far: Buffer): void {
    if (!(far instanceof CudaBuffer) || far.gpu.driver !== this.gpu.driver) return void this.enter(source, target);
    const driver = this.enter(...[source, target].filter(({ buffer }) => buffer !== far));
    const reached = this.gpu.reaches(far.gpu);
    const contiguous = source.contiguous && target.contiguous;
    const bytes = source.size * BYTES[source.type];
    this.gpu.capture?.buffers.add(far);
    if (reached && !contiguous) this.copyStrided(source, target);
    else if (reached) driver.call("cuMemcpyDtoDAsync_v2", stridedMemory(target).address, stridedMemory(source).address, bytes, this.stream);
    else if (contiguous) {
      const operands = [target, source].flatMap((view) => [stridedMemory(view).address, (view.buffer as CudaBuffer).gpu.context]);
      driver.call("cuMemcpyPeerAsync", ...operands, bytes, this.stream);
    } else
      throw new LaunchError(
        `a copy of strided views between ${this.gpu.name} and ${far.gpu.name}, which do not reach each other's memory; copy contiguous views`,
      );
  }

  private copyStrided(source: View, target: View): void {
    stridedCopy(this.gpu, BYTES[source.type] as CopiedSize, source.shape, stridedMemory(source), stridedMemory(target)).enqueue(
      this.stream,
    );
  }

  /** New dense memory with the view's elements in `right` order. */
  private pack(source: View): CudaBuffer {
    const dense = this.gpu.allocate(source.size * BYTES[source.type]);
    const memory = denseMemory(dense.address, source.shape);
    stridedCopy(this.gpu, BYTES[source.type] as CopiedSize, source.shape, stridedMemory(source), memory).enqueue(this.stream);
    return dense;
  }

  /** As `read`, but the calling thread waits. */
  private readNow(source: View): TypedArray {
    this.refuseInCapture("a copy to a CPU");
    this.enter(source);
    const dense = source.contiguous ? undefined : this.pack(source);
    try {
      return this.gpu.staging.readNow(dense?.address ?? stridedMemory(source).address, source.type, source.size, this.stream);
    } finally {
      dense?.free();
    }
  }

  /** Throws LaunchError for a view that is not in this GPU's memory; a graph that is captured keeps an eye on the others. */
  private enter(...views: View[]) {
    const driver = this.gpu.enter();
    this.requireOwnMemory(views);
    for (const { buffer } of views) this.gpu.capture?.buffers.add(buffer as CudaBuffer);
    return driver;
  }
}

/** Address of a view of pinned memory, for the driver. */
const placeOf = ({ buffer, offset, type }: View): Handle => (buffer as PinnedBuffer).pointer + offset * BYTES[type];

/** Enqueues the copy of host data in `right` order to a view, one value for each element (see `requireData`), on `stream`. */
export function enqueueWrite(gpu: CudaGpu, target: View, data: ArrayLike<number>, stream: Handle): void {
  if (target.buffer.memory !== gpu.memory)
    throw new LaunchError(`a view in the memory of ${target.buffer.memory.name} was given to "${gpu.name}"`);
  gpu.enter();
  if (target.size === 0) return;
  if (target.contiguous) return gpu.staging.write(stridedMemory(target).address, target.type, data, stream);
  const dense = gpu.allocate(target.size * BYTES[target.type]);
  gpu.staging.write(dense.address, target.type, data, stream);
  stridedCopy(gpu, BYTES[target.type] as CopiedSize, target.shape, denseMemory(dense.address, target.shape), stridedMemory(target)).enqueue(
    stream,
  );
  dense.free();
}

/** A mark in a stream. */
class CudaEvent implements CheckingEvent {
  faults?: FaultsBefore;

  constructor(
    readonly gpu: CudaGpu,
    readonly handle: Handle,
  ) {
    forgotten.register(this, { gpu, event: handle });
  }

  async since(earlier: DeviceEvent): Promise<number> {
    if (!(earlier instanceof CudaEvent) || earlier.gpu !== this.gpu)
      throw new DeviceError(this.gpu.name, "the earlier event belongs to another device", "compare events of one device");
    await earlier.done();
    await this.done();
    const milliseconds = new Float32Array(1);
    this.gpu.enter().call("cuEventElapsedTime", milliseconds, earlier.handle, this.handle);
    return milliseconds[0] / 1000;
  }

  async done(): Promise<void> {
    await untilReady(this.gpu.enter(), "cuEventQuery", this.handle, () => this.gpu.poll());
    await this.faults?.look();
  }

  block(): void {
    this.gpu.waitNow(this.handle);
    this.faults?.lookNow();
  }
}
