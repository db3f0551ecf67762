/** The time of something that was run until its times agreed, or too often. */
export interface Steady {
  /** The least of all runs. */
  readonly seconds: number;
  /** The median of the last round by that. */
  readonly spread: number;
}

/** Times of one round; a round whose median is further from the least than that is followed by another. */
const ROUND = 3;
const ROUNDS = 6;
const SPREAD = 1.25;

/** True where something else was running: the times do not agree. */
export const isDisturbed = ({ spread }: Steady): boolean => spread > SPREAD;

/** Times `run` in rounds until one agrees with the least time so far, after a first run that does not count. */
export async function steadySeconds(run: () => Promise<number>): Promise<Steady> {
  await run();
  let least = Infinity;
  let spread = Infinity;
  for (let round = 0; round < ROUNDS && spread > SPREAD; round++) {
    const times: number[] = [];
    for (let n = 0; n < ROUND; n++) times.push(await run());
    times.sort((a, b) => a - b);
    least = Math.min(least, times[0]);
    spread = times[Math.floor(ROUND / 2)] / least;
  }
  return { seconds: least, spread };
}
