import type { PlanPattern } from "../../skeleton/ranks/pattern.js";
import { cellsIn } from "../../skeleton/ranks/rank-plan.js";
import type { SkeletonModule, SkeletonSettings } from "../../skeleton/settings.js";
import type { Skeleton } from "../../skeleton/skeleton.js";
import { devices } from "../../set/index.js";
import { median } from "../statistics.js";
import { pingPong, type MeasuredLink } from "./ping-pong.js";

/*
 * Measurements of a scaling study, each in a process of its own (or in several, under a launcher).
 */

interface BoxPart {
  readonly application: string;
  readonly devices: string;
  readonly settings: SkeletonSettings;
}

/** Task of a measuring process. */
export type MeasuringTask =
  | ({ readonly what: "kernels"; readonly repeats: number } & BoxPart)
  | ({ readonly what: "iterations" } & BoxPart)
  | { readonly what: "link"; readonly devices: string };

/** Times of one task on one device. */
export interface TaskTimes {
  /** Name of the container. */
  readonly name: string;
  readonly launches: number;
  /** Cells of all launches. */
  readonly cells: number;
  /** Median. */
  readonly seconds: number;
}

/** Times of an application on one device, with one box. */
export interface KernelTimes {
  readonly extents: readonly number[];
  /** Iterations in a plan. */
  readonly iterations: number;
  readonly tasks: readonly TaskTimes[];
  /** Seconds of an iteration that is not traced, median. */
  readonly seconds: number;
}

/** Times of one run. */
export interface IterationTimes {
  readonly extents: readonly number[];
  /** Seconds of an iteration, median over some stretches of one process. */
  readonly seconds: number;
}

/** Results by kind of part. */
export interface PartResults {
  kernels: KernelTimes;
  iterations: IterationTimes;
  link: MeasuredLink;
}

/** Seconds of a stretch of iterations, at least. */
const STRETCH = 0.2;
/** Stretches of one run; their median counts. */
const STRETCHES = 5;
/** Plans that run first: engines compile, and halos come to their steady state. */
const WARM_UP = 4;
const MOST_ITERATIONS = 1000;

/** Measures one part, here and now; with `mpi:` all ranks do. */
export async function measurePart(
  part: MeasuringTask,
  moduleOf: (application: string) => Promise<SkeletonModule>,
): Promise<PartResults[MeasuringTask["what"]]> {
  if (part.what === "link") return pingPong(part.devices);
  const set = await devices(part.devices);
  try {
    const { makeSkeleton } = await moduleOf(part.application);
    const skeleton = await makeSkeleton(set, part.settings);
    const { unroll } = part.settings;
    await skeleton.run(WARM_UP * unroll);
    const seconds = await secondsOf(skeleton, unroll, async (value) => (set.ranks ? set.ranks.agree(value) : value));
    if (part.what === "iterations") return { extents: skeleton.fields[0].grid.extents, seconds };
    return { ...(await tracedTimes(skeleton, unroll, part.repeats)), seconds };
  } finally {
    await set.close();
  }
}

/** Seconds of an iteration by the wall clock. */
async function secondsOf(skeleton: Skeleton, unroll: number, agree: (value: number) => Promise<number>): Promise<number> {
  const timed = async (iterations: number): Promise<number> => {
    const start = performance.now();
    await skeleton.run(iterations);
    return (performance.now() - start) / 1e3 / iterations;
  };
  const first = await timed(unroll);
  const plans = await agree(Math.ceil(Math.min(MOST_ITERATIONS, Math.max(1, STRETCH / first / unroll))));
  const times: number[] = [];
  for (let n = 0; n < STRETCHES; n++) times.push(await timed(plans * unroll));
  return median(times);
}

async function tracedTimes(skeleton: Skeleton, unroll: number, repeats: number): Promise<Omit<KernelTimes, "seconds">> {
  const patterns: PlanPattern[] = [];
  for (let n = 0; n < repeats; n++) {
    await skeleton.run(unroll, { trace: true });
    patterns.push(await skeleton.pattern());
  }
  const [{ extents, iterations, tasks }] = patterns;
  const secondsOfTask = (number: number): number => median(patterns.map((pattern) => pattern.tasks[number].parts[0].seconds ?? 0));
  return {
    extents,
    iterations,
    tasks: tasks.map(({ container, parts: [{ boxes }] }, n) => ({
      name: container,
      launches: boxes.length,
      cells: cellsIn(boxes),
      seconds: secondsOfTask(n),
    })),
  };
}
