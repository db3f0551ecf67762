import type { Device, LaunchOptions } from "isoform";
import { LaunchError, f64, i32, range } from "isoform";
import type { DeviceSet } from "isoform/set";
import { requireMemory } from "isoform/set";
import { constraintRows, joined, onSeen } from "../constraints.js";
import { COLOURS, SIGHT, TIMES, TURNS } from "../factored.js";
import type { Shape } from "../shape.js";
import { INSTRUMENT, KNOTS, PUBLISHED, ROW, instrumentLayout, publishedGib, publishedShape, scaledShape, sections } from "../shape.js";
import type { Constraints, Observations, RowSource, Window } from "../source.js";
import { randomNoise, randomSolution } from "../truth.js";
import type { AttitudePieces } from "./attitude-knots.js";
import { pieceAt, piecewiseKnots } from "./attitude-knots.js";
import { frameRows } from "./frame.js";
import type { FocalPlane, InstrumentSizes, LeftBlock } from "./instrument-sizes.js";
import { FEWEST_PIXELS, GAIA_PLANE, ccdsOf, instrumentSizes, stripsOf } from "./instrument-sizes.js";
import type { ScanningLaw } from "./law.js";
import { STEP, YEAR, scanningLaw } from "./law.js";
import {
  PIECE,
  STRIP_TIME,
  TRANSIT,
  attitudeCoefficients,
  instrumentCoefficients,
  spreadTransits,
  starCoefficients,
  starColours,
} from "./rows.js";
import type { StarList } from "./stars.js";
import { BRIGHT, BRIGHT_ERROR, randomStars } from "./stars.js";
import type { Transits } from "./transits.js";
import { MOMENT, PLACE, findTransits, timeOf, uploadSky } from "./transits.js";

/** Half the height of a field of view, degrees. */
const HALF_HEIGHT = 0.345;
/** Transits that a star's five parameters need. */
export const FEWEST_TRANSITS = 6;
/** Coefficients of the constraints in terms of an observation's of a bright star. */
const CONSTRAINT_WEIGHT = 10;
/**
 * Stars and years that are made. A single star leaves 16 directions of the unknowns free, and half a year brings the least eigenvalue of the scaled
 * normal matrix to 5e-8; with 20 stars in a year it was 8e-6 or more for four seeds.
 */
const FEWEST_STARS = 20;
const FEWEST_YEARS = 1;
const MOST_YEARS = 20;
/** Rows a star and year, 10.63 a transit and 17.58 transits: for sizes given in GiB. */
const ROWS_A_STAR_AND_YEAR = 186.9;
/** Remedy where a device has too little memory. */
const SMALLER = "fewer --stars or --years";
const DEFAULT_STARS = 300;
const DEFAULT_YEARS = 5;

/** Known terms: `identity`, of x = 1 for all unknowns; `truth`, of a random solution, with noise. */
export const KNOWN = ["identity", "truth"] as const;
export type Known = (typeof KNOWN)[number];
/** Axes of the attitude's turns. */
export const TURN_AXES = ["inertial", "satellite"] as const;
export type TurnAxes = (typeof TURN_AXES)[number];

/** Options of the generator `scanning`. */
export interface ScanningOptions {
  /** Default: 300. */
  stars?: number;
  /** Years of observation, 1 to 20. Default: 5. */
  years?: number;
  /** Seconds between knots of the attitude. Default: `auto`, as short as the observations determine. */
  knot?: number | "auto";
  /** Pixel columns of a CCD, 4 to 1966. Default: `auto`, as many as the observations determine. */
  pixels?: number | "auto";
  /** Axes that the attitude turns about. Default: `inertial`. */
  axes?: TurnAxes;
  /** Whether six constraints fix turn and spin of the frame. Default: true. */
  frame?: boolean;
  /** Default: `identity`. */
  known?: Known;
  /** Fraction of observations that are off by 10 to 1000 standard errors, where the known terms are a `truth`'s. Default: 0. */
  outliers?: number;
  /** CCDs that observe. Default: Gaia's 62. */
  plane?: FocalPlane;
  /** Half the height of a field of view, degrees. Default: 0.345. */
  halfHeight?: number;
  /** Stars to be observed. Default: `stars` random ones. */
  list?: StarList;
  /** The law to observe by, which says how many years there are. Default: the nominal one. */
  law?: ScanningLaw;
}

