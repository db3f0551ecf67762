/** A sparse matrix as lists of (column, value) by row. */
export type PlainMatrix = { column: number; value: number }[][];

interface PlainSolution {
  x: Float64Array;
  variance: Float64Array;
  norms: { bnorm: number; anorm: number; rnorm: number; arnorm: number; xnorm: number; dnorm: number };
}

function norm(v: ArrayLike<number>): number {
  let squares = 0;
  for (let i = 0; i < v.length; i++) squares += v[i] * v[i];
  return Math.sqrt(squares);
}

/** LSQR after Paige and Saunders (1982), Algorithm LSQR and section 5, in the most direct JavaScript: what the solver is compared with. */
export function plainLsqr(a: PlainMatrix, b: readonly number[], n: number, iterations: number): PlainSolution {
  const times = (v: Float64Array) => a.map((row) => row.reduce((t, { column, value }) => t + value * v[column], 0));
  const transposeTimes = (u: readonly number[]) => {
    const result = new Float64Array(n);
    a.forEach((row, i) => row.forEach(({ column, value }) => (result[column] += value * u[i])));
    return result;
  };
  const bnorm = norm(b);
  let u = b.map((e) => e / bnorm);
  let v = transposeTimes(u);
  let alpha = norm(v);
  v = v.map((e) => e / alpha);
  let w = v.slice();
  const x = new Float64Array(n);
  const variance = new Float64Array(n);
  let [phibar, rhobar] = [bnorm, alpha];
  let [frobenius, steps, arnorm] = [0, 0, 0];
  // Rotations from the right give |x|: see section 5.2.
  let [cosine, sine, z, partial, xnorm] = [-1, 0, 0, 0, 0];
  for (let k = 0; k < iterations; k++) {
    u = times(v).map((e, i) => e - alpha * u[i]);
    const beta = norm(u);
    frobenius += alpha * alpha + beta * beta;
    u = u.map((e) => e / beta);
    const next = transposeTimes(u).map((e, j) => e - beta * v[j]);
    alpha = norm(next);
    v = next.map((e) => e / alpha);
    const rho = Math.hypot(rhobar, beta);
    const [c, s] = [rhobar / rho, beta / rho];
    const theta = s * alpha;
    const phi = c * phibar;
    rhobar = -c * alpha;
    phibar *= s;
    for (let j = 0; j < n; j++) {
      const d = w[j] / rho;
      x[j] += phi * d;
      variance[j] += d * d;
      steps += d * d;
      w[j] = v[j] - theta * d;
    }
    arnorm = alpha * Math.abs(s * phi);
    const gambar = -cosine * rho;
    const rhs = phi - sine * rho * z;
    xnorm = Math.sqrt(partial + (rhs / gambar) ** 2);
    const gamma = Math.hypot(gambar, theta);
    [cosine, sine, z] = [gambar / gamma, theta / gamma, rhs / gamma];
    partial += z * z;
  }
  return { x, variance, norms: { bnorm, anorm: Math.sqrt(frobenius), rnorm: phibar, arnorm, xnorm, dnorm: Math.sqrt(steps) } };
}
