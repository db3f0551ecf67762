import type { ElementType } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import { readView } from "../cpu/host-view.js";
import type { Device, DeviceEvent, Graph, Launch, Queue } from "../device.js";
import { BYTES, type TypedArrayOf, type View } from "../memory/view.js";
import { denseBuffer, stridedBuffer, contiguousBytes, stridedCopy, type StridedBuffer } from "./copies.js";
import { WebGpuEvent, type Clock } from "./event.js";
import { bufferOf, type Gpu } from "./gpu.js";
import { Captured } from "./capture.js";
import { WebGpuGraph } from "./graph.js";
import { fromDevice, toDevice } from "./host-data.js";
import { WebGpuLaunch } from "./launch.js";
import { ClearStep, CopyStep, type EncodedStep } from "./steps.js";
import type { Binding as KernelBinding } from "../launch/binding.js";
import { DeviceQueue } from "../launch/device-queue.js";

/** All queues of a device are in order with each other: WebGPU has one. */
export class WebGpuQueue extends DeviceQueue<WebGpuLaunch, WebGpuGraph> {
  constructor(
    readonly device: Device,
    readonly gpu: Gpu,
    private readonly clock: () => Clock | undefined,
  ) {
    super();
  }

  protected requireOpen(): void {
    this.gpu.enter();
  }

  get capturing(): boolean {
    return this.gpu.capture !== undefined;
  }

  protected ownLaunch(work: Launch | Graph): WebGpuLaunch | undefined {
    return work instanceof WebGpuLaunch && work.gpu === this.gpu ? work : undefined;
  }

  protected ownGraph(work: Launch | Graph): WebGpuGraph | undefined {
    return work instanceof WebGpuGraph ? work : undefined;
  }

  protected enqueue(launch: WebGpuLaunch): void {
    launch.requireReady();
    const { capture, commands } = this.gpu;
    if (capture) {
      capture.launches.add(launch);
      capture.steps.push(...launch.steps);
      return;
    }
    for (const step of launch.steps) step.encode(commands);
    launch.ran = true;
  }

  protected override recordedBy(work: WebGpuLaunch | WebGpuGraph): readonly KernelBinding[] {
    return work.recorded;
  }

  protected enqueueGraph(graph: WebGpuGraph): void {
    if (graph.gpu !== this.gpu)
      throw new LaunchError(`a graph that a queue of "${graph.gpu.name}" has captured was submitted to "${this.device.name}"`);
    graph.run();
  }

  protected override readonly captureRule = "a graph of WebGPU has one device";

  protected capturesWith(other: Queue): boolean {
    return other instanceof WebGpuQueue && other.gpu === this.gpu;
  }

  protected captureWork(record: () => void): Graph {
    if (this.gpu.capture) throw new LaunchError("a capture inside a capture: capture the inner work on its own, before");
    const captured = new Captured();
    this.gpu.capture = captured;
    try {
      record();
    } finally {
      this.gpu.capture = undefined;
    }
    return new WebGpuGraph(this.gpu, captured);
  }

  protected writeData(target: View, data: ArrayLike<number>): void {
    writeView(this.gpu, target, data);
  }

  protected copyViews(source: View, target: View): void {
    if (source.size === 0) return;
    if (source.buffer.host) return this.write(target, readView(source));
    if (target.buffer.host)
      throw new LaunchError(
        `a copy from "${this.device.name}" to ${target.buffer.memory.name} would have to wait, which WebGPU cannot: await read(), and write what it gives`,
      );
    const [from, to] = [stridedBuffer(this.gpu, source), stridedBuffer(this.gpu, target)];
    const [old, span] = [contiguousBytes(source), contiguousBytes(target)];
    if (old && span && from.buffer !== to.buffer)
      this.give(
        new CopyStep(
          { buffer: from.buffer.handle, offset: old.begin, size: old.bytes },
          { buffer: to.buffer.handle, offset: span.begin, size: old.bytes },
        ),
        source,
        target,
      );
    else this.copyStrided(source, from, to, source, target);
  }

