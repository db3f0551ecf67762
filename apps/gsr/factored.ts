import { f64, helper, i32, kernel, teamKernel, view } from "isoform";
import { REALS, byCoefficients } from "./coefficients.js";
import type { Shape } from "./shape.js";
import { bySides } from "./sides.js";
import { sixSplinesAt } from "./spline.js";

/*
 * Rows as factors of their coefficients, where they are made of few numbers: two coefficients of place and a time stand for four of place and motion; a turn about
 * each of three axes and a place between knots for twelve of attitude; a weight, a class, a pixel column and the star's magnitude and colour for six of the
 * instrument. Columns of unit norm then come from the vector, which is scaled before the sweep, and sums afterwards.
 */

/** Numbers that stand for a row's five coefficients of its star: of alpha*, delta and parallax. */
export const SIGHT = 3;
/** Numbers of a row's attitude: turns about the axes, and the place after the start knot in terms of the distance of knots. */
export const TURNS = 4;
/** Numbers of a star: displacements by magnitude and colour of a row of weight 1. */
export const COLOURS = 2;
/** Numbers of a start knot: years to it, and from it to the next. */
export const TIMES = 2;
/** Unknowns of a class of rows (magnitude, colour, three orders of the large scale), which interval of time, axis, field and CCD decide. */
export const OF_CLASS = 5;
/** Numbers of a star as the sweep reads it: its five unknowns of each side, its two displacements, and what brings stars to begins of lines in memory. */
export const ofStar = (sides: number): number => 8 * Math.ceil((5 * sides + COLOURS) / 8);

/** Bits of a row's place that number its pixel column: the mission's 1,966 fit. */
export const PIXEL_BITS = 11;

/** Factors of a row but for its place. */
export const FACTORS = SIGHT + TURNS + 1;
/** Bytes of a row's factors, beside its star and global unknown. */
export const FACTOR_BYTES = 8 * FACTORS + 4;

/** Classes of rows: interval of time, axis, field and CCD, in this order. */
export const classesOf = ({ ccds, intervals }: Pick<Shape, "ccds" | "intervals">): number => intervals * CLASSES_A_CCD * ccds;
/** Axes times fields. */
const CLASSES_A_CCD = 4;

/** A row's class and pixel column as one number. */
export const placeOf = helper(
  (ofClass: number, pixel: number): number => (ofClass << PIXEL_BITS) | pixel,
  () => [PIXEL_BITS],
);

/** Blocks of the instrument's unknowns, as kernels take them. */
const BLOCKS = { ccds: i32, intervals: i32, largeAlong: i32, largeAcross: i32 };

/** The instrument's part of a vector, times the factors of its columns. */
export const scaledInstrument = bySides((sides) =>
  kernel(
    "scaledInstrument",
    { x: view(f64, 2), p: view(f64), y: view(f64, 2) },
    ({ x, p, y }, j) => {
      for (let side = 0; side < sides; side++) y[j][side] = x[j][side] * p[j];
    },
    () => [sides],
  ),
);

/** A sixth of the attitude's part of a vector, times the factors of its columns, knot after knot in place of axis after axis; over knots and sides. */
export const scaledAttitude = bySides((sides) =>
  kernel(
    "scaledAttitude",
    { x: view(f64, 3), p: view(f64, 2), y: view(f64, 3, { disjoint: true }) },
    ({ x, p, y }, i) => {
      const knot = sides === 1 ? i : Math.trunc(i / sides);
      const side = sides === 1 ? 0 : i % sides;
      for (let axis = 0; axis < 3; axis++) y[knot][axis][side] = (x[axis][knot][side] * p[axis][knot]) / 6;
    },
    () => [sides],
  ),
);

/** The stars' part of a vector, times the factors of its columns, into what the sweep reads of stars: [star][5 sides + 2]. */
export const scaledStars = bySides((sides) =>
  kernel(
    "scaledStars",
    { x: view(f64, 3), p: view(f64, 2), y: view(f64, 2) },
    ({ x, p, y }, star, k) => {
      for (let side = 0; side < sides; side++) y[star][k * sides + side] = x[star][k][side] * p[star][k];
    },
    () => [sides],
  ),
);

/** Unknowns of each class side by side, [class][5]; classes across scan have none by magnitude and colour. */
export const classUnknowns = bySides((sides) =>
  kernel(
    "classUnknowns",
    { ...BLOCKS, x: view(f64, 2), y: view(f64, 3) },
    ({ ccds, intervals, largeAlong, largeAcross, x, y }, interval, axis, fieldCcd) => {
      const number = 2 * (2 * interval + axis) * ccds + fieldCcd;
      const first = (axis === 1 ? largeAcross : largeAlong) + fieldCcd * intervals + interval;
      for (let side = 0; side < sides; side++) {
        y[number][0][side] = axis === 1 ? 0 : x[fieldCcd >= ccds ? fieldCcd - ccds : fieldCcd][side];
        y[number][1][side] = axis === 1 ? 0 : x[ccds + fieldCcd][side];
        for (let d = 0; d < 3; d++) y[number][2 + d][side] = x[first + 2 * d * ccds * intervals][side];
      }
    },
    () => [sides],
  ),
);

