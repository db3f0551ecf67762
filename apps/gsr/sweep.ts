import { bool, f64, fixed, i32, scatter, kernel, sum, teamKernel, view } from "isoform";

/*
 * Kernels of the fused form. Dividing by beta is linear, so u is kept unscaled (beta times the u of the paper form) and one sweep over the rows
 * computes u := A v - (alpha/beta) u, its norm, and A^T u: each coefficient is read once an iteration.
 */

/**
 * A team a star. `xAtt` comes from `attitudeByKnot`, so that what a row reads of it lies together. `tAtt` and `tInstr` take part only where they are to be scattered into, `global` and `xGlobal` where there is a global unknown; its
 * share of A^T u, a sum over all rows, is `a2Global`'s.
 */
export const sweep = teamKernel(
  "sweep",
  {
    scatterAttitude: fixed(bool),
    scatterInstrument: fixed(bool),
    hasGlobal: fixed(bool),
    astrometric: view(f64, 2),
    attitude: view(f64, 2),
    instrument: view(f64, 2),
    global: view(f64),
    knot: view(i32),
    column: view(i32, 2),
    starRow: view(i32),
    shift: view(f64),
    xAstro: view(f64, 2),
    xAtt: view(f64, 2),
    xInstr: view(f64),
    xGlobal: view(f64),
    u: view(f64, 1, { disjoint: true }),
    tAstro: view(f64, 2),
    tAtt: scatter(f64, 2),
    tInstr: scatter(f64),
    squares: sum(f64),
  },
  (
    {
      scatterAttitude,
      scatterInstrument,
      hasGlobal,
      astrometric,
      attitude,
      instrument,
      global,
      knot,
      column,
      starRow,
      shift,
      xAstro,
      xAtt,
      xInstr,
      xGlobal,
      u,
      tAstro,
      tAtt,
      tInstr,
      squares,
    },
    team,
  ) => {
    const star = team.index;
    const begin = starRow[star];
    const factor = shift[0];
    const x0 = xAstro[star][0];
    const x1 = xAstro[star][1];
    const x2 = xAstro[star][2];
    const x3 = xAstro[star][3];
    const x4 = xAstro[star][4];
    const sums = team.reduce(
      starRow[star + 1] - begin,
      { s0: "sum", s1: "sum", s2: "sum", s3: "sum", s4: "sum", squares: "sum" },
      (j, r) => {
        const i = begin + j;
        const a0 = astrometric[i][0];
        const a1 = astrometric[i][1];
        const a2 = astrometric[i][2];
        const a3 = astrometric[i][3];
        const a4 = astrometric[i][4];
        const att = new Float64Array(12);
        const instr = new Float64Array(6);
        const first = knot[i];
        // Short sums, so that no long chain of additions holds up the sweep.
        let t = factor * u[i] + (a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4);
        for (let axis = 0; axis < 3; axis++) {
          let part = 0;
          for (let k = 0; k < 4; k++) {
            att[4 * axis + k] = attitude[i][4 * axis + k];
            part += att[4 * axis + k] * xAtt[first + k][axis];
          }
          t += part;
        }
        let part = 0;
        for (let k = 0; k < 6; k++) {
          instr[k] = instrument[i][k];
          part += instr[k] * xInstr[column[i][k]];
        }
        t += part;
        if (hasGlobal) t += global[i] * xGlobal[0];
        u[i] = t;
        r.squares.add(t * t);
        r.s0.add(a0 * t);
        r.s1.add(a1 * t);
        r.s2.add(a2 * t);
        r.s3.add(a3 * t);
        r.s4.add(a4 * t);
        if (scatterInstrument) {
          for (let k = 0; k < 6; k++) tInstr.add(column[i][k], instr[k] * t);
        }
        if (scatterAttitude) {
          for (let axis = 0; axis < 3; axis++) {
            for (let k = 0; k < 4; k++) tAtt.add(axis, first + k, att[4 * axis + k] * t);
          }
        }
      },
    );
    tAstro[star][0] = sums.s0;
    tAstro[star][1] = sums.s1;
    tAstro[star][2] = sums.s2;
    tAstro[star][3] = sums.s3;
    tAstro[star][4] = sums.s4;
    squares.add(sums.squares);
  },
);

/**
 * The sweep over rows in the order of their start knots (row-order.ts), a team a start knot: its twelve unknowns are each member's, and the twelve sums of
 * their coefficients times u are left in `sums`. Shares of stars and instrument come from copies.
 */
