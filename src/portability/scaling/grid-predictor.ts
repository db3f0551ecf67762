import { IsoformError, LaunchError } from "../../base/errors.js";
import {
  divisionFor,
  FEWEST_PLANES,
  predict,
  rankShare as cellsOfRank,
  type KernelSeconds,
  type RankJob,
} from "../../skeleton/ranks/prediction.js";
import type { RankPlan, RankTask } from "../../skeleton/ranks/rank-plan.js";
import { LAUNCH } from "../../skeleton/run/timeline.js";
import { TRACES, type KernelTimes } from "./parts.js";
import { carrierOf, measuredLinks, scaledLinks, type Circumstances, type ForecastInputs, type Predictor } from "./predictor.js";
import { oneDevice, pointsOf, type StudyPoint, type ScalingRequest } from "./request.js";

/** Predicts an application on a dense grid: its plan is replayed on all ranks, with kernels as they were measured on one device. */
export function gridPredictor(request: ScalingRequest, plan: RankPlan): Predictor {
  const { application, devices } = request;
  const settingsOf = ({ size, planes }: Pick<StudyPoint, "size" | "planes">) => ({ ...request.settings, size, planes });
  const boxes = boxesOf(request, plan).map((box) => [
    boxName(box.size, box.planes),
    { what: "kernels", application, devices: oneDevice(devices), settings: settingsOf(box), repeats: TRACES } as const,
  ]);
  return {
    alone: Object.fromEntries(boxes) as Predictor["alone"],
    counted: "cells",
    refusal(point) {
      const share = shareOrReason(request, plan, point);
      return typeof share === "string" ? share : undefined;
    },
    extents: (point) => extentsOf(plan, point),
    seconds: (inputs, point, circumstances) => predictedSeconds(request, plan, inputs, point, circumstances),
    run: (point, on) => ({ what: "iterations", application, devices: on, settings: settingsOf(point) }),
  };
}

/** Name of the box of one rank. */
const boxName = (size: number, planes: number): string => `${size} x ${planes}`;

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
function boxesOf(request: ScalingRequest, plan: RankPlan): { readonly size: number; readonly planes: number }[] {
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

/** Seconds of an iteration of a point. */
function predictedSeconds(
  request: ScalingRequest,
  plan: RankPlan,
  { kernels, link }: ForecastInputs,
  point: StudyPoint,
  { isMeasured, factors = { latency: 1, bandwidth: 1 } }: Circumstances,
): number {
  const planes = shareOf(request, plan, point);
  const share = withoutMarks(kernels[boxName(point.size, planes)]);
  const small = withoutMarks(kernels[boxName(point.size, smallShareOf(planes))]);
  const job: RankJob = {
    ranks: point.ranks,
    perNode: request.perNode ?? point.ranks,
    extents: extentsOf(plan, point),
    split: request.settings.split,
    links: point.ranks === 1 ? {} : scaledLinks(measuredLinks(request, link!), factors),
    carrier: carrierOf(link?.carrier ?? "devices", isMeasured),
    seconds: kernelSeconds(share, small, plan.alone),
    beside: besideTasks(share),
  };
  return predict(plan, job).seconds;
}

function extentsOf({ margins }: RankPlan, { size, planes }: StudyPoint): number[] {
  return margins.map((margin, axis) => (axis === margins.length - 1 ? planes : size) + margin);
}
