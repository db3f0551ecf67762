import { joinJobOf } from "#processes";
import type { Device, OpenOptions } from "../device/device.js";
import { deviceNames, open } from "../device/open.js";
import { DeviceError, IsoformError } from "../base/errors.js";
import { requireThing } from "../base/own.js";
import type { Carried, Carrier } from "./carrier.js";
import { OpenMember, RemoteMember, type LocalMember, type Member } from "./member.js";
import { requireReachable } from "./one-process.js";
import type { Ranks } from "./ranks.js";
import type { Transport } from "./transport.js";

/** Connection of two devices. */
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
  /**
   * The modelled link between members, for planned timelines; missing properties come from `DEFAULT_LINK`. Or the name of what carries messages between GPUs
   * of several processes: `"nccl"`, or `"mpi"` by way of the host. Default: NCCL where each process has a `cuda` GPU of its own and the library is there.
   */
  link?: Partial<Link> | "nccl" | "mpi";
  /** Seconds that a process of `mpi:` waits for others before it ends all of them. Default: 60. */
  patience?: number;
}

/** One or several devices that work on one problem. */
export interface DeviceSet {
  /** In the notation of `devices`: `wasm*3`, `cuda:0,cuda:1`. */
  readonly name: string;
  /** The members of all processes, rank by rank: how a problem is cut. */
  readonly members: readonly Member[];
  /** The members of this process, with their devices: all of them in one process. */
  readonly locals: readonly LocalMember[];
  /** The processes that the set spans, by `mpi:`; undefined in one process. */
  readonly ranks?: Ranks;
  /** Messages to members in other processes; undefined in one process. */
  readonly transport?: Transport;
  /** The carrier of messages between devices of several processes whose memory is not the host's; undefined where there are none. */
  readonly carried?: Carried;
  /** It, where that is not the host. */
  readonly carrier?: Carrier;
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
 * are open already may stand in the list; they stay open when the set is closed. `"mpi:wasm"` spans all processes of a job, each of
 * which calls this function (docs/nodes.md).
 * @throws DeviceError for a device that is not there, and where there is no member; IsoformError where `mpi:` finds no MPI
 */
export async function devices(
  spec: string | Device | readonly (string | Device)[],
  { link: given, patience, ...options }: SetOptions = {},
): Promise<DeviceSet> {
  const named = typeof given === "string" ? checkedName(given) : undefined;
  const link = given === undefined || typeof given === "string" ? undefined : checkedLink(given);
  const joined = await joinJobOf(spec, checkedPatience(patience));
  if (!joined) return new OpenSet(await openDevices(spec, options), link);
  const opened = await joined.together(async () => openDevices(await joined.ownSpec(), options), close);
  const names = await joined.members(namesOf(opened.listed));
  const way = await joined.way(opened.listed, named);
  return new OpenSet(opened, link, { name: String(spec), ranks: joined.ranks, transport: joined.transport(names), names, ...way });
}

/** Devices of a specification, one for each member, and those opened for it. */
interface Opened {
  readonly listed: readonly Device[];
  readonly own: readonly Device[];
}

/** Properties of a set over several processes. */
interface Spanned {
  readonly name: string;
  readonly ranks: Ranks;
  readonly transport: Transport;
  readonly carried?: Carried;
  readonly carrier?: Carrier;
  /** Names of the members of each rank. */
  readonly names: readonly (readonly string[])[];
}

async function openDevices(spec: string | Device | readonly (string | Device)[], options: OpenOptions): Promise<Opened> {
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
  return { listed: listed.map((one) => (typeof one === "string" ? opened.get(one)! : one)), own: [...opened.values()] };
}

async function close({ own }: Opened): Promise<void> {
  await Promise.all(own.map((device) => device.close()));
}

const isDevice = (value: unknown): boolean => typeof (value as Partial<Device> | undefined)?.prepare === "function";

/** Refuses anything but a set of devices. Throws LaunchError, and DeviceError for devices whose memory cannot span several processes. */
export function requireSet(what: string, set: DeviceSet): void {
  requireThing(what, set, Array.isArray((set as Partial<DeviceSet> | undefined)?.members), "give what await devices(...) returns");
  requireReachable(set);
}

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

/** Devices that one word names. */
async function subDevicesOf(word: string): Promise<string[]> {
  const [, backend, index, count] = /^\s*([a-z][a-z-]*)(?::(\d+|\*))?(?:\*(\d+))?\s*$/.exec(word) ?? [];
  if (backend === undefined)
    throw new DeviceError(word.trim(), "this does not name a device", 'write "wasm", "wasm*3", "cuda:0", "cuda:0*2" or "cuda:*"');
  if (Number(count ?? 1) > MOST_PARTS)
    throw new DeviceError(word.trim().slice(0, 80), "this divides a device into too many parts", `divide it into ${MOST_PARTS} at most`);
  const names = index === "*" ? await deviceNames(backend) : [`${backend}:${index ?? 0}`];
  // A name without a number means the first device, so that "cuda" and "cuda:0" are one.
  return names.flatMap((name) => Array<string>(Number(count ?? 1)).fill(name.replace(/:0+$/, "")));
}

function checkedPatience(patience: number | undefined): number | undefined {
  if (patience !== undefined && !(patience > 0)) throw new IsoformError(`a patience of ${patience} s: give seconds above 0`);
  return patience;
}

function checkedName(name: string): "nccl" | "mpi" {
  if (name !== "nccl" && name !== "mpi") throw new IsoformError(`link "${name}": name "nccl" or "mpi"`);
  return name;
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
  readonly locals: readonly LocalMember[];
  readonly virtual: boolean;
  readonly link: Link | undefined;
  readonly ranks: Ranks | undefined;
  readonly transport: Transport | undefined;
  readonly carried: Carried | undefined;
  readonly carrier: Carrier | undefined;
  private closed = false;

  constructor(
    private readonly opened: Opened,
    link: Link | undefined,
    spanned?: Spanned,
  ) {
    const { listed } = opened;
    this.ranks = spanned?.ranks;
    this.transport = spanned?.transport;
    this.carried = spanned?.carried;
    this.carrier = spanned?.carrier;
    const counts = countsOf(listed);
    this.virtual = counts.size < listed.length;
    this.link = link ?? (this.virtual ? DEFAULT_LINK : undefined);
    this.name = spanned?.name ?? [...counts].map(([{ name }, count]) => (count > 1 ? `${name}*${count}` : name)).join();
    const rank = this.ranks?.rank ?? 0;
    const names = spanned?.names ?? [namesOf(listed)];
    const before = names.slice(0, rank).flat().length;
    this.locals = listed.map((device, n) => {
      const isFirst = listed.indexOf(device) === n;
      return new OpenMember(before + n, rank, device, names[rank][n], isFirst, () => this.requireOpen());
    });
    const all = names.flatMap((each, of) => each.map((name) => ({ rank: of, name })));
    this.members = all.map((member, index) => this.locals[index - before] ?? new RemoteMember(index, member.rank, member.name));
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.carrier?.close();
    await close(this.opened);
  }

  private requireOpen(): void {
    if (this.closed) throw new DeviceError(this.name, "the set is closed", "open it again");
  }
}

/** How often each device is named. */
function countsOf(listed: readonly Device[]): ReadonlyMap<Device, number> {
  const counts = new Map<Device, number>();
  for (const device of listed) counts.set(device, (counts.get(device) ?? 0) + 1);
  return counts;
}

/** Names of members, each with its number where several share a device. */
function namesOf(listed: readonly Device[]): string[] {
  const counts = countsOf(listed);
  return listed.map((device, n) => {
    const number = listed.slice(0, n).filter((other) => other === device).length;
    const count = counts.get(device)!;
    return count > 1 ? `${device.name}*${count}[${number}]` : device.name;
  });
}