/**
 * The sweep by start knot of sweep.ts over factors of rows. `xStar`, `xAtt`, `xSmall` and `xClass` are scaled; sums of a start knot are scaled by `pAtt` once
 * they are whole. `small` has the first unknown of each class's pixel columns.
 */
export const sweepFactored = byCoefficients((real, sides) => {
  /** Whether numbers are rounded as the copies' are, so that products with A and its transpose are of one matrix. */
  const rounded = real === REALS.f32;
  return teamKernel(
    "sweepFactored",
    {
      sight: view(real, 2),
      turns: view(real, 2),
      weight: view(real),
      global: view(f64),
      star: view(i32),
      place: view(i32),
      knotRow: view(i32),
      times: view(f64, 2),
      small: view(i32),
      perPixel: f64,
      shift: view(f64),
      xStar: view(f64, 2),
      xAtt: view(f64, 3),
      pAtt: view(f64, 2),
      xSmall: view(f64, 2),
      xClass: view(f64, 3),
      xGlobal: view(f64, 2),
      u: view(f64, 2, { disjoint: true }),
      sums: view(f64, 3, { disjoint: true }),
    },
    (p, team) => {
      const { star, place, sight, turns, xStar, xClass, u } = p;
      const knot = sides === 1 ? team.index : Math.trunc(team.index / sides);
      const side = sides === 1 ? 0 : team.index % sides;
      const begin = p.knotRow[knot];
      const factor = p.shift[side];
      const years = p.times[knot][0];
      const yearsAKnot = p.times[knot][1];
      const x = new Float64Array(12);
      for (let axis = 0; axis < 3; axis++) {
        for (let k = 0; k < 4; k++) x[4 * axis + k] = p.xAtt[knot + k][axis][side];
      }
      const found = team.reduce(p.knotRow[knot + 1] - begin, { s: ["sum", 12], global: "sum", squares: "sum" }, (j, r) => {
        const i = begin + j;
        // All that a row has, then what it finds elsewhere: each wait for memory is one for many loads.
        const s = star[i];
        const c = place[i] >> PIXEL_BITS;
        const pixel = place[i] & (2 ** PIXEL_BITS - 1);
        const a = new Float64Array(3);
        for (let k = 0; k < 3; k++) a[k] = sight[i][k];
        const turn = new Float64Array(3);
        for (let axis = 0; axis < 3; axis++) turn[axis] = turns[i][axis];
        const f = turns[i][3];
        const weight = p.weight[i];
        const ofAll = p.global[i];
        const before = u[i][side];
        const xs = new Float64Array(7);
        for (let k = 0; k < 5; k++) xs[k] = xStar[s][k * sides + side];
        for (let k = 0; k < 2; k++) xs[5 + k] = xStar[s][5 * sides + k];
        const xc = new Float64Array(5);
        for (let k = 0; k < 5; k++) xc[k] = xClass[c][k][side];
        const small = p.xSmall[p.small[c] + pixel][side];
        const spline = new Float64Array(4);
        sixSplinesAt(f, spline);
        let time = years + f * yearsAKnot;
        if (rounded) time = Math.fround(time);
        const at = (pixel + 0.5) * p.perPixel - 0.5;
        // Short sums, so that no long chain of additions holds up the sweep.
        let t = factor * before;
        let part = 0;
        for (let axis = 0; axis < 3; axis++) {
          part = 0;
          for (let k = 0; k < 4; k++) part += spline[k] * x[4 * axis + k];
          t += turn[axis] * part;
        }
        t += a[0] * (xs[0] + time * xs[3]) + a[1] * (xs[1] + time * xs[4]) + a[2] * xs[2];
        if (rounded) {
          t += weight * (small + xc[2] + 2 * at * xc[3] + (6 * at * at - 0.5) * xc[4]);
          t += Math.fround(weight * xs[5]) * xc[0] + Math.fround(weight * xs[6]) * xc[1];
        } else {
          t += weight * (small + xs[5] * xc[0] + xs[6] * xc[1] + xc[2] + 2 * at * xc[3] + (6 * at * at - 0.5) * xc[4]);
        }
        t += ofAll * p.xGlobal[0][side];
        u[i][side] = t;
        r.squares.add(t * t);
        r.global.add(ofAll * t);
        for (let axis = 0; axis < 3; axis++) {
          turn[axis] *= t;
          for (let k = 0; k < 4; k++) r.s.add(4 * axis + k, spline[k] * turn[axis]);
        }
      });
      for (let axis = 0; axis < 3; axis++) {
        for (let k = 0; k < 4; k++) p.sums[knot][4 * axis + k][side] = found.s[4 * axis + k] * p.pAtt[knot + k][axis];
      }
      p.sums[knot][12][side] = found.squares;
      p.sums[knot][13][side] = found.global;
    },
    () => [sixSplinesAt, PIXEL_BITS, sides, rounded],
  );
});
