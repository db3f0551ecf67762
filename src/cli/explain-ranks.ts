import { devices } from "../set/index.js";
import type { SkeletonModule, SkeletonSettings } from "../skeleton/settings.js";
import { DEFAULT_LINKS, linksOf, linkText, REACHES, type Links } from "../skeleton/ranks/links.js";
import { messagesOf, predict, type PlaceMessages, type Prediction, type RankJob } from "../skeleton/ranks/prediction.js";
import { PLACES, type RankPlan } from "../skeleton/ranks/rank-plan.js";
import { sampledPlan } from "../skeleton/sampled-plan.js";
import { copyRate, LAUNCH } from "../skeleton/run/timeline.js";
import type { AsRanks, RankFormat } from "./rank-options.js";

/** Cells along each axis where no `--size` is given. */
const SIZE = 256;

/** A plan for many ranks, and what the model says about it. */
interface RankReport {
  readonly name: string;
  readonly ranks: number;
  readonly perNode: number;
  readonly scaling: "weak" | "strong";
  readonly extents: readonly number[];
  readonly kernels: string;
  readonly links: Links;
  readonly places: readonly PlaceMessages[];
  readonly alone: Prediction;
  readonly together: Prediction;
  /** Time of the work on one rank, shared out ideally, over the time predicted. */
  readonly efficiency: number;
}

/**
 * Plans an application for many ranks, none of which has to be there, and predicts an iteration.
 * @throws IsoformError for links, boxes and settings that cannot be planned
 */
export async function explainRanks(
  module: SkeletonModule,
  spec: string,
  settings: SkeletonSettings,
  options: AsRanks,
  format: RankFormat,
): Promise<string> {
  const { asRanks: ranks, strong = false } = options;
  const perNode = options.ranksPerNode ?? 1;
  const links = options.links === undefined ? DEFAULT_LINKS : await linksOf(options.links);
  const device = spec.replace(/\*\d+$/, "");
  const plan = await sampledPlan(module, device, settings);
  const { bandwidth, words } = options.bandwidth === undefined ? await measuredBy(device) : given(options.bandwidth);
  const boxFor = (count: number): number[] => boxOf(plan, settings.size ?? SIZE, strong ? 1 : count);
  const job = { ranks, perNode, links, carrier: "devices", extents: boxFor(ranks) } as const;
  const seconds: RankJob["seconds"] = ({ bytesPerCell }, launches, cells) => launches * LAUNCH + (cells * bytesPerCell) / bandwidth;
  const alone = predict(plan, { ...job, ranks: 1, extents: boxFor(1), seconds });
  const together = predict(plan, { ...job, seconds });
  const report: RankReport = {
    name: plan.name,
    ranks,
    perNode,
    scaling: strong ? "strong" : "weak",
    extents: job.extents,
    kernels: words,
    links,
    places: messagesOf(plan, job.extents, placesOf(ranks)),
    alone,
    together,
    efficiency: alone.seconds / together.seconds / (strong ? ranks : 1),
  };
  if (format === "json") return JSON.stringify(report, null, 1);
  return format === "messages" ? messagesText(report) : reportText(report, plan);
}

/** Extents of the box of `size` cells along each axis, `times` as long along the last one, with walls. */
function boxOf({ margins }: RankPlan, size: number, times: number): number[] {
  return margins.map((margin, axis) => (axis === margins.length - 1 ? times * size : size) + margin);
}

const placesOf = (ranks: number) => PLACES.filter((place) => (place === "inner" ? ranks > 2 : ranks > 1));

const given = (gigabytes: number) => ({ bandwidth: gigabytes * 1e9, words: `${gigabytes} GB/s, as given` });

async function measuredBy(spec: string): Promise<{ bandwidth: number; words: string }> {
  const set = await devices(spec);
  try {
    const { bandwidth, words } = await copyRate(set.locals[0].device);
    return { bandwidth, words: `${words}, a copy measured on ${set.name}` };
  } finally {
    await set.close();
  }
}

const us = (seconds: number): string => `${(seconds * 1e6).toPrecision(4)} us`;
const directionText = (step: 1 | -1): string => (step === 1 ? "to the next" : "to the one before");

function reportText(report: RankReport, { level, precision, iterations }: RankPlan): string {
  const { name, ranks, perNode, scaling, extents, kernels, links, places, alone, together, efficiency } = report;
  const share = scaling === "weak" ? "each rank has a box of its own" : "all ranks share one box";
  return [
    `skeleton "${name}" on ${ranks} ranks, ${perNode} on a node: OCC ${level}, ${precision}, ${iterations} iteration${iterations === 1 ? "" : "s"} per plan`,
    `${extents.join(" x ")} cells, up to ${together.planes} planes a rank (${scaling} scaling: ${share})`,
    "",
    "Predicted, not measured, from",
    `  kernels  ${kernels}`,
    ...REACHES.flatMap((reach) => (reach !== "device" && links[reach] ? [`  ${reach.padEnd(7)}  ${linkText(links[reach])}`] : [])),
    "",
    "Messages in a plan",
    ...places.flatMap(({ place, messages }) => [
      `  ${place} rank`,
      ...messages.map(({ task, step, bytes }) => `    ${directionText(step).padEnd(17)}  ${task}  ${Math.round(bytes)} bytes`),
    ]),
    ...(together.collects > 0
      ? [
          `  ${together.collects} reductions in an iteration, each over ${2 * (ranks - 1)} messages to and from the first rank: ${us(together.collectSeconds)} in all`,
        ]
      : []),
    `  between neighbours in an iteration: ${Math.round(together.messages)} messages, ${Math.round(together.bytes)} bytes`,
    "",
    `one rank alone       ${us(alone.seconds)} an iteration`,
    `${`${ranks} ranks`.padEnd(19)}  ${us(together.seconds)} an iteration`,
    `parallel efficiency  ${(100 * efficiency).toFixed(1)} %`,
  ].join("\n");
}

/** A line for each message: the rank that sends, the one that receives, bytes, and the task. */
function messagesText({ ranks, places }: RankReport): string {
  const numbers = { first: 0, inner: 1, last: ranks - 1 } as const;
  const rows = places.flatMap(({ place, messages }) =>
    messages.map(({ task, step, bytes }) => {
      const from = numbers[place];
      return `${from} ${(from + step + ranks) % ranks} ${Math.round(bytes)} ${task}`;
    }),
  );
  return ["from to bytes task", ...rows].join("\n");
}
