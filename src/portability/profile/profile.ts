import type { Peaks } from "../measure.js";
import { figure, tableText } from "../tables.js";
import type { RowKind, Subject, CountedWork } from "./row.js";

/** One label in one region, on one device (or, of a graph, on several). */
export interface ProfileRow extends Subject, CountedWork {
  readonly count: number;
  /** How many of them were measured; what follows is null where none was. */
  readonly sampled: number;
  /** Seconds of all, extrapolated from the measured ones; by the device's clock, for fences and reads by the program's. */
  readonly seconds: number | null;
  readonly mean: number | null;
  readonly least: number | null;
  /** Bytes and operations a second; null also where the clock saw no time pass. */
  readonly rates: CountedWork | null;
}

/** Time in one region of the program. */
export interface RegionTime {
  /** Names from the outermost region to this. */
  readonly path: readonly string[];
  readonly count: number;
  /** By the program's clock, all of them together. */
  readonly seconds: number;
}

/** Arrays of one device, in bytes. */
export interface MemoryUse {
  readonly device: string;
  arrays: number;
  /** At the end. */
  held: number;
  /** At one time. */
  most: number;
}

/** When something ran, in seconds from the start of the profile. */
export interface Span extends CountedWork {
  readonly kind: RowKind | "region";
  readonly label: string;
  /** Undefined for regions, which belong to the program. */
  readonly device: string | undefined;
  readonly queue: number;
  readonly begin: number;
  readonly seconds: number;
}

/** Work between start and stop of a profiler: launches, copies, waits, regions, memory. */
export interface Profile {
  /** From start to stop. */
  readonly seconds: number;
  readonly devices: readonly { readonly name: string; readonly label: string }[];
  readonly rows: readonly ProfileRow[];
  readonly regions: readonly RegionTime[];
  readonly memory: readonly MemoryUse[];
  /** Empty unless the profiler was started with `trace`. */
  readonly spans: readonly Span[];
}

/** Peak rates of devices, by their names, as `measurePeaks` finds them. */
export type PeaksByDevice = Readonly<Record<string, Pick<Peaks, "bandwidth" | "flops">>>;

/**
 * Share of the roofline (Williams, Waterman and Patterson, CACM 2009) that a kernel or graph reaches: the time which the roofs of its devices
 * together allow for its bytes and operations, over the time that it took. Undefined without a time or work, or where a device has no peaks.
 */
export function rooflineShare({ kind, devices, bytes, flops: operations, rates }: ProfileRow, peaks: PeaksByDevice): number | undefined {
  const roofs = devices.map((device) => peaks[device]);
  if (!rates || bytes + operations === 0 || (kind !== "kernel" && kind !== "graph") || roofs.includes(undefined!)) return undefined;
  const bandwidth = roofs.reduce((sum, roof) => sum + roof.bandwidth, 0);
  const flops = roofs.some((roof) => roof.flops === null) ? Infinity : roofs.reduce((sum, roof) => sum + roof.flops!, 0);
  return Math.max(rates.bytes / bandwidth, rates.flops / flops);
}

/** The profile without its spans, and with `roofline`, the share of it, where peaks are known. */
export function profileJson({ spans: _spans, rows, ...rest }: Profile, peaks: PeaksByDevice = {}): string {
  const withShares = rows.map((row) => ({ ...row, roofline: rooflineShare(row, peaks) }));
  return `${JSON.stringify({ ...rest, peaks, rows: withShares }, null, 1)}\n`;
}

const COLUMNS = ["what", "device", "count", "measured", "total ms", "mean us", "least us", "GB/s", "GFLOP/s", "roofline %"];

/** A table: rows by region, kernels and graphs first, the longest first; below a graph what it holds. */
export function profileText(profile: Profile, peaks: PeaksByDevice = {}): string {
  const paths = [...new Set([...profile.regions.map(({ path }) => path), ...profile.rows.map((row) => row.region)].flatMap(prefixes))];
  const rows = childrenOf([], paths, profile, peaks);
  const table = tableText({ title: "", columns: COLUMNS, labels: 2, rows }).trim();
  return `${[`profile of ${profile.seconds.toFixed(3)} s`, ...deviceLines(profile, peaks), "", table].join("\n")}\n`;
}

function deviceLines({ devices, memory }: Profile, peaks: PeaksByDevice): string[] {
  return devices.map(({ name, label }) => {
    const roof = peaks[name];
    const flops = roof?.flops ? `, ${figure(roof.flops / 1e9)} GFLOP/s` : "";
    const use = memory.find(({ device }) => device === name);
    return [
      `${name}: ${label}`,
      ...(roof ? [`roofs ${figure(roof.bandwidth / 1e9)} GB/s${flops}`] : []),
      ...(use ? [`${use.arrays} arrays, at most ${figure(use.most / 2 ** 20)} MiB at one time`] : []),
    ].join("; ");
  });
}

/** Keys of a path and of those around it. */
const prefixes = (path: readonly string[]): string[] => path.map((_, n) => JSON.stringify(path.slice(0, n + 1)));

/** Order of rows within a region. */
const RANKS: Readonly<Record<RowKind, number>> = { kernel: 0, graph: 0, copy: 1, fence: 2 };

/** Rows of the table for what is in a region. */
function childrenOf(path: readonly string[], paths: readonly string[], profile: Profile, peaks: PeaksByDevice): string[][] {
  const indent = "  ".repeat(path.length);
  const key = JSON.stringify(path);
  const own = profile.rows
    .filter((row) => JSON.stringify(row.region) === key)
    .sort((a, b) => RANKS[a.kind] - RANKS[b.kind] || (b.seconds ?? 0) - (a.seconds ?? 0));
  const inner = paths.map((one) => JSON.parse(one) as string[]).filter((one) => one.length === path.length + 1 && startsWith(one, path));
  return [
    ...own.flatMap((row) => [
      rowCells(row, indent, rooflineShare(row, peaks)),
      ...(row.inner ?? []).map(({ label, count }) => cells([`${indent}  ${label}`, "", String(count * row.count)])),
    ]),
    ...inner.flatMap((one) => [regionCells(one, indent, profile), ...childrenOf(one, paths, profile, peaks)]),
  ];
}

const startsWith = (path: readonly string[], start: readonly string[]): boolean => start.every((name, n) => path[n] === name);

const cells = (first: readonly string[]): string[] => COLUMNS.map((_, n) => first[n] ?? "");

function rowCells(
  { kind, label, devices, count, sampled, seconds, mean, least, rates }: ProfileRow,
  indent: string,
  share?: number,
): string[] {
  const name = kind === "fence" ? `wait: ${label}` : label;
  const time = (value: number | null, factor: number) => (value === null ? "" : figure(value * factor));
  const rate = (value: number | undefined) => (value ? figure(value / 1e9) : "");
  return cells([
    indent + name,
    devices.join(),
    String(count),
    String(sampled),
    time(seconds, 1e3),
    time(mean, 1e6),
    time(least, 1e6),
    rate(rates?.bytes),
    rate(rates?.flops),
    share === undefined ? "" : (100 * share).toFixed(1),
  ]);
}

/** Regions are measured all. */
function regionCells(path: readonly string[], indent: string, { regions }: Profile): string[] {
  const key = JSON.stringify(path);
  const time = regions.find((one) => JSON.stringify(one.path) === key);
  const name = `${indent}${path.at(-1)}:`;
  if (!time) return cells([name]);
  const { count, seconds } = time;
  return cells([name, "", String(count), String(count), figure(1e3 * seconds), figure((1e6 * seconds) / count)]);
}
