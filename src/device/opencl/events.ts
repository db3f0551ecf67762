import { DeviceError } from "../../base/errors.js";
import type { DeviceEvent } from "../device.js";
import type { CheckingEvent, FaultsBefore } from "../launch/device-queue.js";
import { failure, type OpenclHandle } from "./api.js";
import type { OpenclMachine } from "./machine.js";

const EXECUTION_STATUS = 0x11d3;
const COMPLETE = 0;
const PROFILED_END = 0x1283;

/** Events that nothing refers to any more go back to the driver. */
const forgotten = new FinalizationRegistry<{ machine: OpenclMachine; event: OpenclHandle }>(({ machine, event }) => {
  if (!machine.isClosed) machine.enter().status("clReleaseEvent", event);
});

/** The end of a command. */
export class Completion {
  constructor(
    private readonly machine: OpenclMachine,
    readonly handle: OpenclHandle,
  ) {
    forgotten.register(this, { machine, event: handle });
  }

  /** False while the command is under way. Throws DeviceError if it failed. */
  get ready(): boolean {
    const cl = this.machine.enter();
    const status = new Int32Array(1);
    cl.call("clGetEventInfo", this.handle, EXECUTION_STATUS, 4, status, null);
    if (status[0] < 0) throw failure("a command", status[0], cl.lastKernel);
    return status[0] === COMPLETE;
  }

  /** Resolves when it has ended, without blocking the event loop. */
  async wait(): Promise<void> {
    const eagerUntil = performance.now() + EAGER_SECONDS * 1000;
    while (!this.ready) {
      if (performance.now() < eagerUntil) await new Promise<void>((resolve) => setImmediate(resolve));
      else await new Promise<void>((resolve) => setTimeout(resolve, 1));
    }
  }

  block(): void {
    const cl = this.machine.enter();
    const status = cl.status("clWaitForEvents", 1, new BigUint64Array([BigInt(this.handle)]));
    // A failed command is reported by its own status.
    if (status !== 0 && this.ready) throw failure("clWaitForEvents", status, cl.lastKernel);
  }

  /** Nanoseconds of the device's clock. */
  get time(): bigint {
    const bytes = this.machine.enter().bytes("clGetEventProfilingInfo", this.handle, PROFILED_END);
    return new DataView(bytes.buffer).getBigUint64(0, true);
  }
}

/** Polls this long at every turn of the event loop, then once a millisecond. */
const EAGER_SECONDS = 0.02;

/** A mark in a queue; one that was recorded in a capture has happened when its graph last ran past it. */
export class OpenclEvent implements CheckingEvent {
  faults?: FaultsBefore;
  completion: Completion | undefined;

  constructor(readonly machine: OpenclMachine) {}

  async since(earlier: DeviceEvent): Promise<number> {
    const { machine } = this;
    if (!(earlier instanceof OpenclEvent) || earlier.machine !== machine)
      throw new DeviceError(machine.name, "the earlier event belongs to another device", "compare events of one device");
    if (!machine.facts.profiling) throw new DeviceError(machine.name, "its driver does not time commands", "measure on the host");
    await earlier.done();
    await this.done();
    return Number(this.passed.time - earlier.passed.time) / 1e9;
  }

  async done(): Promise<void> {
    await this.passed.wait();
    await this.faults?.look();
  }

  block(): void {
    this.passed.block();
    this.faults?.lookNow();
  }

  private get passed(): Completion {
    this.machine.enter();
    if (!this.completion)
      throw new DeviceError(this.machine.name, "the event was recorded in a capture, and its graph has not run", "submit the graph first");
    return this.completion;
  }
}
