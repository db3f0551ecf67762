import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { IsoformError } from "../../base/errors.js";
import type { Progress } from "../application.js";
import { median } from "../statistics.js";
import { measureApart, type Children } from "./children.js";
import { bandOf, forecast, forecastText, hashOf, ratioDeviation, type Band, type Forecast, type PredictedPoint } from "./forecast.js";
import type { KernelTimes } from "./parts.js";
import type { ForecastInputs, Predictor } from "./predictor.js";
import { devicesFor, pointName, type StudyPoint, type ScalingRequest } from "./request.js";

/** Files of a study in its folder. */
export const FILES = { prediction: "prediction.json", results: "results.json", chart: "scaling.svg" } as const;

/** Services that a study needs. */
export interface StudyOptions {
  readonly folder: string;
  readonly predictor: Predictor;
  readonly children: Children;
  readonly write: (path: string, text: string) => Promise<void>;
  readonly print: (text: string) => void;
  readonly progress: Progress;
}

/** Seconds of an iteration in each run, by point. */
export type Samples = Readonly<Record<string, readonly number[]>>;

/** Contents of `results.json`. */
export interface StudyResults {
  /** SHA-256 of the prediction's file. */
  readonly prediction: string;
  readonly samples: Samples;
}

/** A measured point beside its prediction. */
export interface ComparedPoint extends PredictedPoint {
  /** Median of the runs. */
  readonly measured: number;
  readonly least: number;
  readonly most: number;
  /** Predicted over measured time, less 1. */
  readonly error: number;
}

/** A point that was not measured, with its band. */
export type BandedPoint = PredictedPoint & Band;

/** Findings of a study. */
export interface Findings {
  readonly forecast: Forecast;
  readonly hash: string;
  /** Points with at least one run. */
  readonly compared: readonly ComparedPoint[];
  /** The largest deviation of a prediction from its measurement, as a ratio. */
  readonly error: number;
  readonly extrapolated: readonly BandedPoint[];
}

/**
 * Predicts first, writes the prediction and prints its hash; then measures, by turns; then compares and extrapolates. A folder with the prediction of the same
 * request is gone on with.
 * @throws IsoformError for a folder of another study, and for a part that fails; Stopped where it was stopped, with all runs so far in the folder
 */
export async function study(request: ScalingRequest, options: StudyOptions): Promise<Findings> {
  const { folder, predictor, print } = options;
  const path = join(folder, FILES.prediction);
  const known = await readText(path);
  const text = known ?? forecastText(await predicted(request, options));
  const made = parsed(text, path, request);
  const hash = hashOf(text);
  if (known === undefined) await options.write(path, text);
  print(`${known === undefined ? "predicted" : "goes on with the prediction in"} ${path}, SHA-256 ${hash}`);
  const samples = await measured(made, hash, options);
  return findings(made, hash, predictor, samples);
}

/** A file of an earlier call, if there is one. */
async function readText(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new IsoformError(`cannot read ${path}: ${error.message.split(",")[0]}`);
  });
}

function parsed(text: string, path: string, request: ScalingRequest): Forecast {
  let found: Partial<Forecast> | undefined;
  try {
    found = JSON.parse(text) as Partial<Forecast>;
  } catch {
    found = undefined;
  }
  if (found?.format !== "isoform-scaling/1")
    throw new IsoformError(`${path} is not the prediction of a scaling study: name another --output`);
  // Repeats may be added to.
  const subject = ({ repeats, ...rest }: ScalingRequest): string => JSON.stringify({ ...rest, repeats: repeats > 0 });
  if (subject(found.request!) !== subject(request))
    throw new IsoformError(`${path} belongs to a study with other options: name another --output, or give the same options`);
  return { ...(found as Forecast), request: { ...found.request!, repeats: request.repeats } };
}

