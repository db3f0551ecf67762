import type { ElementType } from "../../ir/types.js";
import { LaunchError } from "../../ir/errors.js";
import type { DeviceEvent, Graph, Launch, Queue } from "../device.js";
import { requireAlike, requireData, type TypedArrayOf, type View } from "../memory/view.js";
import type { CpuDevice } from "./cpu-device.js";
import { capture, capturing, CpuGraph, note } from "./graph.js";
import { clearView, copyView, readView, writeView } from "./host-view.js";
import { CpuLaunch } from "./launch.js";

/** Work is done before `submit` returns, so queues and events need no waiting. */
export class CpuQueue implements Queue {
  constructor(readonly device: CpuDevice) {}

  submit(work: Launch | Graph): void {
    this.device.requireOpen();
    if (work instanceof CpuGraph) {
      if (capturing()) throw new LaunchError("a graph cannot be captured into another: capture what it was made of");
      return work.run();
    }
    if (!(work instanceof CpuLaunch) || work.device !== this.device)
      throw new LaunchError(
        "kernel" in work
          ? `a launch of kernel "${work.kernel.name}" that another device prepared was submitted to "${this.device.name}"`
          : `a graph that another kind of device has captured was submitted to "${this.device.name}"`,
      );
    if (!note(this.device, work)) work.run();
  }

  capture(record: () => void, others: readonly Queue[] = []): Graph {
    this.device.requireOpen();
    for (const other of others)
      if (!(other instanceof CpuQueue))
        throw new LaunchError(
          `queues of "${this.device.name}" and "${other.device.name}" cannot be captured together: a graph has devices of one kind`,
        );
    return capture(record);
  }

  write(target: View, data: ArrayLike<number>): void {
    this.device.requireOpen();
    this.refuseInCapture("a write");
    requireData(target.type, target.shape, data);
    writeView(target, data);
  }

  copy(source: View, target: View): void {
    this.device.requireOpen();
    requireAlike(source, target);
    if (!note(this.device, { source, target })) copyView(source, target);
  }

  clear(target: View): void {
    this.device.requireOpen();
    if (!note(this.device, { target })) clearView(target);
  }

  async read<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    this.device.requireOpen();
    this.refuseInCapture("a read");
    return readView(source);
  }

  async results(launch: Launch): Promise<Record<string, number>> {
    this.device.requireOpen();
    if (!(launch instanceof CpuLaunch) || launch.device !== this.device || !launch.results)
      throw new LaunchError(
        `results of a launch of kernel "${launch.kernel.name}" that has not run on "${this.device.name}", or was freed`,
      );
    return { ...launch.results };
  }

  record(): DeviceEvent {
    this.device.requireOpen();
    return new CpuEvent(performance.now() / 1000);
  }

  /** An event of a CPU has happened already; one of a GPU is waited for here and now. */
  wait(event: DeviceEvent): void {
    this.device.requireOpen();
    if (!(event instanceof CpuEvent)) this.refuseInCapture("waiting for another kind of device");
    event.block();
  }

  async finish(): Promise<void> {
    this.device.requireOpen();
  }

  private refuseInCapture(what: string): void {
    if (capturing())
      throw new LaunchError(`${what} on "${this.device.name}" cannot be captured: a graph holds launches, copies and clears`);
  }
}

class CpuEvent implements DeviceEvent {
  constructor(private readonly seconds: number) {}

  async since(earlier: DeviceEvent): Promise<number> {
    if (!(earlier instanceof CpuEvent)) throw new LaunchError("the earlier event is another device's");
    return this.seconds - earlier.seconds;
  }

  async done(): Promise<void> {}

  block(): void {}
}
