import { createHash } from "node:crypto";
import { IsoformError, LaunchError } from "../../base/errors.js";
import type { Links, RankLink } from "../../skeleton/ranks/links.js";
import {
  divisionFor,
  FEWEST_PLANES,
  predict,
  rankShare as cellsOfRank,
  type MessageCarrier,
  type KernelSeconds,
  type RankJob,
} from "../../skeleton/ranks/prediction.js";
import type { RankPlan, RankTask } from "../../skeleton/ranks/rank-plan.js";
import { LAUNCH } from "../../skeleton/run/timeline.js";
import { thisMachine } from "../machine.js";
import type { KernelTimes } from "./parts.js";
import type { MeasuredLink } from "./ping-pong.js";
import { pointName, pointsOf, type StudyPoint, type ScalingRequest } from "./request.js";

/** Measurements that a prediction is made of, none of them of the points themselves but for one rank. */
export interface ForecastInputs {
  /** Times on one device, by box: `64 x 32`, cells along each axis and planes of a rank. */
  readonly kernels: Readonly<Record<string, KernelTimes>>;
  /** Undefined where every point has one rank. */
  readonly link?: MeasuredLink;
}

/** A point with its prediction. */
export interface PredictedPoint extends StudyPoint {
  /** Cells of the grid that all ranks have together. */
  readonly extents: readonly number[];
  /** Seconds of an iteration. */
  readonly seconds: number;
}

/** Contents of `prediction.json`. */
export interface Forecast {
  readonly format: "isoform-scaling/1";
  readonly machine: string;
  readonly date: string;
  readonly request: ScalingRequest;
  readonly inputs: ForecastInputs;
  readonly points: readonly PredictedPoint[];
  /** Points that are not measured. */
  readonly extrapolated: readonly PredictedPoint[];
  /** Points that cannot be predicted, and why. */
  readonly leftOut: Readonly<Record<string, string>>;
}

/** Name of the box of one rank. */
export const boxName = (size: number, planes: number): string => `${size} x ${planes}`;

/**
 * Planes of a box, without walls, that has as many cells as one rank.
 * @throws LaunchError for boxes that are too small for their ranks
 */
function shareOf({ settings: { split } }: ScalingRequest, plan: RankPlan, point: StudyPoint): number {
  const { ranks, planes } = point;
  const extents = extentsOf(plan, point);
  if (ranks > 1 && (split ?? "z") === "z" && Math.ceil(planes / ranks) < FEWEST_PLANES)
    throw new LaunchError(`${planes} planes leave fewer than ${FEWEST_PLANES} to a rank`);
  const division = divisionFor({ ranks, extents, split });
  if (division.y === 1) return Math.ceil(planes / division.z);
  const [, rows, most] = cellsOfRank(extents, division);
  return Math.max(FEWEST_PLANES, Math.ceil((rows * most) / extents[1]));
}

/** The share of a point, or why it has none. */
function shareOrReason(request: ScalingRequest, plan: RankPlan, point: StudyPoint): number | string {
  try {
    return shareOf(request, plan, point);
  } catch (error) {
    if (error instanceof LaunchError) return error.message;
    throw error;
  }
}

/** Planes of the small box from which the times of few cells are known. */
const SMALL_SHARE = 4;
const smallShareOf = (share: number): number => Math.max(FEWEST_PLANES, Math.floor(share / SMALL_SHARE));

/** The boxes to measure on one device: the share of each point, and a quarter of the smallest. */
export function boxesOf(request: ScalingRequest, plan: RankPlan): { readonly size: number; readonly planes: number }[] {
  const points = pointsOf(request, [...request.ranks, ...request.extrapolated]);
  const boxes = points.flatMap((point) => {
    const share = shareOrReason(request, plan, point);
    return typeof share === "string" ? [] : [share, smallShareOf(share)].map((planes) => ({ size: point.size, planes }));
  });
  return [...new Map(boxes.map((box) => [boxName(box.size, box.planes), box])).values()];
}

/**
 * Seconds of kernels from two boxes on one device: the larger one gives the rate, and both what a launch takes however little it does.
 * @param tasks of the plan of one rank; halos that several ranks pack take as long for a byte as these do
 * @returns a function that throws IsoformError for a container that was not measured
 */
export function kernelSeconds(
  share: KernelTimes,
  small: KernelTimes,
  tasks: readonly Pick<RankTask, "container" | "bytesPerCell">[] = [],
): KernelSeconds {
  const less = new Map(small.tasks.map((task) => [task.name, task]));
  const containers = new Map<string, { readonly perLaunch: number; readonly perCell: number }>();
  for (const task of share.tasks) {
    const other = less.get(task.name) ?? task;
    const perCell = (task.seconds - other.seconds) / (task.cells - other.cells);
    const constant = task.seconds - perCell * task.cells;
    // Noise can make a launch take less than nothing; then cells take all of the time. So they do where both boxes have the same cells.
    const isSound = constant >= 0 && perCell > 0;
    containers.set(task.name, {
      perLaunch: isSound ? constant / task.launches : 0,
      perCell: isSound ? perCell : task.seconds / Math.max(1, task.cells),
    });
  }
  const bytes = new Map(tasks.map(({ container, bytesPerCell }) => [container, bytesPerCell]));
  const moved = share.tasks.reduce((sum, task) => sum + task.cells * (bytes.get(task.name) ?? 0), 0);
  const taken = share.tasks.reduce((sum, task) => sum + (bytes.get(task.name) ? task.seconds : 0), 0);
  return ({ container, bytesPerCell, packs }, launches, cells) => {
    if (packs) return launches * LAUNCH + cells * bytesPerCell * (taken / moved);
    const known = containers.get(container);
    if (!known) throw new IsoformError(`"${container}" is in the plan and was not measured on one device; measure again in a new --output`);
    return launches * known.perLaunch + cells * known.perCell;
  };
}

