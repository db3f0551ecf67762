import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { fixed, i32, sum } from "../../kernel/declare/params.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";
import { judgeTokens, judged, scalarTokens } from "./scalars.js";
import { argsOf, copyStep, dotStep, judgeArgs, repeated, startSteps, type Method, type MethodParts } from "./steps.js";

/*
 * Conjugate gradients (Hestenes and Stiefel 1952), for symmetric positive definite matrices. After the end alpha and beta are 0, so that iterations that were
 * enqueued already change nothing.
 */

export const CG_SCALARS = ["rz", "rzNew", "ps", "alpha", "beta"] as const;

const stepLength = bothTypes((type) =>
  kernel("cgLength", scalarTokens(type, ["status", "rz", "ps", "alpha"]), ({ status, rz, ps, alpha }, i) => {
    alpha[i] = 0;
    if (status[i] === 0) {
      if (!Number.isFinite(ps[i])) status[i] = 3;
      else if (ps[i] > 0) alpha[i] = rz[i] / ps[i];
      else status[i] = ps[i] < 0 ? 4 : 5;
    }
  }),
);

const advance = bothTypes((type) =>
  kernel(
    "cgAdvance",
    { ...scalarTokens(type, ["alpha", "p", "s", "x", "r"]), rr: sum(FLOAT_TOKENS[type]) },
    ({ alpha, p, s, x, r, rr }, i) => {
      x[i] += alpha[0] * p[i];
      const rest = r[i] - alpha[0] * s[i];
      r[i] = rest;
      rr.add(rest * rest);
    },
  ),
);

const judge = bothTypes((type) =>
  kernel(
    "cgJudge",
    { ...judgeTokens(type), ...scalarTokens(type, ["rr", "rz", "rzNew", "beta"]), logged: fixed(i32) },
    ({ status, count, limit, threshold, residual, log, rr, rz, rzNew, beta, logged }, i) => {
      beta[i] = 0;
      if (status[i] === 0) {
        count[i] += 1;
        residual[i] = Math.sqrt(rr[i]);
        log[(count[i] | 0) % logged] = residual[i];
        status[i] = judged(residual[i], threshold[i], count[i], limit[i]);
        if (status[i] === 0) {
          if (rzNew[i] > 0) beta[i] = rzNew[i] / rz[i];
          else status[i] = 6;
        }
        rz[i] = rzNew[i];
      }
    },
    () => [judged],
  ),
);

const turn = bothTypes((type) =>
  kernel("cgTurn", scalarTokens(type, ["beta", "z", "p"]), ({ beta, z, p }, i) => {
    p[i] = z[i] + beta[0] * p[i];
  }),
);

/** A product r . z that is not positive ends the iteration at its start, too. */
const judgeFirst = bothTypes((type) =>
  kernel("cgFirst", scalarTokens(type, ["status", "rz"]), ({ status, rz }, i) => {
    if (status[i] === 0 && !(rz[i] > 0)) status[i] = 6;
  }),
);

export function cgSteps(parts: MethodParts<(typeof CG_SCALARS)[number]>): Method {
  const { maker, scalars, x, b, apply, precondition, every } = parts;
  const { at } = scalars;
  const n = range(b.length);
  const [r, p, s] = [0, 1, 2].map(() => maker.vector(b.length));
  const z = precondition ? maker.vector(b.length) : r;
  const conditioned = precondition ? [maker.linear("preconditioner", precondition, r, z)] : [];
  const rzNew = precondition ? at.rzNew : at.rr;
  return {
    start: [
      ...startSteps(parts, r, s),
      ...conditioned,
      dotStep(maker, r, z, at.rz),
      maker.scalar(judgeFirst, argsOf(scalars, ["status", "rz"])),
      copyStep(maker, z, p),
    ],
    cycle: repeated(
      [
        maker.linear("operator", apply, p, s),
        dotStep(maker, p, s, at.ps),
        maker.scalar(stepLength, argsOf(scalars, ["status", "rz", "ps", "alpha"])),
        maker.launch(advance, { alpha: at.alpha, p, s, x, r, rr: at.rr }, n),
        ...conditioned,
        ...(precondition ? [dotStep(maker, r, z, at.rzNew)] : [copyStep(maker, rzNew, at.rzNew)]),
        maker.scalar(judge, { ...judgeArgs(scalars), ...argsOf(scalars, ["rr", "rz", "rzNew", "beta"]), logged: scalars.log.length }),
        maker.launch(turn, { beta: at.beta, z, p }, n),
      ],
      every,
    ),
  };
}
