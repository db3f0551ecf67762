import { REDUCTION_CHUNK } from "../../ir/types.js";
import { partialsOf } from "../../domain/container/reductions.js";
import { LaunchError } from "../../ir/errors.js";
import type { Ordered, Resources } from "../run/replay.js";
import { replayOn } from "../run/replay.js";
import { LAUNCH } from "../run/timeline.js";
import { requireLink, type Links, type RankLink, type Reach } from "./links.js";
import { PLACES, type Place, type RankPlan, type RankTask } from "./rank-plan.js";

/**
 * Who carries messages: `devices` beside their kernels, each rank's own `processor` between them, or one processor that does the work of all members `in turns`.
 */
export type Carrier = "devices" | "processor" | "in turns";

/** Seconds of the launches of a task that computes some cells. */
export type KernelSeconds = (task: Pick<RankTask, "container" | "bytesPerCell">, launches: number, cells: number) => number;

/** Ranks to predict for. */
export interface RankJob {
  readonly ranks: number;
  /** Ranks on a node. */
  readonly perNode: number;
  /** Cells of the grid that all have together, walls included. */
  readonly extents: readonly number[];
  readonly links: Links;
  /** Reach of messages within a node. Default: `node`. */
  readonly within?: Extract<Reach, "device" | "node">;
  readonly carrier: Carrier;
  readonly seconds: KernelSeconds;
  /** Seconds of an iteration beside its tasks, on each rank. Default: 0. */
  readonly beside?: number;
}

/** Messages of one kind of rank in a plan. */
export interface PlaceMessages {
  readonly place: Place;
  /** Name of the task, with the rank that receives: the one after it (1) or before it (-1). */
  readonly messages: readonly { readonly task: string; readonly step: 1 | -1; readonly bytes: number }[];
}

/** Statement of the model about a job. */
export interface Prediction {
  /** Seconds of an iteration. */
  readonly seconds: number;
  /** Most planes of a rank. */
  readonly planes: number;
  /** Neighbours' messages of all ranks in an iteration, and their bytes. */
  readonly messages: number;
  readonly bytes: number;
  /** Seconds of all reductions of an iteration, and their number. */
  readonly collectSeconds: number;
  readonly collects: number;
}

/** Fewest planes of a rank: halos of two planes on each side and cells between. */
export const FEWEST_PLANES = 5;

/** An operation of the model. */
interface RankOp extends Ordered<RankOp> {
  readonly kind: RankTask["kind"];
  readonly seconds: number;
  readonly sends: readonly { readonly to: number; readonly bytes: number }[];
  waits: RankOp[];
}

/**
 * Predicts an iteration of a plan on ranks that have the same number of planes each: the one that has most decides. One plan is replayed from a common start.
 * @throws LaunchError for more ranks than planes suffice for, IsoformError where a link is missing
 */
export function predict(plan: RankPlan, job: RankJob): Prediction {
  const { ranks, carrier, beside = 0 } = job;
  const planes = planesOf(job);
  const tasks = ranks === 1 ? plan.alone : plan.shared;
  const collects = tasks.map((task) => (task.kind === "collect" ? collectSeconds(task, plan, job) : 0));
  const ops = operations(tasks, job, planes, collects);
  const spans = replayOn(ops, carrier === "devices" ? new Ports(job) : new Processors(job));
  const end = spans.reduce((latest, span) => Math.max(latest, span.end), 0);
  const sent = ops.flatMap(({ sends }) => sends);
  const each = 1 / plan.iterations;
  return {
    seconds: end * each + beside * (carrier === "in turns" ? ranks : 1),
    planes,
    messages: sent.length * each,
    bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0) * each,
    collectSeconds: collects.reduce((a, b) => a + b, 0) * each,
    collects: collects.filter((seconds) => seconds > 0).length * each,
  };
}

/** Most planes of a rank. */
function planesOf({ ranks, extents }: RankJob): number {
  const planes = Math.ceil(extents.at(-1)! / ranks);
  if (ranks > 1 && Math.floor(extents.at(-1)! / ranks) < FEWEST_PLANES)
    throw new LaunchError(
      `${ranks} ranks on ${extents.at(-1)} planes: a rank needs ${FEWEST_PLANES} planes or more; ask for fewer ranks or a larger --size`,
    );
  return planes;
}

/** Messages of a first, an inner and a last rank in one plan. */
export function messagesOf(plan: RankPlan, extents: readonly number[], places: readonly Place[]): PlaceMessages[] {
  return places.map((place) => ({
    place,
    messages: plan.shared.flatMap(({ name, at }) =>
      at[place].sends.map(({ step, bytes }) => ({ task: name, step, bytes: bytes(extents) })),
    ),
  }));
}

/** Launches of a reduction after the container's own: groups are folded where they are, then their values by the first rank. */
const FOLDS = 2;

/**
 * Seconds of one collect: all others send the values of their groups to the first rank, which folds them and sends each of them the result. Its host handles one
 * message after the other; members in turns also wait for each.
 */
