import { devices } from "../set/index.js";
import type { SkeletonModule, SkeletonSettings } from "../skeleton/settings.js";
import { DEFAULT_LINKS, linksOf, linkText, REACHES, type Links } from "../skeleton/ranks/links.js";
import {
  planMessages,
  rankPlaces,
  predict,
  rankBeside,
  type PlaceMessages,
  type Prediction,
  type RankJob,
} from "../skeleton/ranks/prediction.js";
import { collectMessages, type CollectMessages } from "../skeleton/ranks/reduction-messages.js";
import type { RankPlace, RankPlan, RankStep } from "../skeleton/ranks/rank-plan.js";
import type { Split } from "../domain/grid/options.js";
import type { Division } from "../domain/grid/split.js";
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
  const { split } = settings;
  const boxFor = (count: number): number[] => boxOf(plan, settings.size ?? SIZE, strong ? { y: 1, z: 1 } : boxesAlong(count, split));
  const job = { ranks, perNode, links, carrier: "devices", extents: boxFor(ranks), split } as const;
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
    places: ranks === 1 ? [] : planMessages(plan, job.extents, together.division, rankPlaces(together.division)),
    alone,
    together,
    efficiency: alone.seconds / together.seconds / (strong ? ranks : 1),
  };
  if (format === "json") return JSON.stringify(report, null, 1);
  if (format !== "messages") return reportText(report, plan);
  return messagesText(report, collectMessages(plan, job.extents, together.division));
}

/** Extents of a box of `size` cells along each axis, several times as long along those that are cut, with walls. */
function boxOf({ margins }: RankPlan, size: number, { y, z }: Division): number[] {
  const last = margins.length - 1;
  return margins.map((margin, axis) => (axis === last ? z : axis === 1 ? y : 1) * size + margin);
}

/** How many boxes of a rank each lie along y and along z: about as many along both where both are cut. */
function boxesAlong(ranks: number, split?: Split): Division {
  if (split === "y") return { y: ranks, z: 1 };
  if (split !== "yz") return { y: 1, z: ranks };
  let y = Math.floor(Math.sqrt(ranks));
  while (ranks % y > 0) y--;
  return { y, z: ranks / y };
}

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

/** Direction of the rank that receives, as the one that sends sees it. */
function directionText([y, z]: RankStep, division: Division): string {
  const along = (step: number): string => (step === 1 ? "the next" : "the one before");
  if (division.y === 1) return `to ${along(z)}`;
  return `to ${[y !== 0 && `${along(y)} along y`, z !== 0 && `${along(z)} along z`].filter(Boolean).join(", ")}`;
}

const placeText = ({ y, z }: RankPlace, division: Division): string =>
  division.y === 1 ? `${z} rank` : division.z === 1 ? `${y} rank` : `rank that is ${y} along y, ${z} along z`;

function reportText(report: RankReport, { level, precision, iterations }: RankPlan): string {
  const { name, ranks, perNode, scaling, extents, kernels, links, places, alone, together, efficiency } = report;
  const share = scaling === "weak" ? "each rank has a box of its own" : "all ranks share one box";
  return [
    `skeleton "${name}" on ${ranks} ranks, ${perNode} on a node: OCC ${level}, ${precision}, ${iterations} iteration${iterations === 1 ? "" : "s"} per plan`,
    `${extents.join(" x ")} cells, ${ranksText(together)} (${scaling} scaling: ${share})`,
    "",
    "Predicted, not measured, from",
    `  kernels  ${kernels}`,
    ...REACHES.flatMap((reach) => (reach !== "device" && links[reach] ? [`  ${reach.padEnd(7)}  ${linkText(links[reach])}`] : [])),
    "",
    "Messages in a plan",
    ...places.flatMap(({ place, messages }) => [
      `  ${placeText(place, together.division)}`,
      ...messages.map(
        ({ task, step, bytes }) => `    ${directionText(step, together.division).padEnd(17)}  ${task}  ${Math.round(bytes)} bytes`,
      ),
    ]),
    ...(together.collects > 0
      ? [
          `  ${together.collects} reductions in an iteration, each in ${Math.ceil(Math.log2(ranks))} rounds, one message of each rank in a round: ${us(together.collectSeconds)} in all`,
        ]
      : []),
    `  between neighbours in an iteration: ${Math.round(together.messages)} messages, ${Math.round(together.bytes)} bytes`,
    "",
    `one rank alone       ${us(alone.seconds)} an iteration`,
    `${`${ranks} ranks`.padEnd(19)}  ${us(together.seconds)} an iteration`,
    `parallel efficiency  ${(100 * efficiency).toFixed(1)} %`,
  ].join("\n");
}

/** The share of the rank that has most. */
const ranksText = ({ division: { y, z }, planes, rows }: Prediction): string =>
  rows === undefined
    ? `up to ${planes} planes a rank`
    : `${y} ranks along y by ${z} along z, up to ${rows} rows of ${planes} planes a rank`;

/**
 * A line for each message of a first, an inner and a last rank: the rank that sends, the one that receives, bytes, and the task. There are no collectives: reductions
 * are messages between two ranks, too.
 */
function messagesText({ places, together: { division } }: RankReport, { messages: collects, unlisted }: CollectMessages): string {
  const nth = (place: RankPlace["y"], length: number): number => (place === "first" ? 0 : place === "inner" ? 1 : length - 1);
  const rankAt = ({ y, z }: RankPlace): number => nth(y, division.y) + division.y * nth(z, division.z);
  const rows = places.flatMap(({ place, messages }) =>
    messages.map(({ task, step, bytes }) => `${rankAt(place)} ${rankBeside(division, rankAt(place), step)} ${Math.round(bytes)} ${task}`),
  );
  const shown = new Set(places.map(({ place }) => rankAt(place)));
  const reductions = collects.filter(({ from }) => shown.has(from)).map(({ from, to, bytes, task }) => `${from} ${to} ${bytes} ${task}`);
  const missing = unlisted.map((name) => `# not listed: messages of "${name}"`);
  return ["from to bytes task", ...rows, ...reductions, ...missing].join("\n");
}
