import type { Device, DeviceEvent, Queue } from "../../device/device.js";
import { hooks } from "../../device/tools/hooks.js";
import type { CopyEvent, FenceEvent, KernelEvent, MemoryEvent, RegionEvent, Tool } from "../../device/tools/tools.js";
import { DeviceClock } from "./device-clock.js";
import type { MemoryUse, Profile, RegionTime, Span } from "./profile.js";
import { LabelSamples, type Inner, type Subject, type CountedWork } from "./row.js";

/** Options of `Profiler`. */
export interface ProfilerOptions {
  /** Launches of one label to measure before measuring only every second, then every fourth, and so on. Default: 128. */
  samples?: number;
  /** Keeps when each sample ran, for `profileTrace`. */
  trace?: boolean;
  /** `apart`: submit the operations of a graph one by one, each with a row of its own, which takes the host longer. Default: `whole`. */
  graphs?: "whole" | "apart";
}

const NONE: CountedWork = { bytes: 0, flops: 0 };

const seconds = (): number => performance.now() / 1e3;

/** Something that began and has not ended. */
interface Begun {
  readonly row: LabelSamples;
  readonly weight: number;
  readonly work: CountedWork;
  /** By the program's clock where there is no mark in a queue. */
  readonly at: number | DeviceEvent;
}

/**
 * Measures what runs on devices, by label and region. Each sampled launch stands between two events of its queue, which wait for nothing;
 * their times are read out when the device is through with them.
 */
export class Profiler implements Tool {
  private readonly start = seconds();
  private readonly rows = new Map<string, LabelSamples>();
  private readonly regions = new Map<string, { count: number; seconds: number }>();
  private readonly devices = new Map<string, Device>();
  private readonly clocks = new Map<Device, DeviceClock>();
  private readonly queues = new Map<Device, Queue[]>();
  private readonly memory = new Map<string, MemoryUse>();
  private readonly spans: Span[] = [];
  private readonly begun = new Map<object, Begun>();
  private open: { readonly event: RegionEvent; readonly path: readonly string[]; readonly at: number }[] = [];
  private readonly samples: number;
  private readonly trace: boolean;

  readonly apart: boolean;

  private constructor({ samples = 128, trace = false, graphs = "whole" }: ProfilerOptions) {
    this.apart = graphs === "apart";
    this.samples = samples;
    this.trace = trace;
  }

  /** Begins to listen to all devices. */
  static start(options: ProfilerOptions = {}): Profiler {
    const profiler = new Profiler(options);
    hooks.attach(profiler);
    return profiler;
  }

  /**
   * Stops the profiler and returns the profile until now.
   * @throws DeviceError if a device fails before its times were read
   */
  async stop(): Promise<Profile> {
    hooks.detach(this);
    const end = seconds();
    for (const clock of this.clocks.values()) await clock.drain();
    return {
      seconds: end - this.start,
      devices: [...this.devices.values()].map(({ name, label }) => ({ name, label })),
      rows: [...this.rows.values()].map((row) => ({
        ...row.subject,
        count: row.count,
        sampled: row.sampled,
        seconds: row.sampled > 0 ? row.mean * row.count : null,
        mean: row.sampled > 0 ? row.mean : null,
        least: row.sampled > 0 ? row.least : null,
        bytes: row.bytes,
        flops: row.flops,
        rates: row.mean > 0 ? row.rates : null,
      })),
      regions: [...this.regions].map(([path, time]): RegionTime => ({ path: JSON.parse(path) as string[], ...time })),
      memory: [...this.memory.values()],
      spans: this.spans,
    };
  }

  async closing(device: Device): Promise<void> {
    await this.clocks.get(device)?.drain();
    this.clocks.delete(device);
  }

  beginKernel(event: KernelEvent): void {
    const { queue, work, label, launches, copies, devices } = event;
    const graph = !("kernel" in work);
    const precisions = new Set(launches.map(({ precision }) => precision));
    const row = this.row({
      kind: graph ? "graph" : "kernel",
      region: this.path,
      label,
      devices: devices.map(({ name }) => name),
      ...(precisions.size === 1 ? { precision: launches[0].precision } : {}),
      ...(graph ? { inner: innerOf(launches) } : {}),
    });
    for (const device of devices) this.devices.set(device.name, device);
    let { bytes, flops } = NONE;
    for (const { cost } of launches) {
      bytes += cost.bytes;
      flops += cost.flops;
    }
    // A copy reads and writes, as the counting rule has it of kernels.
    for (const copy of copies) bytes += copy.kind === "clear" ? copy.bytes : 2 * copy.bytes;
    this.begin(event, row, { bytes, flops }, queue);
  }