export function collectSeconds({ reduced }: Pick<RankTask, "reduced">, { precision }: Pick<RankPlan, "precision">, job: RankJob): number {
  const { ranks, perNode, links, extents, carrier, within = "node" } = job;
  if (ranks === 1) return 0;
  const planes = Math.ceil(extents.at(-1)! / ranks);
  const partials = ranks * partialsOf({ extents, partitions: [{ first: 0, planes }] }, 0, precision);
  const bytes = reduced.reduce((sum, size) => sum + size * Math.ceil(partials / REDUCTION_CHUNK), 0);
  const near = Math.min(ranks, perNode);
  const others: readonly (readonly [count: number, reach: Reach])[] = [
    [near - 1, within],
    [ranks - near, "network"],
  ];
  let [hosts, wait, slowest] = [0, 0, Infinity];
  for (const [count, reach] of others) {
    if (count === 0) continue;
    const { latency, host, bandwidth } = requireLink(links, reach);
    hosts += count * (host + (carrier === "in turns" ? latency : 0));
    wait = carrier === "in turns" ? 0 : Math.max(wait, latency);
    slowest = Math.min(slowest, bandwidth);
  }
  return FOLDS * LAUNCH + 2 * (hosts + wait) + bytes / slowest;
}

/** Operations of all ranks, task after task. */
function operations(tasks: readonly RankTask[], job: RankJob, planes: number, collects: readonly number[]): RankOp[] {
  const { ranks, extents } = job;
  const along = [...extents.slice(0, -1), planes];
  const ops: RankOp[] = [];
  /** By task, then by rank: what must be complete before the rank goes on. */
  const completed: RankOp[][][] = [];
  const add = (op: RankOp): RankOp => {
    ops.push(op);
    return op;
  };
  for (const [number, task] of tasks.entries()) {
    const { kind, stream } = task;
    const before = (rank: number): RankOp[] => task.waits.flatMap((parent) => completed[parent][rank]);
    const all = Array.from({ length: ranks }, (_, rank) => rank);
    if (kind === "collect") {
      // One operation of all ranks, on no rank's processor.
      const joined = add({
        kind,
        member: -1,
        stream: number,
        waits: all.flatMap(before),
        exchangesWith: [],
        sends: [],
        seconds: collects[number],
      });
      completed.push(all.map(() => [joined]));
      continue;
    }
    const works = Object.fromEntries(PLACES.map((place) => [place, workOf(task, place, job, along)]));
    const own = all.map((rank) => {
      const { seconds, sends } = works[placeOf(rank, ranks)];
      const targets = sends.map(({ step, bytes }) => ({ to: (rank + step + ranks) % ranks, bytes }));
      return add({
        kind,
        member: rank,
        stream,
        waits: [...before(rank), ...targets.flatMap(({ to }) => before(to))],
        exchangesWith: [],
        sends: targets,
        seconds,
      });
    });
    const arriving: RankOp[][] = own.map((op) => [op]);
    for (const op of own) for (const { to } of op.sends) arriving[to].push(op);
    completed.push(arriving);
  }
  return ops;
}

/** Seconds of a task at a place with this many cells along each axis, and its messages. */
function workOf(task: RankTask, place: Place, { seconds, extents }: RankJob, along: readonly number[]) {
  const { launches, cells, sends } = task.at[place];
  return {
    seconds: launches > 0 ? seconds(task, launches, cells(along)) : 0,
    sends: sends.map(({ step, bytes }) => ({ step, bytes: bytes(extents) })),
  };
}

const placeOf = (rank: number, ranks: number): Place => (rank === 0 ? "first" : rank === ranks - 1 ? "last" : "inner");

/** The link between two ranks. */
export function linkBetween(
  { links, perNode, within = "node" }: Pick<RankJob, "links" | "perNode" | "within">,
  a: number,
  b: number,
): RankLink {
  const isNear = Math.floor(a / perNode) === Math.floor(b / perNode);
  return requireLink(links, isNear ? within : "network");
}

const carrySeconds = ({ bandwidth, host }: RankLink, bytes: number): number => host + bytes / bandwidth;

/** A processor for each rank, and a port through which its messages leave one after the other beside the kernels. */
class Ports implements Resources<RankOp> {
  private readonly processors = new Map<number, number>();
  private readonly ports = new Map<number, number>();

  constructor(private readonly job: RankJob) {}

  earliest({ member, kind, sends }: RankOp, ready: number): number {
    if (kind === "compute") return Math.max(ready, this.processors.get(member) ?? 0);
    return sends.length > 0 ? Math.max(ready, this.ports.get(member) ?? 0) : ready;
  }

  run({ member, kind, sends, seconds }: RankOp, begin: number): number {
    if (kind === "compute") this.processors.set(member, begin + seconds);
    let free = begin;
    let end = begin + seconds;
    for (const { to, bytes } of sends) {
      const link = linkBetween(this.job, member, to);
      free += carrySeconds(link, bytes);
      end = Math.max(end, free + link.latency);
    }
    if (sends.length > 0) this.ports.set(member, free);
    return end;
  }
}

/** Processors that carry the messages of their ranks as well; one for all members where they run in turns. */
class Processors implements Resources<RankOp> {
  private readonly free = new Map<number, number>();

  constructor(private readonly job: RankJob) {}

  earliest(op: RankOp, ready: number): number {
    return Math.max(ready, this.free.get(this.processorOf(op)) ?? 0);
  }

  run(op: RankOp, begin: number): number {
    let busy = begin + op.seconds;
    let end = busy;
    for (const { to, bytes } of op.sends) {
      const link = linkBetween(this.job, op.member, to);
      busy += carrySeconds(link, bytes) + (this.job.carrier === "in turns" ? link.latency : 0);
      end = Math.max(end, this.job.carrier === "in turns" ? busy : busy + link.latency);
    }
    this.free.set(this.processorOf(op), busy);
    return end;
  }

  /** A collect occupies a processor only where there is but one. */
  private processorOf({ member }: RankOp): number {
    return this.job.carrier === "in turns" ? 0 : member;
  }
}
