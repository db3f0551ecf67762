import type { PlanPattern } from "../../skeleton/ranks/pattern.js";
import { cellsIn } from "../../skeleton/ranks/rank-plan.js";
import type { SkeletonModule, SkeletonSettings } from "../../skeleton/settings.js";
import type { Skeleton } from "../../skeleton/skeleton.js";
import { devices, type DeviceSet } from "../../set/index.js";
import { IsoformError } from "../../base/errors.js";
import { ITERATION, type Application, type ProblemOptions } from "../application.js";
import { formsOn } from "../forms.js";
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
  | { readonly what: "work"; readonly application: string; readonly devices: string; readonly problem: ProblemOptions }
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
  work: IterationTimes;
  link: MeasuredLink;
}

/** Seconds of a stretch of iterations, at least. */
const STRETCH = 0.2;
/** Repeats of each traced plan on one device. */
export const TRACES = 5;
/** Stretches of one run; their median counts. */
const STRETCHES = 5;
/** Plans that run first: engines compile, and halos come to their steady state. */
const WARM_UP = 4;
const MOST_ITERATIONS = 1000;

/** How a measuring process finds an application by its name. */
export interface Applications {
  skeleton(name: string): Promise<SkeletonModule>;
  application(name: string): Promise<Application>;
}

/** Measures one part, here and now; with `mpi:` all ranks do. */
export async function measurePart(part: MeasuringTask, applications: Applications): Promise<PartResults[MeasuringTask["what"]]> {
  if (part.what === "link") return pingPong(part.devices);
  const set = await devices(part.devices);
  try {
    if (part.what === "work") return await timesOfWork(set, await applications.application(part.application), part.problem);
    const { makeSkeleton } = await applications.skeleton(part.application);
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

/**
 * Times of an application that divides its work among the members of a set.
 * @throws IsoformError where its result is wrong; the share of one member is not a problem with a result
 */
async function timesOfWork(set: DeviceSet, application: Application, options: ProblemOptions): Promise<IterationTimes> {
  const { name, division } = application;
  const problem = { ...options, form: formsOn(application, set, { form: "fastest", ...options })[0] };
  const prepared = await application.prepare(set, problem);
  const times: number[] = [];
  for (let n = -1; n < STRETCHES; n++) {
    const samples = await prepared.run();
    // The first one warms up.
    if (n >= 0) times.push(samples.find(({ quantity }) => quantity === ITERATION)!.seconds);
  }
  const verdict = options.memberOf === undefined ? await prepared.validate() : undefined;
  if (verdict?.ok === false)
    throw new IsoformError(`${name}: wrong results: ${verdict.maxError.toExponential(1)} from the ${verdict.against}`);
  prepared.free();
  return { extents: division!.extents(problem), seconds: median(times) };
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