  protected clearView(target: View): void {
    const { handle } = bufferOf(this.gpu, target.buffer);
    if (target.size === 0) return;
    const span = contiguousBytes(target);
    if (span) this.give(new ClearStep({ buffer: handle, offset: span.begin, size: span.bytes }), target);
    else this.write(target, new Uint8Array(target.size));
  }

  protected async readData<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    const { handle } = bufferOf(this.gpu, source.buffer);
    const { type, size } = source;
    if (size === 0) return fromDevice(this.gpu, type, new ArrayBuffer(0), 0);
    const span = contiguousBytes(source);
    if (span) return fromDevice(this.gpu, type, await this.gpu.read(handle, span.begin, span.bytes), size);
    const dense = this.gpu.allocate(size * BYTES[type]);
    try {
      this.copyStrided(source, stridedBuffer(this.gpu, source), denseBuffer(dense, source.shape));
      return fromDevice(this.gpu, type, await this.gpu.read(dense.handle, 0, size * BYTES[type]), size);
    } finally {
      dense.free();
    }
  }

  protected resultsOf(launch: Launch): Promise<Record<string, number>> | undefined {
    return this.ownLaunch(launch)?.ran ? this.readResults(launch as WebGpuLaunch) : undefined;
  }

  private async readResults(launch: WebGpuLaunch): Promise<Record<string, number>> {
    const span = launch.resultRange;
    if (!span) return {};
    return launch.decodeResults(await this.gpu.read(span.buffer, span.offset, span.bytes));
  }

  protected recordEvent(): DeviceEvent {
    if (this.gpu.capture) return new CapturedEvent(this.gpu.name);
    return new WebGpuEvent(this.gpu, this.clock());
  }

  /** Work of one device is in order anyway; what a CPU's queue has recorded has happened already. */
  protected waitFor(event: DeviceEvent): void {
    if (event instanceof CapturedEvent || (event instanceof WebGpuEvent && event.gpu === this.gpu)) return;
    event.block();
  }

  protected async untilDone(): Promise<void> {
    this.refuseInCapture("waiting for the end");
    await this.gpu.finished();
  }

  private copyStrided(shaped: View, from: StridedBuffer, to: StridedBuffer, ...views: View[]): void {
    const { step, dispatches } = stridedCopy(this.gpu, BYTES[shaped.type], shaped.shape, from, to);
    this.give(step, ...views);
    if (this.gpu.capture) this.gpu.capture.dispatches.push(dispatches);
  }

  /** Runs a step, or notes it and the memory that it needs. */
  private give(step: EncodedStep, ...views: View[]): void {
    const { capture, commands } = this.gpu;
    if (!capture) return step.encode(commands);
    capture.steps.push(step);
    for (const { buffer } of views) capture.buffers.add(bufferOf(this.gpu, buffer));
  }
}

/** An event of a capture has the order of the capture, and no time. */
class CapturedEvent implements DeviceEvent {
  constructor(private readonly device: string) {}

  since(): Promise<number> {
    throw this.refusal();
  }
  done(): Promise<void> {
    throw this.refusal();
  }
  block(): void {
    throw this.refusal();
  }
  private refusal(): LaunchError {
    return new LaunchError(`an event of a capture on "${this.device}" has no time; record one outside`);
  }
}

/** Writes host data in `right` order to a view, one value for each element (see `requireData`). */
export function writeView(gpu: Gpu, target: View, data: ArrayLike<number>): void {
  const { handle } = bufferOf(gpu, target.buffer);
  if (target.size === 0) return;
  const bytes = toDevice(gpu, target.type, data);
  const span = contiguousBytes(target);
  // Writes whole words if the view ends its buffer: the bytes after it belong to nobody.
  const whole = target.contiguous && target.offset === 0 && target.size * BYTES[target.type] === target.buffer.bytes;
  if (span || whole) return gpu.commands.write(handle, span?.begin ?? 0, bytes);
  const dense = gpu.allocate(bytes.length);
  gpu.commands.write(dense.handle, 0, bytes);
  const { step } = stridedCopy(gpu, BYTES[target.type], target.shape, denseBuffer(dense, target.shape), stridedBuffer(gpu, target));
  step.encode(gpu.commands);
  dense.free();
}