/** Measures one device and the link, each in processes of their own, and predicts. */
async function predicted(request: ScalingRequest, { predictor, children, progress }: StudyOptions): Promise<Forecast> {
  const { launch } = request;
  const tasks = Object.entries(predictor.alone);
  const kernels: Record<string, KernelTimes> = {};
  for (const [n, [name, task]] of tasks.entries()) {
    progress(n, tasks.length + 1, `${name} on one device`);
    const times = await measureApart(task, children);
    kernels[name] = { iterations: 1, tasks: [], ...times };
  }
  const isAlone = [...request.ranks, ...request.extrapolated].every((count) => count === 1);
  progress(tasks.length, tasks.length + 1, "the link");
  const spec = launch === undefined ? devicesFor(request.devices, 2) : request.devices;
  const link = isAlone ? undefined : await measureApart({ what: "link", devices: spec }, children, 2);
  const inputs: ForecastInputs = { kernels, ...(link && { link }) };
  return forecast(request, predictor, inputs);
}

/** Runs each point as often as asked for, by turns, and writes every run as it comes. */
async function measured({ request, points }: Forecast, hash: string, options: StudyOptions): Promise<Samples> {
  const { folder, write, progress } = options;
  const path = join(folder, FILES.results);
  const text = await readText(path);
  const before = text === undefined ? undefined : resultsIn(text, path);
  if (before && before.prediction !== hash)
    throw new IsoformError(`${path} belongs to another prediction than the one in its folder: name another --output`);
  const samples: Record<string, number[]> = Object.fromEntries(
    points.map((point) => [pointName(point), [...(before?.samples[pointName(point)] ?? [])]]),
  );
  const total = request.repeats * points.length;
  for (let run = 0; run < request.repeats; run++)
    for (const [n, point] of points.entries()) {
      const own = samples[pointName(point)];
      if (own.length > run) continue;
      progress(run * points.length + n, total, `run ${run + 1} of ${pointName(point)}`);
      own.push(await runOf(request, point, options));
      const results: StudyResults = { prediction: hash, samples };
      await write(path, `${JSON.stringify(results, null, 1)}\n`);
    }
  return samples;
}

/** The runs of an earlier call. Throws IsoformError for a file that holds none. */
function resultsIn(text: string, path: string): StudyResults {
  try {
    const { prediction, samples } = JSON.parse(text) as StudyResults;
    if (typeof prediction === "string" && Object.values(samples).every((own) => own.every(Number.isFinite))) return { prediction, samples };
  } catch {
    // Refused below.
  }
  throw new IsoformError(`${path} is damaged: remove it, to measure again, or name another --output`);
}

async function runOf(request: ScalingRequest, point: PredictedPoint, { children, predictor }: StudyOptions): Promise<number> {
  const { devices, launch } = request;
  const task = predictor.run(point, launch === undefined ? devicesFor(devices, point.ranks) : devices);
  const { seconds, extents } = await measureApart(task, children, point.ranks);
  if (extents.join() !== point.extents.join())
    throw new IsoformError(
      `${pointName(point)} ran with ${extents.join(" x ")} ${predictor.counted}, and was predicted with ${point.extents.join(" x ")}`,
    );
  return seconds;
}

/** Compares what was measured, and extrapolates with the band of its errors. */
export function findings(made: Forecast, hash: string, predictor: Predictor, samples: Samples): Findings {
  const compared = made.points.flatMap((point): ComparedPoint[] => {
    const own = samples[pointName(point)] ?? [];
    if (own.length === 0) return [];
    const value = median(own);
    return [{ ...point, measured: value, least: Math.min(...own), most: Math.max(...own), error: point.seconds / value - 1 }];
  });
  const error = compared.reduce((most, { seconds, measured }) => Math.max(most, ratioDeviation(seconds, measured)), 0);
  const banded = (point: PredictedPoint): BandedPoint => ({
    ...point,
    ...bandOf((factors) => predictor.seconds(made.inputs, point, { isMeasured: false, factors }), error),
  });
  return { forecast: made, hash, compared, error, extrapolated: made.extrapolated.map(banded) };
}

/** The time of the work on one rank, shared out ideally, over a time; undefined where one rank was not predicted. */
export function efficiencyOf(point: StudyPoint, seconds: number, alone: number | undefined): number | undefined {
  if (alone === undefined) return undefined;
  return alone / seconds / (point.mode === "strong" ? point.ranks : 1);
}
