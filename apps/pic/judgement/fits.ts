import { errorsOf, nearest, type Nearest } from "./least-squares.js";

/** Values at some times. */
export interface Series {
  readonly times: readonly number[];
  /** Above 0. */
  readonly values: readonly number[];
  /** The size of the noise in each value, where it is known. */
  readonly noise?: readonly number[];
}

/** A straight line in the logarithm: value = exp(offset + rate time). */
export interface Exponential {
  readonly rate: number;
  readonly offset: number;
}

interface Peak {
  readonly time: number;
  readonly value: number;
}

/** The part of a series from one time to another, both included. */
export function within({ times, values, noise }: Series, from: number, to: number): Series {
  // A sample at the very end counts however its time was rounded.
  const margin = 1e-9 * Math.abs(to);
  const kept = times.map((t) => t >= from - margin && t <= to + margin);
  const of = (list: readonly number[]): number[] => list.filter((_, n) => kept[n]);
  return { times: of(times), values: of(values), ...(noise && { noise: of(noise) }) };
}

/** An exponential that was fitted. */
export interface Growth extends Exponential {
  /** A standard deviation of the rate, by what the fit leaves over; NaN where there are too few values to tell. */
  readonly error: number;
}

/** The exponential that is nearest in the logarithm. Undefined for fewer than two values. */
export function exponential({ times, values }: Series): Growth | undefined {
  if (times.length < 2) return undefined;
  const logs = values.map(Math.log);
  const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b) / list.length;
  const [t0, l0] = [mean(times), mean(logs)];
  const rate = times.reduce((sum, t, n) => sum + (t - t0) * (logs[n] - l0), 0) / times.reduce((sum, t) => sum + (t - t0) * (t - t0), 0);
  const rows = times.map((t) => [t - t0, 1]);
  const [error] = errorsOf(
    rows,
    times.map((t, n) => l0 + rate * (t - t0) - logs[n]),
  );
  return { rate, offset: l0 - rate * t0, error };
}

/** Local maxima, each where the parabola through three samples has its top. */
export function peaks({ times, values }: Series): Peak[] {
  const found: Peak[] = [];
  for (let n = 1; n + 1 < values.length; n++) {
    const [a, b, c] = [values[n - 1], values[n], values[n + 1]];
    if (!(b > a && b >= c)) continue;
    const shift = (0.5 * (a - c)) / (a - 2 * b + c);
    found.push({ time: times[n] + shift * (times[n + 1] - times[n]), value: b - 0.25 * (a - c) * shift });
  }
  return found;
}

export const seriesOf = (list: readonly Peak[]): Series => ({
  times: list.map(({ time }) => time),
  values: list.map(({ value }) => value),
});

/** Angular frequency of a wave whose absolute value has these peaks: half a period from one to the next. */
const frequency = (list: readonly Peak[]): number => (Math.PI * (list.length - 1)) / (list[list.length - 1].time - list[0].time);

/** Peaks without ripples: between two of them the series falls to less than half. Peaks below a twentieth of the highest are left out. */
function swings(series: Series): Peak[] {
  const kept: Peak[] = [];
  for (const peak of peaks(series)) {
    const last = kept.at(-1);
    const least = last ? Math.min(...within(series, last.time, peak.time).values) : 0;
    if (!last || least < Math.min(last.value, peak.value) / 2) kept.push(peak);
    else if (peak.value > last.value) kept[kept.length - 1] = peak;
  }
  const highest = Math.max(...kept.map(({ value }) => value));
  return kept.filter(({ value }) => value > highest / 20);
}

/** A damped wave |A exp(rate t) cos(omega t + phase)|: its envelope, which begins at exp(offset), and its frequency. */
export interface DampedWave extends Growth {
  readonly omega: number;
  /** Standard deviations of `omega` and `offset`, as `error`. */
  readonly omegaError: number;
  readonly offsetError: number;
}

/**
 * The damped wave whose absolute value is nearest to the series: its square is exp(2 rate t) (a + b cos(2 omega t) + c sin(2 omega t)). Squares are weighted
 * by the envelope, so that a noise of one size counts the same at all times, and what has sunk into it counts for nothing. Peaks, which noise and waves that die out
 * lift, give the start alone, and so does what is expected: the better fit counts. Undefined if neither leads to a wave: there are less than three peaks, and the wave that is expected swings less
 * often.
 * @param expected rate and frequency
 */
export function dampedWave(series: Series, expected?: readonly [rate: number, omega: number]): DampedWave | undefined {
  const { times } = series;
  const tops = swings(series);
  const isSeen = expected && expected[1] * (times[times.length - 1] - times[0]) >= 3 * Math.PI;
  const guesses = [
    ...(tops.length < 3 ? [] : [[exponential(seriesOf(tops))!.rate, frequency(tops)] as const]),
    ...(isSeen ? [expected] : []),
  ];
  const waves = guesses.flatMap((guess) => waveFrom(series, guess) ?? []);
  return waves.toSorted((a, b) => a.left - b.left).at(0)?.wave;
}

