/*
 * Variants of one kernel, measured by turns: what disturbs the machine for a while disturbs all of them, and the ratio of samples of one
 * round says more than the ratio of two averages.
 */

export interface Variant {
  readonly name: string;
  /** Runs so many times, to the end. */
  run(times: number): void | Promise<unknown>;
}

export interface InterleavedTime {
  /** Median seconds of a run. */
  readonly seconds: number;
  /** Median over the rounds of the first variant's time divided by this one's. */
  readonly ratio: number;
  /** The same for each one's fastest tenth. */
  readonly bestDecile: number;
  /** Rounds that counted. */
  readonly rounds: number;
  /** False where too few samples were free of context switches, so that all were taken. */
  readonly undisturbed: boolean;
}

export interface InterleaveOptions {
  /** Rounds that are to count; up to four times as many are tried where the machine is disturbed. */
  rounds: number;
  /** Seconds that a sample lasts at least. */
  sample: number;
  /** Seconds for which each variant runs before it is measured. */
  warmUp: number;
}

/** Clean rounds from which a median is taken without the others. */
const ENOUGH = 5;

interface Sample {
  seconds: number;
  clean: boolean;
}

/** Measures all variants against the first. */
export async function interleave(variants: readonly Variant[], { rounds, sample, warmUp }: InterleaveOptions): Promise<InterleavedTime[]> {
  const repeats: number[] = [];
  for (const variant of variants) repeats.push(await warm(variant, warmUp, sample));
  const samples: Sample[][] = variants.map(() => []);
  const enough = () => samples.every((own) => cleanPairs(samples[0], own).length >= rounds);
  for (let round = 0; round < 4 * rounds && !enough(); round++) {
    for (let k = 0; k < variants.length; k++) {
      const v = (round + k) % variants.length;
      samples[v].push(await take(variants[v], repeats[v]));
    }
  }
  return samples.map((own) => compare(samples[0], own));
}

/** Runs for a while; gives how many runs fill a sample. */
async function warm(variant: Variant, seconds: number, sample: number): Promise<number> {
  let best = Infinity;
  const end = performance.now() + seconds * 1000;
  do {
    const start = performance.now();
    await variant.run(3);
    best = Math.min(best, (performance.now() - start) / 3000);
  } while (performance.now() < end);
  return Math.max(1, Math.ceil(sample / best));
}

/** One sample: idle threads of the other variants get time to fall asleep, and the variant's own are woken, before the clock starts. */
async function take(variant: Variant, repeats: number): Promise<Sample> {
  sleep(2);
  await variant.run(1);
  const before = switches();
  const start = performance.now();
  await variant.run(repeats);
  const seconds = (performance.now() - start) / 1000 / repeats;
  return { seconds, clean: switches() === before };
}

const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

function switches(): number {
  const { voluntaryContextSwitches, involuntaryContextSwitches } = process.resourceUsage();
  return voluntaryContextSwitches + involuntaryContextSwitches;
}

type Pair = readonly [base: Sample, own: Sample];

function pairs(base: readonly Sample[], own: readonly Sample[]): Pair[] {
  return own.map((sample, round) => [base[round], sample] as const);
}

const cleanPairs = (base: readonly Sample[], own: readonly Sample[]): Pair[] =>
  pairs(base, own).filter((pair) => pair.every((s) => s.clean));

function compare(base: readonly Sample[], own: readonly Sample[]): InterleavedTime {
  const clean = cleanPairs(base, own);
  const undisturbed = clean.length >= ENOUGH;
  const counted = undisturbed ? clean : pairs(base, own);
  const [bases, owns] = [0, 1].map((n) => counted.map((pair) => pair[n].seconds));
  return {
    seconds: quantile(owns, 0.5),
    ratio: quantile(
      counted.map(([b, o]) => b.seconds / o.seconds),
      0.5,
    ),
    bestDecile: quantile(bases, 0.1) / quantile(owns, 0.1),
    rounds: counted.length,
    undisturbed,
  };
}

/** The value below which the share `q` of the values lies, between two neighbours in proportion. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = q * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}