  endKernel(event: KernelEvent): void {
    this.end(event, event.queue);
  }

  beginCopy(event: CopyEvent): void {
    const { kind, device, queue, from, to, bytes } = event;
    const label = kind === "clear" ? `clear ${to}` : `${kind} ${from} to ${to}`;
    this.devices.set(device.name, device);
    const row = this.row({ kind: "copy", region: this.path, label, devices: [device.name] });
    this.begin(event, row, { bytes, flops: 0 }, kind === "read" ? undefined : queue);
  }

  endCopy(event: CopyEvent): void {
    this.end(event, event.queue);
  }

  beginFence(event: FenceEvent): void {
    const { kind, device } = event;
    this.begin(event, this.row({ kind: "fence", region: this.path, label: kind, devices: [device.name] }), NONE);
  }

  endFence(event: FenceEvent): void {
    this.end(event, event.queue);
  }

  allocate({ device, bytes }: MemoryEvent): void {
    const use = this.memory.get(device.name) ?? { device: device.name, arrays: 0, held: 0, most: 0 };
    this.memory.set(device.name, use);
    use.arrays++;
    use.held += bytes;
    use.most = Math.max(use.most, use.held);
  }

  free({ device, bytes }: MemoryEvent): void {
    const use = this.memory.get(device.name);
    if (use) use.held -= bytes;
  }

  beginRegion(event: RegionEvent): void {
    this.open.push({ event, path: [...this.path, event.name], at: seconds() });
  }

  endRegion(event: RegionEvent): void {
    const ended = this.open.find((one) => one.event === event);
    if (!ended) return;
    this.open = this.open.filter((one) => one !== ended);
    const key = JSON.stringify(ended.path);
    const time = this.regions.get(key) ?? { count: 0, seconds: 0 };
    this.regions.set(key, time);
    const length = seconds() - ended.at;
    time.count++;
    time.seconds += length;
    this.keep({ kind: "region", label: event.name, device: undefined, queue: 0, begin: ended.at - this.start, seconds: length, ...NONE });
  }

  private get path(): readonly string[] {
    return this.open.at(-1)?.path ?? [];
  }

  private row(subject: Subject): LabelSamples {
    const key = JSON.stringify([subject.kind, subject.region, subject.label, subject.devices, subject.precision]);
    let row = this.rows.get(key);
    if (!row) this.rows.set(key, (row = new LabelSamples(subject, this.samples)));
    return row;
  }

  /** Marks the begin in the queue, or, where there is none, by the program's clock. */
  private begin(event: object, row: LabelSamples, work: CountedWork, queue?: Queue): void {
    const weight = row.add(work);
    if (weight === 0) return;
    if (queue && !this.clocks.has(queue.device)) this.clocks.set(queue.device, new DeviceClock(queue, seconds() - this.start));
    this.begun.set(event, { row, weight, work, at: queue ? queue.record() : seconds() });
  }

  private end(event: object, queue?: Queue): void {
    const begun = this.begun.get(event);
    if (!begun) return;
    this.begun.delete(event);
    const { row, weight, work, at } = begun;
    const take = (begin: number, length: number) => {
      row.measured(length, weight, work);
      const { kind, label, devices } = row.subject;
      this.keep({ kind, label, device: devices[0], queue: queue ? this.numberOf(queue) : 0, begin, seconds: length, ...work });
    };
    if (typeof at === "number") return take(at - this.start, seconds() - at);
    row.pending++;
    this.clocks.get(queue!.device)!.add({
      begin: at,
      end: queue!.record(),
      take: (begin, length) => {
        row.pending--;
        take(begin, length);
      },
    });
  }

  private keep(span: Span): void {
    if (this.trace) this.spans.push(span);
  }

  /** Queues of a device from 0, in the order in which they were seen. */
  private numberOf(queue: Queue): number {
    const known = this.queues.get(queue.device) ?? [];
    this.queues.set(queue.device, known);
    if (!known.includes(queue)) known.push(queue);
    return known.indexOf(queue);
  }
}

function innerOf(launches: KernelEvent["launches"]): Inner[] {
  const inner = new Map<string, Inner>();
  for (const { kernel, cost } of launches) {
    const { count, bytes, flops } = inner.get(kernel.name) ?? { count: 0, bytes: 0, flops: 0 };
    inner.set(kernel.name, { label: kernel.name, count: count + 1, bytes: bytes + cost.bytes, flops: flops + cost.flops });
  }
  return [...inner.values()];
}
