import type { Split } from "../../domain/grid/options.js";
import { REDUCTION_CHUNK } from "../../ir/types.js";
import { gatherCounts } from "../../domain/container/all-gather.js";
import { partialsOf } from "../../domain/container/reductions.js";
import { LaunchError } from "../../base/errors.js";
import type { Ordered, Resources } from "../run/replay.js";
import { replayOn } from "../run/replay.js";
import { LAUNCH } from "../run/timeline.js";
import { requireLink, type Links, type RankLink, type Reach } from "./links.js";
import { axesOf, RANK_PLACES, type RankPlace, type RankPlan, type RankStep, type RankTask } from "./rank-plan.js";
import { divisionOf, largestShare, memberBeside, placeInDivision, type Division } from "../../domain/grid/split.js";

/**
 * Who carries messages: `devices` beside their kernels, each rank's own `processor` between them, or one processor that does the work of all members `in turns`.
 */
export type MessageCarrier = "devices" | "processor" | "in turns";

/** Seconds of the launches of a task that computes some cells. */
export type KernelSeconds = (task: Pick<RankTask, "container" | "bytesPerCell" | "packs">, launches: number, cells: number) => number;

/** Ranks to predict for. */
export interface RankJob {
  readonly ranks: number;
  /** Ranks on a node. */
  readonly perNode: number;
  /** Cells of the grid that all have together, walls included. */
  readonly extents: readonly number[];
  /** How it is cut. Default: along the last axis. */
  readonly split?: Split;
  readonly links: Links;
  /** Reach of messages within a node. Default: `node`. */
  readonly within?: Extract<Reach, "device" | "node">;
  readonly carrier: MessageCarrier;
  readonly seconds: KernelSeconds;
  /** Seconds of an iteration beside its tasks, on each rank. Default: 0. */
  readonly beside?: number;
}

/** Messages of one kind of rank in a plan. */
export interface PlaceMessages {
  readonly place: RankPlace;
  /** Name of the task, and where the rank that receives is. */
  readonly messages: readonly { readonly task: string; readonly step: RankStep; readonly bytes: number }[];
}

/** Statement of the model about a job. */
export interface Prediction {
  /** Seconds of an iteration. */
  readonly seconds: number;
  readonly division: Division;
  /** Most planes of a rank, and most rows where these are cut. */
  readonly planes: number;
  readonly rows?: number;
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
 * Predicts an iteration of a plan on ranks that have the same number of planes and rows each: the one that has most decides. One plan is replayed from a common start.
 * @throws LaunchError for more ranks than planes suffice for, IsoformError where a link is missing
 */
export function predict(plan: RankPlan, job: RankJob): Prediction {
  const { ranks, carrier, beside = 0 } = job;
  const division = divisionFor(job);
  const tasks = tasksFor(plan, division);
  const collects = tasks.map((task) => (task.kind === "collect" ? collectSeconds(task, plan, job) : 0));
  const along = rankShare(job.extents, division);
  const ops = operations(tasks, job, { division, along }, collects);
  const spans = replayOn(ops, carrier === "devices" ? new Ports(job) : new Processors(job));
  const end = spans.reduce((latest, span) => Math.max(latest, span.end), 0);
  const sent = ops.flatMap(({ sends }) => sends);
  const each = 1 / plan.iterations;
  return {
    seconds: end * each + beside * (carrier === "in turns" ? ranks : 1),
    division,
    planes: along.at(-1)!,
    ...(division.y > 1 && { rows: along[1] }),
    messages: sent.length * each,
    bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0) * each,
    collectSeconds: collects.reduce((a, b) => a + b, 0) * each,
    collects: collects.filter((seconds) => seconds > 0).length * each,
  };
}

/**
 * How the ranks of a job are divided.
 * @throws LaunchError for boxes that are too small for them
 */
export function divisionFor({ ranks, extents, split }: Pick<RankJob, "ranks" | "extents" | "split">): Division {
  const planes = extents.at(-1)!;
  const division = split === undefined || split === "z" ? { y: 1, z: ranks } : divisionOf(extents, ranks, split);
  if (division.z > 1 && Math.floor(planes / division.z) < FEWEST_PLANES)
    throw new LaunchError(
      division.y === 1
        ? `${ranks} ranks on ${planes} planes: a rank needs ${FEWEST_PLANES} planes or more; ask for fewer ranks or a larger --size`
        : `${ranks} ranks, ${division.y} along y and ${division.z} along z, on ${planes} planes: a rank needs ${FEWEST_PLANES} planes or more; ask for fewer ranks or a larger --size`,
    );
  return division;
}

/** Cells along each axis of the rank that has most. */
export function rankShare(extents: readonly number[], division: Division): number[] {
  if (extents.length === 2) return [extents[0], Math.ceil(extents[1] / division.z)];
  const { rows, planes } = largestShare(extents, division);
  return [extents[0], rows, planes];
}

