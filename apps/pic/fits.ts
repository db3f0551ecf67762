/** What was seen at some times. */
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

/**
 * The growth rate of A exp(rate t) + B cos(omega t) + C sin(omega t), by least squares of relative deviations: for a mode that grows beside
 * another that only swings. The rate is sought between 0 and `most`.
 */
export function growthBeside({ times, values }: Series, omega: number, most: number): Exponential {
  const solve = (rate: number): { amplitude: number; residual: number } => {
    const rows = times.map((t, n) => [Math.exp(rate * t), Math.cos(omega * t), Math.sin(omega * t)].map((f) => f / values[n]));
    const solution = normalEquations(rows);
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

/** Least squares of rows x = 1, three unknowns, by elimination. */
function normalEquations(rows: readonly (readonly number[])[]): number[] {
  const a = [0, 1, 2].map((i) => [
    ...[0, 1, 2].map((j) => rows.reduce((sum, row) => sum + row[i] * row[j], 0)),
    rows.reduce((sum, row) => sum + row[i], 0),
  ]);
  for (let i = 0; i < 3; i++) {
    for (let k = i + 1; k < 3; k++) {
      const factor = a[k][i] / a[i][i];
      for (let j = i; j < 4; j++) a[k][j] -= factor * a[i][j];
    }
  }
  const x = [0, 0, 0];
  for (let i = 2; i >= 0; i--) x[i] = (a[i][3] - [0, 1, 2].reduce((sum, j) => (j > i ? sum + a[i][j] * x[j] : sum), 0)) / a[i][i];
  return x;
}