/** Rows of a scanning system, with the stars, times and sizes that they are made of. */
export interface ScanningSource extends RowSource {
  readonly stars: StarList;
  readonly law: ScanningLaw;
  /** Transits that are observed, and the first observation of each. */
  readonly transits: Transits;
  readonly firstRow: Int32Array;
  readonly knots: AttitudePieces;
  readonly sizes: InstrumentSizes;
  /** Transits that were left out at the ends of the attitude, or as their star has fewer than six. */
  readonly leftOut: number;
  /** Stars that have left the system: they have fewer than six transits. */
  readonly leftStars: readonly number[];
  readonly leftBlocks: readonly LeftBlock[];
  /** Whether constraints fix turn and spin of the frame. */
  readonly frameIsFixed: boolean;
  /** The options that fix the system, defaults included. */
  readonly settings: Readonly<Record<string, number | string | boolean>>;
}

/** Stars and years that make about the rows of a published system of `gib` GiB. */
export function scanningSize(gib: number): { stars: number; years: number } {
  const { observations } = scaledShape(gib);
  if (gib < publishedGib(PUBLISHED))
    return { stars: Math.round(observations / (DEFAULT_YEARS * ROWS_A_STAR_AND_YEAR)), years: DEFAULT_YEARS };
  const { stars } = publishedShape(gib);
  return { stars, years: observations / stars / ROWS_A_STAR_AND_YEAR };
}

/**
 * Observes stars by the nominal scanning law and chooses sizes of attitude and instrument that the observations determine. `seed` is a u32. Throws
 * LaunchError for sizes that leave unknowns undetermined.
 */
export async function scanningRows(on: DeviceSet | Device, options: ScanningOptions, seed: number): Promise<ScanningSource> {
  const device = "members" in on ? on.locals[0].device : on;
  const { stars: count = DEFAULT_STARS, knot = "auto", pixels = "auto", axes = "inertial" } = options;
  const { plane = GAIA_PLANE, halfHeight = HALF_HEIGHT, frame = true, known = "identity", outliers = 0 } = options;
  const years = options.law ? options.law.duration / YEAR : (options.years ?? DEFAULT_YEARS);
  const size = options.list?.count ?? count;
  requireSizes(size, years, options);
  const what = `${size.toLocaleString("en-US")} stars in ${options.law ? years.toFixed(2) : years} years`;
  const rowBytes = 8 * (ROW + 1) + 4 * (2 + INSTRUMENT) + 2 * 8;
  requireMemory(on, { what, bytes: 0.9 * size * years * ROWS_A_STAR_AND_YEAR * rowBytes, choose: SMALLER });
  const stars = options.list ?? randomStars(size, seed);
  const law = options.law ?? scanningLaw(years * YEAR);
  const height = Math.sin((halfHeight * Math.PI) / 180);
  const sky = uploadSky(device, law, stars);
  const found = await findTransits(device, law, sky, stars.count, height);
  sky.free();
  const transitTime = STRIP_TIME * (plane.strips - 1);
  const all = law.covered ? keep(found, (j) => isCovered(law, found, j, transitTime)) : found;
  const rules = { knot, axes, transitTime, what };
  const seenStars = starsWith(all, stars.count);
  const times = Float64Array.from({ length: all.count }, (_, j) => timeOf(all, j)).filter((_, j) => seenStars[all.place[PLACE * j]]);
  const knots = piecewiseKnots(times.sort(), coveredPieces(law), rules);
  const transits = keep(all, (j) => seenStars[all.place[PLACE * j]] && pieceAt(knots, timeOf(all, j)) >= 0);
  const { rows, firstRow, starRow, calibrating } = rowsOf(transits, stars, plane, height, law.duration);
  const sizes = instrumentSizes(plane, calibrating, pixels);
  const shape: Shape = {
    stars: stars.count,
    observations: rows,
    knots: knots.count,
    pixels: sizes.pixels,
    intervals: sizes.intervals,
    ccds: ccdsOf(plane),
    globals: 1,
  };
  const observed = { shape, stars, law, transits, firstRow, knots, sizes };
  return {
    ...observed,
    smaller: SMALLER,
    starRow,
    mayLeave: true,
    hasFactors: true,
    leftOut: found.count - transits.count,
    leftStars: [...seenStars.keys()].filter((s) => !seenStars[s]),
    leftBlocks: sizes.left,
    frameIsFixed: frame,
    settings: { years, knot, pixels, axes, frame, known, outliers },
    write: (on, into, window, launch) => writeRows(on, into, observed, { plane, height, axes }, window, launch),
    constraints: (seen = () => true) => scanningConstraints(shape, stars, frame, seen),
    exact: (constraints, seen) =>
      known === "identity"
        ? { x: Float64Array.from({ length: sections(shape).unknowns }, (_, j) => (seen(j) ? 1 : 0)) }
        : { x: randomSolution(shape, constraints, seen, seed), noise: randomNoise(rows, seed, outliers) },
  };
}

