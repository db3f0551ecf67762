import type { ScanningLaw } from "./law.js";
import { NODE, SPIN, STEP } from "./law.js";

/*
 * Scanning laws from tables of directions, as nodes of equal steps: where both fields look at moments some ten seconds apart. Between rows the satellite turns
 * evenly; where rows are more than 20 s apart nothing is observed.
 */

/** Directions of the fields of view; angles in degrees. */
export interface LawRows {
  /** TCB, days from JD 2455197.5. */
  readonly days: Float64Array;
  readonly preceding: readonly [ra: Float64Array, dec: Float64Array];
  readonly following: readonly [ra: Float64Array, dec: Float64Array];
}

/** Seconds between rows that are a gap. */
const GAP = 20;
/** Angle between the fields, and how far rows may be from it: degrees. */
const BASIC_ANGLE = 106.5;
const TOLERANCE = 0.01;
/** How far the axes may be from an even turn within a step, radians: a second of arc. */
const UNEVEN = Math.PI / 648_000;
/** TCB of J2000 from JD 2455197.5, days. */
const J2000 = 2_451_545 - 2_455_197.5;

type Vector = readonly [number, number, number];
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const sum = (a: Vector, b: Vector, f = 1): Vector => [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]];
const unit = (a: Vector): Vector => {
  const length = Math.sqrt(dot(a, a));
  return [a[0] / length, a[1] / length, a[2] / length];
};
const direction = ([ra, dec]: readonly [Float64Array, Float64Array], row: number): Vector => {
  const [a, d] = [(ra[row] * Math.PI) / 180, (dec[row] * Math.PI) / 180];
  return [Math.cos(d) * Math.cos(a), Math.cos(d) * Math.sin(a), Math.sin(d)];
};

/** Spin axis Z and axis X, between the fields, at a row. */
interface Axes {
  readonly z: Vector;
  readonly x: Vector;
}

/**
 * The law of these rows from the first one on. Steps of 600 s with a gap are not covered. `fail` throws: row and what is wrong with it.
 */
export function commandedLaw(rows: LawRows, fail: (row: number, what: string) => never): ScanningLaw {
  const { days } = rows;
  const count = days.length;
  if (count < 2) return fail(count, "a scanning law needs two rows or more");
  const seconds = (row: number): number => (days[row] - days[0]) * 86400;
  const axesOf = (row: number): Axes => {
    const [p, f] = [direction(rows.preceding, row), direction(rows.following, row)];
    const angle = (Math.acos(Math.max(-1, Math.min(1, dot(p, f)))) * 180) / Math.PI;
    if (!(Math.abs(angle - BASIC_ANGLE) < TOLERANCE))
      return fail(row, `the fields are ${angle.toFixed(4)} degrees apart: Gaia's are ${BASIC_ANGLE}, fov1 the preceding one`);
    return { z: unit(cross(f, p)), x: unit(sum(f, p)) };
  };
  for (let row = 0; row < count; row++) axesOf(row);
  for (let row = 1; row < count; row++)
    if (!(days[row] > days[row - 1])) return fail(row, `jd_time is ${days[row]}, after ${days[row - 1]}: times have to rise`);
  const duration = seconds(count - 1);
  const nodes = new Float64Array(NODE * (Math.floor(duration / STEP) + 3));
  const steps = nodes.length / NODE;
  const covered = new Uint8Array(steps);
  let row = 0;
  let x: Vector | undefined;
  let before: Axes = axesOf(0);
  for (let k = 0; k < steps; k++) {
    const t = k * STEP;
    const first = row;
    let whole = k > 0 && x !== undefined;
    while (row + 1 < count - 1 && seconds(row + 1) <= t) {
      if (seconds(row + 1) - seconds(row) > GAP) whole = false;
      row++;
    }
    const gap = seconds(row + 1) - seconds(row);
    if (gap > GAP) whole = false;
    const inside = t <= duration && gap <= GAP;
    const axes = inside ? between(axesOf(row), axesOf(row + 1), (t - seconds(row)) / gap) : before;
    if (x === undefined) x = axes.x;
    else x = unit(sum(x, axes.z, -dot(x, axes.z)));
    putNode(nodes, k, axes, x, days[0] + t / 86400);
    if (k > 0) {
      putRate(nodes, k - 1);
      // A step whose end is not covered is not either.
      covered[k - 1] = whole && inside ? 1 : 0;
      if (covered[k - 1]) requireEven(nodes, k - 1, { from: first, to: row, seconds, axesOf }, fail);
    }
    before = axes;
  }
  nodes[NODE * steps - 1] = SPIN;
  return { duration, nodes, covered, start: days[0] };
}

