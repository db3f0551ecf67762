import { dampedWave, exponential, growthBeside, peaks, seriesOf, within, type Exponential, type Series } from "./fits.js";

/** A number that the run gave, and what theory or others say of it, where they do. */
export interface Comparison {
  readonly quantity: string;
  readonly fitted: number;
  readonly expected?: number;
  /** `dispersion relation`, or whose number it is. */
  readonly source?: string;
  /** The largest relative difference of a run with the case's own settings. */
  readonly tolerance?: number;
}

/** By how much a run misses what is expected, relative to that; undefined where nothing is. */
export const missOf = ({ fitted, expected }: Comparison): number | undefined =>
  expected === undefined ? undefined : fitted / expected - 1;

/** An exponential through part of the series, to be drawn. */
export interface Curve extends Exponential {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

/** What `Case.judge` finds. */
export interface Judgement {
  readonly comparisons: readonly Comparison[];
  readonly curves: readonly Curve[];
  /** Why there is no comparison. */
  readonly remark?: string;
}

/** Times between which a rate is fitted. */
export type Window = readonly [from: number, to: number];

type Expectation = Omit<Comparison, "fitted">;

export const NOTHING: Judgement = { comparisons: [], curves: [] };
/** Of a series in which no rate was found. */
export const UNFITTED: Judgement = {
  ...NOTHING,
  remark: "no rate is fitted: the run ends too early, or swings too little while one could be: choose a longer --time, or another --window",
};
export const DISPERSION = "dispersion relation";

const endOf = ({ times }: Series): number => times[times.length - 1];

/** Whether the series goes on to the end of the window. */
export const reaches = (series: Series, [, to]: Window): boolean => endOf(series) >= to * (1 - 1e-9);

export const both = (a: Judgement, b: Judgement): Judgement => ({
  comparisons: [...a.comparisons, ...b.comparisons],
  curves: [...a.curves, ...b.curves],
});

/** One comparison, drawn with its fit and, where a rate is expected, with that through the fit's middle. */
export function judged(expectation: Expectation, fit: Exponential, [from, to]: Window, name = "fit"): Judgement {
  const { expected, source } = expectation;
  const middle = (from + to) / 2;
  const curves: Curve[] = [{ label: `${name}: ${fit.rate.toPrecision(4)}`, rate: fit.rate, offset: fit.offset, from, to }];
  if (expected !== undefined)
    curves.push({
      label: `${source}: ${expected.toPrecision(4)}`,
      rate: expected,
      offset: fit.offset + (fit.rate - expected) * middle,
      from,
      to,
    });
  return { comparisons: [{ ...expectation, fitted: fit.rate }], curves };
}

/** Growth of the amplitude in a window against an expected rate; nothing where the run ends before. */
export function growth(series: Series, window: Window, expected: number, tolerance: number): Judgement {
  const fit = reaches(series, window) ? exponential(within(series, ...window)) : undefined;
  return fit === undefined ? UNFITTED : judged({ quantity: "growth rate", expected, source: DISPERSION, tolerance }, fit, window);
}

/** The same beside a wave that is hardly damped, whose frequency seen from the growing one is `omega`. */
export function growthBesideWave(series: Series, window: Window, expected: number, tolerance: number, omega: number): Judgement {
  if (!reaches(series, window)) return UNFITTED;
  const fit = growthBeside(within(series, ...window), omega, 2 * expected);
  return judged({ quantity: "growth rate", expected, source: DISPERSION, tolerance }, fit, window);
}

/** What a damped wave is expected to be. */
export interface ExpectedWave {
  /** Below 0. */
  readonly rate: number;
  /** Of the swings of the amplitude, which are those of two waves against each other. */
  readonly frequency?: number;
  /** The rate of the wave that is damped next: until it has gone nothing is fitted. */
  readonly next?: number;
  /** Of the amplitude at the start, carried back along the damping. */
  readonly amplitude?: number;
}

/** A wave beside the one that is fitted is gone when it is so much less. */
const GONE = Math.log(100);

/** Damping rate, frequency and amplitude of a wave, by default from where the next one is gone to the end of the run. */
export function damping(
  series: Series,
  given: Window | undefined,
  { rate: expected, frequency, next, amplitude }: ExpectedWave,
): Judgement {
  const from = next === undefined ? 0 : GONE / (expected - next);
  const window: Window = given ?? [from, endOf(series)];
  const fit = reaches(series, window) ? dampedWave(within(series, ...window)) : undefined;
  if (!fit) return UNFITTED;
  const source = DISPERSION;
  const rate = judged({ quantity: "damping rate", expected, source, tolerance: 0.03 }, fit, window, "envelope of the fit");
  const comparisons: Comparison[] = [
    { quantity: "frequency", fitted: fit.omega, expected: frequency, ...(frequency !== undefined && { source, tolerance: 0.005 }) },
    {
      quantity: "amplitude",
      fitted: Math.exp(fit.offset),
      expected: amplitude,
      ...(amplitude !== undefined && { source, tolerance: 0.03 }),
    },
  ];
  return both(rate, { comparisons, curves: [] });
}

/** The decay or growth of a swing's peaks in a window. */
export function rateOfPeaks(expectation: Expectation, list: ReturnType<typeof peaks>): Judgement {
  const fit = exponential(seriesOf(list));
  return fit === undefined ? UNFITTED : judged(expectation, fit, [list[0].time, list[list.length - 1].time], "envelope of the peaks");
}

/** Rates where no theory is at hand: of a wave's envelope, where it swings in the window, or of the amplitude. */
export function measured(series: Series, given?: Window): Judgement {
  const window: Window = given ?? [0, endOf(series)];
  if (!reaches(series, window)) return UNFITTED;
  const part = within(series, ...window);
  const wave = dampedWave(part);
  if (wave)
    return both(judged({ quantity: "rate of the envelope" }, wave, window, "envelope of the fit"), {
      comparisons: [{ quantity: "frequency", fitted: wave.omega }],
      curves: [],
    });
  const fit = exponential(part);
  return fit === undefined ? UNFITTED : judged({ quantity: "rate" }, fit, window);
}
