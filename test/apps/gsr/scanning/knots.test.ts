import assert from "node:assert/strict";
import { test } from "node:test";
import { SPIN } from "../../../../apps/gsr/scanning/law.js";
import { attitudeKnots } from "../../../../apps/gsr/scanning/attitude-knots.js";
import { GAIA_PLANE, ccdsOf, instrumentSizes } from "../../../../apps/gsr/scanning/instrument-sizes.js";

const YEARS = 5;
const DURATION = YEARS * 365.25 * 86_400;
/** Times without clumps, as a low-discrepancy sequence has them. */
const times = (count: number) =>
  Float64Array.from(
    { length: count },
    (_, j) => ((j * (Math.sqrt(5) - 1)) / 2 - Math.floor((j * (Math.sqrt(5) - 1)) / 2)) * DURATION,
  ).sort();
const rules = (what: string) => ({ knot: "auto", axes: "inertial", transitTime: 38.8, what }) as const;

test("knots are as short as ten transits each allow, and 685 s at least", () => {
  for (const [stars, length] of [
    [300, 60_000],
    [2000, 9000],
    [40_000, 685],
  ] as const) {
    const knots = attitudeKnots(times(stars * YEARS * 17.58), rules(`${stars} stars`));
    assert.ok(Math.abs(knots.length / length - 1) < 0.01, `${knots.length} s`);
    assert.ok(knots.transitsAnInterval >= 9.9);
  }
});

test("knots of 685 s for 2,000 stars are refused with those that would do", () => {
  assert.throws(() => attitudeKnots(times(2000 * YEARS * 17.58), { ...rules("2,000 stars in 5 years"), knot: 685 }), {
    message: "knots of 685 s see 0.76 transits each: 2,000 stars in 5 years need 9,000 s or more (--knot auto)",
  });
});

test("longer knots than needed are taken, and a gap in the transits makes auto's longer", () => {
  assert.equal(attitudeKnots(times(1000), { ...rules("few"), knot: 5e6 }).count, Math.ceil((DURATION - 1e3) / 5e6) + 3);
  const gap = times(2000).filter((time) => time < 0.5 * DURATION || time > 0.6 * DURATION);
  const knots = attitudeKnots(gap, rules("some"));
  assert.ok(4 * knots.length > 0.1 * DURATION);
});

test("transits that stand alone at the ends are left out", () => {
  const interval = DURATION / 200;
  const alone = Float64Array.from([0, ...times(2000).map((time) => time + 2.5 * interval), DURATION + 5 * interval]);
  const knots = attitudeKnots(alone, rules("some"));
  assert.ok(knots.first > 2 * interval && knots.last < DURATION + 3 * interval);
  assert.ok(knots.length < 1.01 * interval);
});

test("transits that stand alone at the ends are left out with an explicit length, too", () => {
  const interval = DURATION / 200;
  const alone = Float64Array.from([0, ...times(2000).map((time) => time + 2.5 * interval), DURATION + 5 * interval]);
  const { length } = attitudeKnots(alone, rules("some"));
  for (const knot of [length, 1.1 * length]) {
    const knots = attitudeKnots(alone, { ...rules("some"), knot });
    assert.ok(knots.first > 2 * interval && knots.last < DURATION + 3 * interval, `${knot}: ${knots.first} to ${knots.last}`);
    assert.ok(knots.length <= knot);
  }
  // Longer knots see enough with them.
  assert.equal(attitudeKnots(alone, { ...rules("some"), knot: 4 * length }).first, 0);
  // Nothing is left out where nothing stands alone.
  const even = attitudeKnots(times(2000), { ...rules("some"), knot: 2 * interval });
  assert.deepEqual([even.first, even.last], [times(2000)[0], times(2000).at(-1)]);
});

test("an explicit length that a gap bars is refused, with one that would do", () => {
  const gap = times(2000).filter((time) => time < 0.5 * DURATION || time > 0.6 * DURATION);
  const enough = attitudeKnots(gap, rules("some")).length;
  assert.throws(
    () => attitudeKnots(gap, { ...rules("some"), knot: enough / 2 }),
    /^LaunchError: knots of [\d.]+ s see (9|\d\d)\.\d\d transits each on average, and fewer than 8 in the four intervals of a spline: some need [\d,]+ s or more \(--knot auto\)$/,
  );
});

