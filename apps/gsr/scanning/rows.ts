import { bool, f64, fixed, helper, i32, kernel, view } from "isoform";
import { COS_OBLIQUITY, SIN_OBLIQUITY, STEP, SUN_SPEED, UAS, YEAR } from "./law.js";
import { placeOf } from "../factored.js";
import { sixSplinesAt } from "../spline.js";
import { axesAt, cosineOf, sineOf } from "./sight.js";

/*
 * Coefficients of the observations, a row each, divided by the observation's standard error: derivatives of the angle along scan or across scan
 * with respect to the unknowns, in uas per uas. At phi along and zeta across the scan, m and n are the directions in which these angles grow. The
 * equations: Lindegren et al. 2012, A&A 538, A78; the light deflection: Vecchiato et al. 2018, A&A 620, A40. Aberration is left out.
 */

/** Seconds from one strip of CCDs to the next. */
export const STRIP_TIME = 4.85;
/** Distance of Gaia from the Sun, in astronomical units. */
const DISTANCE = 1.01;
/** Deflection of light by the Sun at one astronomical unit for an angle of 90 degrees, uas: 2 G M / (c^2 au), times (1 + gamma)/2; a thousandth, as the unknown is 1000 (gamma - 1). */
const DEFLECTION = 9.8706e-9 / UAS / 1000;
/** Standard errors across scan, in terms of those along scan. */
export const ACROSS_ERROR = 5;
/** Numbers of a transit: star, stretch of the law, field, row of CCDs, first observation, piece of the attitude. */
export const TRANSIT = 6;
/** Numbers of a piece of the attitude: seconds of its first knot and between knots, its first spline, and how many follow that a row may begin with. */
export const PIECE = 4;

/** The transit of each observation, and its star, counted from `firstStar`. */
export const spreadTransits = kernel(
  "spreadTransits",
  {
    transits: view(i32, 2),
    rows: i32,
    firstStar: i32,
    transitOf: view(i32, 1, { disjoint: true }),
    star: view(i32, 1, { disjoint: true }),
  },
  ({ transits, rows, firstStar, transitOf, star }, j) => {
    const end = j + 1 < transits.length ? transits[j + 1][4] : rows;
    for (let i = transits[j][4]; i < end; i++) {
      transitOf[i] = j;
      star[i] = transits[j][0] - firstStar;
    }
  },
);

/**
 * Strip of CCDs, and whether it is across scan, of a transit's observation `n`: bright stars are observed along and across on each strip, others
 * along on each and across on the first.
 */
export function placeInTransit(n: number, bright: boolean): [number, boolean] {
  if (bright) return [n >> 1, (n & 1) === 1];
  return [Math.max(n - 1, 0), n === 1];
}

/**
 * How a star is seen `strip` strips after its transit. To `see`: 0 to 2, m; 3 to 5, n; 6 and 7, cosine and sine of phi; 8 and 9, of zeta; 10 to
 * 12, the direction to the Sun; 13, seconds since the law began.
 */
const look = helper(
  (
    law: ArrayLike<ArrayLike<number>>,
    stretch: number,
    moment: number,
    v0: number,
    v1: number,
    v2: number,
    axes: Float64Array,
    see: Float64Array,
  ): void => {
    const later = moment >= STEP ? 1 : 0;
    const k = stretch + later;
    const seconds = moment - later * STEP;
    axesAt(law, k, seconds, axes);
    const x = axes[0] * v0 + axes[1] * v1 + axes[2] * v2;
    const y = axes[3] * v0 + axes[4] * v1 + axes[5] * v2;
    const sinZeta = axes[6] * v0 + axes[7] * v1 + axes[8] * v2;
    const cosZeta = Math.sqrt(x * x + y * y);
    const cosPhi = x / cosZeta;
    const sinPhi = y / cosZeta;
    for (let e = 0; e < 3; e++) {
      see[e] = cosPhi * axes[3 + e] - sinPhi * axes[e];
      see[3 + e] = cosZeta * axes[6 + e] - sinZeta * (cosPhi * axes[e] + sinPhi * axes[3 + e]);
    }
    see[6] = cosPhi;
    see[7] = sinPhi;
    see[8] = cosZeta;
    see[9] = sinZeta;
    const turn = SUN_SPEED * seconds;
    const sine = law[k][9] * cosineOf(turn) + law[k][8] * sineOf(turn);
    see[10] = law[k][8] * cosineOf(turn) - law[k][9] * sineOf(turn);
    see[11] = COS_OBLIQUITY * sine;
    see[12] = SIN_OBLIQUITY * sine;
    see[13] = k * STEP + seconds;
  },
  () => [axesAt, cosineOf, sineOf, STEP, SUN_SPEED, COS_OBLIQUITY, SIN_OBLIQUITY],
);

