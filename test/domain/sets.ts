import { describe } from "node:test";
import { open } from "../../src/device/open.js";
import type { Device } from "../../src/device/device.js";
import { tested } from "../devices.js";
import { isQuick } from "../random/share.js";
import { devices, type DeviceSet } from "../../src/set/index.js";

export { noise } from "./noise.js";

/** How many members the sets have that grids are tested on: one, two, and as many as leave some of them little. */
const SIZES: readonly number[] = [1, 2, 7];
/** Tests whose subject is a size, or whose domain is too small for 7, ask for one of these. */
const COUNTS = [1, 2, 3, 4, 7];
const opened = await Promise.all(
  ["js", ...["wasm", "native"].filter(tested)].map(async (name) =>
    open(name).then(
      (device) => ({ name, device }),
      (error: Error) => ({ name, missing: error.message }),
    ),
  ),
);

/** A backend with sets of sub-devices. */
export interface Sets {
  readonly backend: string;
  /** Sets of 1, 2 and 7 members, as far as `some` takes them. */
  readonly all: readonly DeviceSet[];
  /**
   * Sizes on which this run tests the backend. A quick run shares them out: js takes the first and the last, and the other backends the
   * one in the middle, whose code for one member does not differ between sizes.
   */
  some(sizes: readonly number[]): readonly number[];
  /** The set of so many members: 1, 2, 3, 4 or 7. */
  of(count: number): DeviceSet;
}

function some(backend: string, sizes: readonly number[]): readonly number[] {
  if (!isQuick) return sizes;
  return backend === "js" ? [...new Set([sizes[0], sizes.at(-1)!])] : [sizes[sizes.length >> 1]];
}

async function setsOn(device: Device): Promise<Omit<Sets, "backend">> {
  const sets = new Map<number, DeviceSet>();
  for (const count of COUNTS) sets.set(count, await devices(Array<Device>(count).fill(device)));
  return {
    all: some(device.backend, SIZES).map((count) => sets.get(count)!),
    some: (sizes) => some(device.backend, sizes),
    of: (count) => sets.get(count)!,
  };
}

const onJs = await setsOn((opened[0] as { device: Device }).device);

/** Declares tests for each backend; what is not there is skipped by name. They share their devices with those of other calls. */
export async function onEachBackend(title: string, tests: (sets: Sets) => void): Promise<void> {
  for (const entry of opened.filter(({ name }) => tested(name))) {
    const skip = "missing" in entry ? entry.missing : false;
    const sets = "device" in entry ? await setsOn(entry.device) : { ...onJs, all: [] };
    describe(`${title} on ${entry.name}`, { skip }, () => tests({ backend: entry.name, ...sets }));
  }
}

/** Sets of 1, 2 and 7 sub-devices of one device js; in a quick run of 1 and 7. */
export const jsSets: readonly DeviceSet[] = onJs.all;

/** The set of so many sub-devices of one device js: 1, 2, 3, 4 or 7. */
export const jsSet = onJs.of;
