import { recall, remember } from "../device/cache.js";
import type { DeviceSet } from "../set/index.js";
import { OCC_LEVELS, type OccLevel } from "./occ.js";
import type { Stages } from "./plan.js";

/** How the level of overlap was found. */
export interface Choice {
  readonly level: OccLevel;
  /** Seconds of one plan at each level. */
  readonly seconds: Readonly<Record<OccLevel, number>>;
}

const KIND = "occ";
/** Measurements of each level; the first of each, which also prepares, does not count. */
const ROUNDS = 5;

/**
 * The fastest level by `measure`, which gives the seconds of one plan; levels take turns, and the least median wins. What was found for
 * the same `key` before is taken over.
 */
export async function fastestLevel(key: readonly string[], measure: (level: OccLevel) => Promise<number>): Promise<Choice> {
  const known = recalled(key);
  if (known) return known;
  const samples = new Map<OccLevel, number[]>(OCC_LEVELS.map((level) => [level, []]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const level of OCC_LEVELS) {
      const seconds = await measure(level);
      if (round > 0) samples.get(level)!.push(seconds);
    }
  const seconds = Object.fromEntries([...samples].map(([level, list]) => [level, median(list)])) as Choice["seconds"];
  const choice = { level: OCC_LEVELS.reduce((best, level) => (seconds[level] < seconds[best] ? level : best)), seconds };
  remember(KIND, key, new TextEncoder().encode(JSON.stringify(choice)));
  return choice;
}

function recalled(key: readonly string[]): Choice | undefined {
  const data = recall(KIND, key);
  try {
    return data && (JSON.parse(new TextDecoder().decode(data)) as Choice);
  } catch {
    return undefined;
  }
}

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** Everything that the time of a plan depends on. */
export function timingKey(stages: Stages, set: DeviceSet, precision: string): string[] {
  const { members, link } = set;
  return [
    JSON.stringify([precision, stages.iterations, link, members.map(({ name, device }) => [name, device.label])]),
    ...stages.containers.map(({ ir, grid: { kind, extents, cells, partitions }, uses }) =>
      JSON.stringify([ir, kind, extents, cells, partitions, uses.map(({ param, field: { layout } }) => [param, layout])]),
    ),
  ];
}
