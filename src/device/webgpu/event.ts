import { DeviceError } from "../../base/errors.js";
import type { DeviceEvent } from "../device.js";
import type { CheckingEvent, FaultsBefore } from "../launch/device-queue.js";
import type { Gpu } from "./gpu.js";

/** Events that have a time of their own at once. */
const SLOTS = 1024;
/** Offsets at which times may be put. */
const ALIGNMENT = 256;

/** Assigns places to the device's times, in sequence and then from the start again. */
export class Clock {
  private readonly querySet: GPUQuerySet;
  private readonly times: GPUBuffer;
  private next = 0;
  /** By place: its event, until another takes it. */
  private readonly holders: (WebGpuEvent | undefined)[] = [];

  constructor(private readonly gpu: Gpu) {
    this.querySet = gpu.device.createQuerySet({ type: "timestamp", count: SLOTS });
    const [resolve, copySource] = [512, 4];
    this.times = gpu.device.createBuffer({ size: SLOTS * ALIGNMENT, usage: resolve | copySource });
  }

  mark(event: WebGpuEvent): number {
    const slot = this.next++ % SLOTS;
    const before = this.holders[slot];
    if (before) before.overtaken = true;
    this.holders[slot] = event;
    this.gpu.commands.timestamp({ querySet: this.querySet, index: slot }, this.times, slot * ALIGNMENT);
    return slot;
  }

  /** Nanoseconds. */
  async read(slot: number): Promise<number> {
    return Number(new BigUint64Array(await this.gpu.read(this.times, slot * ALIGNMENT, 8))[0]);
  }
}

/** A mark in the device's one stream of work; with the device's time where the adapter tells it, with the host's when it was there elsewhere. */
export class WebGpuEvent implements CheckingEvent {
  faults?: FaultsBefore;
  /** Its place for a time was given to a later event. */
  overtaken = false;
  private readonly slot: number | undefined;
  private readonly reached: Promise<number>;
  private time: Promise<number> | undefined;

  constructor(
    readonly gpu: Gpu,
    private readonly clock: Clock | undefined,
  ) {
    this.slot = clock?.mark(this);
    gpu.commands.flush();
    this.reached = gpu.device.queue.onSubmittedWorkDone().then(() => performance.now() / 1000);
    // Who waits is notified; a device that is closed meanwhile has nobody who does.
    this.reached.catch(() => {});
  }

  async since(earlier: DeviceEvent): Promise<number> {
    if (!(earlier instanceof WebGpuEvent) || earlier.gpu !== this.gpu)
      throw new DeviceError(this.gpu.name, "the earlier event belongs to another device", "compare events of one device");
    // Both by one clock: the host's where the device's time of either is not there any more.
    const byDevice = earlier.hasTime && this.hasTime;
    const [begin, end] = await Promise.all([earlier, this].map((event) => (byDevice ? event.deviceTime() : event.reached)));
    return Math.max(0, end - begin);
  }

  async done(): Promise<void> {
    this.gpu.enter();
    await this.reached;
    await this.gpu.awaitErrors();
    await this.faults?.look();
  }

  block(): void {
    throw new DeviceError(this.gpu.name, "WebGPU has no way to block the calling thread until an event", "await done() instead");
  }

  private get hasTime(): boolean {
    return this.time !== undefined || (this.slot !== undefined && !this.overtaken);
  }

  /** Seconds, by a clock that the events of one device share. */
  private deviceTime(): Promise<number> {
    return (this.time ??= this.clock!.read(this.slot!).then((nanoseconds) => nanoseconds / 1e9));
  }
}