/** Inputs of every kernel of observations. */
const OBSERVED = { law: view(f64, 2), stars: view(f64, 2), transits: view(i32, 2), moments: view(f64), transitOf: view(i32) };

/** Places, parallax and motions of stars in uas and uas a year, and 1000 (gamma - 1). `middle`: seconds of the epoch that motions count from. */
export const starCoefficients = kernel(
  "starCoefficients",
  { ...OBSERVED, middle: f64, factored: fixed(bool), astrometric: view(f64, 2), global: view(f64), sight: view(f64, 2) },
  ({ law, stars, transits, moments, transitOf, middle, factored, astrometric, global, sight }, i) => {
    const j = transitOf[i];
    const s = transits[j][0];
    const v0 = stars[s][0];
    const v1 = stars[s][1];
    const v2 = stars[s][2];
    const [strip, across] = placeInTransit(i - transits[j][4], stars[s][8] < 0);
    const axes = new Float64Array(9);
    const see = new Float64Array(14);
    look(law, transits[j][1], moments[j] + STRIP_TIME * strip, v0, v1, v2, axes, see);
    const scale = across ? stars[s][10] / ACROSS_ERROR : stars[s][10] / see[8];
    const d0 = scale * (across ? see[3] : see[0]);
    const d1 = scale * (across ? see[4] : see[1]);
    const d2 = scale * (across ? see[5] : see[2]);
    const years = (see[13] - middle) / YEAR;
    const alongP = d0 * stars[s][3] + d1 * stars[s][4];
    const alongQ = d0 * stars[s][5] + d1 * stars[s][6] + d2 * stars[s][7];
    const toSun = d0 * see[10] + d1 * see[11] + d2 * see[12];
    astrometric[i][0] = alongP;
    astrometric[i][1] = alongQ;
    // Gaia is opposite to the Sun, and a parallax moves stars away from it.
    astrometric[i][2] = DISTANCE * toSun;
    astrometric[i][3] = years * alongP;
    astrometric[i][4] = years * alongQ;
    if (factored) {
      for (let k = 0; k < 3; k++) sight[i][k] = astrometric[i][k];
    }
    // The star is bent away from the Sun, along (c v - sun) / sin(chi), by an amount that goes as cot(chi/2) = sqrt((1 + c)/(1 - c)).
    const c = v0 * see[10] + v1 * see[11] + v2 * see[12];
    const away = (c * (d0 * v0 + d1 * v1 + d2 * v2) - toSun) / Math.sqrt(1 - c * c);
    global[i] = (DEFLECTION / DISTANCE) * Math.sqrt((1 + c) / (1 - c)) * away;
  },
  () => [placeInTransit, look, STRIP_TIME, ACROSS_ERROR, YEAR, DISTANCE, DEFLECTION],
);

/** Turns of the axes about inertial axes, or about the satellite's own, as cubic B-splines with knots of `length` seconds from `start` on. */
export const attitudeCoefficients = kernel(
  "attitudeCoefficients",
  {
    ...OBSERVED,
    satelliteAxes: fixed(bool),
    factored: fixed(bool),
    pieces: view(f64, 2),
    knot: view(i32),
    attitude: view(f64, 2),
    turns: view(f64, 2),
  },
  ({ law, stars, transits, moments, transitOf, satelliteAxes, factored, pieces, knot, attitude, turns: kept }, i) => {
    const j = transitOf[i];
    const s = transits[j][0];
    const [strip, across] = placeInTransit(i - transits[j][4], stars[s][8] < 0);
    const axes = new Float64Array(9);
    const see = new Float64Array(14);
    look(law, transits[j][1], moments[j] + STRIP_TIME * strip, stars[s][0], stars[s][1], stars[s][2], axes, see);
    const scale = across ? stars[s][10] / ACROSS_ERROR : stars[s][10] / see[8];
    const turns = new Float64Array(3);
    if (satelliteAxes) {
      turns[0] = scale * (across ? -see[7] : see[9] * see[6]);
      turns[1] = scale * (across ? see[6] : see[9] * see[7]);
      turns[2] = across ? 0 : -scale * see[8];
    } else {
      for (let e = 0; e < 3; e++) turns[e] = scale * (across ? see[e] : -see[3 + e]);
    }
    const piece = transits[j][5];
    const place = (see[13] - pieces[piece][0]) / pieces[piece][1];
    const first = Math.max(0, Math.min(Math.floor(place) | 0, Math.floor(pieces[piece][3]) | 0));
    const f = place - first;
    const spline = new Float64Array(4);
    sixSplinesAt(f, spline);
    for (let k = 0; k < 4; k++) spline[k] /= 6;
    knot[i] = (Math.floor(pieces[piece][2]) | 0) + first;
    for (let axis = 0; axis < 3; axis++) {
      for (let k = 0; k < 4; k++) attitude[i][4 * axis + k] = turns[axis] * spline[k];
    }
    if (factored) {
      for (let axis = 0; axis < 3; axis++) kept[i][axis] = turns[axis];
      kept[i][3] = f;
    }
  },
  () => [placeInTransit, look, sixSplinesAt, STRIP_TIME, ACROSS_ERROR],
);

