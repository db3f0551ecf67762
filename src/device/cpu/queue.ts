import { withInitialValues } from "../launch/initial-values.js";
import type { ElementType } from "../../ir/types.js";
import { LaunchError } from "../../ir/errors.js";
import type { DeviceEvent, Graph, Launch, Queue } from "../device.js";
import { DeviceQueue } from "../launch/device-queue.js";
import type { TypedArrayOf, View } from "../memory/view.js";
import { capture, capturing, CpuGraph, note, type RegionHost } from "./graph.js";
import { clearView, copyView, readView, writeView } from "./host-view.js";
import { CpuLaunch } from "./launch.js";
import { turn } from "./turns.js";

/** Work is done before `submit` returns, so queues and events need no waiting. */
export class CpuQueue extends DeviceQueue<CpuLaunch, CpuGraph> {
  constructor(readonly device: RegionHost) {
    super();
  }

  protected requireOpen(): void {
    this.device.requireOpen();
  }

  get capturing(): boolean {
    return capturing();
  }

  protected ownLaunch(work: Launch | Graph): CpuLaunch | undefined {
    return work instanceof CpuLaunch && work.device === this.device ? work : undefined;
  }

  protected ownGraph(work: Launch | Graph): CpuGraph | undefined {
    return work instanceof CpuGraph ? work : undefined;
  }

  protected enqueue(launch: CpuLaunch): void {
    if (!note(this.device, launch)) launch.run();
  }

  protected enqueueGraph(graph: CpuGraph): void {
    graph.run();
  }

  protected capturesWith(other: Queue): boolean {
    return other instanceof CpuQueue;
  }

  protected captureWork(record: () => void): Graph {
    return capture(record);
  }

  protected writeData(target: View, data: ArrayLike<number>): void {
    writeView(target, data);
  }

  protected copyViews(source: View, target: View): void {
    if (!note(this.device, { source, target })) copyView(source, target);
  }

  protected clearView(target: View): void {
    if (!note(this.device, { target })) clearView(target);
  }

  protected readData<T extends ElementType>(source: View<T>): TypedArrayOf<T> {
    return readView(source);
  }

  protected resultsOf(launch: Launch): Record<string, number> | undefined {
    const { results, latest, binding } = this.ownLaunch(launch) ?? {};
    if (latest) return { ...latest };
    return results && withInitialValues(binding!, { ...results });
  }

  protected recordEvent(): DeviceEvent {
    return new CpuEvent(performance.now() / 1000);
  }

  /** An event of a CPU has happened already; one of a GPU is waited for here and now. */
  protected waitFor(event: DeviceEvent): void {
    if (!(event instanceof CpuEvent)) this.refuseInCapture("waiting for another kind of device");
    event.block();
  }

  protected async untilDone(): Promise<void> {
    await turn();
  }

  protected override pause(): Promise<void> | undefined {
    return turn();
  }
}

class CpuEvent implements DeviceEvent {
  constructor(private readonly seconds: number) {}

  async since(earlier: DeviceEvent): Promise<number> {
    if (!(earlier instanceof CpuEvent)) throw new LaunchError("the earlier event belongs to another device");
    return this.seconds - earlier.seconds;
  }

  async done(): Promise<void> {
    await turn();
  }

  block(): void {}
}
