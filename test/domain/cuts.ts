import { noise } from "./sets.js";

/** A whole number from `least` to `most`, the same for the same keys. */
export const whole = (least: number, most: number, ...keys: number[]): number =>
  Math.min(most, least + Math.floor(((noise(...keys) + 1) / 2) * (most - least + 1)));

/** Where `count` places are cut into so many runs, the ends included. None is empty. */
export function randomCuts(count: number, runs: number, seed: number): number[] {
  const inner = new Set<number>();
  for (let step = 0; inner.size < runs - 1; step++) inner.add(whole(1, count - 1, seed, step, 11));
  return [0, ...[...inner].sort((a, b) => a - b), count];
}
