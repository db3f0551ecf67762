import { readFile } from "node:fs/promises";
import { IsoformError } from "../../base/errors.js";
import { DEFAULT_LINK } from "../../set/index.js";

/** A member's share of what carries its messages. */
export interface RankLink {
  /** Bytes a second, each way. */
  readonly bandwidth: number;
  /** Seconds from the start of a message to its first byte. */
  readonly latency: number;
  /** Seconds of the host for each message, before it starts. */
  readonly host: number;
}

/** Places between which a message may travel: between devices of one process, between processes of one node, between nodes. */
export const REACHES = ["device", "node", "network"] as const;
/** One of `REACHES`. */
export type Reach = (typeof REACHES)[number];

/** The links of a machine; one that is missing cannot be planned with. */
export type Links = Readonly<Partial<Record<Reach, RankLink>>>;

/**
 * Seconds until the first byte in a network, and of the host for a message, where no source gives them: assumed. Nobody has measured them for us; a study's
 * band halves and doubles the latency.
 */
const ASSUMED = { latency: 5e-6, host: 1e-6 } as const;

/** Links by the name of a machine. */
export const MACHINES: Readonly<Record<string, Links>> = {
  /**
   * HPE Slingshot 11, a card of 200 Gbit/s for each GPU, as on Alps. Node: six NVLink 4 links of 25 GB/s to each of the three other GPUs, nominal.
   * Source: D. De Sensi et al., Exploring GPU-to-GPU Communication, SC24, arXiv 2408.14090. Latencies are assumed, not verified.
   */
  "slingshot-11": { device: nominal(150e9), node: nominal(150e9), network: nominal(25e9) },
  /**
   * The same card for two GPUs, or for the two halves of an MI250X, as on Frontier and LUMI: half of it is a member's share. Node: one Infinity Fabric link of
   * 50 GB/s, the least that two halves have, nominal. Source: as above. Latencies are assumed, not verified.
   */
  "slingshot-11-shared": { device: nominal(50e9), node: nominal(50e9), network: nominal(12.5e9) },
  /**
   * InfiniBand HDR as on Leonardo, 100 Gbit/s a GPU. Node: four NVLink 3 links of 25 GB/s to each other GPU, nominal. Source: as above; it reports that noise
   * took up to half of the goodput of Allreduce at 1,024 GPUs, which is not modelled. Latencies are assumed, not verified.
   */
  hdr: { device: nominal(100e9), node: nominal(100e9), network: nominal(12.5e9) },
  /** Two H100 on NVLink: 254 GB/s each way and 7 us, measured with NCCL 2.28.9 between two processes. There is no network. */
  "nvlink-h100": { device: measuredByNccl(), node: measuredByNccl() },
};

function nominal(bandwidth: number): RankLink {
  return { bandwidth, ...ASSUMED };
}

/** The host takes no part: messages were in CUDA graphs. */
function measuredByNccl(): RankLink {
  return { bandwidth: 254e9, latency: 7e-6, host: 0 };
}

/** Links where none are named: PCI Express 4.0 x16 everywhere. */
export const DEFAULT_LINKS: Links = Object.fromEntries(REACHES.map((reach) => [reach, { ...DEFAULT_LINK, host: 0 }]));

/** Links as words: `node 150.0 GB/s 5.0 us`. */
export function linkText({ bandwidth, latency, host }: RankLink): string {
  const us = (seconds: number): string => `${(seconds * 1e6).toFixed(1)} us`;
  return `${(bandwidth / 1e9).toFixed(1)} GB/s, ${us(latency)}${host > 0 ? `, ${us(host)} of the host a message` : ""}`;
}

/**
 * Links of a machine by its name, or those in a JSON file: `{ "node": { "bandwidth": 150e9, "latency": 5e-6, "host": 1e-6 }, "network": ... }`, in bytes a second
 * and seconds.
 * @throws IsoformError for a file that cannot be read, and for one that holds no links
 */
export async function linksOf(nameOrFile: string): Promise<Links> {
  if (Object.hasOwn(MACHINES, nameOrFile)) return MACHINES[nameOrFile];
  const text = await readFile(nameOrFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    const known = Object.keys(MACHINES).join(", ");
    if (error.code === "ENOENT") throw new IsoformError(`"${nameOrFile}" is neither a machine nor a file: name a file, or one of ${known}`);
    throw new IsoformError(`cannot read ${nameOrFile}: ${error.message.split(",")[0]}`);
  });
  return parseLinks(text, nameOrFile);
}

/**
 * The links in a JSON text.
 * @param source its name in errors
 * @throws IsoformError that names the key at fault
 */
export function parseLinks(text: string, source: string): Links {
  const refuse = (problem: string): never => {
    throw new IsoformError(`${source}: ${problem}`);
  };
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    refuse(`not JSON: ${(error as Error).message}`);
  }
  if (!isObject(found)) return refuse(`it must hold an object with the keys ${REACHES.join(", ")}`);
  const entries = Object.entries(found).map(([reach, value]): [string, RankLink] => {
    if (!(REACHES as readonly string[]).includes(reach)) refuse(`unknown key "${reach}"; use ${REACHES.join(", ")}`);
    return [reach, linkIn(reach, value, refuse)];
  });
  if (entries.length === 0) refuse(`it has no link; give at least one of ${REACHES.join(", ")}`);
  return Object.fromEntries(entries);
}

/** Properties of a link, with the range outside which a value is in other units. */
const PROPERTIES: Readonly<Record<keyof RankLink, { readonly least: number; readonly most: number; readonly unit: string }>> = {
  bandwidth: { least: 1e6, most: 1e14, unit: "bytes a second: 25 GB/s is 25e9" },
  latency: { least: 0, most: 0.1, unit: "seconds: 5 us is 5e-6" },
  host: { least: 0, most: 0.1, unit: "seconds: 1 us is 1e-6" },
};

function linkIn(reach: string, value: unknown, refuse: (problem: string) => never): RankLink {
  const names = Object.keys(PROPERTIES) as (keyof RankLink)[];
  if (!isObject(value)) return refuse(`"${reach}" must be an object with ${names.join(", ")}`);
  const unknown = Object.keys(value).find((key) => !(names as string[]).includes(key));
  if (unknown !== undefined) refuse(`"${reach}" has an unknown key "${unknown}"; use ${names.join(", ")}`);
  for (const name of names) {
    const { least, most, unit } = PROPERTIES[name];
    const given = value[name];
    if (given === undefined) refuse(`"${reach}" has no ${name}, in ${unit}`);
    if (typeof given !== "number") refuse(`the ${name} of "${reach}" must be a number, in ${unit}`);
    if (!((given as number) >= least && (given as number) <= most))
      refuse(`the ${name} of "${reach}" is ${String(given)}; it is in ${unit}`);
  }
  return value as unknown as RankLink;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The link between members.
 * @throws IsoformError where the links have none of that reach
 */
export function requireLink(links: Links, reach: Reach): RankLink {
  const link = links[reach];
  if (!link) throw new IsoformError(`the links have no "${reach}", over which messages would travel: add it to the file of --links`);
  return link;
}
