import type { Device } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { f64, view } from "../../kernel/declare/params.js";
import { DEFAULT_LINK, type DeviceSet } from "../../set/index.js";
import type { Op } from "./op.js";
import type { OpMarks, BoundProgram } from "./bound-program.js";
import { replay, type PlannedSpan } from "./replay.js";
import { isDisturbed, steadySeconds, type Steady } from "./steady.js";

/** When the operations of one plan ran, or would run. */
export interface Timeline {
  readonly spans: readonly PlannedSpan[];
  /** From the first begin to the last end. */
  readonly seconds: number;
  /** Source of the times. */
  readonly source: string;
}

/** Timeline of one skeleton. */
export interface Timelines {
  readonly name: string;
  readonly set: Pick<DeviceSet, "name" | "members">;
  readonly planned: Timeline;
  /** Undefined if no iteration was traced. */
  readonly measured: Timeline | undefined;
}

/** Seconds from submitting a launch to its start, in plans. */
export const LAUNCH = 2e-6;

/** The plan by the model: the bytes of each launch over the bandwidth of its device, and the set's link. */
export async function plannedTimeline({ ops }: BoundProgram, set: DeviceSet): Promise<Timeline> {
  const copies = await Promise.all(set.locals.map(({ device }) => copyOf(device)));
  const bandwidths = copies.map((copy) => COPIED_BYTES / copy.seconds);
  const link = set.link ?? DEFAULT_LINK;
  const seconds = ({ launches, member }: Op) =>
    launches.reduce((total, launch) => total + LAUNCH + launch.cost.bytes / bandwidths[member], 0);
  const rate = [...new Set(copies.map(rateText))].join(" and ");
  return timeline(
    replay(ops, link, seconds),
    `bytes over ${rate}, links of ${(link.bandwidth / 1e9).toFixed(1)} GB/s and ${(link.latency * 1e6).toFixed(1)} µs`,
  );
}

/**
 * A traced run. Members that share a device, and members on CPUs, run one after the other: their times are replayed as if each had a device
 * of its own, with the set's link between them.
 * @param starts a mark on each member from just before the run
 */
export async function measuredTimeline(
  marks: ReadonlyMap<Op, OpMarks>,
  starts: readonly OpMarks["begin"][],
  set: DeviceSet,
): Promise<Timeline> {
  const times = new Map<Op, { begin: number; seconds: number }>();
  for (const [op, { begin, end }] of marks) times.set(op, { begin: await begin.since(starts[op.member]), seconds: await end.since(begin) });
  const inTurns = new Set(set.locals.map(({ device }) => device.memory)).size < set.locals.length;
  if (inTurns)
    return timeline(
      replay([...marks.keys()], set.link ?? DEFAULT_LINK, (op) => times.get(op)!.seconds),
      "measured kernels, as if each member had a device of its own, and modelled links",
    );
  const spans = [...times].map(([op, { begin, seconds }]) => ({ op, begin, end: begin + seconds }));
  const first = Math.min(...spans.map((span) => span.begin));
  return timeline(
    spans.map(({ op, begin, end }) => ({ op, begin: begin - first, end: end - first })),
    "the devices' clocks",
  );
}

const timeline = (spans: readonly PlannedSpan[], source: string): Timeline => ({
  spans: spans.filter(({ op }) => op.launches.length + op.copies.length > 0),
  seconds: Math.max(0, ...spans.map((span) => span.end)),
  source,
});

/** Seconds of copies from or to a member, and how much of that the member computes meanwhile; the mean over the members. */
export function overlapOf({ spans }: Timeline, members: number): { readonly copies: number; readonly hidden: number } {
  let [copies, hidden] = [0, 0];
  const travels = Array.from({ length: members }, (): PlannedSpan[] => []);
  const works = Array.from({ length: members }, (): PlannedSpan[] => []);
  for (const span of spans) {
    const { op } = span;
    for (const m of new Set(op.copies.flatMap(({ from, to }) => [from, to]))) travels[m]?.push(span);
    if (op.launches.length > 0) works[op.member]?.push(span);
  }
  for (let m = 0; m < members; m++) {
    const [travel, work] = [union(travels[m]), union(works[m])];
    copies += lengthOf(travel);
    hidden += lengthOf(travel) + lengthOf(work) - lengthOf(union([...travel, ...work]));
  }
  return { copies: copies / members, hidden: hidden / members };
}

type Interval = Pick<PlannedSpan, "begin" | "end">;

function union(spans: readonly Interval[]): Interval[] {
  const merged: { begin: number; end: number }[] = [];
  for (const { begin, end } of [...spans].sort((a, b) => a.begin - b.begin)) {
    const last = merged.at(-1);
    if (last && begin <= last.end) last.end = Math.max(last.end, end);
    else merged.push({ begin, end });
  }
  return merged;
}

const lengthOf = (intervals: readonly Interval[]): number => intervals.reduce((sum, { begin, end }) => sum + end - begin, 0);

const copyKernel = kernel("copy", { from: view(f64), to: view(f64) }, ({ from, to }, i) => {
  to[i] = from[i];
});
const measured = new WeakMap<Device, Promise<Steady>>();
/** Elements that no cache holds. */
const COPIED = 2 ** 23;
const COPIED_BYTES = 16 * COPIED;

function rateText(copy: Steady): string {
  const rate = `${(COPIED_BYTES / copy.seconds / 1e9).toFixed(1)} GB/s`;
  return isDisturbed(copy)
    ? `${rate} (uncertain: something else was running, runs of the copy differ ${copy.spread.toFixed(1)}-fold)`
    : rate;
}

/** Bytes a second that a copy kernel moves on a device, measured once, and the same in words. */
export async function copyRate(device: Device): Promise<{ readonly bandwidth: number; readonly words: string }> {
  const copy = await copyOf(device);
  return { bandwidth: COPIED_BYTES / copy.seconds, words: rateText(copy) };
}

/** The time of a copy kernel, measured once; again the next time where something else was running. */
async function copyOf(device: Device): Promise<Steady> {
  const known = measured.get(device) ?? measureCopy(device);
  measured.set(device, known);
  const copy = await known;
  if (isDisturbed(copy) && measured.get(device) === known) measured.delete(device);
  return copy;
}

async function measureCopy(device: Device): Promise<Steady> {
  const [from, to] = [device.array(f64, COPIED), device.array(f64, COPIED)];
  const launch = device.prepare(copyKernel, { from, to }, range(COPIED));
  try {
    return await steadySeconds(() => {
      const begin = device.queue.record();
      device.queue.submit(launch);
      return device.queue.record().since(begin);
    });
  } finally {
    launch.free();
    from.free();
    to.free();
  }
}
