import { LaunchError } from "../../ir/errors.js";
import type { ElementType } from "../../ir/types.js";
import type { Device, DeviceEvent, Graph, Launch, Queue } from "../device.js";
import { requireAlike, requireData, type TypedArrayOf, type View } from "../memory/view.js";

/** What is between the lines of all queues: what they refuse, and in which words. A backend adds what is done. */
export abstract class DeviceQueue<OwnLaunch extends Launch, OwnGraph extends Graph> implements Queue {
  abstract readonly device: Device;

  /** Throws DeviceError once the device is closed. */
  protected abstract requireOpen(): void;
  /** True while work is noted for a graph instead of run. */
  protected abstract readonly capturing: boolean;

  /** The launch, where this device has prepared it. */
  protected abstract ownLaunch(work: Launch | Graph): OwnLaunch | undefined;
  /** The graph, where a queue of this kind has captured it. */
  protected abstract ownGraph(work: Launch | Graph): OwnGraph | undefined;
  /** Enqueues a launch, or notes it. Throws LaunchError where it was freed. */
  protected abstract enqueue(launch: OwnLaunch): void;
  protected abstract enqueueGraph(graph: OwnGraph): void;

  submit(work: Launch | Graph): void {
    this.requireOpen();
    const launch = this.ownLaunch(work);
    if (launch) return this.enqueue(launch);
    const graph = this.ownGraph(work);
    if (!graph)
      throw new LaunchError(
        "kernel" in work
          ? `a launch of kernel "${work.kernel.name}" that another device prepared was submitted to "${this.device.name}"`
          : `a graph that another kind of device has captured was submitted to "${this.device.name}"`,
      );
    if (this.capturing) throw new LaunchError("a graph cannot be captured into another: capture what it was made of");
    this.enqueueGraph(graph);
  }

  /** Queues that one graph can have work of. */
  protected abstract capturesWith(other: Queue): boolean;
  /** What they have in common, in words. */
  protected readonly captureRule: string = "a graph has devices of one kind";
  protected abstract captureWork(record: () => void, others: readonly Queue[]): Graph;

  capture(record: () => void, others: readonly Queue[] = []): Graph {
    this.requireOpen();
    for (const other of others)
      if (!this.capturesWith(other))
        throw new LaunchError(
          `queues of "${this.device.name}" and "${other.device.name}" cannot be captured together: ${this.captureRule}`,
        );
    return this.captureWork(record, others);
  }

  /** Host data in `right` order, one value for each element. */
  protected abstract writeData(target: View, data: ArrayLike<number>): void;

  write(target: View, data: ArrayLike<number>): void {
    this.requireOpen();
    this.refuseInCapture("a write");
    requireData(target.type, target.shape, data);
    this.writeData(target, data);
  }

  /** Between views of one shape and type. */
  protected abstract copyViews(source: View, target: View): void;

  copy(source: View, target: View): void {
    this.requireOpen();
    requireAlike(source, target);
    this.copyViews(source, target);
  }

  protected abstract clearView(target: View): void;

  clear(target: View): void {
    this.requireOpen();
    this.clearView(target);
  }

  protected abstract readData<T extends ElementType>(source: View<T>): TypedArrayOf<T> | Promise<TypedArrayOf<T>>;

  async read<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    this.requireOpen();
    this.refuseInCapture("a read");
    return this.readData(source);
  }

  /** Undefined for a launch that has not run here, or was freed. */
  protected abstract resultsOf(launch: Launch): Record<string, number> | Promise<Record<string, number>> | undefined;

  async results(launch: Launch): Promise<Record<string, number>> {
    this.requireOpen();
    const results = this.resultsOf(launch);
    if (!results)
      throw new LaunchError(
        `results of a launch of kernel "${launch.kernel.name}" that has not run on "${this.device.name}", or was freed`,
      );
    return results;
  }

  protected abstract recordEvent(): DeviceEvent;

  record(): DeviceEvent {
    this.requireOpen();
    return this.recordEvent();
  }

  protected abstract waitFor(event: DeviceEvent): void;

  wait(event: DeviceEvent): void {
    this.requireOpen();
    this.waitFor(event);
  }

  /** Resolves once all that was enqueued is done. */
  protected abstract untilDone(): Promise<void>;

  async finish(): Promise<void> {
    this.requireOpen();
    await this.untilDone();
  }

  /** Throws LaunchError while work is captured. */
  protected refuseInCapture(what: string): void {
    if (this.capturing)
      throw new LaunchError(`${what} on "${this.device.name}" cannot be captured: a graph holds launches, copies and clears`);
  }

  /** Throws LaunchError for a view in another device's memory. */
  protected requireOwnMemory(views: readonly View[]): void {
    for (const { buffer } of views)
      if (buffer.memory !== this.device.memory)
        throw new LaunchError(
          `a view in the memory of ${buffer.memory.name} was given to "${this.device.name}"; read it, and write it to a view of ${this.device.name}`,
        );
  }
}