/** Tasks of each rank of a division. */
export function tasksFor({ name, alone, shared }: RankPlan, division: Division): readonly RankTask[] {
  if (division.y * division.z === 1) return alone;
  const axes = axesOf(division);
  const tasks = shared[axes];
  if (!tasks) throw new LaunchError(`skeleton "${name}" was not planned for cuts along ${axes}: leave out --split, or choose another`);
  return tasks;
}

/** Messages in one plan of ranks at some places. */
export function planMessages(
  plan: RankPlan,
  extents: readonly number[],
  division: Division,
  places: readonly RankPlace[],
): PlaceMessages[] {
  const along = rankShare(extents, division);
  return places.map((place) => ({
    place,
    messages: tasksFor(plan, division).flatMap(({ name, at }) =>
      at(place).sends.map(({ step, bytes }) => ({ task: name, step, bytes: bytes(along) })),
    ),
  }));
}

/** Launches of a reduction after the container's own: groups are folded where they are, then their values by all ranks. */
const FOLDS = 2;

/**
 * Seconds of one collect: in about log2(ranks) rounds each rank sends the values of groups that it has to another, and all fold them. Members in turns share one
 * processor, which handles all messages of a round.
 */
export function collectSeconds({ reduced }: Pick<RankTask, "reduced">, { precision }: Pick<RankPlan, "precision">, job: RankJob): number {
  const { ranks, perNode, links, extents, carrier, within = "node" } = job;
  if (ranks === 1) return 0;
  const division = divisionFor(job);
  const along = rankShare(extents, division);
  const isSplit = division.y > 1;
  const own = partialsOf({ extents: along, partitions: [{ first: 0, planes: along.at(-1)!, ...(isSplit && { rows: [0, along[1]] }) }] }, 0, precision); // prettier-ignore
  const values = reduced.reduce((a, b) => a + b, 0);
  const beside = isSplit && precision === "strict" ? besideSeconds(values * own, division, job) : 0;
  const bytes = reduced.reduce((sum, size) => sum + size * Math.ceil((ranks * own) / REDUCTION_CHUNK), 0);
  const { latency, host, bandwidth } = requireLink(links, ranks <= perNode ? within : "network");
  const message = (share: number): number => host + latency + (bytes * share) / bandwidth;
  const rounds = gatherCounts(ranks).reduce((sum, count) => sum + message(count / ranks), 0);
  return FOLDS * LAUNCH + (carrier === "in turns" ? ranks : 1) * rounds + beside;
}

/** Seconds in which ranks that have rows beside each other's send partials to the owners of their groups: at most all of theirs, to two ranks. */
function besideSeconds(bytes: number, { y }: Division, { ranks, perNode, links, carrier, within = "node" }: RankJob): number {
  const { latency, host, bandwidth } = requireLink(links, y <= perNode ? within : "network");
  return (2 * host + bytes / bandwidth) * (carrier === "in turns" ? ranks : 1) + latency;
}

/** How ranks are divided, and the cells of the one that has most along each axis. */
interface Share {
  readonly division: Division;
  readonly along: readonly number[];
}

/** Operations of all ranks, task after task. */
function operations(tasks: readonly RankTask[], job: RankJob, { division, along }: Share, collects: readonly number[]): RankOp[] {
  const { ranks } = job;
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
    const works = new Map(rankPlaces(division).map((place) => [keyOf(place), workOf(task, place, job, along)]));
    const own = all.map((rank) => {
      const { seconds, sends } = works.get(keyOf(placeIn(division, rank)))!;
      const targets = sends.map(({ step, bytes }) => ({ to: rankBeside(division, rank, step), bytes }));
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
function workOf(task: RankTask, place: RankPlace, { seconds }: RankJob, along: readonly number[]) {
  const { launches, cells, sends } = task.at(place);
  return {
    seconds: launches > 0 ? seconds(task, launches, cells(along)) : 0,
    sends: sends.map(({ step, bytes }) => ({ step, bytes: bytes(along) })),
  };
}

/** The rank some steps away; the ends of an axis are neighbours, too, where a sample has a message between them. */
export const rankBeside = (division: Division, rank: number, step: RankStep): number =>
  memberBeside(division, [true, true, true], rank, step) ?? rank;

/** Place of a rank in its division. */
function placeIn(division: Division, rank: number): RankPlace {
  const { y, z } = placeInDivision(division, rank);
  const named = (at: number, length: number) => (at === 0 ? "first" : at === length - 1 ? "last" : "inner");
  return { y: named(y, division.y), z: named(z, division.z) };
}

/** Places that ranks of a division have, those along y together. */
export function rankPlaces({ y, z }: Division): RankPlace[] {
  const along = (length: number) => RANK_PLACES.filter((place) => (place === "inner" ? length > 2 : place === "first" || length > 1));
  return along(z).flatMap((plane) => along(y).map((row): RankPlace => ({ y: row, z: plane })));
}

const keyOf = ({ y, z }: RankPlace): string => `${y} ${z}`;

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
