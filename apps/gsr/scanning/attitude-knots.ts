import { LaunchError } from "isoform";
import { KNOTS } from "../shape.js";

/*
 * Knots of the attitude's splines. Intervals between them that see too few transits leave unknowns that no observation determines: with 4 transits an
 * interval up to two directions of the unknowns are free, with 6 up to one; with 8 and more all are determined.
 */

/** Seconds between knots of the mission's attitude, and the least that is chosen. */
const SHORTEST = 685;
/** Transits an interval on average that are aimed at. */
const TRANSITS = 10;
/** Transits an interval on average, and in the four intervals of each spline, that are needed. */
const LEAST = 8;
/** Factor by which knots are made longer until every spline sees enough. */
const LONGER = 1.05;
/** Turns about the satellite's axes represent a turn of the frame with knots of up to this many seconds. */
const LONGEST_SATELLITE = 1000;

interface AttitudeKnots {
  /** Seconds of the first knot. */
  readonly start: number;
  /** Seconds between knots. */
  readonly length: number;
  /** Splines an axis: one more than intervals for each degree. */
  readonly count: number;
  /** Seconds after which transits begin, and before which: those outside are left out. */
  readonly first: number;
  readonly last: number;
  readonly transitsAnInterval: number;
}

/** How knots are chosen. */
interface KnotRules {
  /** Seconds between knots, or `auto`. */
  readonly knot: number | "auto";
  readonly axes: "inertial" | "satellite";
  /** Seconds that the observations of a transit take. */
  readonly transitTime: number;
  /** Name of the observed sample, for messages: `300 stars in 5 years`. */
  readonly what: string;
}

/** Knots of an attitude in pieces: its splines end where nothing was observed for a while. */
export interface AttitudePieces extends AttitudeKnots {
  readonly pieces: readonly AttitudeKnots[];
}

/**
 * Knots of each of the pieces, given by their first and last second, for the sorted times of all transits; a piece with too few transits for splines is left
 * out where there are others. Length and transits an interval are means. Throws LaunchError as `attitudeKnots` does.
 */
export function piecewiseKnots(
  times: Float64Array,
  pieces: readonly (readonly [first: number, end: number])[],
  rules: KnotRules,
): AttitudePieces {
  if (pieces.length <= 1) {
    const knots = attitudeKnots(times, rules);
    return { ...knots, pieces: [knots] };
  }
  const found = pieces.flatMap(([first, end]) => {
    const inside = times.filter((time) => time >= first && time < end);
    return inside.length < LEAST * KNOTS ? [] : [attitudeKnots(inside, rules)];
  });
  if (found.length === 0) throw new LaunchError(`${rules.what} have too few transits between gaps for an attitude: ask for more stars`);
  const intervals = found.reduce((sum, { count }) => sum + count - KNOTS + 1, 0);
  const weighted = (of: (knots: AttitudeKnots) => number) =>
    found.reduce((sum, knots) => sum + of(knots) * (knots.count - KNOTS + 1), 0) / intervals;
  return {
    start: found[0].start,
    length: weighted(({ length }) => length),
    count: found.reduce((sum, { count }) => sum + count, 0),
    first: found[0].first,
    last: found[found.length - 1].last,
    transitsAnInterval: weighted(({ transitsAnInterval }) => transitsAnInterval),
    pieces: found,
  };
}

/** The piece that observes at a time; -1 for none. */
export const pieceAt = ({ pieces }: AttitudePieces, time: number): number =>
  pieces.findIndex(({ first, last }) => time >= first && time <= last);

/**
 * Knots from the first observation to the last, for the sorted times of all transits. `auto` takes 685 s, or the shortest length with ten transits
 * an interval on average and eight or more in the four intervals of every spline; at the ends, transits that stand alone are left out, whoever chose the
 * length. Throws LaunchError for lengths that leave splines undetermined, and for lengths that the axes do not allow.
 */