function requireSizes(stars: number, years: number, { pixels = "auto", outliers = 0, known }: ScanningOptions): void {
  if (!(stars >= FEWEST_STARS)) throw new LaunchError(`${stars} stars leave unknowns undetermined: ask for ${FEWEST_STARS} or more`);
  if (!(years >= FEWEST_YEARS && years <= MOST_YEARS))
    throw new LaunchError(`${years} years: parallaxes and motions need from ${FEWEST_YEARS} to ${MOST_YEARS} years`);
  if (pixels !== "auto" && !(pixels >= FEWEST_PIXELS && pixels <= PUBLISHED.pixels))
    throw new LaunchError(`${pixels} pixel columns: a CCD has from ${FEWEST_PIXELS} to ${PUBLISHED.pixels}`);
  if (outliers > 0 && known !== "truth") throw new LaunchError("outliers need known terms with noise: take --known truth");
}

/** Whether a law covers a transit from its first strip to its last. */
function isCovered({ covered }: ScanningLaw, { place, moment }: Transits, j: number, transitTime: number): boolean {
  const step = place[PLACE * j + 1];
  return covered![step] === 1 && (moment[MOMENT * j] + transitTime < STEP || covered![step + 1] === 1);
}

/** First and last second of each stretch of steps that a law covers. */
function coveredPieces({ covered, duration }: ScanningLaw): [first: number, end: number][] {
  if (!covered) return [[0, duration]];
  const pieces: [number, number][] = [];
  for (let k = 0; k < covered.length; k++) {
    if (covered[k] === 0) continue;
    if (k > 0 && covered[k - 1] === 1) pieces[pieces.length - 1][1] = (k + 1) * STEP;
    else pieces.push([k * STEP, (k + 1) * STEP]);
  }
  return pieces;
}

/** Whether each star has enough transits. */
function starsWith({ count, place }: Transits, stars: number): boolean[] {
  const seen = new Int32Array(stars);
  for (let j = 0; j < count; j++) seen[place[PLACE * j]]++;
  return Array.from(seen, (n) => n >= FEWEST_TRANSITS);
}

/** The transits for which `stays` holds. */
function keep({ count, place, moment }: Transits, stays: (j: number) => boolean): Transits {
  const kept = Int32Array.from({ length: count }, (_, j) => j).filter(stays);
  return {
    count: kept.length,
    place: Int32Array.from({ length: PLACE * kept.length }, (_, e) => place[PLACE * kept[Math.floor(e / PLACE)] + (e % PLACE)]),
    moment: Float64Array.from({ length: MOMENT * kept.length }, (_, e) => moment[MOMENT * kept[Math.floor(e / MOMENT)] + (e % MOMENT)]),
  };
}

/** Row of CCDs of transit `j`. */
const focalRow = ({ moment }: Transits, j: number, { rows }: FocalPlane, height: number): number =>
  Math.min(Math.floor(0.5 * (moment[MOMENT * j + 1] / height + 1) * rows), rows - 1);

/** Rows of the system: for each transit along scan on each strip, across scan on the first, for bright stars on all. */
function rowsOf(transits: Transits, stars: StarList, plane: FocalPlane, height: number, duration: number) {
  const firstRow = new Int32Array(transits.count);
  const starRow = new Int32Array(stars.count + 1);
  let rows = 0;
  const calibrating = Array.from(firstRow, (_, j) => {
    const star = transits.place[PLACE * j];
    const bright = stars.magnitudes[star] < BRIGHT;
    const row = focalRow(transits, j, plane, height);
    const strips = stripsOf(plane, row);
    firstRow[j] = rows;
    rows += bright ? 2 * strips : strips + 1;
    starRow[star + 1] = rows;
    return { field: transits.place[PLACE * j + 2], row, bright, part: timeOf(transits, j) / duration };
  });
  for (let s = 0; s < stars.count; s++) starRow[s + 1] = Math.max(starRow[s], starRow[s + 1]);
  return { rows, firstRow, starRow, calibrating };
}

/** The instrument's constraints, and with `frame` six more, on unknowns that are seen; empty rows are left out. */
function scanningConstraints(shape: Shape, stars: StarList, frame: boolean, seen: (unknown: number) => boolean): Constraints {
  const { instrument } = sections(shape);
  const weight = CONSTRAINT_WEIGHT / BRIGHT_ERROR;
  const fixed = constraintRows(shape, weight);
  const calibration = { ...fixed, columns: fixed.columns.map((c) => instrument + c) };
  return { ...onSeen(frame ? joined(calibration, frameRows(stars, weight)) : calibration, seen), first: 0 };
}

