import { LaunchError } from "../../base/errors.js";
import { requireLink } from "../../skeleton/ranks/links.js";
import type { Application, ProblemOptions, WorkDivision } from "../application.js";
import { requireForm } from "../forms.js";
import { carrierOf, measuredLinks, scaledLinks, type Circumstances, type ForecastInputs, type Predictor } from "./predictor.js";
import { oneDevice, pointsOf, type ScalingRequest, type StudyPoint } from "./request.js";

/**
 * Predicts an application without a grid that divides its work: the time of one member's share, measured on one device, and what members tell each other.
 * @throws LaunchError for an application that runs on one device alone
 */
export function workPredictor(request: ScalingRequest, application: Application): Predictor {
  const { name, division, forms } = application;
  if (!division) throw new LaunchError(`${name} runs on one device: there is nothing to predict for more`);
  const { devices, form } = request;
  if (form !== undefined) requireForm(application, form, ["fastest"]);
  if (form !== undefined && forms?.alone?.includes(form))
    throw new LaunchError(`--form ${form}: ${name} has it on one device alone; choose another`);
  const { precision } = request.settings;
  const problemOf = ({ planes }: StudyPoint): ProblemOptions => ({ gib: planes, precision, ...(form !== undefined && { form }) });
  const task = (problem: ProblemOptions, on: string) => ({ what: "work", application: name, devices: on, problem }) as const;
  const refusal = (point: StudyPoint): string | undefined => {
    try {
      division.requireMembers(problemOf(point), point.ranks);
      return undefined;
    } catch (error) {
      if (error instanceof LaunchError) return error.message;
      throw error;
    }
  };
  const points = pointsOf(request, [...request.ranks, ...request.extrapolated]).filter((point) => refusal(point) === undefined);
  const alone = points.map((point) => [shareName(point), task({ ...problemOf(point), memberOf: point.ranks }, oneDevice(devices))]);
  return {
    alone: Object.fromEntries(alone) as Predictor["alone"],
    counted: division.counted,
    refusal,
    extents: (point) => division.extents(problemOf(point)),
    seconds: (inputs, point, circumstances) => {
      const { seconds } = inputs.kernels[shareName(point)];
      return secondsTogether(request, inputs, point, { alone: seconds, exchange: division.exchange(problemOf(point), point.ranks) }, circumstances); // prettier-ignore
    },
    run: (point, on) => task(problemOf(point), on),
  };
}

/** Name of the share of one member: `1 of 4, 10 GiB`. */
const shareName = ({ ranks, planes }: StudyPoint): string => `1 of ${ranks}, ${planes} GiB`;

/** Work of one member in an iteration. */
interface MemberWork {
  readonly alone: number;
  readonly exchange: ReturnType<WorkDivision["exchange"]>;
}

/** Members of one memory work in turns; others at the same time, and what they send is not overlapped with it. */
function secondsTogether(
  request: ScalingRequest,
  { link }: ForecastInputs,
  { ranks }: StudyPoint,
  { alone, exchange }: MemberWork,
  { isMeasured, factors = { latency: 1, bandwidth: 1 } }: Circumstances,
): number {
  if (ranks === 1) return alone;
  const links = scaledLinks(measuredLinks(request, link!), factors);
  const { bandwidth, latency, host } = requireLink(links, ranks <= (request.perNode ?? ranks) ? "node" : "network");
  const { bytes, messages, waits } = exchange;
  const told = bytes / bandwidth + waits * latency + messages * host;
  return (alone + told) * (carrierOf(link!.carrier, isMeasured) === "in turns" ? ranks : 1);
}
