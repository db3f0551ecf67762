import { range } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { fixed, i32, sum, view } from "../../kernel/declare/params.js";
import { FLOAT_TOKENS, bothTypes } from "../both-types.js";
import type { SparseType } from "../sparse/rows.js";
import { ROUNDING, judgeTokens, judged, scalarTokens } from "./scalars.js";
import { argsOf, dotStep, judgeArgs, startSteps, type Method, type MethodParts, type SolverStep } from "./steps.js";

/*
 * Generalised minimal residuals, restarted (Saad and Schultz 1986), by modified Gram-Schmidt, preconditioned from the right, so that residuals are the true ones.
 * After the end new directions are 0.
 */

export const GMRES_SCALARS = ["hh", "inverse", "before", "used"] as const;

/** Coefficients of a cycle: h[j] is column j of the Hessenberg matrix, rotated. */
const small = (type: SparseType) => ({
  h: view(FLOAT_TOKENS[type], 2, { disjoint: true }),
  cosines: view(FLOAT_TOKENS[type], 1, { disjoint: true }),
  sines: view(FLOAT_TOKENS[type], 1, { disjoint: true }),
  g: view(FLOAT_TOKENS[type], 1, { disjoint: true }),
});

const begin = bothTypes((type) =>
  kernel(
    "gmresBegin",
    { ...scalarTokens(type, ["status", "residual", "inverse", "used"]), g: view(FLOAT_TOKENS[type]) },
    ({ status, residual, inverse, used, g }, i) => {
      used[i] = 0;
      g[i] = residual[i];
      inverse[i] = status[i] === 0 ? 1 / residual[i] : 0;
    },
  ),
);

const normalise = bothTypes((type) =>
  kernel(
    "gmresNormalise",
    { ...scalarTokens(type, ["inverse", "w", "q"]), basis: view(FLOAT_TOKENS[type]) },
    ({ inverse, w, q, basis }, i) => {
      const direction = w[i] * inverse[0];
      q[i] = direction;
      basis[i] = direction;
    },
  ),
);

/** w -= h v, with the next product in the same pass. */
const orthogonalise = bothTypes((type) =>
  kernel(
    "gmresOrthogonalise",
    { ...scalarTokens(type, ["factor", "v", "next", "w"]), result: sum(FLOAT_TOKENS[type]) },
    ({ factor, v, next, w, result }, i) => {
      const rest = w[i] - factor[0] * v[i];
      w[i] = rest;
      result.add(rest * next[i]);
    },
  ),
);

/** The same for the last vector, with the squares of the rest. */
const orthogonaliseLast = bothTypes((type) =>
  kernel("gmresLast", { ...scalarTokens(type, ["factor", "v", "w"]), result: sum(FLOAT_TOKENS[type]) }, ({ factor, v, w, result }, i) => {
    const rest = w[i] - factor[0] * v[i];
    w[i] = rest;
    result.add(rest * rest);
  }),
);

/** Turns column j, and judges its residual. A rest that is rounding error alone ends the cycle, too: the solution is in the space, or the matrix is singular. */
const rotate = bothTypes((type) =>
  kernel(
    "gmresRotate",
    {
      ...judgeTokens(type),
      ...small(type),
      ...scalarTokens(type, ["hh", "before", "inverse", "used"]),
      column: i32,
      logged: fixed(i32),
      epsilon: FLOAT_TOKENS[type],
    },
    ({ status, count, limit, threshold, residual, log, h, cosines, sines, g, hh, before, inverse, used, column, logged, epsilon }, i) => {
      inverse[i] = 0;
      if (status[i] === 0 && !(Number.isFinite(hh[i]) && Number.isFinite(before[i]))) status[i] = 3;
      if (status[i] === 0) {
        const rest = Math.sqrt(hh[i]);
        const spent = rest <= epsilon * Math.sqrt(before[i]);
        for (let k = 0; k < column; k++) {
          const [a, b] = [h[column][k], h[column][k + 1]];
          h[column][k] = cosines[k] * a + sines[k] * b;
          h[column][k + 1] = cosines[k] * b - sines[k] * a;
        }
        // A pivot of rounding errors alone: the matrix is singular.
        const empty = spent && Math.abs(h[column][column]) <= 4 * epsilon * Math.sqrt(before[i]);
        const [a, b] = [empty ? 0 : h[column][column], spent ? 0 : rest];
        const length = Math.sqrt(a * a + b * b);
        cosines[column] = length > 0 ? a / length : 1;
        sines[column] = length > 0 ? b / length : 0;
        h[column][column] = length;
        const last = g[column];
        g[column] = length > 0 ? cosines[column] * last : 0;
        g[column + 1] = length > 0 ? 0 - sines[column] * last : last;
        used[i] += 1;
        count[i] += 1;
        residual[i] = Math.abs(g[column + 1]);
        log[(count[i] | 0) % logged] = residual[i];
        status[i] = judged(residual[i], threshold[i], count[i], limit[i]);
        if (spent && status[i] !== 1) status[i] = 5;
        if (status[i] === 0) inverse[i] = 1 / rest;
      }
    },
    () => [judged],
  ),
);

