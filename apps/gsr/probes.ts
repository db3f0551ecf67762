import type { Queue, View } from "isoform";
import { LaunchError, i32, kernel, range, u32, view, f64 } from "isoform";
import { philox } from "isoform/patterns";
import { putRows } from "./row-order.js";
import type { System } from "./system.js";

/*
 * Standard errors by random probes: the solution y of min |A y - e|, with independent random signs e on the observations and 0 on constraint rows, is a
 * draw with the covariance of the solution's errors, so mean y_j^2 estimates the variance of x_j without bias. The known terms' standard error is 1.
 */

/** Counter word that tells the signs from other random numbers with the same seed. */
const SIGNS = 0x5052;

/** Independent random signs of probe `probe` for the observations from `first` on, the same on every device. */
const randomSigns = kernel(
  "randomSigns",
  { seed: u32, probe: i32, first: i32, u: view(f64) },
  ({ seed, probe, first, u }, i) => {
    const word = new Uint32Array(4);
    word[0] = (first + i) >>> 0;
    word[1] = probe >>> 0;
    word[2] = SIGNS >>> 0;
    philox(word, seed, 0);
    u[i] = (word[0] & 1) === 0 ? 1 : -1;
  },
  () => [philox, SIGNS],
);

/** Writes a system's part of the right-hand side of a probe to `u`, which is 0: signs on the observations, 0 on the constraints after them. */
export async function writeProbe(
  system: System,
  queue: Queue,
  u: View<"f64">,
  { seed, probe }: { readonly seed: number; readonly probe: number },
): Promise<void> {
  const { device, window } = system;
  const [first, end] = window.rows;
  const signs = device.array(f64, end - first);
  await queue.finish();
  await device.run(randomSigns, { seed, probe, first, u: signs }, range(end - first));
  await putRows(system, signs, u.slice([0, end - first]));
  signs.free();
}

/** Results of probes, and the standard errors that they give. */
export interface Probes {
  /** Draws of the errors of all unknowns, one a probe. */
  readonly draws: readonly Float64Array[];
  /** Standard errors, each good to a fraction `accuracy` of itself. */
  readonly errors: Float64Array;
  /** 1 / sqrt(2 k) for k probes. */
  readonly accuracy: number;
}

/** Throws LaunchError where probes give no errors. */
export function requireProbes(count: number, frameIsFixed: boolean): void {
  if (!frameIsFixed) throw new LaunchError("the frame is free: errors of six directions are infinite; leave --frame on");
  if (!(count >= 2)) throw new LaunchError(`${count} probes give no errors: probes need 2 or more`);
}

/** Standard errors from draws: the roots of their mean squares. */
export function probeErrors(draws: readonly Float64Array[]): Probes {
  const errors = new Float64Array(draws[0].length);
  for (const draw of draws) for (let j = 0; j < errors.length; j++) errors[j] += draw[j] * draw[j];
  for (let j = 0; j < errors.length; j++) errors[j] = Math.sqrt(errors[j] / draws.length);
  return { draws, errors, accuracy: 1 / Math.sqrt(2 * draws.length) };
}

/** Covariances of pairs of unknowns: mean y_i y_j. The correlations are good to 1 / sqrt(k). */
function probeCovariances({ draws }: Probes, pairs: readonly (readonly [i: number, j: number])[]): Float64Array {
  return Float64Array.from(pairs, ([i, j]) => draws.reduce((sum, draw) => sum + draw[i] * draw[j], 0) / draws.length);
}

/** Parameters of a star in the order of the unknowns, as the archive's table of sources names them. */
const PARAMETERS = ["ra", "dec", "parallax", "pmra", "pmdec"];

/** Correlations of the five parameters of each star, ten a star in the order of `STAR_CORRELATIONS`; NaN where an error is 0. */
export function starCorrelations(probes: Probes, stars: number): Float64Array {
  const pairs = Array.from({ length: stars }, (_, s) => PAIRS.map(([i, j]) => [5 * s + i, 5 * s + j] as const)).flat();
  const { errors } = probes;
  return probeCovariances(probes, pairs).map((covariance, n) => covariance / (errors[pairs[n][0]] * errors[pairs[n][1]]));
}

const PAIRS = PARAMETERS.flatMap((_, i) => PARAMETERS.slice(i + 1).map((_, k) => [i, i + 1 + k] as const));
/** Names of a star's correlations, `ra_dec_corr` to `pmra_pmdec_corr`. */
export const STAR_CORRELATIONS = PAIRS.map(([i, j]) => `${PARAMETERS[i]}_${PARAMETERS[j]}_corr`);
