import assert from "node:assert/strict";
import { after, test } from "node:test";
import { f64, i32, open, range } from "isoform";
import { TURNS } from "../../../../apps/gsr/factored.js";
import { SUN_SPEED, UAS, YEAR, COS_OBLIQUITY, SIN_OBLIQUITY } from "../../../../apps/gsr/scanning/law.js";
import { attitudeCoefficients } from "../../../../apps/gsr/scanning/rows.js";
import { timeOf, uploadSky } from "../../../../apps/gsr/scanning/transits.js";
import { instrumentLayout, sections } from "../../../../apps/gsr/shape.js";
import { Solver } from "../../../../apps/gsr/solver.js";
import { splinesAt } from "../../../../apps/gsr/spline.js";
import { readRows, type Entry } from "../dense-system.js";
import type { Vector } from "./plain-sky.js";
import { cross, dot, fieldAngles, plainAxes, plus, unit } from "./plain-sky.js";

const device = await open("js");
device.precision = "strict";
after(() => device.close());

/** Half of the light deflection at 90 degrees from the Sun, at one astronomical unit: G M / (c^2 au). */
const BENDING = 9.8706e-9;
const DISTANCE = 1.01;

interface Observation {
  row: Entry[];
  star: number;
  time: number;
  across: boolean;
  strip: number;
  field: number;
  focalRow: number;
  /** 1 / standard error */
  weight: number;
}

/** Every seventh observation of a small system, with unscaled coefficients, and what it should be. */
async function observe() {
  const solver = await Solver.create(device, { generator: "scanning", stars: 20, years: 1, seed: 4 });
  const { shape, transits, firstRow, stars } = solver.scanning!;
  const rows = await readRows(solver);
  const p = await device.queue.read(solver.system.scaling.all);
  const observations: Observation[] = [];
  for (let j = 0; j < transits.count; j++) {
    const end = j + 1 < transits.count ? firstRow[j + 1] : shape.observations;
    const star = transits.place[3 * j];
    const bright = stars.magnitudes[star] < 13;
    const sinZeta = transits.moment[2 * j + 1];
    for (let i = firstRow[j]; i < end; i++) {
      if (i % 7 > 0) continue;
      const n = i - firstRow[j];
      const across = bright ? n % 2 === 1 : n === 1;
      const strip = bright ? Math.floor(n / 2) : n < 2 ? 0 : n - 1;
      const sigma = 60 * (bright ? 1 : 10 ** (0.2 * (stars.magnitudes[star] - 13))) * (across ? 5 : 1);
      observations.push({
        row: rows[i].map(([unknown, value]) => [unknown, p[unknown] > 0 ? value / p[unknown] : 0]),
        star,
        time: timeOf(transits, j) + 4.85 * strip,
        across,
        strip,
        field: transits.place[3 * j + 2],
        focalRow: Math.floor(((sinZeta / Math.sin((0.345 * Math.PI) / 180) + 1) / 2) * 7),
        weight: 1 / sigma,
      });
    }
  }
  solver.free();
  return { scanning: solver.scanning!, observations };
}

const { scanning, observations } = await observe();
const { shape, stars, law, knots } = scanning;

/** Angles at which the star is seen, in radians: displacements (5), a turn of the axes (3), and gamma. */
function seen({ star, time }: Observation, d: readonly number[], gamma = 1): { phi: number; zeta: number } {
  const row = stars.rows.subarray(11 * star, 11 * star + 11);
  const v = row.subarray(0, 3);
  const [p, q] = [[row[3], row[4], 0], row.subarray(5, 8)];
  const longitude = SUN_SPEED * time;
  const sun: Vector = [Math.cos(longitude), COS_OBLIQUITY * Math.sin(longitude), SIN_OBLIQUITY * Math.sin(longitude)];
  const years = (time - law.duration / 2) / YEAR;
  let w = plus(v, p, d[0] + years * d[3]);
  w = plus(w, q, d[1] + years * d[4]);
  // Gaia's place is -1.01 times the direction to the Sun.
  w = unit(plus(w, sun, DISTANCE * d[2]));
  const cosine = dot(w, sun);
  const away = unit(plus(plus([0, 0, 0], w, cosine), sun, -1));
  w = unit(plus(w, away, ((1 + gamma) * BENDING) / DISTANCE / Math.tan(Math.acos(cosine) / 2)));
  const turn = [d[5], d[6], d[7]];
  const [x, y, z] = plainAxes(law, time).map((axis) => plus(axis, cross(turn, axis)));
  return fieldAngles([x, y, z], w);
}

/** Derivatives of the observed angle by the displacement `k`, and by gamma. */
function derivative(observation: Observation, k: number): number {
  const step = 1e-6;
  const d = (sign: number) => Array.from({ length: 8 }, (_, e) => (e === k ? sign * step : 0));
  const [up, down] =
    k < 8 ? [seen(observation, d(1)), seen(observation, d(-1))] : [seen(observation, d(0), 1.5), seen(observation, d(0), 0.5)];
  const angle = observation.across ? "zeta" : "phi";
  return (up[angle] - down[angle]) / (k < 8 ? 2 * step : UAS);
}

/** A cubic B-spline on the knots 0 to 4, by truncated powers. */
const spline = (x: number) => [1, -4, 6, -4, 1].reduce((sum, c, j) => sum + (c * Math.max(0, x - j) ** 3) / 6, 0);

