import { helper } from "isoform";
import { philox, uniform } from "isoform/patterns";
import { coordinatesOf, type Axis } from "../equations/axes.js";
import type { Values } from "../equations/pointwise.js";

/*
 * Noise in the velocity at the start, by which flows become turbulent sooner. The numbers follow from a cell's coordinates alone: any set of
 * devices starts with the same.
 */

/** Conserved values at a place. */
export type NoiseStart = (x: number, y: number, z: number) => readonly number[];

/** Noise is evenly spread from -AMPLITUDE to AMPLITUDE, in units of u0. */
export const AMPLITUDE = 0.02;

const KEY = 0x6e6f6973;

/** Gives `noise` three independent numbers from -1 to 1 for cell (i, j, k). */
export const noiseOf = helper(
  (i: number, j: number, k: number, noise: Values): void => {
    const words = new Uint32Array(4);
    for (let half = 0; half < 2; half++) {
      words[0] = i >>> 0;
      words[1] = j >>> 0;
      words[2] = k >>> 0;
      words[3] = half >>> 0;
      philox(words, KEY, 0);
      noise[2 * half] = 2 * uniform(words[0], words[1]) - 1;
      if (half === 0) noise[1] = 2 * uniform(words[2], words[3]) - 1;
    }
  },
  () => [philox, uniform, KEY],
);

/** A start with noise in its velocity; density and temperature stay. Where a layer has a thickness, by column i, the stream above it has none. */
export function withNoise(start: NoiseStart, axes: readonly [Axis, Axis, Axis], u0: number, thickness?: (i: number) => number): NoiseStart {
  const [columns, rows, planes] = axes.map(coordinatesOf);
  const squareOf = (m: readonly number[]): number => m.reduce((sum, each) => sum + each * each, 0);
  const noise = [0, 0, 0];
  return (x, y, z) => {
    const [i, j, k] = [columns.get(x)!, rows.get(y)!, planes.get(z)!];
    const values = start(x, y, z);
    if (thickness && y >= thickness(i)) return values;
    const [rho, mx, my, mz, energy] = values;
    const before = [mx, my, mz];
    noiseOf(i, j, k, noise);
    const after = before.map((m, n) => m + rho * AMPLITUDE * u0 * noise[n]);
    return [rho, ...after, energy + (0.5 * (squareOf(after) - squareOf(before))) / rho];
  };
}
