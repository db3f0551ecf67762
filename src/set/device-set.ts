import type { Device, OpenOptions, Queue } from "../device/device.js";
import { deviceNames, open } from "../device/open.js";
import { DeviceError, IsoformError } from "../ir/errors.js";
import { requireThing } from "../ir/own.js";

/** What connects two devices. */
export interface Link {
  /** Bytes a second, each way. */
  readonly bandwidth: number;
  /** Seconds from the start of a copy to its first byte. */
  readonly latency: number;
}

/** PCI Express 4.0 x16. */
export const DEFAULT_LINK: Link = { bandwidth: 25e9, latency: 5e-6 };

/** Options of `devices`. */
export interface SetOptions extends OpenOptions {
  /** The modelled link between members, for planned timelines. Missing properties are those of `DEFAULT_LINK`. */
  link?: Partial<Link>;
}

/** One device of a set, or a sub-device: a part of one that is divided. */
export interface Member {
  readonly index: number;
  readonly device: Device;
  /** `cuda:1`, or `wasm*3[1]` for the second of three that share a device. */
  readonly name: string;
  /** Stream number `n` from 0 of this member, made on first use. Queues of a CPU device run in order, here and now. */
  queue(n: number): Queue;
}

/** One or several devices that work on one problem. */
export interface DeviceSet {
  /** In the notation of `devices`: `wasm*3`, `cuda:0,cuda:1`. */
  readonly name: string;
  readonly members: readonly Member[];
  /** Some device is divided into several members. */
  readonly virtual: boolean;
  /** The modelled link between members: of virtual sets, and of others where it was asked for. */
  readonly link: Link | undefined;
  /** Closes the devices that the set has opened. */
  close(): Promise<void>;
}

/**
 * Opens a set of devices. `"native"` is one device, `"wasm*3"` one device divided into three members, `"cuda:*"` every GPU, and
 * `"cuda:0,cuda:1"` or a list of several of these their union, of any backends. A device that is named twice is divided. Devices that
 * are open already may stand in the list; they stay open when the set is closed.
 * @throws DeviceError for a device that is not there, and where there is no member.
 */
export async function devices(
  spec: string | Device | readonly (string | Device)[],
  { link: given, ...options }: SetOptions = {},
): Promise<DeviceSet> {
  const link = given && checkedLink(given);
  const wanted = (Array.isArray(spec) ? spec : [spec]) as readonly (string | Device)[];
  for (const part of wanted)
    requireThing(
      "devices",
      part,
      typeof part === "string" || isDevice(part),
      'give names, such as "wasm*3", or what await open(...) returns',
    );
  const parts = wanted.map(async (part) => (typeof part === "string" ? subDevices(part) : part));
  const listed: (string | Device)[] = (await Promise.all(parts)).flat();
  if (listed.length === 0)
    throw new DeviceError(wanted.join(), "a set needs at least one member", 'name devices, such as "wasm*3" or ["cuda:0", "cuda:1"]');
  const names = [...new Set(listed.filter((one) => typeof one === "string"))];
  const tries = await Promise.allSettled(names.map(async (name): Promise<[string, Device]> => [name, await open(name, options)]));
  const opened = new Map(tries.flatMap((tried) => (tried.status === "fulfilled" ? [tried.value] : [])));
  const failed = tries.find((tried) => tried.status === "rejected");
  if (failed) {
    for (const device of opened.values()) await device.close();
    throw failed.reason;
  }
  return new OpenSet(
    listed.map((one) => (typeof one === "string" ? opened.get(one)! : one)),
    [...opened.values()],
    link,
  );
}

const isDevice = (value: unknown): boolean => typeof (value as Partial<Device> | undefined)?.prepare === "function";

/** Refuses what is no set of devices, such as a device. Throws LaunchError. */
export const requireSet = (what: string, set: DeviceSet): void =>
  requireThing(what, set, Array.isArray((set as Partial<DeviceSet> | undefined)?.members), "give what await devices(...) returns");

/**
 * The devices that `devices` opens for a specification, by the names under which they open: one for each member, so that a device which is
 * divided is named once for each of its sub-devices.
 * @throws DeviceError for a word that names no device
 */
export async function subDevices(spec: string): Promise<string[]> {
  return (await Promise.all(spec.split(",").map(subDevicesOf))).flat();
}

/** Parts of one device that a word can ask for: each is given its own memory, queues and launches. */
const MOST_PARTS = 1024;

/** Those of one word. */
async function subDevicesOf(word: string): Promise<string[]> {
  const [, backend, index, count] = /^\s*([a-z][a-z-]*)(?::(\d+|\*))?(?:\*(\d+))?\s*$/.exec(word) ?? [];
  if (backend === undefined)
    throw new DeviceError(word.trim(), "this names no device", 'write "wasm", "wasm*3", "cuda:0", "cuda:0*2" or "cuda:*"');
  if (Number(count ?? 1) > MOST_PARTS)
    throw new DeviceError(word.trim().slice(0, 80), "this divides a device into too many parts", `divide it into ${MOST_PARTS} at most`);
  const names = index === "*" ? await deviceNames(backend) : [`${backend}:${index ?? 0}`];
  // A name without a number means the first device, so that "cuda" and "cuda:0" are one.
  return names.flatMap((name) => Array<string>(Number(count ?? 1)).fill(name.replace(/:0+$/, "")));
}

function checkedLink(given: Partial<Link>): Link {
  const link = { ...DEFAULT_LINK, ...given };
  if (!(link.bandwidth > 0 && link.latency >= 0 && link.latency < Infinity))
    throw new IsoformError(
      `a link of ${link.bandwidth} bytes a second and ${link.latency} s: the bandwidth must be above 0, the latency 0 or more`,
    );
  return link;
}

class OpenSet implements DeviceSet {
  readonly name: string;
  readonly members: readonly Member[];
  readonly virtual: boolean;
  readonly link: Link | undefined;
  private closed = false;

  constructor(
    listed: readonly Device[],
    private readonly own: readonly Device[],
    link: Link | undefined,
  ) {
    const counts = new Map<Device, number>();
    for (const device of listed) counts.set(device, (counts.get(device) ?? 0) + 1);
    this.virtual = counts.size < listed.length;
    this.link = link ?? (this.virtual ? DEFAULT_LINK : undefined);
    this.name = [...counts].map(([{ name }, count]) => (count > 1 ? `${name}*${count}` : name)).join();
    const ranks = new Map<Device, number>();
    this.members = listed.map((device, index) => {
      const rank = ranks.get(device) ?? 0;
      ranks.set(device, rank + 1);
      const count = counts.get(device)!;
      return new OpenMember(index, device, count > 1 ? `${device.name}*${count}[${rank}]` : device.name, rank === 0, () =>
        this.requireOpen(),
      );
    });
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await Promise.all(this.own.map((device) => device.close()));
  }

  private requireOpen(): void {
    if (this.closed) throw new DeviceError(this.name, "the set is closed", "open it again");
  }
}

class OpenMember implements Member {
  private readonly queues: Queue[] = [];

  constructor(
    readonly index: number,
    readonly device: Device,
    readonly name: string,
    private readonly first: boolean,
    private readonly requireOpen: () => void,
  ) {}

  queue(n: number): Queue {
    this.requireOpen();
    if (!Number.isInteger(n) || n < 0) throw new IsoformError(`stream ${n} of ${this.name}: streams are numbered from 0`);
    return (this.queues[n] ??= n === 0 && this.first ? this.device.queue : this.device.createQueue());
  }
}