test("coefficients of stars, attitude and gamma are derivatives of what is seen", () => {
  assert.ok(observations.length > 300 && observations.some(({ across }) => across));
  const { attitude, global } = sections(shape);
  for (const observation of observations) {
    const { row, star, weight, time } = observation;
    for (let k = 0; k < 5; k++) {
      assert.equal(row[k][0], 5 * star + k);
      assert.ok(Math.abs(row[k][1] / weight - derivative(observation, k)) < 1e-6, `parameter ${k}: ${row[k][1] / weight}`);
    }
    const place = (time - knots.start) / knots.length;
    for (let axis = 0; axis < 3; axis++) {
      const turned = derivative(observation, 5 + axis);
      for (let k = 0; k < 4; k++) {
        const [unknown, value] = row[5 + 4 * axis + k];
        const first = unknown - attitude - axis * shape.knots;
        assert.ok(Math.abs(value / weight - turned * spline(place - first + 3)) < 1e-6, `axis ${axis}, knot ${k}: ${value / weight}`);
      }
    }
    const [unknown, value] = row[23];
    assert.equal(unknown, global);
    // In units of the deflection, 2036 uas.
    assert.ok(Math.abs((1000 * value) / weight - derivative(observation, 8)) < 1e-6 * 2036, `gamma: ${value / weight}`);
  }
});

test("coefficients of the instrument displace the image on its CCD", () => {
  const { instrument } = sections(shape);
  const { ccds, pixels, intervals } = shape;
  const blocks = instrumentLayout(shape);
  for (const { row, star, across, strip, field, focalRow, weight, time } of observations) {
    const entries = row.slice(17, 23).map(([unknown, value]) => [unknown - instrument, value / weight] as const);
    const ccd = 9 * focalRow + strip - (focalRow > 3 ? 1 : 0);
    const interval = Math.floor((time / law.duration) * intervals);
    const magnitude = stars.magnitudes[star];
    const near = (a: number, b: number) => assert.ok(a === 0 || Math.abs(a - b) < 1e-9, `${a} and ${b}`);
    assert.deepEqual([entries[0][0], entries[1][0]], [ccd, 62 + 62 * field + ccd]);
    near(entries[0][1], across ? 0 : (magnitude - 13) / 4);
    near(entries[1][1], across ? 0 : stars.rows[11 * star + 9]);
    const small = across ? blocks.smallAcross : blocks.smallAlong;
    const pixel = entries[2][0] - small - ccd * pixels;
    assert.ok(pixel >= 0 && pixel < pixels);
    near(entries[2][1], 1);
    const x = (pixel + 0.5) / pixels;
    const large = (field * ccds + ccd) * intervals + interval;
    for (const [d, legendre] of [1, 2 * x - 1, 6 * (x - 0.5) ** 2 - 0.5].entries()) {
      assert.equal(entries[3 + d][0], (across ? blocks.largeAcross : blocks.largeAlong)[d] + large);
      near(entries[3 + d][1], legendre);
    }
  }
});

test("turns about the satellite's axes are those about inertial ones in its frame", async () => {
  const { transits } = scanning;
  const sky = uploadSky(device, law, stars);
  const count = transits.count;
  // Two observations a transit, along and across scan on the first strip.
  const table = Array.from({ length: count }, (_, j) => [...transits.place.subarray(3 * j, 3 * j + 3), 0, 2 * j, 0]).flat();
  const observed = {
    law: sky.law,
    stars: sky.stars,
    transits: device.from(i32, table).reshape(count, 6),
    moments: device.from(
      f64,
      Array.from({ length: count }, (_, j) => transits.moment[2 * j]),
    ),
    transitOf: device.from(
      i32,
      Array.from({ length: 2 * count }, (_, i) => Math.floor(i / 2)),
    ),
  };
  const turns = async (satelliteAxes: boolean) => {
    const attitude = device.array(f64, [2 * count, 12]);
    const pieces = device.from(f64, [knots.start, knots.length, 0, shape.knots - 4]).reshape(1, 4);
    const splines = { pieces, knot: device.array(i32, 2 * count) };
    const kept = device.array(f64, [2 * count, TURNS]);
    const factors = { factored: true, turns: kept };
    await device.run(attitudeCoefficients, { ...observed, ...splines, ...factors, satelliteAxes, attitude }, range(2 * count));
    const [values, turn] = [await device.queue.read(attitude), await device.queue.read(kept)];
    const spline = new Float64Array(4);
    for (let i = 0; i < 2 * count; i++) {
      splinesAt(turn[TURNS * i + 3], spline);
      for (let k = 0; k < 12; k++) assert.equal(values[12 * i + k], turn[TURNS * i + Math.floor(k / 4)] * spline[k % 4]);
    }
    return (i: number) => [0, 1, 2].map((axis) => [0, 1, 2, 3].reduce((sum, k) => sum + values[12 * i + 4 * axis + k], 0));
  };
  const [inertial, satellite] = [await turns(false), await turns(true)];
  for (let i = 0; i < 2 * count; i++)
    for (const [axis, direction] of plainAxes(law, timeOf(transits, Math.floor(i / 2))).entries())
      assert.ok(Math.abs(satellite(i)[axis] - dot(direction, inertial(i))) < 1e-10);
});
