import { f64, i32, kernel, sum, teamKernel, view } from "isoform";
import { splinesAt } from "./spline.js";

/*
 * Rows as factors of their coefficients, where they are made of few numbers: a turn about each of three axes and a place between knots stand for twelve coefficients
 * of attitude, three weights and a place on the CCD for six of the instrument. Columns of unit norm then come from the vector, which is scaled before the
 * sweep, and sums afterwards.
 */

/** Numbers of a row's attitude: turns about the axes, and the place after the start knot in terms of the distance of knots. */
export const TURNS = 4;
/** Numbers of a row's calibration: coefficients of magnitude and colour, the weight of all others, and the place on the CCD, -1/2 to 1/2. */
export const CALIBRATION = 4;
/** Unknowns of a class of rows (magnitude, colour, three orders of the large scale), which CCD, field, interval of time and axis decide. */
export const OF_CLASS = 5;

/** Bytes of a row's factors, beside stars, global unknown and what the form keeps of its own. */
export const FACTOR_BYTES = 8 * (TURNS + CALIBRATION) + 8;

/** Blocks of the instrument's unknowns, as kernels take them. */
const BLOCKS = { ccds: i32, intervals: i32, largeAlong: i32, largeAcross: i32 };

/** The instrument's part of a vector, times the factors of its columns. */
export const scaledInstrument = kernel("scaledInstrument", { x: view(f64), p: view(f64), y: view(f64) }, ({ x, p, y }, j) => {
  y[j] = x[j] * p[j];
});

/** The attitude's part of a vector, times the factors of its columns, knot after knot in place of axis after axis. */
export const scaledAttitude = kernel("scaledAttitude", { x: view(f64, 2), p: view(f64, 2), y: view(f64, 2) }, ({ x, p, y }, knot) => {
  for (let axis = 0; axis < 3; axis++) y[knot][axis] = x[axis][knot] * p[axis][knot];
});

/** Unknowns of each class side by side, [class][5]: classes along scan, then across, each in the order of field, CCD and interval. */
export const classUnknowns = kernel(
  "classUnknowns",
  { ...BLOCKS, x: view(f64), y: view(f64, 2) },
  ({ ccds, intervals, largeAlong, largeAcross, x, y }, number) => {
    const classes = 2 * ccds * intervals;
    const across = number >= classes;
    const large = across ? number - classes : number;
    const fieldCcd = Math.trunc(large / intervals);
    y[number][0] = x[fieldCcd >= ccds ? fieldCcd - ccds : fieldCcd];
    y[number][1] = x[ccds + fieldCcd];
    const first = (across ? largeAcross : largeAlong) + large;
    for (let d = 0; d < 3; d++) y[number][2 + d] = x[first + d * classes];
  },
);

/**
 * The sweep of sweep.ts over factors of rows in the order of their start knots. `xAtt`, `xSmall` and `xClass` are scaled; sums of a start knot are scaled by
 * `pAtt` once they are whole.
 */
export const sweepFactored = teamKernel(
  "sweepFactored",
  {
    astrometric: view(f64, 2),
    turns: view(f64, 2),
    calibration: view(f64, 2),
    global: view(f64),
    star: view(i32),
    place: view(i32, 2),
    knotRow: view(i32),
    shift: view(f64),
    xAstro: view(f64, 2),
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
    const { star, place, turns, calibration, xAstro, xAtt, pAtt, xClass, u, sums } = p;
    const knot = team.index;
    const begin = p.knotRow[knot];
    const factor = p.shift[0];
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
        const s = star[i];
        let t = factor * u[i];
        let part = 0;
        for (let k = 0; k < 5; k++) part += p.astrometric[i][k] * xAstro[s][k];
        t += part;
        const spline = new Float64Array(4);
        splinesAt(turns[i][3], spline);
        const turn = new Float64Array(3);
        for (let axis = 0; axis < 3; axis++) {
          turn[axis] = turns[i][axis];
          part = 0;
          for (let k = 0; k < 4; k++) part += spline[k] * x[4 * axis + k];
          t += turn[axis] * part;
        }
        const c = place[i][0];
        const across = calibration[i][3];
        const small = p.xSmall[place[i][1]];
        t += calibration[i][0] * xClass[c][0] + calibration[i][1] * xClass[c][1];
        t += calibration[i][2] * (small + xClass[c][2] + 2 * across * xClass[c][3] + (6 * across * across - 0.5) * xClass[c][4]);
        const ofAll = p.global[i];
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
  () => [splinesAt],
);
