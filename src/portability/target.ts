import type { Device } from "../device/device.js";
import { devices, subDevices, type DeviceSet } from "../set/index.js";
import { platformOf } from "./machine.js";
import type { Peaks } from "./measure.js";
import type { AssessedDevice } from "./schema.js";

/** Devices measured as one: a device, a device that is divided, or several devices together. */
export class AssessedTarget {
  /** Devices of the set, each once. */
  readonly devices: readonly Device[];
  /** The hardware, as in runs: without commas, so that sets of platforms can name it. */
  readonly platform: string;

  private constructor(
    /** As given to `--devices`. */
    readonly name: string,
    readonly set: DeviceSet,
  ) {
    this.devices = [...new Set(set.locals.map(({ device }) => device))];
    this.platform = counted(this.devices.map(platformOf));
  }

  /** @param spec in the notation of `devices`, but `+` between the devices of one set: `wasm`, `wasm*3`, `cuda:0+cuda:1` */
  static async open(spec: string, open: (name: string) => Promise<Device>): Promise<AssessedTarget> {
    const opened: Device[] = [];
    for (const name of await subDevices(spec.replaceAll("+", ","))) opened.push(await open(name));
    return new AssessedTarget(spec, await devices(opened));
  }

  /** Bytes, together. */
  get memory(): number {
    return total(this.devices.map(({ capabilities }) => capabilities.memory));
  }

  /** Their data lie in one memory. */
  sharesMemoryWith(other: AssessedTarget): boolean {
    return this.devices.some(({ memory }) => other.devices.some((device) => device.memory === memory));
  }

  /** The backend, with how the set is made where it is more than one device: `wasm`, `wasm*3`, `cuda:0+cuda:1`. */
  get codePath(): string {
    return this.set.members.length === 1 ? this.devices[0].backend : this.set.name.replaceAll(",", "+");
  }

  /** Entry in the report; each device with the best of its measurements, and all of them added up. */
  assessed(peaksOf: (device: Device) => readonly Peaks[]): AssessedDevice {
    const best = (of: (peaks: Peaks) => number | null) =>
      total(this.devices.map((device) => Math.max(...peaksOf(device).map((peaks) => of(peaks) ?? 0))));
    const unique = (of: (device: Device) => string) => [...new Set(this.devices.map(of))].join(" + ");
    const [{ theoretical }] = this.devices;
    return {
      name: this.name,
      platform: this.platform,
      backend: unique(({ backend }) => backend),
      label: unique(({ label }) => label),
      parallelism: total(this.devices.map(({ capabilities }) => capabilities.parallelism)),
      peakBandwidth: best(({ bandwidth }) => bandwidth),
      bandwidthBy: this.devices.length === 1 ? fastest(peaksOf(this.devices[0]))?.bandwidthBy : undefined,
      peakFlops: best(({ flops }) => flops) || null,
      theoretical: this.devices.length === 1 ? theoretical : undefined,
      source: "measured",
    };
  }
}

const fastest = (found: readonly Peaks[]): Peaks | undefined => found.toSorted((a, b) => b.bandwidth - a.bandwidth)[0];

const total = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** `A`, `2 x A`, `A + 2 x B` */
function counted(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${count} x ${name}` : name)).join(" + ");
}
