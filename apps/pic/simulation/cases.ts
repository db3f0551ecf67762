import { IsoformError } from "isoform";
import { complex } from "isoform";
import { langmuirAmplitude, langmuirWaves, lightWave, weibel, zeros, type Maxwellian } from "../judgement/dispersion.js";
import type { Distribution } from "../particles/distribution.js";
import { peaks, within, type Series } from "../judgement/fits.js";
import { both, damping, growth, measured, NOTHING, rateOfPeaks, type Judgement, type Window } from "../judgement/judgement.js";
import { meshOf } from "../mesh/mesh.js";
import type { Problem } from "./problem.js";
import type { Species } from "../particles/species.js";

/** Options of `Case.problem`: what the command line may change of a case. Each case has `defaults` for them. */
export interface CaseOptions {
  /** Along axis 1: at least 4 for each wave. */
  readonly cells: number;
  /** Degree of the splines, 1 to 5. */
  readonly degree: number;
  /** Amplitude of the perturbation at the start. */
  readonly amplitude: number;
  /** Wave number of the perturbation. */
  readonly k: number;
  /** Waves of the perturbation along axis 1, whose length is 2 pi mode / k; this mode is watched. */
  readonly mode: number;
  /** Share of the electrons in each beam. */
  readonly fractions: readonly number[];
  /** Mean velocity of each beam: along axis 1, or 2 in cases with two components of the velocity. */
  readonly drifts: readonly number[];
  /** Squares of the standard deviations of the velocity: of each beam in 1D1V, along each axis elsewhere. */
  readonly temperatures: readonly number[];
  /** Mass of mobile ions, in electron masses; if omitted, the background does not move. */
  readonly ionMass?: number;
  /** Distribution of the electrons, in place of the beams; the perturbation is multiplied with it. */
  readonly distribution?: Distribution;
  /** Times between which a rate is fitted; default: the case's. */
  readonly window?: Window;
}

/** A plasma whose theory is known: its defaults, its `problem`, and the theory's values for a run. */
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
  /** Whose temperatures these are. */
  readonly temperaturesOf: "beams" | "axes";
  /** The perturbed mode along axis 1 of one component, counted from 0, is watched. */
  readonly watched: { readonly form: "e" | "b"; readonly component: number };
  /** The problem that `Simulation.create` takes. Throws IsoformError for options that do not fit together. */
  problem(options: CaseOptions): Problem;
  /** Compares the amplitude of the watched mode over time with theory; there are no comparisons of a run that is too short. */
  judge(series: Series, options: JudgedOptions): Judgement;
}

/** Options that tell which theory holds: a distribution of one's own has none, whatever it is. */
type JudgedOptions = Omit<CaseOptions, "distribution"> & { readonly distribution?: object };

const TWO_PI = 2 * Math.PI;

const lengthOf = ({ k, mode }: CaseOptions): number => (TWO_PI * mode) / k;

/** Throws IsoformError for options that make no plasma; the message has the remedy. */
function requirePlasma({ k, mode, cells, fractions, drifts, temperatures, window }: CaseOptions, axes?: number): void {
  const refuse = (problem: string): never => {
    throw new IsoformError(`pic: ${problem}`);
  };
  const beams = fractions.length;
  if (!(k > 0 && k < Infinity)) refuse(`a wave number of ${k}: --k needs a number greater than 0`);
  if (!(Number.isInteger(mode) && mode >= 1)) refuse(`a mode of ${mode}: --mode needs a whole number from 1 on`);
  if (cells < 4 * mode)
    refuse(`${cells} cells for ${mode} waves: a wave needs 4, so ask for ${4 * mode} --cells or more, or a smaller --mode`);
  const whole = fractions.reduce((sum, fraction) => sum + fraction, 0);
  if (!(fractions.every((fraction) => fraction > 0) && Math.abs(whole - 1) < 1e-6))
    refuse(`--fractions ${fractions.join()} add up to ${Number(whole.toPrecision(6))}: give shares above 0 that add up to 1`);
  if (drifts.length !== beams) refuse(`${drifts.length} --drifts for ${beams} beams: give one for each of the --fractions`);
  if (!drifts.every(Number.isFinite)) refuse(`--drifts ${drifts.join()}: give numbers`);
  if (temperatures.length !== (axes ?? beams))
    refuse(
      axes === undefined
        ? `${temperatures.length} --temperatures for ${beams} beams: give one for each of the --fractions`
        : `${temperatures.length} --temperatures: give ${axes}, one along each axis`,
    );
  if (!temperatures.every((temperature) => temperature > 0 && temperature < Infinity))
    refuse(`--temperatures ${temperatures.join()}: give numbers greater than 0`);
  if (window && !(window[0] >= 0 && window[0] < window[1]))
    refuse(`a window from ${window[0]} to ${window[1]}: give two times, the earlier first`);
}

