import { createHash } from "node:crypto";
import { devices, type DeviceSet } from "../../../../src/set/index.js";
import { OCC_LEVELS, type OccLevel } from "../../../../src/skeleton/index.js";
import type { DrawnCase } from "../../../skeleton/drawn-case.js";
import { drawnSequence } from "../../../skeleton/random-sequences.js";
import { drawnOnBox } from "../../../skeleton/random-splits.js";
import { planned } from "./planned.js";

/*
 * What a seed has drawn, on several sets one after the other, at each level of overlap. The words are the seed, cases and levels (lists with commas), and the specifications of the sets;
 * "meaning" in place of levels runs containers one by one. Rank 0 prints a digest of each. With PLANNED=4 one process prints the messages that its members, if four ranks shared them out,
 * would send.
 */

const CASES: Readonly<Record<string, (seed: number) => DrawnCase>> = {
  sequence: drawnSequence,
  z: (seed) => drawnOnBox(seed, "z"),
  y: (seed) => drawnOnBox(seed, "y"),
  yz: (seed) => drawnOnBox(seed, "yz"),
};

const [seed, cases, levels, ...specs] = process.argv.slice(2);
const ranks = process.env.PLANNED ? planned(Number(process.env.PLANNED)) : undefined;

const digestOf = (values: readonly unknown[]): string =>
  createHash("sha256")
    .update(Float64Array.from((values as (number | number[])[]).flat()))
    .digest("hex")
    .slice(0, 16);

async function run(set: DeviceSet, name: string): Promise<void> {
  const drawn = CASES[name](Number(seed));
  const tell = (level: string, values: readonly unknown[]): void => {
    if ((set.ranks?.rank ?? 0) === 0) console.log(`${set.name}/${name}/${level}: ${digestOf(values)}`);
  };
  if (levels === "meaning") return tell(levels, await drawn.meaning(set));
  for (const level of levels.split(",")) {
    if (!OCC_LEVELS.includes(level as OccLevel)) throw new Error(`${level} is not a level of overlap`);
    tell(level, await drawn.outcome(set, level as OccLevel));
  }
}

for (const spec of specs) {
  const set = await devices(spec, { patience: Number(process.env.PATIENCE ?? 60) });
  for (const name of cases.split(",")) await run(set, name);
  await set.close();
}
if (ranks) console.log(`planned ${JSON.stringify(ranks())}`);
