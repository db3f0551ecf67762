import type { Device } from "../device/device.js";
import { LaunchError } from "../base/errors.js";
import type { DeviceSet } from "./device-set.js";

/** Memory that a program is going to allocate. */
export interface MemoryNeed {
  /** The subject, as a message begins: `heat on 512 x 512 cells`. */
  readonly what: string;
  /** On all devices together. */
  readonly bytes: number;
  /** Bytes of the largest array, if one device holds it as one. */
  readonly largest?: number;
  /** As a message ends: `a smaller --size`. */
  readonly choose: string;
}

/** Bytes that the devices have together. */
export function memoryOf(devices: Iterable<Device>): number {
  const most = new Map<Device["memory"], number>();
  let total = 0;
  for (const { memory, capabilities } of new Set(devices)) {
    // Counts a shared memory once, as the most that a backend reaches: backends of the CPU share one, and some reach less.
    const before = most.get(memory) ?? 0;
    const after = Math.max(before, capabilities.memory);
    if (after === Infinity) return Infinity;
    total += after - before;
    most.set(memory, after);
  }
  return total;
}

/**
 * Rejects a program that cannot fit before anything is allocated. A program that it accepts may still not fit, as others use the memory,
 * too: the device then refuses the allocation.
 * @throws LaunchError with the subject, the bytes that it needs and the bytes available, and the remedy
 */
export function requireMemory(on: DeviceSet | Device, { what, bytes, largest = 0, choose }: MemoryNeed): void {
  const devices = "members" in on ? on.locals.map(({ device }) => device) : [on];
  // Each process has about as much as the others, and tells of its own.
  const processes = "members" in on ? (on.ranks?.count ?? 1) : 1;
  const there = processes * memoryOf(devices);
  if (!(bytes <= there))
    throw new LaunchError(`${what} needs ${bytesText(bytes)} of memory, and ${on.name} has ${bytesText(there)}: choose ${choose}`);
  const most = Math.max(...devices.map(({ capabilities }) => capabilities.maxAllocation));
  if (largest > most)
    throw new LaunchError(`${what} needs ${bytesText(largest)} in one array, and ${on.name} allows ${bytesText(most)}: choose ${choose}`);
}

/** `3.5 GiB`, `12 MiB`, `1e+9 GiB` */
function bytesText(bytes: number): string {
  const [size, unit] = bytes < 2 ** 30 ? [bytes / 2 ** 20, "MiB"] : [bytes / 2 ** 30, "GiB"];
  return `${Number(size.toPrecision(3)).toString()} ${unit}`;
}
