import assert from "node:assert/strict";
import test, { after } from "node:test";
import { f32, open, range } from "isoform";
import { scanningLaw, STEP, YEAR } from "../../apps/gsr/scanning/law.js";
import { starList } from "../../apps/gsr/scanning/stars.js";
import { findTransits, PLACE, uploadSky } from "../../apps/gsr/scanning/transits.js";
import { AXES_OF_STEP, axesOfSteps, countTransits, directionsOf, HALF_HEIGHT, marksAt } from "../../site/src/sky-counts.js";

const device = await open("wasm");
after(() => device.close());

const [NX, NY] = [64, 32];
const YEARS = 1;
const law = scanningLaw(YEARS * YEAR);
const steps = Math.floor(law.duration / STEP);

/** Transits of each pixel, counted in frames of some steps. */
async function counts(directions: Float32Array): Promise<ArrayLike<number>> {
  const direction = device.from(f32, directions).reshape(NY, NX, 3);
  const count = device.array(f32, [NY, NX]);
  for (let first = 0; first < steps; first += 1000) {
    const now = Math.min(1000, steps - first);
    const axes = device.from(f32, axesOfSteps(law, first, now)).reshape(now, AXES_OF_STEP);
    await device.run(countTransits, { direction, axes, steps: now, count }, range(NY, NX));
    axes.free();
  }
  const found = await device.queue.read(count);
  direction.free();
  count.free();
  return found;
}

test("pixels of the sky are unit vectors, others have none, and the map keeps areas", () => {
  const directions = directionsOf(NX, NY);
  const lengths = Array.from({ length: NX * NY }, (_, n) => Math.hypot(...directions.subarray(3 * n, 3 * n + 3)));
  const inside = lengths.filter((length) => length > 0);
  assert.ok(inside.every((length) => Math.abs(length - 1) < 1e-6));
  assert.ok(Math.abs(inside.length / (NX * NY) - Math.PI / 4) < 0.01, `${inside.length}`);
  const mean = [0, 1, 2].map((axis) => directions.filter((_, n) => n % 3 === axis).reduce((sum, e) => sum + e, 0) / inside.length);
  assert.ok(
    mean.every((e) => Math.abs(e) < 0.01),
    mean.join(" "),
  );
  const squares = [0, 1, 2].map((axis) => directions.filter((_, n) => n % 3 === axis).reduce((sum, e) => sum + e * e, 0) / inside.length);
  assert.ok(
    squares.every((e) => Math.abs(e - 1 / 3) < 0.01),
    squares.join(" "),
  );
});

test("the map counts the transits that the solver's search finds, 17.6 a year on average", async () => {
  const directions = directionsOf(NX, NY);
  const found = await counts(directions);
  const inside = Array.from({ length: NX * NY }, (_, n) => n).filter((n) => directions.subarray(3 * n, 3 * n + 3).some((e) => e !== 0));
  const stars = starList(
    inside.map((n) => {
      const [x, y, z] = directions.subarray(3 * n, 3 * n + 3);
      return { alpha: Math.atan2(y, x), sinDelta: z, magnitude: 15, colour: 0 };
    }),
  );
  const sky = uploadSky(device, law, stars);
  const { count, place } = await findTransits(device, law, sky, stars.count, HALF_HEIGHT);
  const expected = new Int32Array(inside.length);
  for (let t = 0; t < count; t++) expected[place[PLACE * t]]++;
  const [mine, theirs] = [inside.reduce((sum, n) => sum + found[n], 0), count];
  assert.ok(Math.abs(mine / inside.length / YEARS - 17.58) < 0.3, `${mine / inside.length}`);
  assert.ok(Math.abs(mine / theirs - 1) < 0.005, `${mine} and ${theirs}`);
  // The map's fields have a spin axis that rests for ten minutes, so a place at their rim may be seen once more or less.
  const apart = inside.map((n, s) => Math.abs(found[n] - expected[s]));
  assert.ok(Math.max(...apart) <= 5, `${Math.max(...apart)}`);
  assert.ok(apart.filter((d) => d > 0).length < 0.35 * apart.length, `${apart.filter((d) => d > 0).length} of ${apart.length}`);
  for (let n = 0; n < NX * NY; n++) if (!inside.includes(n)) assert.equal(found[n], 0);
  sky.free();
});

test("the Sun is 45 degrees from the spin axis, and moves along the ecliptic in a year", () => {
  for (const step of [0, 1000, 20_000, steps]) {
    const marks = marksAt(law, step);
    const [sun, axis] = [marks.subarray(0, 3), marks.subarray(3)];
    const cosine = sun.reduce((sum, e, n) => sum + e * axis[n], 0);
    assert.ok(Math.abs(cosine - Math.SQRT1_2) < 1e-6, `${cosine}`);
  }
  const [begin, half] = [marksAt(law, 0), marksAt(law, Math.round(steps / 2))];
  assert.ok(Math.abs(begin[0] + half[0]) < 1e-4 && begin[0] > 0.9999, `${begin[0]} ${half[0]}`);
});