/**
 * Tasks that together take an iteration's time at most. Marks around each task keep short kernels apart, which run one into the other without them: what
 * marks add is taken from all tasks alike.
 */
export function withoutMarks(times: KernelTimes): KernelTimes {
  const { seconds, tasks, iterations } = times;
  const marked = tasks.reduce((sum, task) => sum + task.seconds, 0) / iterations;
  if (marked <= seconds) return times;
  return { ...times, tasks: tasks.map((task) => ({ ...task, seconds: (task.seconds * seconds) / marked })) };
}

/** Seconds of an iteration that are in no task: of the host. */
export function besideTasks({ seconds, tasks, iterations }: KernelTimes): number {
  return seconds - tasks.reduce((sum, task) => sum + task.seconds, 0) / iterations;
}

/** Predicts the points of a request from its inputs. */
export function forecast(request: ScalingRequest, plan: RankPlan, inputs: ForecastInputs, date = new Date().toISOString()): Forecast {
  const leftOut: Record<string, string> = {};
  const predicted = (ranks: readonly number[], isMeasured: boolean): PredictedPoint[] =>
    pointsOf(request, ranks).flatMap((point) => {
      const share = shareOrReason(request, plan, point);
      if (typeof share === "string") {
        leftOut[pointName(point)] = share;
        return [];
      }
      const extents = extentsOf(plan, point);
      return [{ ...point, extents, seconds: predictedSeconds(request, plan, inputs, point, { isMeasured }) }];
    });
  const { name, processor, threads } = thisMachine();
  return {
    format: "isoform-scaling/1",
    machine: `${name}: ${processor}, ${threads} threads`,
    date,
    request,
    inputs,
    points: predicted(request.ranks, true),
    extrapolated: predicted(request.extrapolated, false),
    leftOut,
  };
}

/** Factors by which a link may be other than it was measured. */
interface LinkFactors {
  readonly latency: number;
  readonly bandwidth: number;
}

/** Seconds of an iteration of a point. */
export function predictedSeconds(
  request: ScalingRequest,
  plan: RankPlan,
  { kernels, link }: ForecastInputs,
  point: StudyPoint,
  { isMeasured, factors = { latency: 1, bandwidth: 1 } }: { readonly isMeasured: boolean; readonly factors?: LinkFactors },
): number {
  const planes = shareOf(request, plan, point);
  const share = withoutMarks(kernels[boxName(point.size, planes)]);
  const small = withoutMarks(kernels[boxName(point.size, smallShareOf(planes))]);
  const job: RankJob = {
    ranks: point.ranks,
    perNode: request.perNode ?? point.ranks,
    extents: extentsOf(plan, point),
    split: request.settings.split,
    links: point.ranks === 1 ? {} : scaled(linksOf(request, link!), factors),
    carrier: carrierOf(link?.carrier ?? "devices", isMeasured),
    seconds: kernelSeconds(share, small, plan.alone),
    beside: besideTasks(share),
  };
  return predict(plan, job).seconds;
}

/** More members than there are have a device each, as ranks would; on processors each carries its own messages. */
const carrierOf = (carrier: MessageCarrier, isMeasured: boolean): MessageCarrier =>
  carrier === "in turns" && !isMeasured ? "processor" : carrier;

const linksOf = ({ links }: ScalingRequest, { bandwidth, latency, host }: MeasuredLink): Links => ({
  ...links,
  node: { bandwidth, latency, host },
});

function scaled(links: Links, { latency, bandwidth }: LinkFactors): Links {
  const one = (link: RankLink): RankLink => ({ ...link, latency: link.latency * latency, bandwidth: link.bandwidth * bandwidth });
  return Object.fromEntries(Object.entries(links).map(([reach, link]) => [reach, one(link)]));
}

function extentsOf({ margins }: RankPlan, { size, planes }: StudyPoint): number[] {
  return margins.map((margin, axis) => (axis === margins.length - 1 ? planes : size) + margin);
}

/** Text of the file of a forecast. */
export const forecastText = (made: Forecast): string => `${JSON.stringify(made, null, 1)}\n`;

/** SHA-256 of a text, in hexadecimal digits. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Range of an iteration's time: the link has 0.5 to 2 times the measured latency and 0.5 to 1 times the bandwidth, and predictions have the error of the measured points.
 */
export interface Band {
  readonly low: number;
  readonly high: number;
}

/**
 * The band of a prediction.
 * @param secondsWith the prediction with another link
 * @param error the largest deviation of predicted from measured times, as a ratio: 0.1 where one is 1.1 times the other
 */
export function bandOf(secondsWith: (factors: LinkFactors) => number, error: number): Band {
  const fast = secondsWith({ latency: 0.5, bandwidth: 1 });
  const slow = secondsWith({ latency: 2, bandwidth: 0.5 });
  return { low: Math.min(fast, slow) / (1 + error), high: Math.max(fast, slow) * (1 + error) };
}

/** How far two times are apart, as a ratio above 0, whichever is larger. */
export const ratioDeviation = (predicted: number, measured: number): number => Math.max(predicted / measured, measured / predicted) - 1;
