import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { fixed, i32, sum } from "../../kernel/declare/params.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";
import { ROUNDING, judgeTokens, judged, leastOperatorSquares, scalarTokens } from "./scalars.js";
import { argsOf, dotStep, judgeArgs, repeated, startSteps, type Method, type MethodParts } from "./steps.js";

/*
 * Minimal residuals (Paige and Saunders 1975), for symmetric matrices that may be indefinite. With a preconditioner, which must be positive definite, iterations know the residual in the
 * norm of M^-1; the threshold is scaled by the two norms of the first residual. After the end all factors are 0.
 */

const NORMS = ["bb", "beta", "oldBeta", "alpha", "inverse", "older", "old", "scale", "anorm2"] as const;
const ROTATION = ["dbar", "epsln", "phibar", "cs", "sn", "oldEps", "delta", "inverseGamma", "phi"] as const;
export const MINRES_SCALARS = [...NORMS, ...ROTATION] as const;

const first = bothTypes((type) =>
  kernel(
    "minresFirst",
    scalarTokens(type, ["status", "residual", "threshold", ...NORMS, ...ROTATION]),
    (
      { status, residual, threshold, bb, beta, oldBeta, inverse, older, scale, anorm2, dbar, epsln, phibar, cs, sn, phi, inverseGamma },
      i,
    ) => {
      if (status[i] === 0 && !(bb[i] > 0)) status[i] = 6;
      beta[i] = Math.sqrt(Math.max(0, bb[i]));
      oldBeta[i] = 0;
      // Residuals in the norm of M^-1, over those in the plain norm.
      scale[i] = residual[i] > 0 ? beta[i] / residual[i] : 1;
      inverse[i] = status[i] === 0 ? 1 / beta[i] : 0;
      older[i] = 0;
      anorm2[i] = 0;
      dbar[i] = 0;
      epsln[i] = 0;
      phibar[i] = beta[i];
      cs[i] = -1;
      sn[i] = 0;
      phi[i] = 0;
      inverseGamma[i] = 0;
      threshold[i] = threshold[i] * scale[i];
    },
  ),
);

const direction = bothTypes((type) =>
  kernel("minresDirection", scalarTokens(type, ["inverse", "y", "v"]), ({ inverse, y, v }, i) => {
    v[i] = y[i] * inverse[0];
  }),
);

/** q -= (beta / old beta) r1, with the product with v. */
const subtractOlder = bothTypes((type) =>
  kernel(
    "minresOlder",
    { ...scalarTokens(type, ["older", "r1", "v", "q"]), alpha: sum(FLOAT_TOKENS[type]) },
    ({ older, r1, v, q, alpha }, i) => {
      const rest = q[i] - older[0] * r1[i];
      q[i] = rest;
      alpha.add(v[i] * rest);
    },
  ),
);

const oldFactor = bothTypes((type) =>
  kernel("minresFactor", scalarTokens(type, ["status", "alpha", "beta", "old"]), ({ status, alpha, beta, old }, i) => {
    old[i] = status[i] === 0 ? alpha[i] / beta[i] : 0;
  }),
);

/** The next residual of Lanczos' vectors: r1 = r2, r2 = q - (alpha / beta) r2. */
const shift = bothTypes((type) =>
  kernel("minresShift", { ...scalarTokens(type, ["old", "q", "r1", "r2"]), bb: sum(FLOAT_TOKENS[type]) }, ({ old, q, r1, r2, bb }, i) => {
    const last = r2[i];
    const next = q[i] - old[0] * last;
    r1[i] = last;
    r2[i] = next;
    bb.add(next * next);
  }),
);

