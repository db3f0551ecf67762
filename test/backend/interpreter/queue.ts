import { LaunchError, type View } from "isoform";
import {
  clearView,
  copyView,
  ListLaunch,
  readView,
  requireAlike,
  requireData,
  writeView,
  writtenResults,
  type DeviceEvent,
  type Graph,
  type Launch,
  type Queue,
  type TypedArrayOf,
} from "isoform/backend";
import type { ElementType } from "isoform/ir";
import type { InterpreterDevice } from "./device.js";
import { InterpreterGraph, type Captured } from "./graph.js";
import { InterpreterLaunch } from "./launch.js";

/** Work is done when it is submitted, so that all queues of the device are in order, and events have happened. */
export class InterpreterQueue implements Queue {
  constructor(readonly device: InterpreterDevice) {}

  submit(work: Launch | Graph): void {
    this.device.requireOpen();
    if (work instanceof InterpreterGraph) {
      if (this.device.capturing) throw new LaunchError("a graph cannot be captured into another: capture what it was made of");
      return work.run();
    }
    if (work instanceof ListLaunch) return work.submitBy((each) => this.submit(each));
    const launch = this.own(work) ?? this.refuse(work, `that another device prepared was submitted to "${this.device.name}"`);
    this.do({ work: () => launch.run(), requireReady: () => launch.requireReady(), views: [] });
  }

  capture(record: () => void, others: readonly Queue[] = []): Graph {
    const { device } = this;
    device.requireOpen();
    if (device.capturing) throw new LaunchError("a capture inside a capture: end one first");
    if (others.some((other) => other.device !== device)) throw new LaunchError("a graph has queues of one interpreter");
    const captured: Captured[] = [];
    device.capturing = captured;
    try {
      record();
    } finally {
      device.capturing = undefined;
    }
    return new InterpreterGraph(device, captured);
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
    this.do({ work: () => copyView(source, target), views: [source, target] });
  }

  clear(target: View): void {
    this.device.requireOpen();
    this.do({ work: () => clearView(target), views: [target] });
  }

  async read<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    this.device.requireOpen();
    this.refuseInCapture("a read");
    return readView(source);
  }

  async results(launch: Launch): Promise<Record<string, number>> {
    this.device.requireOpen();
    const own = launch instanceof ListLaunch ? launch : this.own(launch);
    if (own?.others.last) return this.results(own.others.last);
    if (own instanceof ListLaunch) return (await own.resultsOn(this)) as Record<string, number>;
    const results = own?.results ?? this.refuse(launch, `that has not run on "${this.device.name}", or was freed`);
    return writtenResults(launch.kernel, { ...results }) as Record<string, number>;
  }

  record(): DeviceEvent {
    this.device.requireOpen();
    return new InterpreterEvent(performance.now() / 1000);
  }

  wait(event: DeviceEvent): void {
    this.device.requireOpen();
    event.block();
  }

  async finish(): Promise<void> {
    this.device.requireOpen();
  }

  /** Now, or when the graph that is being captured runs. */
  private do(item: Captured): void {
    if (this.device.capturing) this.device.capturing.push(item);
    else item.work();
  }

  private own(work: Launch | Graph): InterpreterLaunch | undefined {
    return work instanceof InterpreterLaunch && work.device === this.device ? work : undefined;
  }

  private refuse(work: Launch | Graph, why: string): never {
    throw new LaunchError("kernel" in work ? `a launch of kernel "${work.kernel.name}" ${why}` : `a graph ${why}`);
  }

  private refuseInCapture(what: string): void {
    if (this.device.capturing) throw new LaunchError(`${what} on "${this.device.name}" cannot be captured`);
  }
}

class InterpreterEvent implements DeviceEvent {
  constructor(private readonly seconds: number) {}

  async since(earlier: DeviceEvent): Promise<number> {
    if (!(earlier instanceof InterpreterEvent)) throw new LaunchError("the earlier event belongs to another device");
    return this.seconds - earlier.seconds;
  }

  async done(): Promise<void> {}

  block(): void {}
}
