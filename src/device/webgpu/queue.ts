import type { ElementType } from "../../ir/types.js";
import { LaunchError } from "../../ir/errors.js";
import { readView } from "../cpu/host-view.js";
import type { Device, DeviceEvent, Graph, Launch, Queue } from "../device.js";
import { BYTES, requireAlike, requireData, type TypedArrayOf, type View } from "../memory/view.js";
import { denseBuffer, stridedBuffer, contiguousBytes, stridedCopy, type StridedBuffer } from "./copies.js";
import { WebGpuEvent, type Clock } from "./event.js";
import { bufferOf, type Gpu } from "./gpu.js";
import { Captured, WebGpuGraph } from "./graph.js";
import { fromDevice, toDevice } from "./host-data.js";
import { WebGpuLaunch } from "./launch.js";
import { ClearStep, CopyStep, type Step } from "./steps.js";

/** All queues of a device are in order with each other: WebGPU has one. */
export class WebGpuQueue implements Queue {
  constructor(
    readonly device: Device,
    readonly gpu: Gpu,
    private readonly clock: () => Clock | undefined,
  ) {}

  submit(work: Launch | Graph): void {
    this.gpu.enter();
    const { capture, commands } = this.gpu;
    if (work instanceof WebGpuGraph) {
      if (capture) throw new LaunchError("a graph cannot be captured into another: capture what it was made of");
      if (work.gpu !== this.gpu)
        throw new LaunchError(`a graph that a queue of "${work.gpu.name}" has captured was submitted to "${this.device.name}"`);
      return work.run();
    }
    if (!(work instanceof WebGpuLaunch) || work.gpu !== this.gpu)
      throw new LaunchError(
        "kernel" in work
          ? `a launch of kernel "${work.kernel.name}" that another device prepared was submitted to "${this.device.name}"`
          : `a graph that another kind of device has captured was submitted to "${this.device.name}"`,
      );
    work.requireReady();
    if (capture) {
      capture.launches.add(work);
      capture.steps.push(...work.steps);
      return;
    }
    for (const step of work.steps) step.encode(commands);
    work.ran = true;
  }

  capture(record: () => void, others: readonly Queue[] = []): Graph {
    this.gpu.enter();
    for (const other of others)
      if (!(other instanceof WebGpuQueue) || other.gpu !== this.gpu)
        throw new LaunchError(
          `queues of "${this.device.name}" and "${other.device.name}" cannot be captured together: a graph of WebGPU has one device`,
        );
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

  write(target: View, data: ArrayLike<number>): void {
    this.gpu.enter();
    this.refuseInCapture("a write");
    requireData(target.type, target.shape, data);
    writeView(this.gpu, target, data);
  }

  copy(source: View, target: View): void {
    this.gpu.enter();
    requireAlike(source, target);
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

  clear(target: View): void {
    this.gpu.enter();
    const { handle } = bufferOf(this.gpu, target.buffer);
    if (target.size === 0) return;
    const span = contiguousBytes(target);
    if (span) this.give(new ClearStep({ buffer: handle, offset: span.begin, size: span.bytes }), target);
    else this.write(target, new Uint8Array(target.size));
  }

  async read<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    this.gpu.enter();
    this.refuseInCapture("a read");
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

  async results(launch: Launch): Promise<Record<string, number>> {
    this.gpu.enter();
    if (!(launch instanceof WebGpuLaunch) || launch.gpu !== this.gpu || !launch.ran)
      throw new LaunchError(
        `results of a launch of kernel "${launch.kernel.name}" that has not run on "${this.device.name}", or was freed`,
      );
    const span = launch.resultRange;
    if (!span) return {};
    return launch.decodeResults(await this.gpu.read(span.buffer, span.offset, span.bytes));
  }

  record(): DeviceEvent {
    this.gpu.enter();
    if (this.gpu.capture) return new CapturedEvent(this.gpu.name);
    return new WebGpuEvent(this.gpu, this.clock());
  }

  /** Work of one device is in order anyway; what a CPU's queue has recorded has happened already. */
  wait(event: DeviceEvent): void {
    this.gpu.enter();
    if (event instanceof CapturedEvent || (event instanceof WebGpuEvent && event.gpu === this.gpu)) return;
    event.block();
  }

  async finish(): Promise<void> {
    this.gpu.enter();
    this.refuseInCapture("waiting for the end");
    await this.gpu.finished();
  }

  private copyStrided(shaped: View, from: StridedBuffer, to: StridedBuffer, ...views: View[]): void {
    const { step, uniforms } = stridedCopy(this.gpu, BYTES[shaped.type], shaped.shape, from, to);
    this.give(step, ...views);
    if (this.gpu.capture) this.gpu.capture.uniforms.push(uniforms);
  }

  /** Runs a step, or notes it and the memory that it needs. */
  private give(step: Step, ...views: View[]): void {
    const { capture, commands } = this.gpu;
    if (!capture) return step.encode(commands);
    capture.steps.push(step);
    for (const { buffer } of views) capture.buffers.add(bufferOf(this.gpu, buffer));
  }

  private refuseInCapture(what: string): void {
    if (this.gpu.capture)
      throw new LaunchError(`${what} on "${this.device.name}" cannot be captured: a graph holds launches, copies and clears`);
  }
}

/** An event of a capture tells an order, which is that of the capture, and no time. */
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
    return new LaunchError(`an event of a capture on "${this.device}" tells an order and no time; record one outside`);
  }
}

/** Writes host data in `right` order to a view, one value for each element (see `requireData`). */
export function writeView(gpu: Gpu, target: View, data: ArrayLike<number>): void {
  const { handle } = bufferOf(gpu, target.buffer);
  if (target.size === 0) return;
  const bytes = toDevice(gpu, target.type, data);
  const span = contiguousBytes(target);
  // What follows the end of a buffer's last word is nobody's.
  const whole = target.contiguous && target.offset === 0 && target.size * BYTES[target.type] === target.buffer.bytes;
  if (span || whole) return gpu.commands.write(handle, span?.begin ?? 0, bytes);
  const dense = gpu.allocate(bytes.length);
  gpu.commands.write(dense.handle, 0, bytes);
  const { step } = stridedCopy(gpu, BYTES[target.type], target.shape, denseBuffer(dense, target.shape), stridedBuffer(gpu, target));
  step.encode(gpu.commands);
  dense.free();
}