/** Electrons, and ions of the temperature of their first beam, which are at rest and spread evenly. */
function plasma({ ionMass, distribution }: CaseOptions, electrons: Pick<Species, "beams" | "perturbation">): Species[] {
  const light: Species = { name: "electrons", charge: -1, mass: 1, ...electrons, distribution };
  if (ionMass === undefined) return [light];
  const sigma = electrons.beams[0].sigma.map((deviation) => deviation / Math.sqrt(ionMass));
  return [light, { name: "ions", charge: 1, mass: ionMass, beams: [{ fraction: 1, sigma }] }];
}

const maxwellians = ({ fractions, drifts, temperatures }: JudgedOptions): Maxwellian[] =>
  fractions.map((fraction, n) => ({ fraction, drift: drifts[n], sigma: Math.sqrt(temperatures[n]) }));

/** Electrons along one axis, with density 1 + amplitude cos(k x). */
const electrostatic = {
  temperaturesOf: "beams",
  watched: { form: "e", component: 0 },
  problem: (options) => {
    requirePlasma(options);
    const { cells, degree, amplitude, mode } = options;
    return {
      mesh: meshOf([cells], [lengthOf(options)], degree, 1),
      species: plasma(options, {
        beams: maxwellians(options).map(({ fraction, drift, sigma }) => ({ fraction, drift: [drift], sigma: [sigma] })),
        perturbation: { amplitude, mode },
      }),
    };
  },
} as const satisfies Partial<Case>;

/** Growth, or else damping, as the dispersion relation has it. */
function judgeElectrostatic(series: Series, options: JudgedOptions): Judgement {
  const { k, amplitude, window, distribution } = options;
  const beams = maxwellians(options);
  const [wave, ...others] = distribution ? [] : langmuirWaves(k, beams);
  if (!wave) return measured(series, window);
  if (wave.im > 0) {
    const beside = others.find(({ re }) => Math.abs(re - wave.re) > 1e-3);
    // A wave that is hardly damped swings beside the one that grows: both beat.
    const expected = { rate: wave.im, tolerance: 0.03, foldings: [1.8, 4.5] as const };
    return growth(series, window, { ...expected, ...(beside && { beside: { omega: wave.re - beside.re, isLight: false } }) });
  }
  // Two waves run against each other, and are damped alike where they see the same electrons.
  const opposed = others.find(({ im }) => Math.abs(im - wave.im) < 1e-6);
  const [only, ...more] = beams;
  const atRest = more.length === 0 && only.drift === 0;
  return damping(series, window, {
    rate: wave.im,
    frequency: opposed && Math.abs(wave.re - opposed.re) / 2,
    next: others.find(({ im }) => im < wave.im - 1e-6)?.im,
    amplitude: atRest ? Math.abs(amplitude) * langmuirAmplitude(k, only.sigma, wave) : undefined,
  });
}

