import type { Probes } from "./probes.js";
import type { Shape } from "./shape.js";
import { sections } from "./shape.js";

/*
 * Whether a solution's deviation from the truth is what its standard errors say. Errors of unknowns are correlated, so 1/sqrt(n) does not measure how far
 * a mean may be from 0. Each probe is a draw of the same errors: statistics of the solution are compared with theirs.
 */

/** Most deviations of a statistic from the mean of the probes'; gamma's own deviation in standard errors. */
const MOST = 4;

/** A statistic of a section, and its distance from the probes' mean in their standard deviations. */
interface Statistic {
  readonly value: number;
  readonly expected: number;
  readonly deviations: number;
}

/** How the unknowns of a section lie, in standard errors z = (x - truth) / error. */
export interface SectionVerdict {
  readonly section: "stars" | "attitude" | "instrument" | "gamma";
  readonly unknowns: number;
  /** Unknowns that have left the system: they have no z. */
  readonly undetermined: number;
  readonly mean: Statistic;
  readonly rms: Statistic;
  readonly ok: boolean;
}

/** Compares x with the truth, section by section. An unknown whose error is 0 has left the system, and a section of such has no verdict. */
export function judge(shape: Shape, x: ArrayLike<number>, truth: ArrayLike<number>, probes: Probes): SectionVerdict[] {
  const { attitude, instrument, global, unknowns } = sections(shape);
  const bounds = [
    ["stars", 0, attitude],
    ["attitude", attitude, instrument],
    ["instrument", instrument, global],
    ["gamma", global, unknowns],
  ] as const;
  const { draws, errors } = probes;
  const k = draws.length;
  return bounds.flatMap(([section, first, end]): SectionVerdict[] => {
    const kept = Array.from({ length: end - first }, (_, n) => first + n).filter((j) => errors[j] > 0);
    if (kept.length === 0) return [];
    const statistics = (z: (j: number) => number) => {
      let [sum, squares] = [0, 0];
      for (const j of kept) {
        sum += z(j);
        squares += z(j) ** 2;
      }
      return { mean: sum / kept.length, rms: Math.sqrt(squares / kept.length) };
    };
    const found = statistics((j) => (x[j] - truth[j]) / errors[j]);
    // A probe against the errors of the others.
    const drawn = draws.map((y) => statistics((j) => y[j] / Math.sqrt((k * errors[j] ** 2 - y[j] ** 2) / (k - 1))));
    const against = (name: "mean" | "rms"): Statistic => {
      const expected = drawn.reduce((sum, one) => sum + one[name], 0) / k;
      const spread = Math.sqrt(drawn.reduce((sum, one) => sum + (one[name] - expected) ** 2, 0) / (k - 1));
      return { value: found[name], expected, deviations: Math.abs(found[name] - expected) / spread };
    };
    const [mean, rms] = [against("mean"), against("rms")];
    const ok = section === "gamma" ? Math.abs(mean.value) <= MOST : mean.deviations <= MOST && rms.deviations <= MOST;
    return [{ section, unknowns: kept.length, undetermined: end - first - kept.length, mean, rms, ok }];
  });
}
