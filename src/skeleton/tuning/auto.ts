import { jsonText } from "../../base/json.js";
import { isRecord, isTime, recallJson, rememberJson } from "../../device/tuning/kept-json.js";
import type { DeviceSet } from "../../set/index.js";
import { isRefusal, type Choice, type Trial } from "./choice.js";
import { OCC_LEVELS, type OccLevel } from "../plan/occ.js";
import type { Stages } from "../plan/plan.js";

/** Measurements of each candidate, at most; one more comes before, which also prepares. */
const ROUNDS = 5;
/** Iterations of a trial in one measurement. */
const ITERATIONS = 10;
/** Seconds of measurements of one trial after which no more are needed. */
const ENOUGH = 1;

/**
 * The fastest level by `measure`, which gives the seconds of one plan; levels take turns, and the least median wins. What was found for
 * the same `key` before is taken over.
 */
export async function fastestLevel(key: readonly string[], measure: (level: OccLevel) => Promise<number>): Promise<Choice<OccLevel>> {
  return remembered("occ", key, OCC_LEVELS, async () => {
    const samples = new Map<OccLevel, number[]>(OCC_LEVELS.map((level) => [level, []]));
    for (let round = 0; round <= ROUNDS; round++)
      for (const level of OCC_LEVELS) {
        const seconds = await measure(level);
        if (round > 0) samples.get(level)!.push(seconds);
      }
    const seconds = Object.fromEntries([...samples].map(([level, list]) => [level, median(list)])) as Record<OccLevel, number>;
    return { best: least(seconds), seconds };
  });
}

/** See `fastest`; with the times. */
export async function fastestWay<K extends string>(
  key: readonly string[],
  ways: Readonly<Record<K, () => Trial | Promise<Trial>>>,
): Promise<Choice<K>> {
  const names = Object.keys(ways) as K[];
  return remembered("way", [...key, ...names], names, async () => {
    const seconds = {} as Record<K, number>;
    let failure: unknown;
    for (const candidate of names) {
      try {
        seconds[candidate] = await timeOf(await ways[candidate]());
      } catch (error) {
        if (!isRefusal(error)) throw error;
        failure ??= error;
      }
    }
    if (failure && Object.keys(seconds).length === 0) throw failure;
    return { best: least(seconds), seconds };
  });
}

async function timeOf(trial: Trial): Promise<number> {
  try {
    await trial.skeleton.run(ITERATIONS);
    const samples: number[] = [];
    for (let total = 0; samples.length < ROUNDS && total < ENOUGH; total += samples.at(-1)!)
      samples.push((await trial.skeleton.run(ITERATIONS)).seconds);
    return median(samples) / ITERATIONS;
  } finally {
    trial.free();
  }
}

/** Choices of another form are not read. */
const FORM = "best and seconds";

async function remembered<K extends string>(
  kind: string,
  of: readonly string[],
  candidates: readonly K[],
  find: () => Promise<Choice<K>>,
): Promise<Choice<K>> {
  const key = [FORM, ...of];
  const known = recallJson(kind, key, (value): value is Choice<K> => isChoice(value, candidates));
  if (known) return known;
  const found = await find();
  rememberJson(kind, key, found);
  return found;
}

/** True for one of the candidates with the times of some, its own among them. */
function isChoice(value: unknown, candidates: readonly string[]): boolean {
  if (!isRecord(value) || !isRecord(value.seconds)) return false;
  const { best, seconds } = value;
  const named = Object.keys(seconds);
  return named.includes(best as string) && named.every((name) => candidates.includes(name) && isTime(seconds[name]));
}

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

function least<K extends string>(seconds: Readonly<Record<K, number>>): K {
  const names = Object.keys(seconds) as K[];
  return names.reduce((best, name) => (seconds[name] < seconds[best] ? name : best));
}

/** Everything that the time of a plan depends on. */
export function timingKey(stages: Stages, set: DeviceSet, precision: string): string[] {
  const { locals, link } = set;
  return [
    JSON.stringify([precision, stages.iterations, link, locals.map(({ name, device }) => [name, device.label])]),
    ...stages.containers.map(({ ir, box, march, grid: { kind, extents, periodic, ghosts, cells, partitions }, uses }) =>
      jsonText([
        ir,
        box,
        march,
        kind,
        extents,
        periodic,
        ghosts,
        cells,
        partitions,
        uses.map(({ param, field: { layout } }) => [param, layout]),
      ]),
    ),
  ];
}
