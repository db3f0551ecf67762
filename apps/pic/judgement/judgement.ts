import {
  dampedWave,
  exponential,
  growthBeside,
  growthBesideLight,
  noiseError,
  peaks,
  seriesOf,
  within,
  type DampedWave,
  type Exponential,
  type Growth,
  type Series,
} from "./fits.js";

/** A number that the run gave, and what theory or others say of it, where they do. */
export interface Comparison {
  readonly quantity: string;
  readonly fitted: number;
  /**
   * Error bar of `fitted`, the largest of three: the standard deviation by what the fit leaves over, a quarter of the difference of fits to the two halves of
   * the window, and what the noise of the field in other modes would make of it. Absent where there are too few values to tell.
   */
  readonly error?: number;
  readonly expected?: number;
  /** `dispersion relation`, or whose number it is. */
  readonly source?: string;
  /** The largest relative difference of a run with the case's own settings. */
  readonly tolerance?: number;
}

/** By how much a run misses what is expected, relative to that; undefined if nothing is, or 0. */
export const missOf = ({ fitted, expected }: Comparison): number | undefined => (expected ? fitted / expected - 1 : undefined);

/** The largest error bar of a rate without a theory that is not remarked on, relative to the rate. */
const LARGE = 0.1;

/** Remark about a rate whose error bar exceeds its tolerance, or that misses theory by more than that bar; undefined for a good one. */
function doubtOf({ quantity, fitted, error, expected, tolerance = LARGE }: Comparison): string | undefined {
  if (error === undefined || expected === 0) return undefined;
  const scale = Math.abs(expected ?? fitted);
  const percent = (value: number): string => `${((100 * value) / scale).toPrecision(2)} %`;
  const miss = Math.abs(fitted - (expected ?? fitted));
  if (miss > tolerance * scale && miss > 2 * error)
    return (
      `the ${quantity} misses the expected one by ${percent(miss)}, which its error bar of ${percent(error)} does not explain: ` +
      "the wave may be too large for a linear theory (a smaller --amplitude), or cells and steps too coarse (--cells, --dt)"
    );
  if (error <= tolerance * scale && miss <= tolerance * scale) return undefined;
  return (
    `the ${quantity} is known to ${percent(error)} only, an error bar of ${error.toPrecision(2)}: noise, or another wave, hides it; ` +
    "ask for more --particles, a larger --amplitude as long as the theory is linear, or a longer --time"
  );
}

