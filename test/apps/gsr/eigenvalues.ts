/** Eigenvalues of a symmetric matrix, ascending: Householder's tridiagonal form, then bisection on Sturm sequences. The matrix is overwritten. */
export function eigenvalues(a: Float64Array[]): number[] {
  const n = a.length;
  const diagonal = new Float64Array(n);
  /** Squares beside the diagonal. */
  const squares = new Float64Array(n);
  const p = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    diagonal[k] = a[k][k];
    const v = a[k];
    let norm = 0;
    for (let j = k + 1; j < n; j++) norm += v[j] * v[j];
    if (k + 1 < n) squares[k + 1] = norm;
    if (norm === 0 || k + 2 >= n) continue;
    const alpha = v[k + 1] > 0 ? -Math.sqrt(norm) : Math.sqrt(norm);
    v[k + 1] -= alpha;
    let vv = 0;
    for (let j = k + 1; j < n; j++) vv += v[j] * v[j];
    let overlap = 0;
    for (let i = k + 1; i < n; i++) {
      let sum = 0;
      const row = a[i];
      for (let j = k + 1; j < n; j++) sum += row[j] * v[j];
      p[i] = (2 * sum) / vv;
      overlap += p[i] * v[i];
    }
    for (let i = k + 1; i < n; i++) p[i] -= (overlap / vv) * v[i];
    for (let i = k + 1; i < n; i++) {
      const row = a[i];
      for (let j = k + 1; j < n; j++) row[j] -= v[i] * p[j] + p[i] * v[j];
    }
  }
  return bisect(diagonal, squares);
}

/** Eigenvalues of a tridiagonal matrix from its diagonal and the squares beside it. */
function bisect(diagonal: Float64Array, squares: Float64Array): number[] {
  const n = diagonal.length;
  let bound = 0;
  for (let k = 0; k < n; k++) bound = Math.max(bound, Math.abs(diagonal[k]) + Math.sqrt(squares[k]) + Math.sqrt(squares[k + 1] ?? 0));
  /** Eigenvalues below x. */
  const below = (x: number): number => {
    let count = 0;
    let q = 1;
    for (let k = 0; k < n; k++) {
      q = diagonal[k] - x - (k > 0 ? squares[k] / (q || 1e-300) : 0);
      if (q < 0) count++;
    }
    return count;
  };
  return Array.from({ length: n }, (_, index) => {
    let [low, high] = [-bound, bound];
    for (let step = 0; step < 60 && high - low > 1e-16 * bound; step++) {
      const middle = (low + high) / 2;
      if (below(middle) > index) high = middle;
      else low = middle;
    }
    return (low + high) / 2;
  });
}