/** Electrons in one dimension of space and two of velocity, of unequal temperatures or in streams across k, with B_3 = amplitude cos(k x). */
const transverse = {
  temperaturesOf: "axes",
  watched: { form: "b", component: 2 },
  problem: (options) => {
    requirePlasma(options, 2);
    const { cells, degree, amplitude, k, fractions, drifts, temperatures } = options;
    const sigma = temperatures.map(Math.sqrt);
    return {
      mesh: meshOf([cells], [lengthOf(options)], degree, 2),
      species: plasma(options, { beams: fractions.map((fraction, n) => ({ fraction, drift: [0, drifts[n]], sigma })) }),
      magnetic: { field: ([x]) => [0, 0, amplitude * Math.cos(k * x)] },
    };
  },
} as const satisfies Partial<Case>;

/**
 * Growth of the magnetic field by the dispersion relation, next to light, which is all that a stable plasma has.
 * @param foldings times of the growth rate between which it is fitted
 */
function judgeTransverse(series: Series, options: JudgedOptions, foldings: Window, tolerance: number): Judgement {
  const { k, fractions, drifts, temperatures, distribution, window } = options;
  if (distribution) return measured(series, window);
  const square = fractions.reduce((sum, fraction, n) => sum + fraction * drifts[n] * drifts[n], temperatures[1]);
  const sigma = Math.sqrt(temperatures[0]);
  const starts = [0.3, 0.1, 0.03, 0.01, 0.003].map((rate) => complex(0, rate));
  const fastest = zeros(weibel(k, sigma, square), starts).find(({ im }) => im > 1e-6);
  const omega = lightWave(k, sigma, square);
  return fastest
    ? growth(series, window, { rate: fastest.im, tolerance, foldings, beside: { omega, isLight: true } })
    : damping(series, window, { rate: 0, frequency: omega });
}

/** All of phase space: a cube of 16 x 8 x 8 cells, or as many as splines of the degree need, with B_3 = amplitude cos(k x_1). */
function inBox(name: string, temperatures: readonly number[], description: string): Case {
  return {
    name,
    description,
    defaults: {
      cells: 16,
      degree: 3,
      amplitude: 0.01,
      k: 1.25,
      mode: 1,
      fractions: [1],
      drifts: [0],
      temperatures,
      particles: 100_000,
      dt: 0.05,
      time: 2,
      every: 2,
    },
    temperaturesOf: "axes",
    watched: { form: "b", component: 2 },
    problem: (options) => {
      requirePlasma(options, 3);
      const { cells, degree, amplitude, k, fractions, drifts } = options;
      const across = Math.max(8, 2 * degree + 1);
      const breadth = TWO_PI / k;
      const sigma = options.temperatures.map(Math.sqrt);
      return {
        mesh: meshOf([cells, across, across], [lengthOf(options), breadth, breadth], degree, 3),
        species: plasma(options, { beams: fractions.map((fraction, n) => ({ fraction, drift: [drifts[n], 0, 0], sigma })) }),
        magnetic: { field: ([x]) => [0, 0, amplitude * Math.cos(k * x)] },
      };
    },
    judge: () => NOTHING,
  };
}

/** Squares of the standard deviations of the velocity in selalib's test of the whole scheme. */
const BOX_TEMPERATURES = [0.0024, 0.0024, 0.0002];

/** Options common to all waves of electrons along an axis. */
const ALONG = { cells: 32, degree: 3, k: 0.5, mode: 1, fractions: [1], drifts: [0], temperatures: [1], dt: 0.05, every: 2 };

const STRONG = { ...ALONG, amplitude: 0.5, particles: 100_000, time: 40 };