/**
 * Displacements of the image on a CCD, in the order of the blocks of `instrumentLayout`, whose starts are `smallAlong`, ... (magnitude is 0, colour
 * `ccds`, large-scale blocks of one axis are `ccds` * 2 * `intervals` apart). `keepSmall` [axis][CCD] and `keepLarge` [axis][field, CCD, interval] are 0 for
 * blocks that have left the system, else 1. Rows across scan have 0 for magnitude and colour.
 */
export const instrumentCoefficients = kernel(
  "instrumentCoefficients",
  {
    ...OBSERVED,
    factored: fixed(bool),
    height: f64,
    duration: f64,
    focalRows: i32,
    strips: i32,
    shortRow: i32,
    ccds: i32,
    pixels: i32,
    intervals: i32,
    smallAlong: i32,
    largeAlong: i32,
    smallAcross: i32,
    largeAcross: i32,
    keepSmall: view(f64, 2),
    keepLarge: view(f64, 2),
    column: view(i32, 2),
    instrument: view(f64, 2),
    weight: view(f64),
    place: view(i32),
  },
  (p, i) => {
    const { stars, transits } = p;
    const j = p.transitOf[i];
    const s = transits[j][0];
    const [strip, across] = placeInTransit(i - transits[j][4], stars[s][8] < 0);
    const axes = new Float64Array(9);
    const see = new Float64Array(14);
    look(p.law, transits[j][1], p.moments[j] + STRIP_TIME * strip, stars[s][0], stars[s][1], stars[s][2], axes, see);
    const weight = across ? stars[s][10] / ACROSS_ERROR : stars[s][10];
    const row = transits[j][3];
    const ccd = row * p.strips + strip - (row > p.shortRow ? 1 : 0);
    const inRow = 0.5 * (see[9] / p.height + 1) * p.focalRows - row;
    const pixel = Math.max(0, Math.min(Math.floor(inRow * p.pixels) | 0, p.pixels - 1));
    const interval = Math.min(Math.floor((see[13] / p.duration) * p.intervals) | 0, p.intervals - 1);
    const fieldCcd = transits[j][2] * p.ccds + ccd;
    const large = fieldCcd * p.intervals + interval;
    const axis = across ? 1 : 0;
    const column = p.column;
    const instrument = p.instrument;
    column[i][0] = ccd;
    column[i][1] = p.ccds + fieldCcd;
    column[i][2] = (across ? p.smallAcross : p.smallAlong) + ccd * p.pixels + pixel;
    instrument[i][0] = across ? 0 : weight * stars[s][8];
    instrument[i][1] = across ? 0 : weight * stars[s][9];
    instrument[i][2] = weight * p.keepSmall[axis][ccd];
    const x = (pixel + 0.5) / p.pixels - 0.5;
    const kept = weight * p.keepLarge[axis][large];
    instrument[i][3] = kept;
    instrument[i][4] = kept * 2 * x;
    instrument[i][5] = kept * (6 * x * x - 0.5);
    const firstLarge = (across ? p.largeAcross : p.largeAlong) + large;
    for (let d = 0; d < 3; d++) column[i][3 + d] = firstLarge + 2 * d * p.ccds * p.intervals;
    if (p.factored) {
      p.weight[i] = weight;
      p.place[i] = placeOf(2 * (2 * interval + axis) * p.ccds + fieldCcd, pixel);
    }
  },
  () => [placeInTransit, placeOf, look, STRIP_TIME, ACROSS_ERROR],
);

/** Displacements of stars by magnitude and colour; stars are counted from `firstStar`. */
export const starColours = kernel(
  "starColours",
  { stars: view(f64, 2), firstStar: i32, colours: view(f64, 2) },
  ({ stars, firstStar, colours }, s, k) => {
    colours[s][k] = stars[firstStar + s][8 + k];
  },
);
