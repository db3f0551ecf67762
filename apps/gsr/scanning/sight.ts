import { helper } from "isoform";
import { STEP } from "./law.js";

/*
 * Gaia's axes at a moment, for kernels. Only + - * / and sqrt, whose bits are the same on every device: with the
 * functions of `Math`, devices could disagree about which stars cross a field of view.
 */

/** Half of the angle between the fields of view: field 0 (preceding) looks along +53.25 degrees, field 1 (following) along -53.25. */
const HALF_BASIC_ANGLE = (53.25 * Math.PI) / 180;
export const COS_FIELD = Math.cos(HALF_BASIC_ANGLE);
export const SIN_FIELD = Math.sin(HALF_BASIC_ANGLE);

/** Sine of an angle of up to 0.2 radians, by its series. */
export function sineOf(a: number): number {
  const q = a * a;
  return a * (1 - (q / 6) * (1 - (q / 20) * (1 - (q / 42) * (1 - (q / 72) * (1 - q / 110)))));
}

/** Cosine of an angle of up to 0.2 radians, by its series. */
export function cosineOf(a: number): number {
  const q = a * a;
  return 1 - (q / 2) * (1 - (q / 12) * (1 - (q / 30) * (1 - (q / 56) * (1 - (q / 90) * (1 - q / 132)))));
}

/**
 * Axes X, Y, Z of the satellite, to `axes`, 3 numbers each, `seconds` (0 to 600) after node `k` of the law: the node's z and x interpolated, then
 * turned by the spin.
 */
export const axesAt = helper(
  (law: ArrayLike<ArrayLike<number>>, k: number, seconds: number, axes: Float64Array): void => {
    const b = seconds / STEP;
    const a = 1 - b;
    let z0 = a * law[k][0] + b * law[k + 1][0];
    let z1 = a * law[k][1] + b * law[k + 1][1];
    let z2 = a * law[k][2] + b * law[k + 1][2];
    const z = 1 / Math.sqrt(z0 * z0 + z1 * z1 + z2 * z2);
    z0 *= z;
    z1 *= z;
    z2 *= z;
    let x0 = a * law[k][3] + b * law[k + 1][3];
    let x1 = a * law[k][4] + b * law[k + 1][4];
    let x2 = a * law[k][5] + b * law[k + 1][5];
    const along = x0 * z0 + x1 * z1 + x2 * z2;
    x0 -= along * z0;
    x1 -= along * z1;
    x2 -= along * z2;
    const x = 1 / Math.sqrt(x0 * x0 + x1 * x1 + x2 * x2);
    x0 *= x;
    x1 *= x;
    x2 *= x;
    const y0 = z1 * x2 - z2 * x1;
    const y1 = z2 * x0 - z0 * x2;
    const y2 = z0 * x1 - z1 * x0;
    const turn = law[k][10] * seconds;
    const [cosTurn, sinTurn] = [cosineOf(turn), sineOf(turn)];
    const c = law[k][6] * cosTurn - law[k][7] * sinTurn;
    const s = law[k][7] * cosTurn + law[k][6] * sinTurn;
    axes[0] = c * x0 + s * y0;
    axes[1] = c * x1 + s * y1;
    axes[2] = c * x2 + s * y2;
    axes[3] = c * y0 - s * x0;
    axes[4] = c * y1 - s * x1;
    axes[5] = c * y2 - s * x2;
    axes[6] = z0;
    axes[7] = z1;
    axes[8] = z2;
  },
  () => [STEP, cosineOf, sineOf],
);
