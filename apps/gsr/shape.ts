import { LaunchError } from "isoform";

/*
 * How large a system is and where its unknowns lie:
 * x = [5 astrometric a star | 3 attitude axes | instrument | global].
 */

export const ASTROMETRIC = 5;
/** Attitude axes, and consecutive coefficients (spline knots) of each in a row. */
export const AXES = 3;
export const KNOTS = 4;
export const ATTITUDE = AXES * KNOTS;
export const INSTRUMENT = 6;
/** Non-zeros of an observation, without the global unknown's. */
export const ROW = ASTROMETRIC + ATTITUDE + INSTRUMENT;

export const FIELDS = 2;
/** Legendre orders of the large-scale calibration. */
export const ORDERS = 3;
const GIB = 2 ** 30;
/** A little more would have rows that i32 cannot count. */
const LARGEST_GIB = 460;

/** The counts that fix everything else. */
export interface Shape {
  stars: number;
  observations: number;
  /** Degrees of freedom of one attitude axis. */
  knots: number;
  /** Pixel columns of a CCD, and intervals of time: what the instrument's calibration is resolved in. */
  pixels: number;
  intervals: number;
  /** CCDs that observe. */
  ccds: number;
  globals: Globals;
}

/** Number of global unknowns: 1 where the system has PPN gamma, whose column is dense, else 0. */
export type Globals = 0 | 1;

/** Counts of the published system; stars and observations for its smallest size. */
export const PUBLISHED: Shape = {
  stars: 10_000,
  observations: 2_400_000,
  knots: 230_489,
  pixels: 1966,
  intervals: 22,
  ccds: 62,
  globals: 0,
};

/** The unknowns of the instrument: what each block calibrates, and where it starts among them. */
interface InstrumentLayout {
  fields: number;
  ccds: number;
  magnitude: number;
  colour: number;
  smallAlong: number;
  /** One block a Legendre order. */
  largeAlong: number[];
  smallAcross: number;
  largeAcross: number[];
  size: number;
}

/** Blocks of instrument unknowns, in the published order. */
export function instrumentLayout({ ccds, pixels, intervals }: Shape): InstrumentLayout {
  let size = 0;
  const block = (length: number) => (size += length) - length;
  const orders = () => Array.from({ length: ORDERS }, () => block(FIELDS * ccds * intervals));
  return {
    fields: FIELDS,
    ccds,
    magnitude: block(ccds),
    colour: block(FIELDS * ccds),
    smallAlong: block(ccds * pixels),
    largeAlong: orders(),
    smallAcross: block(ccds * pixels),
    largeAcross: orders(),
    size,
  };
}

/** First unknown of each section, and their number. */
interface Sections {
  attitude: number;
  instrument: number;
  global: number;
  unknowns: number;
}

export function sections(shape: Shape): Sections {
  const attitude = ASTROMETRIC * shape.stars;
  const instrument = attitude + AXES * shape.knots;
  const global = instrument + instrumentLayout(shape).size;
  return { attitude, instrument, global, unknowns: global + shape.globals };
}

/** The number of unknowns that stars share, 951805 in the published system, whose program divides sums over all unknowns by it. */
export const sharedUnknowns = (shape: Shape): number => sections(shape).unknowns - sections(shape).attitude;

/**
 * GiB that the published program counts for a system, in its own arithmetic (f32, term by term): coefficients, 8-byte row indices,
 * known terms, 4-byte instrument columns and five vectors of unknowns without the global one.
 */
export function publishedGib(shape: Shape): number {
  const f = Math.fround;
  const { observations, globals } = shape;
  const { global } = sections(shape);
  const coefficients = f((f((ROW + globals) * observations) * 8) / GIB);
  const rowIndices = f((f(2 * observations) * 8) / GIB);
  const knownTerms = f((f(observations) * 8) / GIB);
  const instrumentColumns = f((f(INSTRUMENT * observations) * 4) / GIB);
  const vector = f((f(global) * 8) / GIB);
  return f(f(f(f(coefficients + rowIndices) + knownTerms) + instrumentColumns) + f(5 * vector));
}

/**
 * The published program's system for a memory of `gib`: stars double and observations triple while there is room, then observations
 * grow by 10 000. Its smallest system has 0.556 GiB, 0.574 with a global unknown, and is what less memory gets too.
 */
export function publishedShape(gib: number, globals: Globals = 0): Shape {
  requireSize(gib);
  const smallest: Shape = { ...PUBLISHED, globals };
  const memory = Math.fround(gib);
  const grow = (shape: Shape, step: (shape: Shape) => Shape): Shape => {
    for (let next = step(shape); ; next = step(next)) {
      if (publishedGib(next) >= memory) return shape;
      shape = next;
    }
  };
  if (publishedGib(smallest) >= memory) return smallest;
  const doubled = grow(smallest, (s) => ({ ...s, stars: 2 * s.stars, observations: 3 * s.observations }));
  return grow(doubled, (s) => ({ ...s, observations: s.observations + 10_000 }));
}

/**
 * The published system from 0.556 GiB on; below, one in which stars, observations, attitude knots, pixel columns and time intervals
 * shrink together. Throws LaunchError if too few observations would be left to determine the unknowns.
 */
export function scaledShape(gib: number, globals: Globals = 0): Shape {
  requireSize(gib);
  const scale = gib / publishedGib({ ...PUBLISHED, globals });
  if (scale >= 1) return publishedShape(gib, globals);
  const part = (count: number, least: number) => Math.max(least, Math.round(count * scale));
  const shape: Shape = {
    ...PUBLISHED,
    stars: part(PUBLISHED.stars, 2),
    observations: 0,
    knots: part(PUBLISHED.knots, 2 * KNOTS),
    pixels: part(PUBLISHED.pixels, ORDERS),
    intervals: part(PUBLISHED.intervals, 1),
    globals,
  };
  const { unknowns } = sections(shape);
  const observations = Math.floor((gib * GIB - 5 * 8 * unknowns) / (8 * (ROW + globals) + 16 + 8 + 4 * INSTRUMENT));
  if (observations < 1.5 * unknowns)
    throw new LaunchError(`a system of ${gib} GiB has too few observations for its ${unknowns} unknowns: ask for 0.001 GiB or more`);
  return { ...shape, observations };
}

/** Throws LaunchError for sizes that the published program answers with its smallest system, which is larger. */
export function requirePublishedSize(gib: number, globals: Globals = 0): void {
  requireSize(gib);
  const least = publishedGib({ ...PUBLISHED, globals }).toFixed(3);
  if (gib < Number(least))
    throw new LaunchError(
      `the published system has no size of ${gib} GiB: ask for --gib ${least} or more, or for --generator parallel, which makes smaller ones`,
    );
}

function requireSize(gib: number): void {
  if (!(gib > 0 && gib <= LARGEST_GIB)) throw new LaunchError(`a system of ${gib} GiB: it can have from 0.001 to ${LARGEST_GIB} GiB`);
}

/** The row at which each star's observations start, `stars` + 1 entries: floor(N / S) a star, the first N mod S stars one more. */
export function starRows({ stars, observations }: Shape): Int32Array {
  const each = Math.floor(observations / stars);
  const longer = observations % stars;
  return Int32Array.from({ length: stars + 1 }, (_, s) => s * each + Math.min(s, longer));
}

/** Rows of the first pass, in which every attitude unknown gets an observation. */
export const attitudePass = ({ knots }: Shape): number => Math.ceil((knots - KNOTS) / KNOTS) + 1;
