import type { ElementType } from "../../ir/types.js";
import { LaunchError } from "../../ir/errors.js";
import { readView, writeView as writeHostView } from "../cpu/host-view.js";
import type { Device, DeviceEvent, Graph, Launch, Queue } from "../device.js";
import { stridedMemory, stridedCopy } from "../gpu/copies.js";
import { GpuLaunch } from "../gpu/launch.js";
import type { Step } from "../gpu/steps.js";
import { BYTES, requireAlike, requireData, type TypedArray, type TypedArrayOf, type View } from "../memory/view.js";
import type { Handle } from "./api.js";
import { captureCommands, capturing } from "./capture.js";
import { Completion, OpenclEvent } from "./events.js";
import { OpenclGraph } from "./graph.js";
import { OpenclMemory, type OpenclMachine } from "./machine.js";
import { downloadNow, fillView, readBytes, startDownload, Uploads } from "./transfers.js";

/** An in-order command queue of one device. */
export class OpenclQueue implements Queue {
  readonly stream: Handle;
  private readonly uploads: Uploads;

  constructor(
    readonly device: Device,
    readonly machine: OpenclMachine,
  ) {
    this.stream = machine.createQueue();
    this.uploads = new Uploads(machine);
  }

  submit(work: Launch | Graph): void {
    const cl = this.machine.enter();
    if (work instanceof OpenclGraph) {
      if (capturing()) throw new LaunchError("a graph cannot be captured into another: capture what it was made of");
      work.enqueue(this);
    } else {
      if (!(work instanceof GpuLaunch) || work.gpu !== this.machine)
        throw new LaunchError(
          "kernel" in work
            ? `a launch of kernel "${work.kernel.name}" that another device prepared was submitted to "${this.device.name}"`
            : `a graph that another kind of device has captured was submitted to "${this.device.name}"`,
        );
      work.requireReady();
      capturing()?.launches.add(work);
      this.give({ enqueue: (stream) => work.enqueue(stream) });
    }
    if (!capturing()) cl.call("clFlush", this.stream);
  }

  capture(record: () => void, others: readonly Queue[] = []): Graph {
    this.machine.enter();
    for (const other of others)
      if (!(other instanceof OpenclQueue))
        throw new LaunchError(
          `queues of "${this.device.name}" and "${other.device.name}" cannot be captured together: a graph has devices of one kind`,
        );
    return new OpenclGraph(this, captureCommands(record));
  }

  write(target: View, data: ArrayLike<number>): void {
    this.machine.enter();
    this.refuseInCapture("a write");
    requireData(target.type, target.shape, data);
    this.requireOwn(target);
    this.uploads.write(target, data, this.stream);
  }

  copy(source: View, target: View): void {
    this.machine.enter();
    requireAlike(source, target);
    if (source.size === 0) return;
    if (source.buffer.host) return this.write(target, readView(source));
    if (target.buffer.host) return writeHostView(target, this.readNow(source));
    const [from, to] = [source.buffer, target.buffer];
    if (from.memory !== to.memory && from instanceof OpenclMemory && to instanceof OpenclMemory)
      return this.copyBetween(source, target, from, to);
    this.requireOwn(source, target);
    if (source.contiguous && target.contiguous) this.give(this.copyStep(source, target));
    else this.give(this.stridedStep(source, stridedMemory(source), stridedMemory(target)));
  }

  clear(target: View): void {
    this.machine.enter();
    this.requireOwn(target);
    if (target.size === 0) return;
    if (target.contiguous) this.give(this.machine.fillStep(stridedMemory(target).address, 0, target.size * BYTES[target.type]));
    else this.write(target, new Uint8Array(target.size));
  }