/** An exponential through part of the series, to be drawn. */
export interface Curve extends Exponential {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

/** Result of `Case.judge`. */
export interface Judgement {
  readonly comparisons: readonly Comparison[];
  readonly curves: readonly Curve[];
  /** Says why nothing is compared, or what to keep in mind about the comparisons. */
  readonly remark?: string;
}

/** Times between which a rate is fitted. */
export type Window = readonly [from: number, to: number];

type Expectation = Omit<Comparison, "fitted">;

export const NOTHING: Judgement = { comparisons: [], curves: [] };
/** Judgement of a series in which no rate was found. */
const UNFITTED: Judgement = {
  ...NOTHING,
  remark:
    "no rate is fitted: the run ends too early, or the wave has too few oscillations in the window: choose a longer --time, or another --window",
};
/** Remark about a wave whose growth ends too early for any window, or never begins. */
const SATURATED: Judgement = {
  ...NOTHING,
  remark:
    "no rate is fitted: the wave has stopped growing at the end of the run, and grew for too short a time before: " +
    "choose a smaller --amplitude where it is saturated, more --particles where noise or light hides it, or another --window",
};
const DISPERSION = "dispersion relation";

const endOf = ({ times }: Series): number => times[times.length - 1];

/** Whether the series goes on to the end of the window. */
const reaches = (series: Series, [, to]: Window): boolean => endOf(series) >= to * (1 - 1e-9);

export function both(a: Judgement, b: Judgement): Judgement {
  const remarks = [a.remark, b.remark].filter((remark) => remark !== undefined);
  return {
    comparisons: [...a.comparisons, ...b.comparisons],
    curves: [...a.curves, ...b.curves],
    ...(remarks.length > 0 && { remark: remarks.join("\n") }),
  };
}

/** A fit to part of a series, whose error bar also covers what its two halves differ by: neither noise nor a wave that saturates is alike in both. */
function fitted<Fit extends Growth>(part: Series, fit: (part: Series) => Fit | undefined): Fit | undefined {
  const whole = fit(part);
  if (!whole) return undefined;
  const [from, to] = [part.times[0], endOf(part)];
  const middle = (from + to) / 2;
  const [first, second] = [within(part, from, middle), within(part, middle, to)].map((half) => fit(half));
  // A standard deviation, as halves have eight times the variance of the whole.
  const halves = first && second ? apart(first, second) / 4 : 0;
  return { ...whole, error: Math.max(whole.error, halves, noiseError(part, whole)) };
}

/** By how much two rates differ beyond their own error bars. */
const apart = (a: Growth, b: Growth): number => Math.sqrt(Math.max(0, (a.rate - b.rate) ** 2 - a.error ** 2 - b.error ** 2) || 0);

/** The damped wave in a series, with the error bars that noise gives it. */
function fittedWave(part: Series, expected?: readonly [rate: number, omega: number]): DampedWave | undefined {
  const wave = fitted(part, (some) => dampedWave(some, expected));
  if (!wave) return undefined;
  const byNoise = noiseError(part, wave);
  return { ...wave, omegaError: Math.max(wave.omegaError, byNoise), offsetError: Math.max(wave.offsetError, byNoise * part.times[0]) };
}

/** NaN is the error of unknown values. */
const withError = (comparison: Comparison, error: number): Comparison => (Number.isFinite(error) ? { ...comparison, error } : comparison);

/** One comparison, drawn with its fit and, where a rate is expected, with that through the fit's middle. */
function judged(expectation: Expectation, fit: Growth, [from, to]: Window, name = "fit"): Judgement {
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
  const comparison = withError({ ...expectation, fitted: fit.rate }, fit.error);
  const remark = doubtOf(comparison);
  return { comparisons: [comparison], curves, ...(remark !== undefined && { remark }) };
}

/** Expected growth of a wave. */
interface ExpectedGrowth {
  readonly rate: number;
  readonly tolerance: number;
  /** Times of `rate` between which it is fitted, unless a window is given: later than what dies out at the start, earlier than saturation. */
  readonly foldings: Window;
  /** A wave beside it that is hardly damped: its frequency, seen from the growing one, and whether it may be the larger one, of another phase in space. */
  readonly beside?: { readonly omega: number; readonly isLight: boolean };
}

/** Growth of the amplitude against an expected rate; nothing where the run ends before. */
export function growth(series: Series, given: Window | undefined, { rate, tolerance, foldings, beside }: ExpectedGrowth): Judgement {
  const [from, to] = given ?? windowOf(series, rate, foldings);
  if (!reaches(series, [from, to])) return UNFITTED;
  if (to - from < 1 / rate && !given) return from + 1 / rate <= endOf(series) ? SATURATED : UNFITTED;
  const fit = fitted(within(series, from, to), (part) => {
    if (!beside) return exponential(part);
    return beside.isLight ? growthBesideLight(part, rate, beside.omega) : growthBeside(part, beside.omega, 2 * rate);
  });
  return fit === undefined ? UNFITTED : judged({ quantity: "growth rate", expected: rate, source: DISPERSION, tolerance }, fit, [from, to]);
}

/** A wave that has stopped growing goes by the linear theory up to this share of its largest amplitude. */
const LINEAR = 0.25;

/** Times in which a wave of this rate grows by the given foldings, and is not close to saturation; at most to the end of the run. */
function windowOf(series: Series, rate: number, [from, to]: Window): Window {
  const { times, values } = series;
  const end = endOf(series);
  const most = (from: number, to: number): number => Math.max(...within(series, from, to).values);
  const isSaturated = most(end - 1 / rate, end) < Math.sqrt(Math.E) * most(end - 2 / rate, end - 1 / rate);
  const limit = LINEAR * Math.max(...values);
  const saturation = isSaturated ? times[values.findIndex((value) => value >= limit)] : Infinity;
  return [from / rate, Math.min(to / rate, saturation, end)];
}

/** Expected values of a damped wave. */
interface ExpectedWave {
  /** Below 0, or 0 of a wave that nothing damps. */
  readonly rate: number;
  /** Frequency of the amplitude's swings, from the beat of two waves. */
  readonly frequency?: number;
  /** The rate of the wave that is damped next: until it has gone nothing is fitted. */
  readonly next?: number;
  /** Amplitude at the start, carried back along the damping. */
  readonly amplitude?: number;
}

/** Ratio of amplitudes from which a wave beside the fitted one counts as gone. */
const GONE = Math.log(100);

/** Damping rate, frequency and amplitude of a wave, by default from where the next one is gone to the end of the run. */
export function damping(
  series: Series,
  given: Window | undefined,
  { rate: expected, frequency, next, amplitude }: ExpectedWave,
): Judgement {
  const from = next === undefined ? 0 : GONE / (expected - next);
  const window: Window = given ?? [from, endOf(series)];
  const guess = frequency === undefined ? undefined : ([expected, frequency] as const);
  const fit = reaches(series, window) ? fittedWave(within(series, ...window), guess) : undefined;
  if (!fit) return UNFITTED;
  const source = DISPERSION;
  const rate = judged(
    { quantity: "damping rate", expected, source, ...(expected < 0 && { tolerance: 0.03 }) },
    fit,
    window,
    "envelope of the fit",
  );
  const comparisons: Comparison[] = [
    withError(
      { quantity: "frequency", fitted: fit.omega, expected: frequency, ...(frequency !== undefined && { source, tolerance: 0.005 }) },
      fit.omegaError,
    ),
    withError(
      {
        quantity: "amplitude",
        fitted: Math.exp(fit.offset),
        expected: amplitude,
        ...(amplitude !== undefined && { source, tolerance: 0.03 }),
      },
      Math.exp(fit.offset) * fit.offsetError,
    ),
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
  const wave = fittedWave(part);
  if (wave)
    return both(judged({ quantity: "rate of the envelope" }, wave, window, "envelope of the fit"), {
      comparisons: [withError({ quantity: "frequency", fitted: wave.omega }, wave.omegaError)],
      curves: [],
    });
  const fit = fitted(part, exponential);
  return fit === undefined ? UNFITTED : judged({ quantity: "rate" }, fit, window);
}
