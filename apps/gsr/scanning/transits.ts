import type { Device, View } from "isoform";
import { f64, helper, i32, kernel, range, view } from "isoform";
import type { ScanningLaw } from "./law.js";
import { NODE, SPIN, STEP } from "./law.js";
import { axesAt, COS_FIELD, SIN_FIELD } from "./sight.js";
import type { StarList } from "./stars.js";
import { STAR } from "./stars.js";

/*
 * Transits: the moments at which a star crosses the middle of a field of view. Each stretch of 600 s between nodes of the law is searched on its own,
 * in strict mode, so that every device finds the same ones.
 */

/** Stretches that a thread searches. */
const STRETCHES = 1024;
/** Seconds at the end of the law in which no transit begins: its strips take 44 s. */
const MARGIN = 60;
/** How far the spin axis may move on the sky in a stretch, radians, with room. */
const AXIS_MARGIN = 0.002;

/** Sine of zeta of a star that does not cross the field in a stretch. */
const outside = 2;
/** Seconds after node `k` at which the star v crosses a field, and its sine of zeta then. */
const crossing = helper(
  (
    law: ArrayLike<ArrayLike<number>>,
    k: number,
    field: number,
    height: number,
    v0: number,
    v1: number,
    v2: number,
    axes: Float64Array,
  ): [number, number] => {
    let seconds = 0.5 * STEP;
    const side = field === 0 ? SIN_FIELD : -SIN_FIELD;
    for (let turn = 0; turn < 5; turn++) {
      if (seconds < -STEP || seconds > 2 * STEP) return [0, outside];
      axesAt(law, k, seconds, axes);
      const x = axes[0] * v0 + axes[1] * v1 + axes[2] * v2;
      const y = axes[3] * v0 + axes[4] * v1 + axes[5] * v2;
      const length = Math.sqrt(x * x + y * y);
      // Sine and cosine of the angle by which the star is ahead of the field's middle.
      const sine = (y * COS_FIELD - x * side) / length;
      if (x * COS_FIELD + y * side < 0.98 * length) return [0, outside];
      seconds += (sine + (sine * sine * sine) / 6) / SPIN;
    }
    if (seconds < 0 || seconds >= STEP) return [0, outside];
    axesAt(law, k, seconds, axes);
    const sineZeta = axes[6] * v0 + axes[7] * v1 + axes[8] * v2;
    return [seconds, Math.abs(sineZeta) < height ? sineZeta : outside];
  },
  () => [axesAt, STEP, SPIN, COS_FIELD, SIN_FIELD, outside],
);

const SEARCH = { law: view(f64, 2), stars: view(f64, 2), stretches: i32, end: f64, height: f64, near: f64 };

/** Transits of each star in each run of stretches. */
const countTransits = kernel(
  "countTransits",
  { ...SEARCH, count: view(i32, 2) },
  ({ law, stars, stretches, end, height, near, count }, star, run) => {
    const v0 = stars[star][0];
    const v1 = stars[star][1];
    const v2 = stars[star][2];
    const axes = new Float64Array(9);
    const first = run * STRETCHES;
    const last = Math.min(first + STRETCHES, stretches);
    let found = 0;
    for (let k = first; k < last; k++) {
      if (Math.abs(law[k][0] * v0 + law[k][1] * v1 + law[k][2] * v2) > near) continue;
      for (let field = 0; field < 2; field++) {
        const [seconds, sine] = crossing(law, k, field, height, v0, v1, v2, axes);
        if (sine !== outside && k * STEP + seconds < end) found += 1;
      }
    }
    count[star][run] = found;
  },
  () => [crossing, STRETCHES, STEP, outside],
);

/** The same search, which writes the transits from place `count` on: star, stretch and field; seconds in the stretch and sine of zeta. */
const listTransits = kernel(
  "listTransits",
  { ...SEARCH, count: view(i32, 2), place: view(i32, 2, { disjoint: true }), moment: view(f64, 2, { disjoint: true }) },
  ({ law, stars, stretches, end, height, near, count, place, moment }, star, run) => {
    const v0 = stars[star][0];
    const v1 = stars[star][1];
    const v2 = stars[star][2];
    const axes = new Float64Array(9);
    const first = run * STRETCHES;
    const last = Math.min(first + STRETCHES, stretches);
    let at = count[star][run];
    for (let k = first; k < last; k++) {
      if (Math.abs(law[k][0] * v0 + law[k][1] * v1 + law[k][2] * v2) > near) continue;
      for (let field = 0; field < 2; field++) {
        const [seconds, sine] = crossing(law, k, field, height, v0, v1, v2, axes);
        if (sine !== outside && k * STEP + seconds < end) {
          place[at][0] = star;
          place[at][1] = k;
          place[at][2] = field;
          moment[at][0] = seconds;
          moment[at][1] = sine;
          at += 1;
        }
      }
    }
  },
  () => [crossing, STRETCHES, STEP, outside],
);

/** Numbers of a transit in `Transits.place` and `Transits.moment`. */
export const PLACE = 3;
export const MOMENT = 2;

/** Transits in order of star, then of time. */
export interface Transits {
  readonly count: number;
  /** A row a transit: star, stretch of the law, field (0 preceding, 1 following). */
  readonly place: Int32Array;
  /** A row a transit: seconds since the stretch began, sine of zeta, the angle across scan. */
  readonly moment: Float64Array;
}

/** Seconds of transit `j` since the law began. */
export const timeOf = ({ place, moment }: Transits, j: number): number => place[PLACE * j + 1] * STEP + moment[MOMENT * j];

/** A law's nodes and a list's stars on a device. */
interface Sky {
  readonly law: View<"f64">;
  readonly stars: View<"f64">;
  free(): void;
}

export function uploadSky(device: Device, { nodes }: ScanningLaw, { count, rows }: StarList): Sky {
  const law = device.from(f64, nodes).reshape(nodes.length / NODE, NODE);
  const stars = device.from(f64, rows).reshape(count, STAR);
  return {
    law,
    stars,
    free: () => {
      law.free();
      stars.free();
    },
  };
}

/** Finds all transits of the stars; a star is seen where |sine of zeta| < `height`, the sine of half a field's height. */
export async function findTransits(device: Device, law: ScanningLaw, sky: Sky, stars: number, height: number): Promise<Transits> {
  const stretches = law.nodes.length / NODE - 1;
  const runs = Math.ceil(stretches / STRETCHES);
  const count = device.array(i32, [stars, runs]);
  const inputs = { law: sky.law, stars: sky.stars, stretches, end: law.duration - MARGIN, height, near: height + AXIS_MARGIN };
  const policy = range(stars, runs);
  await device.run(countTransits, { ...inputs, count }, policy, { precision: "strict" });
  const counts = (await device.queue.read(count)) as Int32Array;
  let total = 0;
  for (let n = 0; n < counts.length; n++) {
    const found = counts[n];
    counts[n] = total;
    total += found;
  }
  if (total === 0) {
    count.free();
    return { count: 0, place: new Int32Array(0), moment: new Float64Array(0) };
  }
  device.queue.write(count, counts);
  const place = device.array(i32, [total, PLACE]);
  const moment = device.array(f64, [total, MOMENT]);
  await device.run(listTransits, { ...inputs, count, place, moment }, policy, { precision: "strict" });
  const found = {
    count: total,
    place: (await device.queue.read(place)) as Int32Array,
    moment: (await device.queue.read(moment)) as Float64Array,
  };
  for (const array of [count, place, moment]) array.free();
  return found;
}