/** Axes a part of the way from one row to the next: turned about the axis by that part of the angle. */
function between(a: Axes, b: Axes, part: number): Axes {
  const z = unit(sum(a.z, sum(b.z, a.z, -1), part));
  const angle = part * Math.atan2(dot(a.z, cross(a.x, b.x)), dot(a.x, b.x));
  const x = unit(sum(a.x, z, -dot(a.x, z)));
  const y = cross(z, x);
  return { z, x: sum([Math.cos(angle) * x[0], Math.cos(angle) * x[1], Math.cos(angle) * x[2]], y, Math.sin(angle)) };
}

/** Writes a node: the axis, x carried along with it, the turn since, and the Sun's place. */
function putNode(nodes: Float64Array, k: number, axes: Axes, carried: Vector, day: number): void {
  const y = cross(axes.z, carried);
  const turn = Math.atan2(dot(axes.x, y), dot(axes.x, carried));
  const sun = sunLongitude(day - J2000);
  nodes.set([...axes.z, ...carried, Math.cos(turn), Math.sin(turn), Math.cos(sun), Math.sin(sun), SPIN], NODE * k);
}

/** The spin between two nodes: the turn nearest to the nominal one. */
function putRate(nodes: Float64Array, k: number): void {
  const [c0, s0, c1, s1] = [6, 7, NODE + 6, NODE + 7].map((e) => nodes[NODE * k + e]);
  const nominal = SPIN * STEP;
  const turned = Math.atan2(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0);
  nodes[NODE * k + 10] = (turned + 2 * Math.PI * Math.round((nominal - turned) / (2 * Math.PI))) / STEP;
}

/** Compares the rows of a step with an even turn between its nodes. */
function requireEven(
  nodes: Float64Array,
  k: number,
  { from, to, seconds, axesOf }: { from: number; to: number; seconds: (row: number) => number; axesOf: (row: number) => Axes },
  fail: (row: number, what: string) => never,
): void {
  const at = (node: number, e: number): Vector => [nodes[NODE * node + e], nodes[NODE * node + e + 1], nodes[NODE * node + e + 2]];
  for (let row = from + 1; row <= to; row++) {
    const t = seconds(row) - k * STEP;
    if (t <= 0 || t >= STEP) continue;
    const part = t / STEP;
    const z = unit(sum(at(k, 0), sum(at(k + 1, 0), at(k, 0), -1), part));
    const carried = sum(at(k, 3), sum(at(k + 1, 3), at(k, 3), -1), part);
    const x = unit(sum(carried, z, -dot(carried, z)));
    const turn = Math.atan2(nodes[NODE * k + 7], nodes[NODE * k + 6]) + nodes[NODE * k + 10] * t;
    const spun = sum([Math.cos(turn) * x[0], Math.cos(turn) * x[1], Math.cos(turn) * x[2]], cross(z, x), Math.sin(turn));
    const found = axesOf(row);
    const off = Math.max(...[sum(spun, found.x, -1), sum(z, found.z, -1)].map((d) => Math.sqrt(dot(d, d))));
    if (off > UNEVEN)
      return fail(
        row,
        `the axes are ${((off * 648_000) / Math.PI).toFixed(2)} arcseconds from an even turn within ${STEP} s: isoform reads laws of steady spin`,
      );
  }
}

/** Ecliptic longitude of the Sun in radians, to 0.01 degrees; days from J2000 (Astronomical Almanac, low precision). */
function sunLongitude(day: number): number {
  const degree = Math.PI / 180;
  const anomaly = (357.528 + 0.9856003 * day) * degree;
  return (280.46 + 0.9856474 * day + 1.915 * Math.sin(anomaly) + 0.02 * Math.sin(2 * anomaly)) * degree;
}
