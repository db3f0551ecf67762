import { normalPair, philox, uniform } from "isoform/patterns";

/** Numbers of a star: see `StarList`. */
export const STAR = 11;
/** Stars brighter than this G are observed across scan on every strip, and with the same error. */
export const BRIGHT = 13;
/** Standard error of an observation along scan of a bright star, micro-arcseconds. */
export const BRIGHT_ERROR = 60;
const BRIGHTEST = 6;
const FAINTEST = 17;
/** Counts grow as 10^(0.25 G). */
const GROWTH = 0.25;
/** Standardised colours are clipped here. */
const LARGEST_COLOUR = 3;

/** Counter words that tell the random numbers of stars from others with the same seed. */
const PLACES = 0x5354;
const COLOURS = 0x5355;

export interface StarList {
  readonly count: number;
  readonly magnitudes: Float64Array;
  /** Names of the stars in catalogues; by default they count from 1. */
  readonly ids?: BigInt64Array;
  /**
   * A row a star: 0 to 2, its direction in ICRS; 3 and 4, the unit vector p of growing right ascension, whose z is 0; 5 to 7, the unit vector q of
   * growing declination; 8, (G - 13)/4; 9, its colour; 10, 1 / standard error of an observation along scan, in 1/uas.
   */
  readonly rows: Float64Array;
}

/** A star of a list. */
interface Star {
  /** Right ascension, radians. */
  readonly alpha: number;
  readonly sinDelta: number;
  /** G */
  readonly magnitude: number;
  /** Standardised; clipped at 3. */
  readonly colour: number;
}

/** Rows of a list of stars. */
export function starList(stars: readonly Star[]): StarList {
  const rows = new Float64Array(STAR * stars.length);
  for (const [s, { alpha, sinDelta, magnitude, colour }] of stars.entries()) {
    const [cosAlpha, sinAlpha] = [Math.cos(alpha), Math.sin(alpha)];
    const cosDelta = Math.sqrt(1 - sinDelta * sinDelta);
    const v = [cosDelta * cosAlpha, cosDelta * sinAlpha, sinDelta];
    const q = [-sinDelta * cosAlpha, -sinDelta * sinAlpha, cosDelta];
    const clipped = Math.max(-LARGEST_COLOUR, Math.min(LARGEST_COLOUR, colour));
    const weight = 10 ** (-0.2 * Math.max(0, magnitude - BRIGHT)) / BRIGHT_ERROR;
    rows.set([...v, -sinAlpha, cosAlpha, ...q, (magnitude - BRIGHT) / 4, clipped, weight], STAR * s);
  }
  return { count: stars.length, magnitudes: Float64Array.from(stars, ({ magnitude }) => magnitude), rows };
}

/** Right ascension, 0 to 2 pi, and declination of a star, radians. */
export function directionOf({ rows }: StarList, s: number): readonly [alpha: number, delta: number] {
  const [x, y, z] = rows.subarray(STAR * s, STAR * s + 3);
  const alpha = Math.atan2(y, x);
  return [alpha < 0 ? alpha + 2 * Math.PI : alpha, Math.atan2(z, Math.hypot(x, y))];
}

/** Stars spread evenly over the sky, G from 6 to 17 with counts that grow as 10^(0.25 G), colours normal. */
export function randomStars(count: number, seed: number): StarList {
  const faint = 10 ** (-GROWTH * (FAINTEST - BRIGHTEST));
  const draw = (s: number, n: number, kind: number): [number, number] => {
    const word = Uint32Array.of(s, n, kind, 0);
    philox(word, seed, 0);
    return [uniform(word[0], word[1]), uniform(word[2], word[3])];
  };
  return starList(
    Array.from({ length: count }, (_, s) => {
      const [height, longitude] = draw(s, 0, PLACES);
      const [rank] = draw(s, 1, PLACES);
      return {
        alpha: 2 * Math.PI * longitude,
        sinDelta: 2 * height - 1,
        magnitude: FAINTEST + Math.log10(faint + (1 - faint) * rank) / GROWTH,
        colour: normalPair(...draw(s, 0, COLOURS))[0],
      };
    }),
  );
}
