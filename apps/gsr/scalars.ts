import type { Device, Launch, LaunchOptions, Queue, View } from "isoform";
import { f64, kernel, range, view } from "isoform";

/*
 * The scalars of LSQR live on the device, so that an iteration is a row of launches without a wait between them. Each is a view of
 * one element for each right-hand side; the kernels below run over the sides. Each member of a set has all of them.
 */

/** Sums over rows and over stars' unknowns, which come together from all members. The merged norm has three more: squares of T = A^T u, T V, squares of V = v. */
export const SUMS = {
  separate: ["betaSquared", "wSquares"],
  merged: ["betaSquared", "wSquares", "tSquares", "tTimesV", "vSquares"],
} as const;

const NAMES = [
  ...SUMS.merged,
  "tSquaresShared",
  "tTimesVShared",
  "vSquaresShared",
  "wSquaresShared",
  "alphaSquaredStars",
  "doubt",
  "alpha",
  "beta",
  "alphaSquared",
  "betaSquaredConstraints",
  "globalProduct",
  "minusAlpha",
  "minusBeta",
  "minusRatio",
  "inverseAlpha",
  "inverseBeta",
  "rhobar",
  "phibar",
  "rho",
  "theta",
  "phi",
  "tau",
  "inverseRho",
  "xStep",
  "wStep",
  "cs2",
  "sn2",
  "z",
  "partialXnorm",
  "anorm",
  "dnorm",
  "bnorm",
  "rnorm",
  "arnorm",
  "xnorm",
  // 1 while a side is solved for; then 0, with the reason and the iterations that it had.
  "runs",
  "istop",
  "iterations",
] as const;

/** Number of scalars of a side. */
export const SCALARS = NAMES.length;
export type ScalarName = (typeof NAMES)[number];
type ScalarViews<K extends ScalarName> = Record<K, View<"f64">>;

export class Scalars {
  /** @param memory on the device, [`SCALARS`][side] */
  constructor(
    readonly device: Device,
    private readonly queue: Queue,
    private readonly memory: View<"f64">,
  ) {}

  /** Number of right-hand sides. */
  get sides(): number {
    return this.memory.shape[1];
  }

  /** The view of one scalar, with an element for each side. */
  at(name: ScalarName): View<"f64"> {
    return this.memory.at(0, NAMES.indexOf(name));
  }

  private pick<K extends ScalarName>(names: readonly K[]): ScalarViews<K> {
    return Object.fromEntries(names.map((name) => [name, this.at(name)])) as ScalarViews<K>;
  }

  /** Gives all scalars of all sides these values, or 0. */
  write(values: Partial<Record<ScalarName, number>>): void {
    const { sides } = this;
    this.queue.write(
      this.memory,
      NAMES.flatMap((name) => Array<number>(sides).fill(values[name] ?? 0)),
    );
  }

  /** Gives some scalars of one side values. */
  set(side: number, values: Partial<Record<ScalarName, number>>): void {
    for (const [name, value] of Object.entries(values)) this.queue.write(this.at(name as ScalarName).slice([side, side + 1]), [value]);
  }

  /** All values in one order, of `SCALARS` elements a side, for `restore`. */
  async state(): Promise<Float64Array> {
    return Float64Array.from(await this.queue.read(this.memory));
  }

  restore(values: ArrayLike<number>): void {
    this.queue.write(this.memory, values);
  }

  /** The values of each side. */
  async read(): Promise<Record<ScalarName, number>[]> {
    const { sides } = this;
    const values = await this.queue.read(this.memory);
    return Array.from(
      { length: sides },
      (_, side) => Object.fromEntries(NAMES.map((name, i) => [name, values[i * sides + side]])) as Record<ScalarName, number>,
    );
  }

  /** The launches between the vector operations, in the order of their use. */
  prepare(options: LaunchOptions): Record<"norm" | "start" | "rotate" | "monitor", Launch> {
    const { device, sides } = this;
    return {
      norm: device.prepare(
        normOfU,
        this.pick(["runs", "betaSquared", "betaSquaredConstraints", "alpha", "beta", "minusBeta", "inverseBeta", "anorm"]),
        range(sides),
        options,
      ),
      start: device.prepare(
        start,
        this.pick([
          "alphaSquared",
          "alphaSquaredStars",
          "beta",
          "alpha",
          "minusAlpha",
          "minusRatio",
          "inverseAlpha",
          "rhobar",
          "phibar",
          "bnorm",
          "rnorm",
          "arnorm",
          "anorm",
        ]),
        range(sides),
        options,
      ),
      rotate: device.prepare(
        rotate,
        this.pick([
          "alphaSquared",
          "alphaSquaredStars",
          "beta",
          "alpha",
          "minusAlpha",
          "minusRatio",
          "inverseAlpha",
          "rhobar",
          "phibar",
          "rho",
          "theta",
          "phi",
          "tau",
          "inverseRho",
          "xStep",
          "wStep",
        ]),
        range(sides),
        options,
      ),
      monitor: device.prepare(
        monitor,
        this.pick([
          "runs",
          "wSquares",
          "wSquaresShared",
          "inverseRho",
          "alpha",
          "rho",
          "theta",
          "phi",
          "tau",
          "phibar",
          "cs2",
          "sn2",
          "z",
          "partialXnorm",
          "dnorm",
          "rnorm",
          "arnorm",
          "xnorm",
        ]),
        range(sides),
        options,
      ),
    };
  }
}

/** Length of the vector (a, b) without overflow. */
function length2(a: number, b: number): number {
  const size = Math.abs(a) + Math.abs(b);
  return size > 0 ? size * Math.sqrt((a / size) * (a / size) + (b / size) * (b / size)) : 0;
}

