import { bool, f64, fixed, i32, scatter, kernel, sum, teamKernel, view } from "isoform";
import { byCoefficients } from "./coefficients.js";
import { bySides } from "./sides.js";

/*
 * Kernels of the fused form. Dividing by beta is linear, so u is kept unscaled (beta times the u of the paper form) and one sweep over the rows
 * computes u := A v - (alpha/beta) u, its norm, and A^T u: each coefficient is read once an iteration.
 */

/**
 * A team a star. `xAtt` comes from `attitudeByKnot`, so that what a row reads of it lies together. `tAtt` and `tInstr` take part only where they are to be scattered into, `global` and `xGlobal` where there is a global unknown; its
 * share of A^T u, a sum over all rows, is `a2Glob`'s.
 */
export const sweep = byCoefficients((real, sides) =>
  teamKernel(
    "sweep",
    {
      scatterAttitude: fixed(bool),
      scatterInstrument: fixed(bool),
      hasGlobal: fixed(bool),
      astrometric: view(real, 2),
      attitude: view(real, 2),
      instrument: view(real, 2),
      global: view(f64),
      knot: view(i32),
      column: view(i32, 2),
      starRow: view(i32),
      shift: view(f64),
      xAstro: view(f64, 3),
      xAtt: view(f64, 3),
      xInstr: view(f64, 2),
      xGlobal: view(f64, 2),
      u: view(f64, 2, { disjoint: true }),
      tAstro: view(f64, 3),
      tAtt: scatter(f64, 3),
      tInstr: scatter(f64, 2),
      squares: sum(f64, sides),
    },
    (p, team) => {
      const { astrometric, attitude, instrument, column, xAtt, xInstr, u, tAtt, tInstr } = p;
      const star = team.index;
      const begin = p.starRow[star];
      const factor = new Float64Array(sides);
      for (let side = 0; side < sides; side++) factor[side] = p.shift[side];
      const x = new Float64Array(5 * sides);
      for (let k = 0; k < 5; k++) {
        for (let side = 0; side < sides; side++) x[k * sides + side] = p.xAstro[star][k][side];
      }
      const found = team.reduce(p.starRow[star + 1] - begin, { s: ["sum", 5 * sides], squares: ["sum", sides] }, (j, r) => {
        const i = begin + j;
        const a = new Float64Array(5);
        const att = new Float64Array(12);
        const instr = new Float64Array(6);
        const first = p.knot[i];
        for (let k = 0; k < 5; k++) a[k] = astrometric[i][k];
        for (let k = 0; k < 12; k++) att[k] = attitude[i][k];
        for (let k = 0; k < 6; k++) instr[k] = instrument[i][k];
        for (let side = 0; side < sides; side++) {
          // Short sums, so that no long chain of additions holds up the sweep.
          let part = a[0] * x[side];
          for (let k = 1; k < 5; k++) part += a[k] * x[k * sides + side];
          let t = factor[side] * u[i][side] + part;
          for (let axis = 0; axis < 3; axis++) {
            part = 0;
            for (let k = 0; k < 4; k++) part += att[4 * axis + k] * xAtt[first + k][axis][side];
            t += part;
          }
          part = 0;
          for (let k = 0; k < 6; k++) part += instr[k] * xInstr[column[i][k]][side];
          t += part;
          if (p.hasGlobal) t += p.global[i] * p.xGlobal[0][side];
          u[i][side] = t;
          r.squares.add(side, t * t);
          for (let k = 0; k < 5; k++) r.s.add(k * sides + side, a[k] * t);
          if (p.scatterInstrument) {
            for (let k = 0; k < 6; k++) tInstr.add(column[i][k], side, instr[k] * t);
          }
          if (p.scatterAttitude) {
            for (let axis = 0; axis < 3; axis++) {
              for (let k = 0; k < 4; k++) tAtt.add(axis, first + k, side, att[4 * axis + k] * t);
            }
          }
        }
      });
      for (let k = 0; k < 5; k++) {
        for (let side = 0; side < sides; side++) p.tAstro[star][k][side] = found.s[k * sides + side];
      }
      for (let side = 0; side < sides; side++) p.squares.add(side, found.squares[side]);
    },
    () => [sides],
  ),
);

/** Sides that a team of a start knot has: registers hold its unknowns and sums of as many. */
export const knotPack = (sides: number): number => Math.min(sides, 2);

