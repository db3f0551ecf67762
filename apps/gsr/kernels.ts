import { f64, i32, kernel, scatter, sum, teamKernel, view } from "isoform";

/*
 * The paper's kernels, six and two for the global section, and what belongs to the same matrix. Coefficients are row-major (5, 12 and 6 a row); x and v are seen as
 * astrometric[star][5], attitude[axis][knot], instrument[column] and, in systems with a global unknown (PPN gamma), global[1], whose column `g` is dense; b and
 * u are vectors over rows.
 */

/* b += A x, section by section (aprod mode 1). */

export const a1Astro = kernel("a1Astro", { a: view(f64, 2), star: view(i32), x: view(f64, 2), b: view(f64) }, ({ a, star, x, b }, i) => {
  const s = star[i];
  let sum = 0;
  for (let k = 0; k < 5; k++) sum += a[i][k] * x[s][k];
  b[i] += sum;
});

export const a1Att = kernel("a1Att", { a: view(f64, 2), knot: view(i32), x: view(f64, 2), b: view(f64) }, ({ a, knot, x, b }, i) => {
  const first = knot[i];
  let sum = 0;
  for (let axis = 0; axis < 3; axis++) {
    for (let k = 0; k < 4; k++) sum += a[i][4 * axis + k] * x[axis][first + k];
  }
  b[i] += sum;
});

export const a1Instr = kernel(
  "a1Instr",
  { a: view(f64, 2), column: view(i32, 2), x: view(f64), b: view(f64) },
  ({ a, column, x, b }, i) => {
    let sum = 0;
    for (let k = 0; k < 6; k++) sum += a[i][k] * x[column[i][k]];
    b[i] += sum;
  },
);

export const a1Glob = kernel("a1Glob", { g: view(f64), x: view(f64), b: view(f64) }, ({ g, x, b }, i) => {
  b[i] += g[i] * x[0];
});

/** Constraint rows, each of them long: a team a row. */
export const a1Constraints = teamKernel(
  "a1Constraints",
  { rowStart: view(i32), column: view(i32), a: view(f64), x: view(f64), b: view(f64) },
  ({ rowStart, column, a, x, b }, team) => {
    const first = rowStart[team.index];
    const sum = team.sum(rowStart[team.index + 1] - first, (j) => a[first + j] * x[column[first + j]]);
    b[team.index] += sum;
  },
);

/* v += A^T u, section by section (aprod mode 2). */

/** Members of a star's team: of its 240 rows and more each takes a few, which on an H200 takes 0.85 of the time of 256 members. */
export const STAR_TEAM = 64;

/** A team a star: its rows follow each other and no other row touches its unknowns. */
export const a2Astro = teamKernel(
  "a2Astro",
  { a: view(f64, 2), starRow: view(i32), u: view(f64), v: view(f64, 2) },
  ({ a, starRow, u, v }, team) => {
    const first = starRow[team.index];
    const sums = team.reduce(starRow[team.index + 1] - first, { s0: "sum", s1: "sum", s2: "sum", s3: "sum", s4: "sum" }, (j, r) => {
      const i = first + j;
      const t = u[i];
      r.s0.add(a[i][0] * t);
      r.s1.add(a[i][1] * t);
      r.s2.add(a[i][2] * t);
      r.s3.add(a[i][3] * t);
      r.s4.add(a[i][4] * t);
    });
    v[team.index][0] += sums.s0;
    v[team.index][1] += sums.s1;
    v[team.index][2] += sums.s2;
    v[team.index][3] += sums.s3;
    v[team.index][4] += sums.s4;
  },
);

export const a2Att = kernel("a2Att", { a: view(f64, 2), knot: view(i32), u: view(f64), v: scatter(f64, 2) }, ({ a, knot, u, v }, i) => {
  const first = knot[i];
  const t = u[i];
  for (let axis = 0; axis < 3; axis++) {
    for (let k = 0; k < 4; k++) v.add(axis, first + k, a[i][4 * axis + k] * t);
  }
});

export const a2Instr = kernel(
  "a2Instr",
  { a: view(f64, 2), column: view(i32, 2), u: view(f64), v: scatter(f64) },
  ({ a, column, u, v }, i) => {
    const t = u[i];
    for (let k = 0; k < 6; k++) v.add(column[i][k], a[i][k] * t);
  },
);

/** The global share of A^T u, one sum over all rows. */
export const a2Glob = kernel("a2Glob", { g: view(f64), u: view(f64), product: sum(f64) }, ({ g, u, product }, i) => {
  product.add(g[i] * u[i]);
});

/** v += what `a2Glob` summed up. */
export const addGlobal = kernel("addGlobal", { product: view(f64), v: view(f64) }, ({ product, v }, j) => {
  v[j] += product[j];
});

