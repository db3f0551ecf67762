import { complex, type Complex } from "./complex.js";
import { langmuir, langmuirAmplitude, weibel, zero, type Maxwellian } from "./dispersion.js";
import { exponential, frequency, growthBeside, peaks, seriesOf, within, type Exponential, type Series } from "./fits.js";
import { meshOf } from "./mesh.js";
import type { Problem } from "./problem.js";
import type { Species } from "./species.js";

/** A number that the run gave, and what theory or others say of it. */
export interface Comparison {
  readonly quantity: string;
  readonly fitted: number;
  readonly expected: number;
  /** `dispersion relation`, or whose number it is. */
  readonly source: string;
  /** The largest relative difference of a run with the case's own settings. */
  readonly tolerance: number;
}

/** By how much a run misses what is expected, relative to that. */
export const missOf = ({ fitted, expected }: Comparison): number => fitted / expected - 1;

/** An exponential through part of the series, for the picture. */
export interface Curve extends Exponential {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

export interface Judgement {
  readonly comparisons: readonly Comparison[];
  readonly curves: readonly Curve[];
}

/** What the command line may change of a case. */
export interface CaseOptions {
  /** Along axis 1. */
  readonly cells: number;
  readonly degree: number;
  /** Of the perturbation at the start. */
  readonly amplitude: number;
  /** That of mobile ions, in electron masses; where absent the background stays where it is. */
  readonly ionMass?: number;
}

export interface Case {
  readonly name: string;
  readonly description: string;
  readonly defaults: CaseOptions & {
    readonly particles: number;
    readonly dt: number;
    readonly time: number;
    /** Steps from one sample to the next. */
    readonly every: number;
  };
  /** Mode 1 along axis 1 of one component, counted from 0, is watched. */
  readonly watched: { readonly form: "e" | "b"; readonly component: number };
  problem(options: CaseOptions): Problem;
  /** Compares the amplitude of the watched mode over time with theory; says nothing of runs that are too short. */
  judge(series: Series, options: CaseOptions): Judgement;
}

const NOTHING: Judgement = { comparisons: [], curves: [] };
const DISPERSION = "dispersion relation";
const TWO_PI = 2 * Math.PI;

/** Electrons along one axis, with density 1 + amplitude cos(k x): one mode in the box. */
function electrostatic(k: number, beams: readonly Maxwellian[]): Pick<Case, "watched" | "problem"> {
  return {
    watched: { form: "e", component: 0 },
    problem: ({ cells, degree, amplitude, ionMass }) => ({
      mesh: meshOf([cells], [TWO_PI / k], degree, 1),
      species: plasma(ionMass, {
        beams: beams.map(({ fraction, drift, sigma }) => ({ fraction, drift: [drift], sigma: [sigma] })),
        perturbation: { amplitude, mode: 1 },
      }),
    }),
  };
}

/** Electrons, and ions of the temperature of their first beam, which are at rest and spread evenly. */
function plasma(ionMass: number | undefined, electrons: Pick<Species, "beams" | "perturbation">): Species[] {
  const light: Species = { name: "electrons", charge: -1, mass: 1, ...electrons };
  if (ionMass === undefined) return [light];
  const sigma = electrons.beams[0].sigma.map((deviation) => deviation / Math.sqrt(ionMass));
  return [light, { name: "ions", charge: 1, mass: ionMass, beams: [{ fraction: 1, sigma }] }];
}

type Window = readonly [from: number, to: number];

const reaches = ({ times }: Series, [, to]: Window): boolean => times[times.length - 1] >= to * (1 - 1e-9);

/** Growth of the amplitude between two times against an expected rate; nothing where the run ends before. */
function growth(series: Series, window: Window, expected: number, tolerance: number): Judgement {
  const fit = reaches(series, window) ? exponential(within(series, ...window)) : undefined;
  return fit === undefined ? NOTHING : judged({ quantity: "growth rate", expected, source: DISPERSION, tolerance }, fit, ...window);
}

/** The same beside a wave of constant amplitude, whose frequency seen from the growing one is `omega`. */
function growthBesideWave(series: Series, window: Window, expected: number, tolerance: number, omega: number): Judgement {
  if (!reaches(series, window)) return NOTHING;
  const fit = growthBeside(within(series, ...window), omega, 2 * expected);
  return judged({ quantity: "growth rate", expected, source: DISPERSION, tolerance }, fit, ...window);
}

type Expectation = Omit<Comparison, "fitted">;

/** One comparison, drawn with its fit and with the expected rate through the fit's middle. */
function judged(expectation: Expectation, fit: Exponential, from: number, to: number): Judgement {
  const { expected, source } = expectation;
  const middle = (from + to) / 2;
  return {
    comparisons: [{ ...expectation, fitted: fit.rate }],
    curves: [
      { label: `fit: ${fit.rate.toPrecision(4)}`, ...fit, from, to },
      {
        label: `${source}: ${expected.toPrecision(4)}`,
        rate: expected,
        offset: fit.offset + (fit.rate - expected) * middle,
        from,
        to,
      },
    ],
  };
}

/** The decay of peaks. */
function decay(expectation: Expectation, list: ReturnType<typeof peaks>): Judgement {
  const fit = exponential(seriesOf(list));
  return fit === undefined ? NOTHING : judged(expectation, fit, list[0].time, list[list.length - 1].time);
}

const both = (a: Judgement, b: Judgement): Judgement => ({
  comparisons: [...a.comparisons, ...b.comparisons],
  curves: [...a.curves, ...b.curves],
});

/** Electrons in one dimension of space and two of velocity, of unequal temperatures or in streams across k, with B_3 = amplitude cos(k x). */
function transverse(k: number, sigma: readonly number[], streams: readonly { fraction: number; drift: number }[]) {
  const square = streams.reduce((sum, { fraction, drift }) => sum + fraction * drift * drift, sigma[1] * sigma[1]);
  return {
    omega: (): Complex => zero(weibel(k, sigma[0], square), complex(0, 0.03)),
    watched: { form: "b", component: 2 } as const,
    problem: ({ cells, degree, amplitude, ionMass }: CaseOptions): Problem => ({
      mesh: meshOf([cells], [TWO_PI / k], degree, 2),
      species: plasma(ionMass, { beams: streams.map(({ fraction, drift }) => ({ fraction, drift: [0, drift], sigma })) }),
      magnetic: { field: ([x]) => [0, 0, amplitude * Math.cos(k * x)] },
    }),
  };
}

const SIGMA = 0.02 / Math.SQRT2;
const weibelWave = transverse(1.25, [SIGMA, Math.sqrt(12) * SIGMA], [{ fraction: 1, drift: 0 }]);
/** The streams of Kraus et al. 2017; their wave of k = 0.2 is overtaken by shorter ones, so this is the one that grows fastest. */
const streamingWave = transverse(
  1.2,
  [0.1 / Math.SQRT2, 0.1 / Math.SQRT2],
  [
    { fraction: 1 / 6, drift: 0.5 },
    { fraction: 5 / 6, drift: -0.1 },
  ],
);

const AT_REST = [{ fraction: 1, drift: 0, sigma: 1 }];
const STREAMS = [
  { fraction: 0.5, drift: 2.4, sigma: 1 },
  { fraction: 0.5, drift: -2.4, sigma: 1 },
];
const BUMP = [
  { fraction: 0.9, drift: 0, sigma: 1 },
  { fraction: 0.1, drift: 4.5, sigma: 0.5 },
];

/** Standard deviations of the velocity in selalib's test of the whole scheme. */
const BOX_SIGMA = [0.0489897949, 0.0489897949, 0.0141421356];

/** All of phase space: a cube of 16 x 8 x 8 cells, or as many as splines of the degree need, with B_3 = amplitude cos(1.25 x_1). */
function inBox(name: string, sigma: readonly number[], description: string): Case {
  const length = TWO_PI / 1.25;
  return {
    name,
    description,
    defaults: { cells: 16, degree: 3, amplitude: 0.01, particles: 100_000, dt: 0.05, time: 2, every: 2 },
    watched: { form: "b", component: 2 },
    problem: ({ cells, degree, amplitude, ionMass }) => {
      const across = Math.max(8, 2 * degree + 1);
      return {
        mesh: meshOf([cells, across, across], [length, length, length], degree, 3),
        species: plasma(ionMass, { beams: [{ fraction: 1, sigma }] }),
        magnetic: { field: ([x]) => [0, 0, amplitude * Math.cos(1.25 * x)] },
      };
    },
    judge: () => NOTHING,
  };
}

export const CASES: readonly Case[] = [
  {
    name: "weibel",
    description: "the Weibel instability of electrons of two temperatures: growth of the magnetic field",
    defaults: { cells: 32, degree: 3, amplitude: 1e-4, particles: 100_000, dt: 0.08, time: 200, every: 10 },
    watched: weibelWave.watched,
    problem: weibelWave.problem,
    judge: (series) => growth(series, [100, 180], weibelWave.omega().im, 0.02),
  },
  {
    name: "streaming-weibel",
    description: "the Weibel instability of two streams of electrons across the wave: growth of the magnetic field",
    defaults: { cells: 32, degree: 3, amplitude: 1e-4, particles: 1 << 17, dt: 0.08, time: 60, every: 5 },
    watched: streamingWave.watched,
    problem: streamingWave.problem,
    judge: (series) => growth(series, [25, 50], streamingWave.omega().im, 0.02),
  },
  {
    name: "landau",
    description: "weak Landau damping: decay and frequency of a small wave",
    defaults: { cells: 32, degree: 3, amplitude: 0.02, particles: 1 << 17, dt: 0.05, time: 16, every: 2 },
    ...electrostatic(0.5, AT_REST),
    judge(series, { amplitude }) {
      const first = peaks(series).slice(0, 5);
      const fit = exponential(seriesOf(first));
      if (first.length < 5 || fit === undefined) return NOTHING;
      const omega = zero(langmuir(0.5, AT_REST), complex(1.4, -0.15));
      const found = frequency(first);
      // A damped wave has its peaks a little before its cosine.
      const start = Math.exp(fit.offset) * Math.hypot(1, fit.rate / found);
      const amplitudeExpected = Math.abs(amplitude) * langmuirAmplitude(0.5, 1, omega);
      const source = DISPERSION;
      return both(decay({ quantity: "damping rate", expected: omega.im, source, tolerance: 0.03 }, first), {
        comparisons: [
          { quantity: "frequency", fitted: found, expected: omega.re, source, tolerance: 0.005 },
          { quantity: "amplitude", fitted: start, expected: amplitudeExpected, source, tolerance: 0.02 },
        ],
        curves: [],
      });
    },
  },
  {
    name: "strong-landau",
    description: "strong Landau damping: decay, and growth again as trapped electrons come back",
    defaults: { cells: 32, degree: 3, amplitude: 0.5, particles: 100_000, dt: 0.05, time: 40, every: 2 },
    ...electrostatic(0.5, AT_REST),
    judge(series) {
      const all = peaks(series);
      const first = all.slice(0, 2);
      const later = all.filter(({ time }) => time > 25 && time < 37);
      // Kraus, Kormann, Morrison and Sonnendruecker, J. Plasma Phys. 83 (2017).
      const source = "Kraus et al. 2017";
      const damping =
        first.length < 2 ? NOTHING : decay({ quantity: "first damping rate", expected: -0.286, source, tolerance: 0.05 }, first);
      if (all.length === 0 || all[all.length - 1].time < 37) return damping;
      return both(damping, decay({ quantity: "growth rate", expected: 0.087, source, tolerance: 0.1 }, later));
    },
  },
  {
    name: "two-stream",
    description: "two streams of electrons against each other: growth of the electric field",
    defaults: { cells: 64, degree: 3, amplitude: 0.003, particles: 1 << 17, dt: 0.05, time: 22, every: 2 },
    ...electrostatic(0.2, STREAMS),
    judge(series) {
      const relation = langmuir(0.2, STREAMS);
      // A wave that is hardly damped swings beside the one that grows.
      return growthBesideWave(series, [8, 20], zero(relation, complex(0, 0.2)).im, 0.03, zero(relation, complex(1.34, 0)).re);
    },
  },
  {
    name: "bump-on-tail",
    description: "a beam in the tail of the electrons: growth of the electric field",
    defaults: { cells: 64, degree: 3, amplitude: 0.003, particles: 1 << 17, dt: 0.05, time: 30, every: 2 },
    ...electrostatic(0.3, BUMP),
    judge(series) {
      const relation = langmuir(0.3, BUMP);
      const wave = zero(relation, complex(1.05, 0.2));
      // The wave that runs the other way is hardly damped: the two beat.
      const other = zero(relation, complex(-1.2, -0.01));
      return growthBesideWave(series, [8, 20], wave.im, 0.03, wave.re - other.re);
    },
  },
  inBox(
    "3d3v",
    BOX_SIGMA,
    "all three dimensions of space and velocity, by selalib's test of the whole scheme: conservation of energy and charge",
  ),
  inBox("3d3v-hot", [1, ...BOX_SIGMA.slice(1)], "the same with fast particles along axis 1, of which many change their cells in a step"),
];