type Observed = Pick<ScanningSource, "shape" | "stars" | "law" | "transits" | "firstRow" | "knots" | "sizes">;

/** Writes the observations of a window; always in strict mode, so that devices agree. */
async function writeRows(
  device: Device,
  into: Observations,
  { shape, stars, law, transits, firstRow, knots, sizes }: Observed,
  { plane, height, axes }: { plane: FocalPlane; height: number; axes: TurnAxes },
  window: Window,
  launch: LaunchOptions,
): Promise<void> {
  const { ccds, pixels, intervals } = shape;
  const observations = window.rows[1] - window.rows[0];
  if (observations === 0) return;
  const options: LaunchOptions = { ...launch, precision: "strict" };
  const sky = uploadSky(device, law, stars);
  // Transits are in the order of their stars.
  const first = firstRow.findIndex((row) => row >= window.rows[0]);
  const after = firstRow.findIndex((row) => row >= window.rows[1]);
  const count = (after < 0 ? transits.count : after) - first;
  const table = new Int32Array(TRANSIT * count);
  for (let n = 0; n < count; n++) {
    const j = first + n;
    const place = transits.place.subarray(PLACE * j, PLACE * (j + 1));
    const row = focalRow(transits, j, plane, height);
    table.set([...place, row, firstRow[j] - window.rows[0], pieceAt(knots, timeOf(transits, j))], TRANSIT * n);
  }
  let firstSpline = 0;
  const splines = knots.pieces.flatMap(({ start, length, count }) => [start, length, (firstSpline += count) - count, count - KNOTS]);
  const arrays = {
    transits: device.from(i32, table).reshape(count, TRANSIT),
    moments: device.from(
      f64,
      Float64Array.from({ length: count }, (_, n) => transits.moment[MOMENT * (first + n)]),
    ),
    transitOf: device.array(i32, observations),
    pieces: device.from(f64, splines).reshape(knots.pieces.length, PIECE),
    keepSmall: device.from(f64, sizes.keepSmall).reshape(2, ccds),
    keepLarge: device.from(f64, sizes.keepLarge).reshape(2, 2 * ccds * intervals),
  };
  const unwritten = {
    sight: device.array(f64, [1, SIGHT]),
    turns: device.array(f64, [1, TURNS]),
    weight: device.array(f64, 1),
    place: device.array(i32, 1),
  };
  const { keepSmall, keepLarge, pieces, ...places } = arrays;
  const { transitOf } = places;
  const each = range(observations);
  const observed = { law: sky.law, stars: sky.stars, ...places };
  const spread = { transits: places.transits, rows: observations, firstStar: window.stars[0], transitOf, star: into.star };
  await device.run(spreadTransits, spread, range(count), options);
  const middle = law.duration / 2;
  const factored = into.factors !== undefined;
  const { sight, turns, weight, place } = into.factors ?? unwritten;
  if (into.factors) {
    const { colours, times } = into.factors;
    await device.run(starColours, { stars: sky.stars, firstStar: window.stars[0], colours }, range(colours.shape[0], COLOURS), options);
    device.queue.write(times, yearsOfKnots(knots, middle));
  }
  const ofStars = { middle, factored, astrometric: into.astrometric, global: into.global!, sight };
  await device.run(starCoefficients, { ...observed, ...ofStars }, each, options);
  const attitude = { knot: into.knot, attitude: into.attitude, satelliteAxes: axes === "satellite", pieces, factored, turns };
  await device.run(attitudeCoefficients, { ...observed, ...attitude }, each, options);
  const { smallAlong, largeAlong, smallAcross, largeAcross } = instrumentLayout(shape);
  const blocks = { smallAlong, largeAlong: largeAlong[0], smallAcross, largeAcross: largeAcross[0] };
  const focal = { focalRows: plane.rows, strips: plane.strips, shortRow: plane.shortRow, ccds, pixels, intervals };
  const written = { keepSmall, keepLarge, column: into.column, instrument: into.instrument, factored, weight, place };
  await device.run(instrumentCoefficients, { ...observed, height, duration: law.duration, ...focal, ...blocks, ...written }, each, options);
  sky.free();
  for (const array of [...Object.values(arrays), ...Object.values(unwritten)]) array.free();
}

/** For each start knot the years from `middle` to it, and from it to the next, [knot][2]. */
function yearsOfKnots({ pieces, count }: AttitudePieces, middle: number): Float64Array {
  const times = new Float64Array(TIMES * count);
  let knot = 0;
  for (const piece of pieces)
    for (let n = 0; n < piece.count; n++, knot++)
      times.set([(piece.start + n * piece.length - middle) / YEAR, piece.length / YEAR], TIMES * knot);
  return times;
}
