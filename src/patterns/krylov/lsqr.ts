import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { fixed, i32, max, sum } from "../../kernel/declare/params.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";
import { ROUNDING, judgeTokens, leastOperatorSquares, scalarTokens } from "./scalars.js";
import { argsOf, judgeArgs, repeated, startSteps, type Method, type MethodParts } from "./steps.js";

/*
 * Least squares by bidiagonalisation (Paige and Saunders 1982, LSQR), for matrices of any shape. It ends by their rules, with the tolerance for both of theirs. After the
 * end the factors of x and of the vectors are 0.
 */

const NORMS = ["alpha", "beta", "uu", "vv", "largest", "along", "inverseAlpha", "inverseBeta"] as const;
const ROTATION = ["rhobar", "phibar", "xStep", "wStep", "anorm2", "xxnorm", "z", "cs2", "sn2"] as const;
export const LSQR_SCALARS = [...NORMS, ...ROTATION] as const;

/** Roundings that u . A v may have, besides a random walk over the elements. */
const SUM_ROUNDINGS = 256;

const first = bothTypes((type) =>
  kernel("lsqrFirst", scalarTokens(type, ["status", "residual", "beta", "inverseBeta"]), ({ status, residual, beta, inverseBeta }, i) => {
    beta[i] = residual[i];
    inverseBeta[i] = status[i] === 0 ? 1 / beta[i] : 0;
  }),
);

const second = bothTypes((type) =>
  kernel(
    "lsqrSecond",
    { ...scalarTokens(type, ["status", "beta", "vv", "largest", "alpha", "inverseAlpha", ...ROTATION]), least: FLOAT_TOKENS[type] },
    ({ status, beta, vv, largest, least, alpha, inverseAlpha, rhobar, phibar, xStep, wStep, anorm2, xxnorm, z, cs2, sn2 }, i) => {
      alpha[i] = Math.sqrt(vv[i]);
      if (status[i] === 0 && !Number.isFinite(alpha[i])) status[i] = 3;
      // A^T b = 0: x is a least-squares solution already.
      if (status[i] === 0 && vv[i] < least) status[i] = largest[i] > 0 ? 8 : 7;
      inverseAlpha[i] = status[i] === 0 ? 1 / alpha[i] : 0;
      rhobar[i] = alpha[i];
      phibar[i] = beta[i];
      xStep[i] = 0;
      wStep[i] = 0;
      anorm2[i] = 0;
      xxnorm[i] = 0;
      z[i] = 0;
      cs2[i] = -1;
      sn2[i] = 0;
    },
  ),
);

const scaled = bothTypes((type) =>
  kernel("lsqrScale", scalarTokens(type, ["factor", "u"]), ({ factor, u }, i) => {
    u[i] = u[i] * factor[0];
  }),
);

/** The first v, which is A^T u, with its squares, and its largest element, which tells 0 from squares that underflow. */
const squares = bothTypes((type) =>
  kernel(
    "lsqrSquares",
    { ...scalarTokens(type, ["t", "v"]), vv: sum(FLOAT_TOKENS[type]), largest: max(FLOAT_TOKENS[type]) },
    ({ t, v, vv, largest }, i) => {
      v[i] = t[i];
      vv.add(t[i] * t[i]);
      largest.max(Math.abs(t[i]));
    },
  ),
);

const firstDirection = bothTypes((type) =>
  kernel("lsqrDirection", scalarTokens(type, ["inverseAlpha", "v", "w"]), ({ inverseAlpha, v, w }, i) => {
    const direction = v[i] * inverseAlpha[0];
    v[i] = direction;
    w[i] = direction;
  }),
);

/** u = product - factor u, with its squares. */
const combine = bothTypes((type) =>
  kernel(
    "lsqrCombine",
    { ...scalarTokens(type, ["product", "factor", "u"]), result: sum(FLOAT_TOKENS[type]) },
    ({ product, factor, u, result }, i) => {
      const next = product[i] - factor[0] * u[i];
      u[i] = next;
      result.add(next * next);
    },
  ),
);

/** The same for A v, with u . A v before, which is alpha where A^T is the transpose. */
const combineAlong = bothTypes((type) =>
  kernel(
    "lsqrCombineAlong",
    { ...scalarTokens(type, ["product", "factor", "u"]), result: sum(FLOAT_TOKENS[type]), along: sum(FLOAT_TOKENS[type]) },
    ({ product, factor, u, result, along }, i) => {
      const last = u[i];
      const next = product[i] - factor[0] * last;
      u[i] = next;
      result.add(next * next);
      along.add(product[i] * last);
    },
  ),
);

const normOfU = bothTypes((type) =>
  kernel(
    "lsqrBeta",
    {
      ...scalarTokens(type, ["status", "uu", "along", "alpha", "beta", "anorm2", "inverseBeta"]),
      /** Rounding errors that u . A v may have. */
      error: FLOAT_TOKENS[type],
    },
    ({ status, uu, along, alpha, beta, anorm2, inverseBeta, error }, i) => {
      inverseBeta[i] = 0;
      if (status[i] === 0) {
        beta[i] = Math.sqrt(uu[i]);
        anorm2[i] = anorm2[i] + alpha[i] * alpha[i] + beta[i] * beta[i];
        inverseBeta[i] = beta[i] > 0 ? 1 / beta[i] : 0;
        const anorm = Math.sqrt(anorm2[i]);
        if (!Number.isFinite(anorm)) status[i] = 3;
        // Rounding errors of the last v, which is over alpha, count too.
        else if (Math.abs(along[i] - alpha[i]) > error * anorm * (1 + anorm / alpha[i])) status[i] = 9;
      }
    },
  ),
);

