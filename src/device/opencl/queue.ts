import type { ElementType } from "../../ir/types.js";
import { readView, writeView as writeHostView } from "../cpu/host-view.js";
import type { Device, DeviceEvent, Graph, Launch, Queue } from "../device.js";
import { stridedMemory, stridedCopy } from "../gpu/copies.js";
import { GpuLaunch } from "../gpu/launch.js";
import type { StreamStep } from "../gpu/steps.js";
import type { Binding } from "../launch/binding.js";
import { DeviceQueue } from "../launch/device-queue.js";
import { BYTES, type TypedArray, type TypedArrayOf, type View } from "../memory/view.js";
import type { OpenclHandle } from "./api.js";
import { captureCommands, openclCapturing } from "./capture.js";
import { Completion, OpenclEvent } from "./events.js";
import { OpenclGraph } from "./graph.js";
import { OpenclMemory, type OpenclMachine } from "./machine.js";
import { downloadNow, fillBuffer, enqueueRead, startDownload, Uploads } from "./transfers.js";

/** An in-order command queue of one device. */
export class OpenclQueue extends DeviceQueue<GpuLaunch, OpenclGraph> {
  readonly stream: OpenclHandle;
  private readonly uploads: Uploads;

  constructor(
    readonly device: Device,
    readonly machine: OpenclMachine,
  ) {
    super();
    this.stream = machine.createQueue();
    this.uploads = new Uploads(machine);
  }

  protected requireOpen(): void {
    this.machine.enter();
  }

  get capturing(): boolean {
    return openclCapturing() !== undefined;
  }

  protected ownLaunch(work: Launch | Graph): GpuLaunch | undefined {
    return work instanceof GpuLaunch && work.gpu === this.machine ? work : undefined;
  }

  protected ownGraph(work: Launch | Graph): OpenclGraph | undefined {
    return work instanceof OpenclGraph ? work : undefined;
  }

  protected enqueue(launch: GpuLaunch): void {
    launch.requireReady();
    openclCapturing()?.launches.add(launch);
    this.give({ enqueue: (stream) => launch.enqueue(stream) });
    if (!openclCapturing()) this.flush();
  }

  protected override recordedBy(work: GpuLaunch | OpenclGraph): readonly Binding[] {
    return work.recorded;
  }

  protected enqueueGraph(graph: OpenclGraph): void {
    graph.enqueue(this);
    this.flush();
  }

  private flush(): void {
    this.machine.enter().call("clFlush", this.stream);
  }

  protected capturesWith(other: Queue): boolean {
    return other instanceof OpenclQueue;
  }

  protected captureWork(record: () => void): Graph {
    return new OpenclGraph(this, captureCommands(record));
  }

  protected writeData(target: View, data: ArrayLike<number>): void {
    this.requireOwn(target);
    this.uploads.write(target, data, this.stream);
  }

  protected copyViews(source: View, target: View): void {
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

  protected clearView(target: View): void {
    this.requireOwn(target);
    if (target.size === 0) return;
    if (target.contiguous) this.give(this.machine.fillStep(stridedMemory(target).address, 0, target.size * BYTES[target.type]));
    else this.write(target, new Uint8Array(target.size));
  }

  protected async readData<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    this.requireOwn(source);
    return this.download(source, this.stream);
  }

  protected override readAside(source: View): Promise<TypedArray> {
    return this.download(source, this.machine.transfers);
  }

  protected override readBlocking(source: View): TypedArray {
    return downloadNow(this.machine, source, this.stream);
  }

  private async download<T extends ElementType>(source: View<T>, stream: OpenclHandle): Promise<TypedArrayOf<T>> {
    const download = startDownload(this.machine, source, stream);
    await download.completion?.wait();
    return download.take();
  }

  protected resultsOf(launch: Launch): Promise<Record<string, number>> | undefined {
    return this.ownLaunch(launch)?.ran ? this.readResults(launch as GpuLaunch) : undefined;
  }

  private async readResults(launch: GpuLaunch): Promise<Record<string, number>> {
    const { address, count } = launch.resultRange;
    const { buffer, completion } = enqueueRead(this.machine, address, 8 * count, this.stream);
    await completion?.wait();
    return launch.decodeResults(buffer);
  }

  protected recordEvent(): DeviceEvent {
    const event = new OpenclEvent(this.machine);
    this.give({
      enqueue: (stream) => {
        event.completion = this.mark(stream);
      },
    });
    return event;
  }

  /** Waits here and now for events of another kind of device, and of another OpenCL device. */
  protected waitFor(event: DeviceEvent): void {
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

  protected async untilDone(): Promise<void> {
    this.refuseInCapture("waiting for the end");
    await this.mark(this.stream).wait();
  }

  /** Enqueues a step, or notes it for the graph that is captured. */
  private give(step: StreamStep): void {
    const captured = openclCapturing();
    if (captured) captured.commands.push({ queue: this, enqueue: (stream) => step.enqueue(stream), free: () => step.free?.() });
    else {
      step.enqueue(this.stream);
      step.free?.();
    }
  }

  /** The end of all that was enqueued to `stream` so far, which begins to run. */
  private mark(stream: OpenclHandle): Completion {
    const cl = this.machine.enter();
    const completion = new Completion(this.machine, cl.event("clEnqueueMarkerWithWaitList", stream, 0, null));
    cl.call("clFlush", stream);
    return completion;
  }

  private copyStep(source: View, target: View): StreamStep {
    const { machine } = this;
    const [from, to] = [source, target].map((view) => machine.addresses.find(stridedMemory(view).address));
    const bytes = source.size * BYTES[source.type];
    return {
      enqueue: (stream) =>
        machine.enter().call("clEnqueueCopyBuffer", stream, from.memory, to.memory, from.first, to.first, bytes, 0, null, null),
    };
  }

  private stridedStep({ type, shape }: View, from: ReturnType<typeof stridedMemory>, to: ReturnType<typeof stridedMemory>): StreamStep {
    return stridedCopy(this.machine, BYTES[type] as 1 | 4 | 8, shape, from, to);
  }

  /** Between two devices, whose contexts share nothing: through the host, which waits. */
  private copyBetween(source: View, target: View, from: OpenclMemory, to: OpenclMemory): void {
    for (const buffer of [from, to]) openclCapturing()?.buffers.add(buffer);
    this.give({
      enqueue: (stream) =>
        fillBuffer(to.machine, target, downloadNow(from.machine, source, from.machine === this.machine ? stream : from.machine.transfers)),
    });
  }

  /** As `read`, but the calling thread waits. */
  private readNow(source: View): TypedArray {
    this.refuseInCapture("a copy to a CPU");
    this.requireOwn(source);
    return downloadNow(this.machine, source, this.stream);
  }

  /** Throws LaunchError for a view that is not in this device's memory; a graph that is captured keeps an eye on the others. */
  private requireOwn(...views: View[]): void {
    this.requireOwnMemory(views);
    for (const { buffer } of views) openclCapturing()?.buffers.add(buffer as OpenclMemory);
  }
}