/** The wave that a guess leads to, and what share of the weighted squares it leaves over. */
function waveFrom(
  { times, values }: Series,
  guess: readonly [rate: number, omega: number],
): { wave: DampedWave; left: number } | undefined {
  let [rate, omega] = guess;
  const start = times[0];
  for (let round = 0; round < 50; round++) {
    const weights = times.map((t) => Math.exp(-rate * (t - start)));
    const wanted = values.map((value, n) => value * value * weights[n]);
    const rows = ([rate, omega]: readonly number[]) =>
      times.map((t, n) => {
        const envelope = weights[n] * Math.exp(2 * rate * (t - start));
        return [envelope, envelope * Math.cos(2 * omega * (t - start)), envelope * Math.sin(2 * omega * (t - start))];
      });
    const found = nearest({ wanted, rows }, [rate, omega]);
    if (!found || !(Math.hypot(...found.shape) < 100)) return undefined;
    const change = found.shape[0] - rate;
    // Half the way, as whole steps of the weights may swing.
    [rate, omega] = [rate + change / 2, found.shape[1]];
    if (Math.abs(change) < 1e-10)
      return { wave: waveOf(found, start), left: found.squares / wanted.reduce((sum, value) => sum + value * value, 0) };
  }
  return undefined;
}

/** The height of the square is a + |(b, c)|. */
function waveOf({ shape: [rate, omega], factors: [a, b, c], errors }: Nearest, start: number): DampedWave {
  const square = a + Math.hypot(b, c);
  const [error, omegaError, ofA, ofB, ofC] = errors;
  const ofSquare = Math.hypot(ofA, (b * ofB + c * ofC) / Math.hypot(b, c));
  const offsetError = Math.hypot(ofSquare / (2 * square), error * start);
  return { rate, omega, offset: Math.log(square) / 2 - rate * start, error, omegaError, offsetError };
}

/**
 * The growth rate of A exp(rate t) + B cos(omega t) + C sin(omega t), by least squares of relative deviations: for a mode that grows beside
 * another that only swings, both of one phase in space. The rate is sought between 0 and `most`. Undefined if none is found.
 */
export function growthBeside({ times, values }: Series, omega: number, most: number): Growth | undefined {
  const rows = ([rate]: readonly number[]) =>
    times.map((t, n) => [Math.exp(rate * t), Math.cos(omega * t), Math.sin(omega * t)].map((f) => f / values[n]));
  const wanted = values.map(() => 1);
  const guesses = Array.from({ length: 20 }, (_, n) => ((n + 1) * most) / 20);
  const valleys = guesses
    .flatMap((guess) => nearest({ wanted, rows }, [guess]) ?? [])
    .filter(({ shape: [rate] }) => rate > 0 && rate <= most);
  const found = valleys.toSorted((a, b) => a.squares - b.squares).at(0);
  return found && { rate: found.shape[0], offset: Math.log(Math.abs(found.factors[0])), error: found.errors[0] };
}

/**
 * The growth rate of |A exp(rate t) + B cos(omega t + phase)|, A and B complex: for a mode that grows out of noise, and so with a phase in space of its own,
 * beside a wave that is not damped and may be larger. Its square is fitted, weighted by its mean over a period. Undefined if nothing is found.
 * @param guess of the rate, above 0
 * @param omega about the wave's frequency, which is fitted, too
 */
export function growthBesideLight(series: Series, guess: number, omega: number): Growth | undefined {
  const { times, values } = series;
  const end = times[times.length - 1];
  const squares = values.map((value) => value * value);
  const weights = meansOf({ times, values: squares }, (2 * Math.PI) / omega).map((mean) => 1 / mean);
  const rows = ([rate, omega]: readonly number[]) =>
    times.map((t, n) => {
      const growing = Math.exp(rate * (t - end));
      const [cosine, sine] = [Math.cos(omega * (t - end)), Math.sin(omega * (t - end))];
      return [growing * growing, growing * cosine, growing * sine, 1, cosine * cosine - sine * sine, 2 * cosine * sine].map(
        (f) => f * weights[n],
      );
    });
  const wanted = squares.map((square, n) => square * weights[n]);
  const found = nearest({ wanted, rows }, [guess, omega]);
  if (!found || !(found.factors[0] > 0)) return undefined;
  const [rate] = found.shape;
  return { rate, offset: Math.log(found.factors[0]) / 2 - rate * end, error: found.errors[0] };
}

/** For each time, the mean of the values within half of `span` of it. */
const meansOf = ({ times, values }: Series, span: number): number[] =>
  times.map((t) => {
    const near = values.filter((_, n) => Math.abs(times[n] - t) <= span / 2);
    return near.reduce((a, b) => a + b) / near.length;
  });

/**
 * Error of a fitted wave's rate and frequency by noise of the series' size that lasts as long as the window: relative to the wave, over
 * twice the window's standard deviation in time. Such noise swings like the wave and is damped like it, so a fit leaves nothing over that
 * tells of it. 0 if no noise is known.
 */
export function noiseError({ times, noise }: Series, { rate, offset }: Exponential): number {
  if (!noise) return 0;
  // Damped waves are weighted towards early times; growing ones have equal weights.
  const wave = times.map((t) => Math.exp(offset + rate * t));
  const weights = wave.map((size) => (rate < 0 ? size * size : 1));
  const mean = (list: readonly number[]): number =>
    list.reduce((sum, value, n) => sum + weights[n] * value, 0) / weights.reduce((a, b) => a + b);
  const middle = mean(times);
  const spread = Math.sqrt(mean(times.map((t) => (t - middle) ** 2)));
  return Math.sqrt(mean(noise.map((size, n) => (size / wave[n]) ** 2))) / (2 * spread);
}