/** Kraus, Kormann, Morrison and Sonnendruecker, J. Plasma Phys. 83 (2017), have two rates of this plasma alone. */
function judgeStrong(series: Series, options: JudgedOptions): Judgement {
  const names = ["k", "amplitude", "fractions", "drifts", "temperatures", "ionMass", "distribution", "window"] as const;
  const others: Partial<CaseOptions> = STRONG;
  if (names.some((name) => String(options[name]) !== String(others[name]))) return measured(series, options.window);
  const all = peaks(series);
  const first = all.slice(0, 2);
  const source = "Kraus et al. 2017";
  const decay =
    first.length < 2 ? NOTHING : rateOfPeaks({ quantity: "first damping rate", expected: -0.286, source, tolerance: 0.05 }, first);
  if (all.length === 0 || all[all.length - 1].time < 37) return decay;
  const later = peaks(within(series, 25, 37));
  return both(decay, rateOfPeaks({ quantity: "growth rate", expected: 0.087, source, tolerance: 0.1 }, later));
}

/** The cases, each by its `name`: `weibel`, `streaming-weibel`, `landau`, `strong-landau`, `two-stream`, `bump-on-tail`, `3d3v`, `3d3v-hot`. */
export const CASES: readonly Case[] = [
  {
    ...transverse,
    name: "weibel",
    description: "the Weibel instability of electrons of two temperatures: growth of the magnetic field",
    defaults: {
      ...ALONG,
      k: 1.25,
      temperatures: [0.0002, 0.0024],
      amplitude: 1e-4,
      particles: 100_000,
      dt: 0.08,
      time: 200,
      every: 10,
    },
    judge: (series, options) => judgeTransverse(series, options, [2.8, 5], 0.02),
  },
  {
    ...transverse,
    name: "streaming-weibel",
    description: "the Weibel instability of two streams of electrons across the wave: growth of the magnetic field",
    // The streams of Kraus et al. 2017; their wave of k = 0.2 is overtaken by shorter ones, so this is the one that grows fastest.
    defaults: {
      ...ALONG,
      k: 1.2,
      fractions: [1 / 6, 5 / 6],
      drifts: [0.5, -0.1],
      temperatures: [0.005, 0.005],
      amplitude: 1e-4,
      particles: 1 << 17,
      dt: 0.08,
      time: 60,
      every: 5,
    },
    judge: (series, options) => judgeTransverse(series, options, [3.2, 6.4], 0.03),
  },
  {
    ...electrostatic,
    name: "landau",
    description: "weak Landau damping: decay and frequency of a small wave",
    defaults: { ...ALONG, amplitude: 0.02, particles: 1 << 17, time: 16 },
    judge: judgeElectrostatic,
  },
  {
    ...electrostatic,
    name: "strong-landau",
    description: "strong Landau damping: decay, and growth again as trapped electrons come back",
    defaults: STRONG,
    judge: judgeStrong,
  },
  {
    ...electrostatic,
    name: "two-stream",
    description: "two streams of electrons against each other: growth of the electric field",
    defaults: {
      ...ALONG,
      cells: 64,
      k: 0.2,
      fractions: [0.5, 0.5],
      drifts: [2.4, -2.4],
      temperatures: [1, 1],
      amplitude: 0.003,
      particles: 1 << 17,
      time: 22,
    },
    judge: judgeElectrostatic,
  },
  {
    ...electrostatic,
    name: "bump-on-tail",
    description: "a beam in the tail of the electrons: growth of the electric field",
    defaults: {
      ...ALONG,
      cells: 64,
      k: 0.3,
      fractions: [0.9, 0.1],
      drifts: [0, 4.5],
      temperatures: [1, 0.25],
      amplitude: 0.003,
      particles: 1 << 17,
      time: 30,
    },
    judge: judgeElectrostatic,
  },
  inBox(
    "3d3v",
    BOX_TEMPERATURES,
    "all three dimensions of space and velocity, by selalib's test of the whole scheme: conservation of energy and charge",
  ),
  inBox(
    "3d3v-hot",
    [1, ...BOX_TEMPERATURES.slice(1)],
    "the same with fast particles along axis 1, which often change their cells in a step",
  ),
];