export const sweepByKnot = teamKernel(
  "sweepByKnot",
  {
    hasGlobal: fixed(bool),
    astrometric: view(f64, 2),
    attitude: view(f64, 2),
    instrument: view(f64, 2),
    global: view(f64),
    star: view(i32),
    column: view(i32, 2),
    knotRow: view(i32),
    shift: view(f64),
    xAstro: view(f64, 2),
    xAtt: view(f64, 2),
    xInstr: view(f64),
    xGlobal: view(f64),
    u: view(f64, 1, { disjoint: true }),
    sums: view(f64, 2),
    tGlobal: sum(f64),
    squares: sum(f64),
  },
  (
    {
      hasGlobal,
      astrometric,
      attitude,
      instrument,
      global,
      star,
      column,
      knotRow,
      shift,
      xAstro,
      xAtt,
      xInstr,
      xGlobal,
      u,
      sums,
      tGlobal,
      squares,
    },
    team,
  ) => {
    const knot = team.index;
    const begin = knotRow[knot];
    const factor = shift[0];
    const x = new Float64Array(12);
    for (let axis = 0; axis < 3; axis++) {
      for (let k = 0; k < 4; k++) x[4 * axis + k] = xAtt[knot + k][axis];
    }
    const found = team.reduce(
      knotRow[knot + 1] - begin,
      {
        s0: "sum",
        s1: "sum",
        s2: "sum",
        s3: "sum",
        s4: "sum",
        s5: "sum",
        s6: "sum",
        s7: "sum",
        s8: "sum",
        s9: "sum",
        s10: "sum",
        s11: "sum",
        global: "sum",
        squares: "sum",
      },
      (j, r) => {
        const i = begin + j;
        const s = star[i];
        const att = new Float64Array(12);
        // Short sums, so that no long chain of additions holds up the sweep.
        let t = factor * u[i];
        let part = 0;
        for (let k = 0; k < 5; k++) part += astrometric[i][k] * xAstro[s][k];
        t += part;
        for (let axis = 0; axis < 3; axis++) {
          part = 0;
          for (let k = 0; k < 4; k++) {
            att[4 * axis + k] = attitude[i][4 * axis + k];
            part += att[4 * axis + k] * x[4 * axis + k];
          }
          t += part;
        }
        part = 0;
        for (let k = 0; k < 6; k++) part += instrument[i][k] * xInstr[column[i][k]];
        t += part;
        let g = 0;
        if (hasGlobal) {
          g = global[i];
          t += g * xGlobal[0];
        }
        u[i] = t;
        r.squares.add(t * t);
        if (hasGlobal) r.global.add(g * t);
        r.s0.add(att[0] * t);
        r.s1.add(att[1] * t);
        r.s2.add(att[2] * t);
        r.s3.add(att[3] * t);
        r.s4.add(att[4] * t);
        r.s5.add(att[5] * t);
        r.s6.add(att[6] * t);
        r.s7.add(att[7] * t);
        r.s8.add(att[8] * t);
        r.s9.add(att[9] * t);
        r.s10.add(att[10] * t);
        r.s11.add(att[11] * t);
      },
    );
    sums[knot][0] = found.s0;
    sums[knot][1] = found.s1;
    sums[knot][2] = found.s2;
    sums[knot][3] = found.s3;
    sums[knot][4] = found.s4;
    sums[knot][5] = found.s5;
    sums[knot][6] = found.s6;
    sums[knot][7] = found.s7;
    sums[knot][8] = found.s8;
    sums[knot][9] = found.s9;
    sums[knot][10] = found.s10;
    sums[knot][11] = found.s11;
    if (hasGlobal) tGlobal.add(found.global);
    squares.add(found.squares);
  },
);

/** The attitude's unknowns, knot after knot in place of axis after axis. */
export const attitudeByKnot = kernel("attitudeByKnot", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, knot) => {
  for (let axis = 0; axis < 3; axis++) y[knot][axis] = x[axis][knot];
});

/** Products of pieces of constraint rows, which are long, with a vector over some unknowns. Entries of a piece lie between two of `bounds`. */
export const rowPieces = teamKernel(
  "rowPieces",
  { bounds: view(i32), column: view(i32), a: view(f64), x: view(f64), pieces: view(f64) },
  ({ bounds, column, a, x, pieces }, team) => {
    const first = bounds[team.index];
    pieces[team.index] = team.sum(bounds[team.index + 1] - first, (j) => a[first + j] * x[column[first + j]]);
  },
);

/** The sum of a row's pieces. */
const sumOfPieces = (pieces: { readonly [place: number]: number }, first: number, end: number): number => {
  let total = 0;
  for (let piece = first; piece < end; piece++) total += pieces[piece];
  return total;
};

/** Adds the pieces of each row. */
export const starProducts = kernel(
  "starProducts",
  { pieces: view(f64), first: view(i32), products: view(f64) },
  ({ pieces, first, products }, row) => {
    products[row] = sumOfPieces(pieces, first[row], first[row + 1]);
  },
  () => [sumOfPieces],
);

/**
 * u := A v - (alpha/beta) u for constraint rows, from the pieces of their products on shared unknowns and, where `starPlace` is not negative, the product of
 * their entries on stars.
 */
export const sweepConstraints = kernel(
  "sweepConstraints",
  {
    pieces: view(f64),
    first: view(i32),
    shift: view(f64),
    starPlace: view(i32),
    starProducts: view(f64),
    u: view(f64),
    squares: sum(f64),
  },
  ({ pieces, first, shift, starPlace, starProducts, u, squares }, row) => {
    const place = starPlace[row];
    const t = shift[0] * u[row] + (sumOfPieces(pieces, first[row], first[row + 1]) + (place < 0 ? 0 : starProducts[place]));
    u[row] = t;
    squares.add(t * t);
  },
  () => [sumOfPieces],
);

/** v := A^T u / beta - beta v from t = A^T (beta u), which is left zero for the next sweep. */
export const combine = kernel(
  "combine",
  { inverseBeta: view(f64), minusBeta: view(f64), t: view(f64), v: view(f64), squares: sum(f64) },
  ({ inverseBeta, minusBeta, t, v, squares }, j) => {
    const next = t[j] * inverseBeta[0] + v[j] * minusBeta[0];
    t[j] = 0;
    v[j] = next;
    squares.add(next * next);
  },
);