test("too few transits, and satellite axes with long knots, are refused", () => {
  assert.throws(() => attitudeKnots(times(20), rules("1 star in 1 years")), /1 star in 1 years have 20 transits, too few for an attitude/);
  assert.throws(
    () => attitudeKnots(times(2000), { ...rules("23 stars in 5 years"), axes: "satellite" }),
    /axes need knots of 1000 s or less.*--axes inertial/,
  );
});

/**
 * Part of a turn of the frame that splines with knots of this length leave over, squared: in the satellite's axes its components go as the
 * cosine of the spin. Measured on an even set of points by the normal equations of 200 knots.
 */
function leftOver(length: number): number {
  const knots = 200;
  const points = 20 * (knots - 3);
  const width = 7;
  const band = Array.from({ length: knots }, () => new Float64Array(width));
  const right = new Float64Array(knots);
  const at = (i: number) => {
    const x = i / 20;
    const first = Math.min(Math.floor(x), knots - 4);
    const f = x - first;
    const b = [(1 - f) ** 3, 3 * f ** 3 - 6 * f ** 2 + 4, -3 * f ** 3 + 3 * f ** 2 + 3 * f + 1, f ** 3].map((e) => e / 6);
    return { first, b, y: Math.cos(SPIN * length * x) };
  };
  for (let i = 0; i < points; i++) {
    const { first, b, y } = at(i);
    for (let j = 0; j < 4; j++) {
      right[first + j] += b[j] * y;
      for (let k = 0; k < 4; k++) band[first + j][3 + k - j] += b[j] * b[k];
    }
  }
  for (let j = 0; j < knots; j++)
    for (let k = 1; k < 4 && j + k < knots; k++) {
      const factor = band[j + k][3 - k] / band[j][3];
      for (let e = 0; e < 4; e++) if (3 - k + e < width) band[j + k][3 - k + e] -= factor * band[j][3 + e];
      right[j + k] -= factor * right[j];
    }
  const c = new Float64Array(knots);
  for (let j = knots - 1; j >= 0; j--) {
    let sum = right[j];
    for (let k = 1; k < 4 && j + k < knots; k++) sum -= band[j][3 + k] * c[j + k];
    c[j] = sum / band[j][3];
  }
  let [rest, all] = [0, 0];
  for (let i = 0; i < points; i++) {
    const { first, b, y } = at(i);
    rest += (y - b.reduce((sum, e, k) => sum + e * c[first + k], 0)) ** 2;
    all += y * y;
  }
  return rest / all;
}

test("splines hold a turn of the frame in satellite axes to 1e-10 with knots of 1000 s, not with 1200 s", () => {
  assert.ok(leftOver(685) < 4e-12);
  assert.ok(leftOver(1000) < 1e-10 && leftOver(1000) > 1e-11);
  assert.ok(leftOver(1200) > 1e-10);
});

test("Gaia has 62 CCDs, and blocks with few observations leave", () => {
  assert.equal(ccdsOf(GAIA_PLANE), 62);
  const transit = (j: number) => ({ field: j % 2, row: Math.floor(j / 2) % 7, bright: j % 10 === 0, part: (j + 0.5) / 28_000 });
  const transits = Array.from({ length: 28_000 }, (_, j) => transit(j));
  const { pixels, intervals, left } = instrumentSizes(GAIA_PLANE, transits, "auto");
  // Bright transits have even numbers, so all are in the preceding field: the following one sees none across scan after the first strip.
  assert.equal(pixels, 40);
  assert.equal(intervals, 1);
  assert.deepEqual([...new Set(left.map(({ block, axis, field }) => `${block} ${axis} ${field}`))], ["large scale across 1"]);
  assert.equal(left.length, 55);
  const fine = instrumentSizes(GAIA_PLANE, transits, 100);
  assert.equal(fine.left.filter(({ block }) => block === "small scale").length, 55);
  assert.ok(fine.left.every(({ block, rows, unknowns }) => rows < 10 * unknowns && (block === "large scale" || unknowns === 100)));
});