/** Constraints by column: each unknown stands in a few of them at most. */
export const a2Constraints = kernel(
  "a2Constraints",
  { columnStart: view(i32), row: view(i32), a: view(f64), u: view(f64), v: view(f64) },
  ({ columnStart, row, a, u, v }, c) => {
    const end = columnStart[c + 1];
    let sum = 0;
    for (let e = columnStart[c]; e < end; e++) sum += a[e] * u[row[e]];
    v[c] += sum;
  },
);

/* Known terms of the identity test: the sum of each row's coefficients, so that x = 1. */

export const rowSums = kernel(
  "rowSums",
  { astrometric: view(f64, 2), attitude: view(f64, 2), instrument: view(f64, 2), b: view(f64) },
  ({ astrometric, attitude, instrument, b }, i) => {
    let sum = 0;
    for (let k = 0; k < 5; k++) sum += astrometric[i][k];
    for (let k = 0; k < 12; k++) sum += attitude[i][k];
    for (let k = 0; k < 6; k++) sum += instrument[i][k];
    b[i] = sum;
  },
);

/** The global section's share of `rowSums`. */
export const rowSumsGlob = kernel("rowSumsGlob", { g: view(f64), b: view(f64) }, ({ g, b }, i) => {
  b[i] += g[i];
});

/* Column scaling: p = 1 / norm of each column, and A := A p in place. The squares are gathered as in A^T u. */

export const squaresAstro = teamKernel(
  "squaresAstro",
  { a: view(f64, 2), starRow: view(i32), p: view(f64, 2) },
  ({ a, starRow, p }, team) => {
    const first = starRow[team.index];
    const sums = team.reduce(starRow[team.index + 1] - first, { s0: "sum", s1: "sum", s2: "sum", s3: "sum", s4: "sum" }, (j, r) => {
      const i = first + j;
      r.s0.add(a[i][0] * a[i][0]);
      r.s1.add(a[i][1] * a[i][1]);
      r.s2.add(a[i][2] * a[i][2]);
      r.s3.add(a[i][3] * a[i][3]);
      r.s4.add(a[i][4] * a[i][4]);
    });
    p[team.index][0] += sums.s0;
    p[team.index][1] += sums.s1;
    p[team.index][2] += sums.s2;
    p[team.index][3] += sums.s3;
    p[team.index][4] += sums.s4;
  },
);

export const squaresAtt = kernel("squaresAtt", { a: view(f64, 2), knot: view(i32), p: scatter(f64, 2) }, ({ a, knot, p }, i) => {
  const first = knot[i];
  for (let axis = 0; axis < 3; axis++) {
    for (let k = 0; k < 4; k++) p.add(axis, first + k, a[i][4 * axis + k] * a[i][4 * axis + k]);
  }
});

export const squaresInstr = kernel("squaresInstr", { a: view(f64, 2), column: view(i32, 2), p: scatter(f64) }, ({ a, column, p }, i) => {
  for (let k = 0; k < 6; k++) p.add(column[i][k], a[i][k] * a[i][k]);
});

export const squaresGlobal = kernel("squaresGlobal", { g: view(f64), p: sum(f64) }, ({ g, p }, i) => {
  p.add(g[i] * g[i]);
});

export const squaresConstraints = kernel(
  "squaresConstraints",
  { columnStart: view(i32), a: view(f64), p: view(f64) },
  ({ columnStart, a, p }, c) => {
    const end = columnStart[c + 1];
    let sum = 0;
    for (let e = columnStart[c]; e < end; e++) sum += a[e] * a[e];
    p[c] += sum;
  },
);

export const scaleAstro = kernel("scaleAstro", { a: view(f64, 2), star: view(i32), p: view(f64, 2) }, ({ a, star, p }, i) => {
  const s = star[i];
  for (let k = 0; k < 5; k++) a[i][k] *= p[s][k];
});

export const scaleAtt = kernel("scaleAtt", { a: view(f64, 2), knot: view(i32), p: view(f64, 2) }, ({ a, knot, p }, i) => {
  const first = knot[i];
  for (let axis = 0; axis < 3; axis++) {
    for (let k = 0; k < 4; k++) a[i][4 * axis + k] *= p[axis][first + k];
  }
});

export const scaleInstr = kernel("scaleInstr", { a: view(f64, 2), column: view(i32, 2), p: view(f64) }, ({ a, column, p }, i) => {
  for (let k = 0; k < 6; k++) a[i][k] *= p[column[i][k]];
});

export const scaleGlobal = kernel("scaleGlobal", { g: view(f64), p: view(f64) }, ({ g, p }, i) => {
  g[i] *= p[0];
});

export const scaleConstraintRows = kernel(
  "scaleConstraintRows",
  { column: view(i32), a: view(f64), p: view(f64) },
  ({ column, a, p }, e) => {
    a[e] *= p[column[e]];
  },
);

export const scaleConstraintColumns = kernel(
  "scaleConstraintColumns",
  { columnStart: view(i32), a: view(f64, 1, { disjoint: true }), p: view(f64) },
  ({ columnStart, a, p }, c) => {
    const end = columnStart[c + 1];
    for (let e = columnStart[c]; e < end; e++) a[e] *= p[c];
  },
);
