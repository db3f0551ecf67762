/** A value with its standard deviation; sigma is NaN where one sample cannot tell it. */
export interface Estimate {
  value: number;
  sigma: number;
}

/** The mean of the samples; NaN of none. */
export function mean(samples: readonly number[]): number {
  return samples.reduce((total, x) => total + x, 0) / samples.length;
}

/** Standard deviation of the samples (ddof = 1), not of their mean. NaN for fewer than two. */
export function standardDeviation(samples: readonly number[]): number {
  const centre = mean(samples);
  return Math.sqrt(samples.reduce((total, x) => total + (x - centre) ** 2, 0) / (samples.length - 1));
}

/** The median of the samples; of an even number, the mean of the two in the middle. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Mean and standard deviation of the samples. */
export function estimate(samples: readonly number[]): Estimate {
  return { value: mean(samples), sigma: samples.length > 1 ? standardDeviation(samples) : NaN };
}

/** a / b for independent a and b, by first-order propagation. */
export function ratio(a: Estimate, b: Estimate): Estimate {
  const value = a.value / b.value;
  return { value, sigma: value * Math.hypot(a.sigma / a.value, b.sigma / b.value) };
}