  async read<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    this.machine.enter();
    this.refuseInCapture("a read");
    this.requireOwn(source);
    const download = startDownload(this.machine, source, this.stream);
    await download.completion?.wait();
    return download.take();
  }

  async results(launch: Launch): Promise<Record<string, number>> {
    this.machine.enter();
    if (!(launch instanceof GpuLaunch) || launch.gpu !== this.machine || !launch.ran)
      throw new LaunchError(
        `results of a launch of kernel "${launch.kernel.name}" that has not run on "${this.device.name}", or was freed`,
      );
    const { address, count } = launch.resultRange;
    const { buffer, completion } = readBytes(this.machine, address, 8 * count, this.stream);
    await completion?.wait();
    return launch.decodeResults(buffer);
  }

  record(): DeviceEvent {
    this.machine.enter();
    const event = new OpenclEvent(this.machine);
    this.give({
      enqueue: (stream) => {
        event.completion = this.mark(stream);
      },
    });
    return event;
  }

  /** What another kind of device has recorded is waited for here and now, and so is another OpenCL device's. */
  wait(event: DeviceEvent): void {
    this.machine.enter();
    if (!(event instanceof OpenclEvent)) return event.block();
    this.give({
      enqueue: (stream) => {
        const { completion } = event;
        if (event.machine !== this.machine || !completion) event.block();
        else {
          const list = new BigUint64Array([BigInt(completion.handle)]);
          this.machine.enter().call("clEnqueueBarrierWithWaitList", stream, 1, list, null);
        }
      },
    });
  }

  async finish(): Promise<void> {
    this.machine.enter();
    this.refuseInCapture("waiting for the end");
    await this.mark(this.stream).wait();
  }

  /** Enqueues a step, or notes it for the graph that is captured. */
  private give(step: Step): void {
    const captured = capturing();
    if (captured) captured.commands.push({ queue: this, enqueue: (stream) => step.enqueue(stream), free: () => step.free?.() });
    else {
      step.enqueue(this.stream);
      step.free?.();
    }
  }

  /** The end of all that was enqueued to `stream` so far, which begins to run. */
  private mark(stream: Handle): Completion {
    const cl = this.machine.enter();
    const completion = new Completion(this.machine, cl.event("clEnqueueMarkerWithWaitList", stream, 0, null));
    cl.call("clFlush", stream);
    return completion;
  }

  private copyStep(source: View, target: View): Step {
    const { machine } = this;
    const [from, to] = [source, target].map((view) => machine.addresses.find(stridedMemory(view).address));
    const bytes = source.size * BYTES[source.type];
    return {
      enqueue: (stream) =>
        machine.enter().call("clEnqueueCopyBuffer", stream, from.memory, to.memory, from.first, to.first, bytes, 0, null, null),
    };
  }

  private stridedStep({ type, shape }: View, from: ReturnType<typeof stridedMemory>, to: ReturnType<typeof stridedMemory>): Step {
    return stridedCopy(this.machine, BYTES[type] as 1 | 4 | 8, shape, from, to);
  }

  /** Between two devices, whose contexts share nothing: through the host, which waits. */
  private copyBetween(source: View, target: View, from: OpenclMemory, to: OpenclMemory): void {
    for (const buffer of [from, to]) capturing()?.buffers.add(buffer);
    this.give({
      enqueue: (stream) =>
        fillView(to.machine, target, downloadNow(from.machine, source, from.machine === this.machine ? stream : from.machine.transfers)),
    });
  }

  /** As `read`, but the calling thread waits. */
  private readNow(source: View): TypedArray {
    this.refuseInCapture("a copy to a CPU");
    this.requireOwn(source);
    return downloadNow(this.machine, source, this.stream);
  }

  private refuseInCapture(what: string): void {
    if (capturing())
      throw new LaunchError(`${what} on "${this.device.name}" cannot be captured: a graph holds launches, copies and clears`);
  }

  /** Throws LaunchError for a view that is not in this device's memory; a graph that is captured keeps an eye on the others. */
  private requireOwn(...views: View[]): void {
    for (const { buffer } of views)
      if (buffer.memory !== this.machine.memory)
        throw new LaunchError(
          `a view in the memory of ${buffer.memory.name} was given to "${this.device.name}"; read it, and write it to a view of ${this.device.name}`,
        );
    for (const { buffer } of views) capturing()?.buffers.add(buffer as OpenclMemory);
  }
}