/** Sums of a start knot: of its twelve unknowns' coefficients times u, of squares of u, and of the global coefficients times u. */
export const OF_KNOT = 14;

/**
 * The sweep over rows in the order of their start knots (row-order.ts), a team for each side of a start knot: its twelve unknowns are each member's. Sums are
 * left in `sums`, [knot][`OF_KNOT`][side]. Shares of stars and instrument come from copies.
 */
export const sweepByKnot = byCoefficients((real, sides) => {
  const pack = knotPack(sides);
  const groups = sides / pack;
  return teamKernel(
    "sweepByKnot",
    {
      hasGlobal: fixed(bool),
      astrometric: view(real, 2),
      attitude: view(real, 2),
      instrument: view(real, 2),
      global: view(f64),
      star: view(i32),
      column: view(i32, 2),
      knotRow: view(i32),
      shift: view(f64),
      xAstro: view(f64, 3),
      xAtt: view(f64, 3),
      xInstr: view(f64, 2),
      xGlobal: view(f64, 2),
      u: view(f64, 2, { disjoint: true }),
      sums: view(f64, 3, { disjoint: true }),
    },
    (p, team) => {
      const { astrometric, attitude, instrument, column, xAstro, xInstr, u } = p;
      const knot = groups === 1 ? team.index : Math.trunc(team.index / groups);
      const first = groups === 1 ? 0 : pack * (team.index % groups);
      const begin = p.knotRow[knot];
      const x = new Float64Array(12 * pack);
      for (let axis = 0; axis < 3; axis++) {
        for (let k = 0; k < 4; k++) {
          for (let q = 0; q < pack; q++) x[(4 * axis + k) * pack + q] = p.xAtt[knot + k][axis][first + q];
        }
      }
      const found = team.reduce(p.knotRow[knot + 1] - begin, { s: ["sum", OF_KNOT * pack] }, (j, r) => {
        const i = begin + j;
        const s = p.star[i];
        const a = new Float64Array(5);
        const att = new Float64Array(12);
        const instr = new Float64Array(6);
        for (let k = 0; k < 5; k++) a[k] = astrometric[i][k];
        for (let k = 0; k < 12; k++) att[k] = attitude[i][k];
        for (let k = 0; k < 6; k++) instr[k] = instrument[i][k];
        let g = 0;
        if (p.hasGlobal) g = p.global[i];
        for (let q = 0; q < pack; q++) {
          // Short sums, so that no long chain of additions holds up the sweep.
          let t = p.shift[first + q] * u[i][first + q];
          let part = 0;
          for (let k = 0; k < 5; k++) part += a[k] * xAstro[s][k][first + q];
          t += part;
          for (let axis = 0; axis < 3; axis++) {
            part = 0;
            for (let k = 0; k < 4; k++) part += att[4 * axis + k] * x[(4 * axis + k) * pack + q];
            t += part;
          }
          part = 0;
          for (let k = 0; k < 6; k++) part += instr[k] * xInstr[column[i][k]][first + q];
          t += part;
          if (p.hasGlobal) t += g * p.xGlobal[0][first + q];
          u[i][first + q] = t;
          for (let k = 0; k < 12; k++) r.s.add(k * pack + q, att[k] * t);
          r.s.add(12 * pack + q, t * t);
          if (p.hasGlobal) r.s.add(13 * pack + q, g * t);
        }
      });
      for (let k = 0; k < OF_KNOT; k++) {
        for (let q = 0; q < pack; q++) p.sums[knot][k][first + q] = found.s[k * pack + q];
      }
    },
    () => [pack, groups, OF_KNOT],
  );
});

/** Sums of all start knots that are of no unknown of theirs. */
export const knotTotals = bySides((sides) =>
  kernel(
    "knotTotals",
    { sums: view(f64, 3), squares: sum(f64, sides), global: sum(f64, sides) },
    ({ sums, squares, global }, knot) => {
      for (let side = 0; side < sides; side++) {
        squares.add(side, sums[knot][12][side]);
        global.add(side, sums[knot][13][side]);
      }
    },
    () => [sides],
  ),
);

/** The attitude's unknowns, knot after knot in place of axis after axis; over knots and sides. */
export const attitudeByKnot = bySides((sides) =>
  kernel(
    "attitudeByKnot",
    { x: view(f64, 3), y: view(f64, 3, { disjoint: true }) },
    ({ x, y }, i) => {
      const knot = sides === 1 ? i : Math.trunc(i / sides);
      const side = sides === 1 ? 0 : i % sides;
      for (let axis = 0; axis < 3; axis++) y[knot][axis][side] = x[axis][knot][side];
    },
    () => [sides],
  ),
);