const rotate = bothTypes((type) =>
  kernel(
    "lsqrRotate",
    {
      ...judgeTokens(type),
      ...scalarTokens(type, ["vv", "alpha", "beta", "inverseAlpha", "tolerance", "bSquares", ...ROTATION]),
      logged: fixed(i32),
    },
    (s, i) => {
      s.inverseAlpha[i] = 0;
      s.xStep[i] = 0;
      s.wStep[i] = 0;
      if (s.status[i] === 0) {
        s.alpha[i] = Math.sqrt(s.vv[i]);
        s.inverseAlpha[i] = s.alpha[i] > 0 ? 1 / s.alpha[i] : 0;
        const rho = Math.sqrt(s.rhobar[i] * s.rhobar[i] + s.beta[i] * s.beta[i]);
        const cosine = s.rhobar[i] / rho;
        const sine = s.beta[i] / rho;
        const theta = sine * s.alpha[i];
        s.rhobar[i] = 0 - cosine * s.alpha[i];
        const phi = cosine * s.phibar[i];
        s.phibar[i] = sine * s.phibar[i];
        s.xStep[i] = phi / rho;
        s.wStep[i] = theta / rho;
        const delta = s.sn2[i] * rho;
        const gambar = 0 - s.cs2[i] * rho;
        const rhs = phi - delta * s.z[i];
        const zbar = rhs / gambar;
        const xnorm = Math.sqrt(s.xxnorm[i] + zbar * zbar);
        const gamma = Math.sqrt(gambar * gambar + theta * theta);
        s.cs2[i] = gambar / gamma;
        s.sn2[i] = theta / gamma;
        s.z[i] = rhs / gamma;
        s.xxnorm[i] += s.z[i] * s.z[i];
        const anorm = Math.sqrt(s.anorm2[i]);
        const rnorm = s.phibar[i];
        s.count[i] += 1;
        s.residual[i] = rnorm;
        s.log[(s.count[i] | 0) % s.logged] = rnorm;
        const allowed = Math.max(s.threshold[i], s.tolerance[i] * Math.sqrt(s.bSquares[i]) + s.tolerance[i] * anorm * xnorm);
        if (!Number.isFinite(rnorm) || !Number.isFinite(anorm) || !Number.isFinite(xnorm)) s.status[i] = 3;
        else if (rnorm <= allowed) s.status[i] = 1;
        // The norm of A^T r is rnorm times the left side: without that factor, it cannot underflow.
        else if (s.alpha[i] * Math.abs(cosine) <= s.tolerance[i] * anorm) s.status[i] = 7;
        else if (s.count[i] >= s.limit[i]) s.status[i] = 2;
      }
    },
  ),
);

/** x += (phi / rho) w, v = v / alpha, w = v - (theta / rho) w */
const advance = bothTypes((type) =>
  kernel(
    "lsqrAdvance",
    scalarTokens(type, ["xStep", "wStep", "inverseAlpha", "v", "w", "x"]),
    ({ xStep, wStep, inverseAlpha, v, w, x }, i) => {
      const last = w[i];
      const direction = v[i] * inverseAlpha[0];
      x[i] += xStep[0] * last;
      v[i] = direction;
      w[i] = direction - wStep[0] * last;
    },
  ),
);

export function lsqrSteps(parts: MethodParts<(typeof LSQR_SCALARS)[number]>): Method {
  const { maker, scalars, x, b, apply, applyTransposed, every } = parts;
  const { at } = scalars;
  const [rows, columns] = [range(b.length), range(x.length)];
  const [u, product] = [maker.vector(b.length), maker.vector(b.length)];
  const [v, w, t] = [0, 1, 2].map(() => maker.vector(x.length));
  const transposed = maker.linear("transposed", applyTransposed!, u, t);
  const least = leastOperatorSquares(maker.type);
  const error = ROUNDING[maker.type] * (SUM_ROUNDINGS + Math.sqrt(Math.max(b.length, x.length)));
  return {
    start: [
      ...startSteps(parts, u, product),
      maker.scalar(first, argsOf(scalars, ["status", "residual", "beta", "inverseBeta"])),
      maker.launch(scaled, { factor: at.inverseBeta, u }, rows),
      transposed,
      maker.launch(squares, { t, v, vv: at.vv, largest: at.largest }, columns),
      maker.scalar(second, { ...argsOf(scalars, ["status", "beta", "vv", "largest", "alpha", "inverseAlpha", ...ROTATION]), least }),
      maker.launch(firstDirection, { inverseAlpha: at.inverseAlpha, v, w }, columns),
    ],
    cycle: repeated(
      [
        maker.linear("operator", apply, v, product),
        maker.launch(combineAlong, { product, factor: at.alpha, u, result: at.uu, along: at.along }, rows),
        maker.scalar(normOfU, { ...argsOf(scalars, ["status", "uu", "along", "alpha", "beta", "anorm2", "inverseBeta"]), error }),
        maker.launch(scaled, { factor: at.inverseBeta, u }, rows),
        transposed,
        maker.launch(combine, { product: t, factor: at.beta, u: v, result: at.vv }, columns),
        maker.scalar(rotate, {
          ...judgeArgs(scalars),
          ...argsOf(scalars, ["vv", "alpha", "beta", "inverseAlpha", "tolerance", "bSquares", ...ROTATION]),
          logged: scalars.log.length,
        }),
        maker.launch(advance, { xStep: at.xStep, wStep: at.wStep, inverseAlpha: at.inverseAlpha, v, w, x }, columns),
      ],
      every,
    ),
  };
}
