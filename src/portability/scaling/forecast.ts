import { createHash } from "node:crypto";
import { IsoformError } from "../../base/errors.js";
import { thisMachine } from "../machine.js";
import type { ForecastInputs, LinkFactors, Predictor } from "./predictor.js";
import { pointName, pointsOf, type StudyPoint, type ScalingRequest } from "./request.js";

/** A point with its prediction. */
export interface PredictedPoint extends StudyPoint {
  /** Counts of the problem that all ranks have together: cells along each axis, or what the application counts by. */
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
  /** Unit of extents; cells in files of former versions. */
  readonly counted?: string;
  readonly inputs: ForecastInputs;
  readonly points: readonly PredictedPoint[];
  /** Points that are not measured. */
  readonly extrapolated: readonly PredictedPoint[];
  /** Points that cannot be predicted, and why. */
  readonly leftOut: Readonly<Record<string, string>>;
}

/** Throws IsoformError, with the reason of each, where no point that is to be measured can run: nothing would be left to compare predictions with. */
export function requireAnyPoint(request: ScalingRequest, predictor: Predictor): void {
  const refused = pointsOf(request, request.ranks).map((point) => ({ name: pointName(point), reason: predictor.refusal(point) }));
  if (refused.some(({ reason }) => reason === undefined)) return;
  const reasons = refused.map(({ name, reason }) => `${name}: ${reason}`).join("; ");
  throw new IsoformError(`no point of the study can run (${reasons}): give a larger problem, or smaller --ranks`);
}

/** Predicts the points of a request from its inputs. */
export function forecast(request: ScalingRequest, predictor: Predictor, inputs: ForecastInputs, date = new Date().toISOString()): Forecast {
  const leftOut: Record<string, string> = {};
  const predicted = (ranks: readonly number[], isMeasured: boolean): PredictedPoint[] =>
    pointsOf(request, ranks).flatMap((point) => {
      const refusal = predictor.refusal(point);
      if (refusal !== undefined) {
        leftOut[pointName(point)] = refusal;
        return [];
      }
      return [{ ...point, extents: predictor.extents(point), seconds: predictor.seconds(inputs, point, { isMeasured }) }];
    });
  const { name, processor, threads } = thisMachine();
  return {
    format: "isoform-scaling/1",
    machine: `${name}: ${processor}, ${threads} threads`,
    date,
    request,
    counted: predictor.counted,
    inputs,
    points: predicted(request.ranks, true),
    extrapolated: predicted(request.extrapolated, false),
    leftOut,
  };
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