/** Solves with the triangle of the cycle; columns that were not used get 0. */
const coefficients = bothTypes((type) =>
  kernel(
    "gmresCoefficients",
    { ...small(type), used: view(FLOAT_TOKENS[type]), y: view(FLOAT_TOKENS[type], 1, { disjoint: true }), restart: fixed(i32) },
    ({ h, g, used, y, restart }, i) => {
      const columns = used[i] | 0;
      for (let k = 0; k < restart; k++) y[k] = 0;
      for (let back = 0; back < columns; back++) {
        const k = columns - 1 - back;
        let rest = g[k];
        for (let j = k + 1; j < columns; j++) rest -= h[j][k] * y[j];
        y[k] = h[k][k] !== 0 ? rest / h[k][k] : 0;
      }
    },
  ),
);

const combine = bothTypes((type) =>
  kernel(
    "gmresCombine",
    { basis: view(FLOAT_TOKENS[type], 2), y: view(FLOAT_TOKENS[type]), used: view(FLOAT_TOKENS[type]), u: view(FLOAT_TOKENS[type]) },
    ({ basis, y, used, u }, i) => {
      let total = 0;
      for (let k = 0; k < (used[0] | 0); k++) total += y[k] * basis[k][i];
      u[i] = total;
    },
  ),
);

const addTo = bothTypes((type) =>
  kernel("gmresAdd", scalarTokens(type, ["u", "x"]), ({ u, x }, i) => {
    x[i] += u[i];
  }),
);

export function gmresSteps(parts: MethodParts<(typeof GMRES_SCALARS)[number]>): Method {
  const { maker, scalars, x, b, apply, precondition, every, restart } = parts;
  const { at } = scalars;
  const { steps, type } = maker;
  const size = b.length;
  const n = range(size);
  const basis = steps.array(type, (restart + 1) * size).reshape(restart + 1, size) as View<SparseType, 2>;
  const h = steps.array(type, restart * (restart + 1)).reshape(restart, restart + 1) as View<SparseType, 2>;
  const [g, cosines, sines, y] = [restart + 1, restart, restart, restart].map((length) => maker.vector(length));
  const [w, q] = [maker.vector(size), maker.vector(size)];
  const z = precondition ? maker.vector(size) : q;
  const vectorAt = (k: number): View<SparseType, 1> => basis.at(0, k) as View<SparseType, 1>;
  const element = (j: number, k: number): View<SparseType, 1> => (h.at(0, j) as View<SparseType, 1>).slice([k, k + 1]);
  const condition = precondition ? [maker.linear("preconditioner", precondition, q, z)] : [];
  const multiply = maker.linear("operator", apply, z, w);
  const matrix = { h, cosines, sines, g };

  const iteration = (j: number): SolverStep[] => [
    maker.launch(normalise, { inverse: at.inverse, w, q, basis: vectorAt(j) }, n),
    ...condition,
    multiply,
    dotStep(maker, w, w, at.before),
    dotStep(maker, w, vectorAt(0), element(j, 0)),
    ...Array.from({ length: j }, (_, k) =>
      maker.launch(orthogonalise, { factor: element(j, k), v: vectorAt(k), next: vectorAt(k + 1), w, result: element(j, k + 1) }, n),
    ),
    maker.launch(orthogonaliseLast, { factor: element(j, j), v: vectorAt(j), w, result: at.hh }, n),
    maker.scalar(rotate, {
      ...judgeArgs(scalars),
      ...matrix,
      ...argsOf(scalars, ["hh", "before", "inverse", "used"]),
      column: j,
      logged: scalars.log.length,
      epsilon: ROUNDING[type],
    }),
  ];
  const begins = maker.scalar(begin, { ...argsOf(scalars, ["status", "residual", "inverse", "used"]), g: g.slice([0, 1]) });
  const pieces: Method["cycle"][number][] = [];
  for (let first = 0; first < restart; first += every) {
    const iterations = Math.min(every, restart - first);
    pieces.push({ steps: Array.from({ length: iterations }, (_, j) => iteration(first + j)).flat(), iterations });
  }
  return {
    start: [...startSteps(parts, w, q), begins],
    cycle: pieces,
    finish: [
      maker.scalar(coefficients, { ...matrix, used: at.used, y, restart }),
      maker.launch(combine, { basis: basis.slice([0, restart]), y, used: at.used, u: q }, n),
      ...condition,
      maker.launch(addTo, { u: z, x }, n),
    ],
  };
}
