import type { Links, RankLink } from "../../skeleton/ranks/links.js";
import type { MessageCarrier } from "../../skeleton/ranks/prediction.js";
import type { KernelTimes, MeasuringTask } from "./parts.js";
import type { MeasuredLink } from "./ping-pong.js";
import type { ScalingRequest, StudyPoint } from "./request.js";

/** Measurements that a prediction is made of, none of them of the points themselves but for one rank. */
export interface ForecastInputs {
  /** Times on one device, by what it had: `64 x 32`, cells along each axis and planes of a rank, or `1 of 4, 10 GiB`. */
  readonly kernels: Readonly<Record<string, KernelTimes>>;
  /** Undefined where every point has one rank. */
  readonly link?: MeasuredLink;
}

/** Factors by which a link may be other than it was measured. */
export interface LinkFactors {
  readonly latency: number;
  readonly bandwidth: number;
}

/** Assumptions of a prediction beside its inputs. */
export interface Circumstances {
  /** Whether this machine has the members. */
  readonly isMeasured: boolean;
  readonly factors?: LinkFactors;
}

/** How the points of a study are predicted and run. */
export interface Predictor {
  /** Measurements on one device that predictions are made of, by the names of inputs. */
  readonly alone: Readonly<Record<string, MeasuringTask & { readonly what: "kernels" | "work" }>>;
  /** Unit of extents: `cells`. */
  readonly counted: string;
  /** Why a point cannot be predicted; undefined where it can. */
  refusal(point: StudyPoint): string | undefined;
  /** Counts of the problem that all members have together: cells along each axis, or what the application counts by. */
  extents(point: StudyPoint): readonly number[];
  /** Seconds of an iteration. */
  seconds(inputs: ForecastInputs, point: StudyPoint, circumstances: Circumstances): number;
  /** One run of a point. */
  run(point: StudyPoint, devices: string): MeasuringTask & { readonly what: "iterations" | "work" };
}

/** Links of a request, where those within a node are as measured. */
export const measuredLinks = ({ links }: ScalingRequest, { bandwidth, latency, host }: MeasuredLink): Links => ({
  ...links,
  node: { bandwidth, latency, host },
});

/** Links that are other than they were measured. */
export function scaledLinks(links: Links, { latency, bandwidth }: LinkFactors): Links {
  const one = (link: RankLink): RankLink => ({ ...link, latency: link.latency * latency, bandwidth: link.bandwidth * bandwidth });
  return Object.fromEntries(Object.entries(links).map(([reach, link]) => [reach, one(link)]));
}

/** More members than there are have a device each, as ranks would; on processors each carries its own messages. */
export const carrierOf = (carrier: MessageCarrier, isMeasured: boolean): MessageCarrier =>
  carrier === "in turns" && !isMeasured ? "processor" : carrier;
