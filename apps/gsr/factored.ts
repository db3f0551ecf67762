import { f64, helper, i32, kernel, sum, teamKernel, view } from "isoform";
import type { Shape } from "./shape.js";
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
/** Numbers of a star as the sweep reads it: its five unknowns, its two displacements, and one that brings stars to begins of lines in memory. */
export const OF_STAR = 8;

/** Bits of a row's place that number its pixel column: the mission's 1,966 fit. */
export const PIXEL_BITS = 11;

/** Bytes of a row's factors, beside its star and global unknown. */
export const FACTOR_BYTES = 8 * (SIGHT + TURNS + 1) + 4;

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
export const scaledInstrument = kernel("scaledInstrument", { x: view(f64), p: view(f64), y: view(f64) }, ({ x, p, y }, j) => {
  y[j] = x[j] * p[j];
});

/** A sixth of the attitude's part of a vector, times the factors of its columns, knot after knot in place of axis after axis. */
export const scaledAttitude = kernel("scaledAttitude", { x: view(f64, 2), p: view(f64, 2), y: view(f64, 2) }, ({ x, p, y }, knot) => {
  for (let axis = 0; axis < 3; axis++) y[knot][axis] = (x[axis][knot] * p[axis][knot]) / 6;
});

/** The stars' part of a vector, times the factors of its columns, into what the sweep reads of stars. */
export const scaledStars = kernel("scaledStars", { x: view(f64, 2), p: view(f64, 2), y: view(f64, 2) }, ({ x, p, y }, star, k) => {
  y[star][k] = x[star][k] * p[star][k];
});

/** Unknowns of each class side by side, [class][5]; classes across scan have none by magnitude and colour. */
export const classUnknowns = kernel(
  "classUnknowns",
  { ...BLOCKS, x: view(f64), y: view(f64, 2) },
  ({ ccds, intervals, largeAlong, largeAcross, x, y }, interval, axis, fieldCcd) => {
    const number = 2 * (2 * interval + axis) * ccds + fieldCcd;
    y[number][0] = axis === 1 ? 0 : x[fieldCcd >= ccds ? fieldCcd - ccds : fieldCcd];
    y[number][1] = axis === 1 ? 0 : x[ccds + fieldCcd];
    const first = (axis === 1 ? largeAcross : largeAlong) + fieldCcd * intervals + interval;
    for (let d = 0; d < 3; d++) y[number][2 + d] = x[first + 2 * d * ccds * intervals];
  },
);

/**
 * The sweep of sweep.ts over factors of rows in the order of their start knots. `xStar`, `xAtt`, `xSmall` and `xClass` are scaled; sums of a start knot are
 * scaled by `pAtt` once they are whole. `small` has the first unknown of each class's pixel columns.
 */
export const sweepFactored = teamKernel(
  "sweepFactored",
  {
    sight: view(f64, 2),
    turns: view(f64, 2),
    weight: view(f64),
    global: view(f64),
    star: view(i32),
    place: view(i32),
    knotRow: view(i32),
    times: view(f64, 2),
    small: view(i32),
    perPixel: f64,
    shift: view(f64),
    xStar: view(f64, 2),
    xAtt: view(f64, 2),
    pAtt: view(f64, 2),
    xSmall: view(f64),
    xClass: view(f64, 2),
    xGlobal: view(f64),
    u: view(f64, 1, { disjoint: true }),
    sums: view(f64, 2),
    tGlobal: sum(f64),
    squares: sum(f64),
  },
  (p, team) => {
    const { star, place, sight, turns, xStar, xAtt, pAtt, xClass, u, sums } = p;
    const knot = team.index;
    const begin = p.knotRow[knot];
    const factor = p.shift[0];
    const years = p.times[knot][0];
    const yearsAKnot = p.times[knot][1];
    const x = new Float64Array(12);
    for (let axis = 0; axis < 3; axis++) {
      for (let k = 0; k < 4; k++) x[4 * axis + k] = xAtt[knot + k][axis];
    }
    const found = team.reduce(
      p.knotRow[knot + 1] - begin,
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
        const before = u[i];
        const xs = new Float64Array(7);
        for (let k = 0; k < 7; k++) xs[k] = xStar[s][k];
        const xc = new Float64Array(5);
        for (let k = 0; k < 5; k++) xc[k] = xClass[c][k];
        const small = p.xSmall[p.small[c] + pixel];
        const spline = new Float64Array(4);
        sixSplinesAt(f, spline);
        const time = years + f * yearsAKnot;
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
        t += weight * (small + xs[5] * xc[0] + xs[6] * xc[1] + xc[2] + 2 * at * xc[3] + (6 * at * at - 0.5) * xc[4]);
        t += ofAll * p.xGlobal[0];
        u[i] = t;
        r.squares.add(t * t);
        r.global.add(ofAll * t);
        for (let axis = 0; axis < 3; axis++) turn[axis] *= t;
        r.s0.add(spline[0] * turn[0]);
        r.s1.add(spline[1] * turn[0]);
        r.s2.add(spline[2] * turn[0]);
        r.s3.add(spline[3] * turn[0]);
        r.s4.add(spline[0] * turn[1]);
        r.s5.add(spline[1] * turn[1]);
        r.s6.add(spline[2] * turn[1]);
        r.s7.add(spline[3] * turn[1]);
        r.s8.add(spline[0] * turn[2]);
        r.s9.add(spline[1] * turn[2]);
        r.s10.add(spline[2] * turn[2]);
        r.s11.add(spline[3] * turn[2]);
      },
    );
    sums[knot][0] = found.s0 * pAtt[knot][0];
    sums[knot][1] = found.s1 * pAtt[knot + 1][0];
    sums[knot][2] = found.s2 * pAtt[knot + 2][0];
    sums[knot][3] = found.s3 * pAtt[knot + 3][0];
    sums[knot][4] = found.s4 * pAtt[knot][1];
    sums[knot][5] = found.s5 * pAtt[knot + 1][1];
    sums[knot][6] = found.s6 * pAtt[knot + 2][1];
    sums[knot][7] = found.s7 * pAtt[knot + 3][1];
    sums[knot][8] = found.s8 * pAtt[knot][2];
    sums[knot][9] = found.s9 * pAtt[knot + 1][2];
    sums[knot][10] = found.s10 * pAtt[knot + 2][2];
    sums[knot][11] = found.s11 * pAtt[knot + 3][2];
    p.tGlobal.add(found.global);
    p.squares.add(found.squares);
  },
  () => [sixSplinesAt, PIXEL_BITS],
);
