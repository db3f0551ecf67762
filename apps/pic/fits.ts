/** Values at some times. */
export interface Series {
  readonly times: readonly number[];
  /** Above 0. */
  readonly values: readonly number[];
}

/** A straight line in the logarithm: value = exp(offset + rate time). */
export interface Exponential {
  readonly rate: number;
  readonly offset: number;
}

export interface Peak {
  readonly time: number;
  readonly value: number;
}

/** The part of a series from one time to another, both included. */
export function within({ times, values }: Series, from: number, to: number): Series {
  // A sample at the very end counts however its time was rounded.
  const margin = 1e-9 * Math.abs(to);
  const kept = times.map((t) => t >= from - margin && t <= to + margin);
  return { times: times.filter((_, n) => kept[n]), values: values.filter((_, n) => kept[n]) };
}

/** The exponential that is nearest in the logarithm. Undefined for fewer than two values. */
export function exponential({ times, values }: Series): Exponential | undefined {
  if (times.length < 2) return undefined;
  const logs = values.map(Math.log);
  const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b) / list.length;
  const [t0, l0] = [mean(times), mean(logs)];
  const rate = times.reduce((sum, t, n) => sum + (t - t0) * (logs[n] - l0), 0) / times.reduce((sum, t) => sum + (t - t0) * (t - t0), 0);
  return { rate, offset: l0 - rate * t0 };
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
export const frequency = (list: readonly Peak[]): number => (Math.PI * (list.length - 1)) / (list[list.length - 1].time - list[0].time);

/** Peaks that are no ripples: between two of them the series falls to less than half. Those that have sunk to a twentieth of the highest are left out. */
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
export interface DampedWave extends Exponential {
  readonly omega: number;
}

/**
 * The damped wave whose absolute value is nearest to the series: its square is exp(2 rate t) (a + b cos(2 omega t) + c sin(2 omega t)), fitted by
 * Gauss and Newton's method with a, b, c eliminated. Squares are weighted by the envelope, so that a noise of one size counts the same at all
 * times, and what has sunk into it counts for nothing. Peaks, which noise and waves that die out lift, give the start alone. Undefined for less than three peaks, and
 * where no wave is found.
 */
export function dampedWave(series: Series): DampedWave | undefined {
  const { times, values } = series;
  const tops = swings(series);
  if (tops.length < 3) return undefined;
  let [rate, omega] = [exponential(seriesOf(tops))!.rate, frequency(tops)];
  const start = times[0];
  let parts = [0, 0, 0];
  for (let round = 0; round < 50; round++) {
    const weights = times.map((t) => Math.exp(-rate * (t - start)));
    const wanted = values.map((value, n) => value * value * weights[n]);
    const residualOf = (rate: number, omega: number): number[] => {
      const rows = times.map((t, n) => {
        const envelope = weights[n] * Math.exp(2 * rate * (t - start));
        return [envelope, envelope * Math.cos(2 * omega * (t - start)), envelope * Math.sin(2 * omega * (t - start))];
      });
      parts = leastSquares(rows, wanted);
      return rows.map((row, n) => row.reduce((sum, value, k) => sum + value * parts[k], 0) - wanted[n]);
    };
    const step = 1e-6;
    const [alongRate, alongOmega] = [residualOf(rate + step, omega), residualOf(rate, omega + step)];
    const residual = residualOf(rate, omega);
    const slopes = residual.map((value, n) => [(alongRate[n] - value) / step, (alongOmega[n] - value) / step]);
    const [byRate, byOmega] = leastSquares(
      slopes,
      residual.map((value) => -value),
    );
    rate += byRate;
    omega += byOmega;
    if (Math.hypot(byRate, byOmega) < 1e-10) {
      const height = Math.sqrt(parts[0] + Math.hypot(parts[1], parts[2]));
      return { rate, omega, offset: Math.log(height) - rate * start };
    }
    if (!(Math.hypot(rate, omega) < 100)) return undefined;
  }
  return undefined;
}

/**
 * The growth rate of A exp(rate t) + B cos(omega t) + C sin(omega t), by least squares of relative deviations: for a mode that grows beside
 * another that only swings. The rate is sought between 0 and `most`.
 */
export function growthBeside({ times, values }: Series, omega: number, most: number): Exponential {
  const solve = (rate: number): { amplitude: number; residual: number } => {
    const rows = times.map((t, n) => [Math.exp(rate * t), Math.cos(omega * t), Math.sin(omega * t)].map((f) => f / values[n]));
    const solution = leastSquares(
      rows,
      rows.map(() => 1),
    );
    const residual = rows.reduce((sum, row) => sum + (row.reduce((s, f, k) => s + f * solution[k], 0) - 1) ** 2, 0);
    return { amplitude: solution[0], residual };
  };
  // The residual has one valley near the rate, which a coarse search finds and golden sections narrow.
  const steps = 100;
  const coarse = Array.from({ length: steps }, (_, n) => ((n + 1) * most) / steps);
  const best = coarse.reduce((a, b) => (solve(b).residual < solve(a).residual ? b : a));
  let [low, high] = [best - most / steps, best + most / steps];
  const golden = (Math.sqrt(5) - 1) / 2;
  while (high - low > 1e-9 * most) {
    const [left, right] = [high - golden * (high - low), low + golden * (high - low)];
    if (solve(left).residual < solve(right).residual) high = right;
    else low = left;
  }
  const rate = (low + high) / 2;
  return { rate, offset: Math.log(Math.abs(solve(rate).amplitude)) };
}

/** The x for which rows x is nearest to `wanted`, by the normal equations and elimination. */
function leastSquares(rows: readonly (readonly number[])[], wanted: readonly number[]): number[] {
  const unknowns = rows[0].map((_, i) => i);
  const a = unknowns.map((i) => [
    ...unknowns.map((j) => rows.reduce((sum, row) => sum + row[i] * row[j], 0)),
    rows.reduce((sum, row, n) => sum + row[i] * wanted[n], 0),
  ]);
  const last = unknowns.length;
  for (const i of unknowns) {
    for (let k = i + 1; k < last; k++) {
      const factor = a[k][i] / a[i][i];
      for (let j = i; j <= last; j++) a[k][j] -= factor * a[i][j];
    }
  }
  const x = unknowns.map(() => 0);
  for (const i of unknowns.toReversed())
    x[i] = (a[i][last] - unknowns.reduce((sum, j) => (j > i ? sum + a[i][j] * x[j] : sum), 0)) / a[i][i];
  return x;
}
