import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { bool, fixed, i32, sum } from "../../kernel/declare/params.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";
import { judgeTokens, judged, scalarTokens } from "./scalars.js";
import { argsOf, copyStep, dotStep, judgeArgs, repeated, startSteps, type Method, type MethodParts } from "./steps.js";

/*
 * Biconjugate gradients, stabilized (van der Vorst 1992), for any square matrix. After the end alpha and omega are 0, so that further iterations change nothing.
 */

export const BICGSTAB_SCALARS = ["rho", "rhoNew", "rv", "alpha", "beta", "omega", "ss", "ts", "tt"] as const;

const first = bothTypes((type) =>
  kernel("bicgstabFirst", scalarTokens(type, ["rr", "rho", "rhoNew", "alpha", "omega"]), ({ rr, rho, rhoNew, alpha, omega }, i) => {
    rho[i] = 1;
    rhoNew[i] = rr[i];
    alpha[i] = 0;
    omega[i] = 1;
  }),
);

/** Factor of the old direction: 0 at first, as alpha is. */
const oldDirection = bothTypes((type) =>
  kernel(
    "bicgstabOld",
    scalarTokens(type, ["status", "rho", "rhoNew", "alpha", "omega", "beta"]),
    ({ status, rho, rhoNew, alpha, omega, beta }, i) => {
      beta[i] = 0;
      if (status[i] === 0) {
        if (!Number.isFinite(rhoNew[i])) status[i] = 3;
        else if (rhoNew[i] === 0 || omega[i] === 0) status[i] = 5;
        else beta[i] = (rhoNew[i] / rho[i]) * (alpha[i] / omega[i]);
        rho[i] = rhoNew[i];
      }
    },
  ),
);

const turn = bothTypes((type) =>
  kernel("bicgstabTurn", scalarTokens(type, ["beta", "omega", "r", "v", "p"]), ({ beta, omega, r, v, p }, i) => {
    p[i] = r[i] + beta[0] * (p[i] - omega[0] * v[i]);
  }),
);

const firstLength = bothTypes((type) =>
  kernel("bicgstabLength", scalarTokens(type, ["status", "rho", "rv", "alpha"]), ({ status, rho, rv, alpha }, i) => {
    alpha[i] = 0;
    if (status[i] === 0) {
      if (!Number.isFinite(rv[i])) status[i] = 3;
      else if (rv[i] === 0) status[i] = 5;
      else alpha[i] = rho[i] / rv[i];
    }
  }),
);

const halfStep = bothTypes((type) =>
  kernel("bicgstabHalf", { ...scalarTokens(type, ["alpha", "v", "r"]), ss: sum(FLOAT_TOKENS[type]) }, ({ alpha, v, r, ss }, i) => {
    const rest = r[i] - alpha[0] * v[i];
    r[i] = rest;
    ss.add(rest * rest);
  }),
);

const twoDots = bothTypes((type) =>
  kernel(
    "bicgstabDots",
    { ...scalarTokens(type, ["t", "r"]), ts: sum(FLOAT_TOKENS[type]), tt: sum(FLOAT_TOKENS[type]) },
    ({ t, r, ts, tt }, i) => {
      ts.add(t[i] * r[i]);
      tt.add(t[i] * t[i]);
    },
  ),
);

/** The length of the second half; 0 if the first is enough. */
const secondLength = bothTypes((type) =>
  kernel(
    "bicgstabOmega",
    scalarTokens(type, ["status", "threshold", "ss", "ts", "tt", "omega"]),
    ({ status, threshold, ss, ts, tt, omega }, i) => {
      omega[i] = 0;
      if (status[i] === 0 && Math.sqrt(ss[i]) > threshold[i]) {
        if (!Number.isFinite(tt[i])) status[i] = 3;
        else if (tt[i] === 0) status[i] = 5;
        else omega[i] = ts[i] / tt[i];
      }
    },
  ),
);

const advance = bothTypes((type) =>
  kernel(
    "bicgstabAdvance",
    {
      ...scalarTokens(type, ["alpha", "omega", "pz", "sz", "t", "shadow", "x", "r"]),
      rr: sum(FLOAT_TOKENS[type]),
      rhoNew: sum(FLOAT_TOKENS[type]),
      /** Whether sz is another vector than r. */
      preconditioned: fixed(bool),
    },
    ({ alpha, omega, pz, sz, t, shadow, x, r, rr, rhoNew, preconditioned }, i) => {
      const second = preconditioned ? sz[i] : r[i];
      x[i] += alpha[0] * pz[i] + omega[0] * second;
      const rest = r[i] - omega[0] * t[i];
      r[i] = rest;
      rr.add(rest * rest);
      rhoNew.add(shadow[i] * rest);
    },
  ),
);

const judge = bothTypes((type) =>
  kernel(
    "bicgstabJudge",
    { ...judgeTokens(type), ...scalarTokens(type, ["rr"]), logged: fixed(i32) },
    ({ status, count, limit, threshold, residual, log, rr, logged }, i) => {
      if (status[i] === 0) {
        count[i] += 1;
        residual[i] = Math.sqrt(rr[i]);
        log[(count[i] | 0) % logged] = residual[i];
        status[i] = judged(residual[i], threshold[i], count[i], limit[i]);
      }
    },
    () => [judged],
  ),
);

export function bicgstabSteps(parts: MethodParts<(typeof BICGSTAB_SCALARS)[number]>): Method {
  const { maker, scalars, x, b, apply, precondition, every } = parts;
  const { at } = scalars;
  const n = range(b.length);
  const [r, shadow, p, v, t] = [0, 1, 2, 3, 4].map(() => maker.vector(b.length));
  const [pz, sz] = precondition ? [maker.vector(b.length), maker.vector(b.length)] : [p, r];
  const conditioned = (from: typeof r, to: typeof r) => (precondition ? [maker.linear("preconditioner", precondition, from, to)] : []);
  return {
    start: [
      ...startSteps(parts, r, v),
      copyStep(maker, r, shadow),
      // The last run may have left NaN in p, which a factor of 0 does not remove.
      copyStep(maker, r, p),
      maker.scalar(first, argsOf(scalars, ["rr", "rho", "rhoNew", "alpha", "omega"])),
    ],
    cycle: repeated(
      [
        maker.scalar(oldDirection, argsOf(scalars, ["status", "rho", "rhoNew", "alpha", "omega", "beta"])),
        maker.launch(turn, { beta: at.beta, omega: at.omega, r, v, p }, n),
        ...conditioned(p, pz),
        maker.linear("operator", apply, pz, v),
        dotStep(maker, shadow, v, at.rv),
        maker.scalar(firstLength, argsOf(scalars, ["status", "rho", "rv", "alpha"])),
        maker.launch(halfStep, { alpha: at.alpha, v, r, ss: at.ss }, n),
        ...conditioned(r, sz),
        maker.linear("operator", apply, sz, t),
        maker.launch(twoDots, { t, r, ts: at.ts, tt: at.tt }, n),
        maker.scalar(secondLength, argsOf(scalars, ["status", "threshold", "ss", "ts", "tt", "omega"])),
        maker.launch(
          advance,
          {
            alpha: at.alpha,
            omega: at.omega,
            pz,
            sz: precondition ? sz : t,
            t,
            shadow,
            x,
            r,
            rr: at.rr,
            rhoNew: at.rhoNew,
            preconditioned: !!precondition,
          },
          n,
        ),
        maker.scalar(judge, { ...judgeArgs(scalars), rr: at.rr, logged: scalars.log.length }),
      ],
      every,
    ),
  };
}