export function attitudeKnots(times: Float64Array, rules: KnotRules): AttitudeKnots {
  const { knot, axes, what } = rules;
  const knots = knot === "auto" ? longEnough(times, rules) : ofLength(times, knot, rules);
  if (axes === "satellite" && knots.length > LONGEST_SATELLITE)
    throw new LaunchError(
      `turns about the satellite's axes need knots of ${LONGEST_SATELLITE} s or less, and ${what} have ${Math.round(knots.length).toLocaleString("en-US")} s: ` +
        `take --axes inertial, or more stars`,
    );
  return knots;
}

/** Knots of about `length` seconds over the transits `first` to `end`. */
function knotsOf(times: Float64Array, first: number, end: number, length: number, { transitTime }: KnotRules): AttitudeKnots {
  const start = times[first] - 1;
  const span = times[end - 1] + transitTime + 1 - start;
  const intervals = Math.max(1, Math.ceil(span / length - 1e-9));
  return {
    start,
    length: span / intervals,
    count: intervals + KNOTS - 1,
    first: times[first],
    last: times[end - 1],
    transitsAnInterval: (end - first) / intervals,
  };
}

/** Splines at the ends, which see fewer transits than others. */
const ENDS = KNOTS - 1;

/** Place of a spline that sees too few transits: `inside`, where only longer knots help, or an end, where a transit can be left out. */
function weakest(support: Int32Array): "inside" | "begin" | "end" | undefined {
  if (least(support) >= LEAST) return undefined;
  if (least(support.subarray(ENDS, support.length - ENDS)) < LEAST) return "inside";
  return least(support.subarray(0, ENDS)) < LEAST ? "begin" : "end";
}

/** Knots of about the length that is asked for. */
function ofLength(times: Float64Array, length: number, rules: KnotRules): AttitudeKnots {
  for (let [first, end] = [0, times.length]; end - first >= LEAST * KNOTS;) {
    const knots = knotsOf(times, first, end, length, rules);
    const where = weakest(supportOf(times, knots));
    if (where === undefined && knots.transitsAnInterval >= LEAST) return knots;
    if (where === undefined || where === "inside") break;
    if (where === "begin") first++;
    else end--;
  }
  const { transitsAnInterval } = knotsOf(times, 0, times.length, length, rules);
  const enough = longEnough(times, rules).length;
  const digits = 10 ** (Math.floor(Math.log10(enough)) - 1);
  const rounded = (Math.ceil(enough / digits) * digits).toLocaleString("en-US");
  const seen =
    transitsAnInterval < LEAST
      ? `${transitsAnInterval.toFixed(2)} transits each`
      : `${transitsAnInterval.toFixed(2)} transits each on average, and fewer than ${LEAST} in the four intervals of a spline`;
  throw new LaunchError(
    `knots of ${length} s see ${seen}: ${rules.what} ${enough > length ? `need ${rounded} s or more` : `can have ${rounded} s`} (--knot auto)`,
  );
}

function longEnough(times: Float64Array, rules: KnotRules): AttitudeKnots {
  const { what } = rules;
  let [first, end, factor] = [0, times.length, 1];
  for (;;) {
    if (end - first < LEAST * KNOTS)
      throw new LaunchError(`${what} have ${times.length} transits, too few for an attitude: ask for more stars`);
    const span = times[end - 1] - times[first] + rules.transitTime + 2;
    const length = Math.max(SHORTEST, factor * TRANSITS * (span / (end - first)));
    const knots = knotsOf(times, first, end, length, rules);
    const where = weakest(supportOf(times, knots));
    if (where === undefined) return knots;
    if (where === "inside") {
      factor = (length * LONGER * (end - first)) / (TRANSITS * span);
      [first, end] = [0, times.length];
    } else if (where === "begin") first++;
    else end--;
  }
}

/** Transits that each spline sees. */
function supportOf(times: Float64Array, { start, length, count, first, last }: AttitudeKnots): Int32Array {
  const support = new Int32Array(count);
  for (const time of times) {
    if (time < first || time > last) continue;
    const interval = Math.min(Math.floor((time - start) / length), count - KNOTS);
    for (let k = 0; k < KNOTS; k++) support[interval + k]++;
  }
  return support;
}

const least = (counts: Int32Array): number => counts.reduce((a, b) => Math.min(a, b), Infinity);