/** Products of pieces of constraint rows, which are long, with a vector over some unknowns. Entries of a piece lie between two of `bounds`. */
export const rowPieces = bySides((sides) =>
  teamKernel(
    "rowPieces",
    { bounds: view(i32), column: view(i32), a: view(f64), x: view(f64, 2), pieces: view(f64, 2) },
    ({ bounds, column, a, x, pieces }, team) => {
      const first = bounds[team.index];
      const found = team.reduce(bounds[team.index + 1] - first, { s: ["sum", sides] }, (j, r) => {
        for (let side = 0; side < sides; side++) r.s.add(side, a[first + j] * x[column[first + j]][side]);
      });
      for (let side = 0; side < sides; side++) pieces[team.index][side] = found.s[side];
    },
    () => [sides],
  ),
);

/** The sum of a row's pieces. */
const sumOfPieces = (
  pieces: { readonly [place: number]: { readonly [side: number]: number } },
  first: number,
  end: number,
  side: number,
): number => {
  let total = 0;
  for (let piece = first; piece < end; piece++) total += pieces[piece][side];
  return total;
};

/** Adds the pieces of each row. */
export const starProducts = bySides((sides) =>
  kernel(
    "starProducts",
    { pieces: view(f64, 2), first: view(i32), products: view(f64, 2) },
    ({ pieces, first, products }, row) => {
      for (let side = 0; side < sides; side++) products[row][side] = sumOfPieces(pieces, first[row], first[row + 1], side);
    },
    () => [sumOfPieces, sides],
  ),
);

/**
 * u := A v - (alpha/beta) u for constraint rows, from the pieces of their products on shared unknowns and, where `starPlace` is not negative, the product of
 * their entries on stars.
 */
export const sweepConstraints = bySides((sides) =>
  kernel(
    "sweepConstraints",
    {
      pieces: view(f64, 2),
      first: view(i32),
      shift: view(f64),
      starPlace: view(i32),
      starProducts: view(f64, 2),
      u: view(f64, 2),
      squares: sum(f64, sides),
    },
    ({ pieces, first, shift, starPlace, starProducts, u, squares }, row) => {
      const place = starPlace[row];
      for (let side = 0; side < sides; side++) {
        const ofStars = place < 0 ? 0 : starProducts[place][side];
        const t = shift[side] * u[row][side] + (sumOfPieces(pieces, first[row], first[row + 1], side) + ofStars);
        u[row][side] = t;
        squares.add(side, t * t);
      }
    },
    () => [sumOfPieces, sides],
  ),
);

/** v := A^T u / beta - beta v from t = A^T (beta u), which is left zero for the next sweep; one side. */
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

/** The same of several sides, without sums of squares: neighbours are sides, which have sums of their own. */
export const combineSides = bySides((sides) =>
  kernel(
    "combine",
    { inverseBeta: view(f64), minusBeta: view(f64), t: view(f64), v: view(f64) },
    ({ inverseBeta, minusBeta, t, v }, i) => {
      const side = i % sides;
      v[i] = t[i] * inverseBeta[side] + v[i] * minusBeta[side];
      t[i] = 0;
    },
    () => [sides],
  ),
);

/** The constraints' share of A^T u, column by column: each unknown stands in a few of them at most. */
export const constraintColumns = bySides((sides) =>
  kernel(
    "a2Constraints",
    { columnStart: view(i32), row: view(i32), a: view(f64), u: view(f64, 2), v: view(f64, 2) },
    ({ columnStart, row, a, u, v }, c) => {
      const end = columnStart[c + 1];
      const total = new Float64Array(sides);
      for (let e = columnStart[c]; e < end; e++) {
        for (let side = 0; side < sides; side++) total[side] += a[e] * u[row[e]][side];
      }
      for (let side = 0; side < sides; side++) v[c][side] += total[side];
    },
    () => [sides],
  ),
);

/** The global share of A^T u, one sum over all rows. */
export const globalShare = bySides((sides) =>
  kernel(
    "a2Glob",
    { g: view(f64), u: view(f64, 2), product: sum(f64, sides) },
    ({ g, u, product }, i) => {
      for (let side = 0; side < sides; side++) product.add(side, g[i] * u[i][side]);
    },
    () => [sides],
  ),
);