const rotate = bothTypes((type) =>
  kernel(
    "minresRotate",
    {
      ...judgeTokens(type),
      ...scalarTokens(type, [...NORMS, ...ROTATION]),
      logged: fixed(i32),
      epsilon: FLOAT_TOKENS[type],
      least: FLOAT_TOKENS[type],
    },
    (s, i) => {
      s.inverse[i] = 0;
      s.older[i] = 0;
      s.phi[i] = 0;
      s.inverseGamma[i] = 0;
      if (s.status[i] === 0) {
        s.oldBeta[i] = s.beta[i];
        s.beta[i] = Math.sqrt(Math.max(0, s.bb[i]));
        s.anorm2[i] = s.anorm2[i] + s.alpha[i] * s.alpha[i] + s.beta[i] * s.beta[i];
        if (!Number.isFinite(s.anorm2[i])) s.status[i] = 3;
        else if (s.anorm2[i] < s.least) s.status[i] = s.alpha[i] === 0 && s.bb[i] === 0 ? 5 : 8;
      }
      if (s.status[i] === 0) {
        s.oldEps[i] = s.epsln[i];
        s.delta[i] = s.cs[i] * s.dbar[i] + s.sn[i] * s.alpha[i];
        const gbar = s.sn[i] * s.dbar[i] - s.cs[i] * s.alpha[i];
        s.epsln[i] = s.sn[i] * s.beta[i];
        s.dbar[i] = 0 - s.cs[i] * s.beta[i];
        const gamma = Math.max(Math.sqrt(gbar * gbar + s.beta[i] * s.beta[i]), s.epsilon * Math.sqrt(s.anorm2[i]));
        s.cs[i] = gbar / gamma;
        s.sn[i] = s.beta[i] / gamma;
        s.phi[i] = s.cs[i] * s.phibar[i];
        s.phibar[i] = s.sn[i] * s.phibar[i];
        s.inverseGamma[i] = 1 / gamma;
        s.count[i] += 1;
        s.residual[i] = Math.abs(s.phibar[i]) / s.scale[i];
        s.log[(s.count[i] | 0) % s.logged] = s.residual[i];
        s.status[i] = judged(Math.abs(s.phibar[i]), s.threshold[i], s.count[i], s.limit[i]);
        if (s.status[i] === 0 && s.bb[i] < 0) s.status[i] = 6;
        if (s.status[i] === 0 && s.beta[i] === 0) s.status[i] = 5;
        if (s.status[i] === 0) {
          s.inverse[i] = 1 / s.beta[i];
          s.older[i] = s.beta[i] / s.oldBeta[i];
        }
      }
    },
    () => [judged],
  ),
);

const advance = bothTypes((type) =>
  kernel(
    "minresAdvance",
    scalarTokens(type, ["oldEps", "delta", "inverseGamma", "phi", "v", "w1", "w2", "x"]),
    ({ oldEps, delta, inverseGamma, phi, v, w1, w2, x }, i) => {
      const last = w2[i];
      const next = (v[i] - oldEps[0] * w1[i] - delta[0] * last) * inverseGamma[0];
      w1[i] = last;
      w2[i] = next;
      x[i] += phi[0] * next;
    },
  ),
);

const clear = bothTypes((type) =>
  kernel("minresClear", scalarTokens(type, ["w1", "w2", "r1"]), ({ w1, w2, r1 }, i) => {
    w1[i] = 0;
    w2[i] = 0;
    r1[i] = 0;
  }),
);

export function minresSteps(parts: MethodParts<(typeof MINRES_SCALARS)[number]>): Method {
  const { maker, scalars, x, b, apply, precondition, every } = parts;
  const { at } = scalars;
  const n = range(b.length);
  const [r1, r2, v, q, w1, w2] = [0, 1, 2, 3, 4, 5].map(() => maker.vector(b.length));
  const y = precondition ? maker.vector(b.length) : r2;
  const conditioned = precondition ? [maker.linear("preconditioner", precondition, r2, y)] : [];
  return {
    start: [
      ...startSteps(parts, r2, q),
      ...conditioned,
      dotStep(maker, r2, y, at.bb),
      maker.scalar(first, argsOf(scalars, ["status", "residual", "threshold", ...MINRES_SCALARS])),
      maker.launch(clear, { w1, w2, r1 }, n),
    ],
    cycle: repeated(
      [
        maker.launch(direction, { inverse: at.inverse, y, v }, n),
        maker.linear("operator", apply, v, q),
        maker.launch(subtractOlder, { older: at.older, r1, v, q, alpha: at.alpha }, n),
        maker.scalar(oldFactor, argsOf(scalars, ["status", "alpha", "beta", "old"])),
        maker.launch(shift, { old: at.old, q, r1, r2, bb: at.bb }, n),
        ...conditioned,
        ...(precondition ? [dotStep(maker, r2, y, at.bb)] : []),
        maker.scalar(rotate, {
          ...judgeArgs(scalars),
          ...argsOf(scalars, MINRES_SCALARS),
          logged: scalars.log.length,
          epsilon: ROUNDING[maker.type],
          least: leastOperatorSquares(maker.type),
        }),
        maker.launch(advance, { oldEps: at.oldEps, delta: at.delta, inverseGamma: at.inverseGamma, phi: at.phi, v, w1, w2, x }, n),
      ],
      every,
    ),
  };
}
