import { complex, type Complex } from "isoform";

/** Terms of Weideman's series; 64 give w to some 1e-15. */
const TERMS = 64;
const L = Math.sqrt(TERMS / Math.SQRT2);

/** Fourier coefficients of exp(-t^2) (L^2 + t^2) in the angle of t = L tan(angle / 2), n = 1 .. TERMS. */
const COEFFICIENTS = Array.from({ length: TERMS }, (_, n) => {
  const samples = 4 * TERMS;
  let sum = 0;
  for (let k = 1 - samples / 2; k < samples / 2; k++) {
    const angle = (2 * Math.PI * k) / samples;
    const t = L * Math.tan(angle / 2);
    sum += Math.exp(-t * t) * (L * L + t * t) * Math.cos((n + 1) * angle);
  }
  return sum / samples;
});

const real = (re: number): Complex => complex(re, 0);

/** Faddeeva's function w(z) = exp(-z^2) erfc(-i z): J. A. C. Weideman, SIAM J. Numer. Anal. 31 (1994), eq. (38), and w(z) = 2 exp(-z^2) - w(-z). */
export function faddeeva(z: Complex): Complex {
  if (z.im < 0) return z.mul(z).neg().exp().scale(2).sub(faddeeva(z.neg()));
  const iz = complex(-z.im, z.re);
  const denominator = real(L).sub(iz);
  const place = real(L).add(iz).div(denominator);
  const series = COEFFICIENTS.reduceRight((sum, a) => sum.mul(place).add(real(a)), real(0));
  return series
    .scale(2)
    .div(denominator.mul(denominator))
    .add(real(1 / Math.sqrt(Math.PI)).div(denominator));
}

/** The plasma dispersion function Z. */
const plasma = (z: Complex): Complex => complex(0, Math.sqrt(Math.PI)).mul(faddeeva(z));

/** 1 + z Z(z) */
const response = (z: Complex): Complex => real(1).add(z.mul(plasma(z)));

type Dispersion = (omega: Complex) => Complex;

/** One Maxwellian along the wave vector. */
export interface Maxwellian {
  readonly fraction: number;
  readonly drift: number;
  readonly sigma: number;
}

/**
 * Longitudinal waves exp(i (k x - omega t)) of electrons: D = 1 + sum f / (k sigma)^2 (1 + z Z(z)), z = (omega - k v0) / (sqrt2 k sigma),
 * with the plasma dispersion function Z(z) = i sqrt(pi) w(z).
 */
const langmuir =
  (k: number, beams: readonly Maxwellian[]): Dispersion =>
  (omega) =>
    beams
      .map(({ fraction, drift, sigma }) => {
        const z = omega.sub(real(k * drift)).scale(1 / (Math.SQRT2 * k * sigma));
        return response(z).scale(fraction / (k * sigma) ** 2);
      })
      .reduce((a, b) => a.add(b), real(1));

/**
 * The field of a Langmuir wave of a Maxwellian at rest that begins with the density 1 + cos(k x), carried back to t = 0 along its damping:
 * 2 / k |Z(z) / (sqrt2 k sigma D'(omega))|, the residue of the inverse Laplace transform.
 */
export function langmuirAmplitude(k: number, sigma: number, omega: Complex): number {
  const relation = langmuir(k, [{ fraction: 1, drift: 0, sigma }]);
  const step = 1e-5;
  const slope = relation(omega.add(real(step)))
    .sub(relation(omega.sub(real(step))))
    .scale(1 / (2 * step));
  const scale = Math.SQRT2 * k * sigma;
  return (
    (2 / k) *
    plasma(omega.scale(1 / scale))
      .scale(1 / scale)
      .div(slope)
      .abs()
  );
}

/**
 * Transverse waves of electrons without drift along k: D = omega^2 - k^2 - 1 + <v2^2> / sigma1^2 (1 + z Z(z)), z = omega / (sqrt2 k sigma1).
 * @param square the mean square of the velocity across k, along E
 */
export const weibel =
  (k: number, sigma1: number, square: number): Dispersion =>
  (omega) =>
    omega
      .mul(omega)
      .sub(real(k * k + 1))
      .add(response(omega.scale(1 / (Math.SQRT2 * k * sigma1))).scale(square / sigma1 ** 2));

/** The frequency of light in these electrons, by `weibel`: nothing damps it, as no particle is as fast. */
export const lightWave = (k: number, sigma1: number, square: number): number =>
  zero(weibel(k, sigma1, square), real(Math.sqrt(k * k + 1))).re;

/** The zeros of D that lead from some starts, the one that grows fastest first; a zero is found from several of them, and counted once. */
export function zeros(dispersion: Dispersion, starts: readonly Complex[]): Complex[] {
  const found: Complex[] = [];
  for (const start of starts) {
    const omega = zeroOrNone(dispersion, start);
    // Skips ends of the rule that are not zeros, as where D jumps by orders of magnitude.
    if (omega && dispersion(omega).abs() < 1e-8 && !found.some((other) => other.sub(omega).abs() < 1e-6)) found.push(omega);
  }
  return found.sort((a, b) => b.im - a.im);
}

/**
 * Frequencies of the longitudinal waves of some beams, the fastest growing or least damped first. Waves that a beam damps within a fraction of their
 * period are not looked for.
 */
export function langmuirWaves(k: number, beams: readonly Maxwellian[]): Complex[] {
  const thermal = k * Math.max(...beams.map(({ sigma }) => sigma));
  const reach = 1.2 * Math.sqrt(1 + 3 * thermal * thermal) + k * Math.max(...beams.map(({ drift }) => Math.abs(drift)));
  const starts: Complex[] = [];
  for (let n = -10; n <= 10; n++)
    for (let m = 0; m <= 6; m++) starts.push(complex((reach * n) / 10, 0.45 - (m / 6) * (0.9 + 2.5 * thermal)));
  return zeros(langmuir(k, beams), starts);
}

/** A zero of D near `start`, by the secant rule. Throws RangeError if it finds none. */
function zero(dispersion: Dispersion, start: Complex): Complex {
  const found = zeroOrNone(dispersion, start);
  if (!found) throw new RangeError(`no frequency near ${start.re} + ${start.im} i`);
  return found;
}

function zeroOrNone(dispersion: Dispersion, start: Complex): Complex | undefined {
  let [a, b] = [start, start.add(complex(1e-4, 1e-4))];
  let [fa, fb] = [dispersion(a), dispersion(b)];
  for (let n = 0; n < 100; n++) {
    if (b.sub(a).abs() <= 1e-14 * (1 + b.abs())) return b;
    const next = b.sub(fb.mul(b.sub(a)).div(fb.sub(fa)));
    if (!Number.isFinite(next.re) || !Number.isFinite(next.im)) return undefined;
    [a, fa] = [b, fb];
    [b, fb] = [next, dispersion(next)];
  }
  return undefined;
}
