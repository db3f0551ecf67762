import { describe } from "node:test";
import { open } from "../../src/device/open.js";
import type { Device } from "../../src/device/device.js";
import { devices, type DeviceSet } from "../../src/set/index.js";

const COUNTS = [1, 2, 3, 4, 7];
const opened = await Promise.all(
  ["js", "wasm", "native"].map(async (name) =>
    open(name).then(
      (device) => ({ name, device }),
      (error: Error) => ({ name, missing: error.message }),
    ),
  ),
);

/** A backend with sets of 1 to 7 virtual members. */
export interface Sets {
  readonly backend: string;
  readonly all: readonly DeviceSet[];
}

const setsOf = (device: Device): Promise<DeviceSet[]> => Promise.all(COUNTS.map((count) => devices(Array<Device>(count).fill(device))));

/** Declares tests for each backend; what is not there is skipped by name. They share their devices with those of other calls. */
export async function onEachBackend(title: string, tests: (sets: Sets) => void): Promise<void> {
  for (const entry of opened) {
    const skip = "missing" in entry ? entry.missing : false;
    const all = "device" in entry ? await setsOf(entry.device) : [];
    describe(`${title} on ${entry.name}`, { skip }, () => tests({ backend: entry.name, all }));
  }
}

/** Sets of virtual members of one CPU device, the first of one member. */
export const jsSets: readonly DeviceSet[] = await setsOf((opened[0] as { device: Device }).device);

/** A number from -1 to 1 that looks random, the same for the same arguments. */
export function noise(...keys: number[]): number {
  let h = 0x9e3779b9;
  for (const key of keys) {
    h = Math.imul(h ^ key, 0x85ebca6b);
    h ^= h >>> 13;
    h = Math.imul(h, 0xc2b2ae35);
    h ^= h >>> 16;
  }
  return (h >>> 0) / 2 ** 31 - 1;
}