const scalar = view(f64);

/** After u = A v - alpha u: beta, and the Frobenius norm of the bidiagonal matrix so far. A form may give |u|^2 in two parts. */
const normOfU = kernel(
  "normOfU",
  {
    runs: scalar,
    betaSquared: scalar,
    betaSquaredConstraints: scalar,
    alpha: scalar,
    beta: scalar,
    minusBeta: scalar,
    inverseBeta: scalar,
    anorm: scalar,
  },
  ({ runs, betaSquared, betaSquaredConstraints, alpha, beta, minusBeta, inverseBeta, anorm }, i) => {
    const b = Math.sqrt(betaSquared[i] + betaSquaredConstraints[i]);
    beta[i] = b;
    minusBeta[i] = -b;
    inverseBeta[i] = b > 0 ? 1 / b : 0;
    if (runs[i] > 0) anorm[i] = length2(anorm[i], length2(alpha[i], b));
  },
  () => [length2],
);

/** After the first v = A^T u. */
const start = kernel(
  "start",
  {
    alphaSquared: scalar,
    alphaSquaredStars: scalar,
    beta: scalar,
    alpha: scalar,
    minusAlpha: scalar,
    minusRatio: scalar,
    inverseAlpha: scalar,
    rhobar: scalar,
    phibar: scalar,
    bnorm: scalar,
    rnorm: scalar,
    arnorm: scalar,
    anorm: scalar,
  },
  (
    { alphaSquared, alphaSquaredStars, beta, alpha, minusAlpha, minusRatio, inverseAlpha, rhobar, phibar, bnorm, rnorm, arnorm, anorm },
    i,
  ) => {
    const a = Math.sqrt(alphaSquared[i] + alphaSquaredStars[i]);
    alpha[i] = a;
    minusAlpha[i] = -a;
    minusRatio[i] = beta[i] > 0 ? -a / beta[i] : 0;
    inverseAlpha[i] = a > 0 ? 1 / a : 0;
    rhobar[i] = a;
    phibar[i] = beta[i];
    bnorm[i] = beta[i];
    rnorm[i] = beta[i];
    arnorm[i] = a * beta[i];
    anorm[i] = 0;
  },
);

/** After v = A^T u - beta v: the plane rotation that eliminates beta from the bidiagonal matrix. */
const rotate = kernel(
  "rotate",
  {
    alphaSquared: scalar,
    alphaSquaredStars: scalar,
    beta: scalar,
    alpha: scalar,
    minusAlpha: scalar,
    minusRatio: scalar,
    inverseAlpha: scalar,
    rhobar: scalar,
    phibar: scalar,
    rho: scalar,
    theta: scalar,
    phi: scalar,
    tau: scalar,
    inverseRho: scalar,
    xStep: scalar,
    wStep: scalar,
  },
  (
    {
      alphaSquared,
      alphaSquaredStars,
      beta,
      alpha,
      minusAlpha,
      minusRatio,
      inverseAlpha,
      rhobar,
      phibar,
      rho,
      theta,
      phi,
      tau,
      inverseRho,
      xStep,
      wStep,
    },
    i,
  ) => {
    const a = Math.sqrt(alphaSquared[i] + alphaSquaredStars[i]);
    const r = length2(rhobar[i], beta[i]);
    const c = rhobar[i] / r;
    const s = beta[i] / r;
    const step = c * phibar[i];
    alpha[i] = a;
    minusAlpha[i] = -a;
    minusRatio[i] = beta[i] > 0 ? -a / beta[i] : 0;
    inverseAlpha[i] = a > 0 ? 1 / a : 0;
    rho[i] = r;
    theta[i] = s * a;
    phi[i] = step;
    tau[i] = s * step;
    rhobar[i] = -c * a;
    phibar[i] = s * phibar[i];
    inverseRho[i] = 1 / r;
    xStep[i] = step / r;
    wStep[i] = (s * a) / r;
  },
  () => [length2],
);

/** After the update of x and w: the norms that the stopping rules look at, unless they have ended the side. A rotation from the right estimates |x|. */
const monitor = kernel(
  "monitor",
  {
    runs: scalar,
    wSquares: scalar,
    wSquaresShared: scalar,
    inverseRho: scalar,
    alpha: scalar,
    rho: scalar,
    theta: scalar,
    phi: scalar,
    tau: scalar,
    phibar: scalar,
    cs2: scalar,
    sn2: scalar,
    z: scalar,
    partialXnorm: scalar,
    dnorm: scalar,
    rnorm: scalar,
    arnorm: scalar,
    xnorm: scalar,
  },
  (
    {
      runs,
      wSquares,
      wSquaresShared,
      inverseRho,
      alpha,
      rho,
      theta,
      phi,
      tau,
      phibar,
      cs2,
      sn2,
      z,
      partialXnorm,
      dnorm,
      rnorm,
      arnorm,
      xnorm,
    },
    i,
  ) => {
    if (!(runs[i] > 0)) return;
    dnorm[i] = length2(dnorm[i], Math.sqrt(wSquares[i] + wSquaresShared[i]) * inverseRho[i]);
    const gambar = -cs2[i] * rho[i];
    const rhs = phi[i] - sn2[i] * rho[i] * z[i];
    const gamma = length2(gambar, theta[i]);
    xnorm[i] = length2(partialXnorm[i], rhs / gambar);
    cs2[i] = gambar / gamma;
    sn2[i] = theta[i] / gamma;
    z[i] = rhs / gamma;
    partialXnorm[i] = length2(partialXnorm[i], rhs / gamma);
    rnorm[i] = Math.abs(phibar[i]);
    arnorm[i] = alpha[i] * Math.abs(tau[i]);
  },
  () => [length2],
);
