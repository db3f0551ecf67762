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

/** Student's t for 95 %, two-sided, with 1 to 9 degrees of freedom. */
const STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262] as const;

/** Half the width of the 95 % confidence interval of the samples' mean; a little too much for more than ten. Infinity for fewer than two. */
export function uncertainty(samples: readonly number[]): number {
  const n = samples.length;
  if (n < 2) return Infinity;
  return (STUDENT[Math.min(n - 2, STUDENT.length - 1)] * standardDeviation(samples)) / Math.sqrt(n);
}

/** a / b for independent a and b, by first-order propagation. */
export function ratio(a: Estimate, b: Estimate): Estimate {
  const value = a.value / b.value;
  return { value, sigma: value * Math.hypot(a.sigma / a.value, b.sigma / b.value) };
}
