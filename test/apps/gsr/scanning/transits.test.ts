import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import { YEAR, scanningLaw } from "../../../../apps/gsr/scanning/law.js";
import { starList } from "../../../../apps/gsr/scanning/stars.js";
import { MOMENT, PLACE, findTransits, timeOf, uploadSky } from "../../../../apps/gsr/scanning/transits.js";
import type { Vector } from "./plain-sky.js";
import { fieldAngles, plainAxes } from "./plain-sky.js";

const device = await open("wasm");
after(() => device.close());
const HALF_HEIGHT = (0.345 * Math.PI) / 180;
const FIELD = (53.25 * Math.PI) / 180;

/** Stars spread along a spiral from pole to pole, evenly over the sky. */
const spiral = (count: number) =>
  starList(
    Array.from({ length: count }, (_, s) => ({
      alpha: Math.PI * (3 - Math.sqrt(5)) * s,
      sinDelta: 1 - (2 * s + 1) / count,
      magnitude: 15,
      colour: 0,
    })),
  );

test("transits are those that a march through time finds", async () => {
  const law = scanningLaw(0.3 * YEAR);
  const stars = spiral(6);
  const sky = uploadSky(device, law, stars);
  const found = await findTransits(device, law, sky, stars.count, Math.sin(HALF_HEIGHT));
  const expected: { star: number; field: number; time: number; zeta: number }[] = [];
  for (let star = 0; star < stars.count; star++) {
    const v = [...stars.rows.subarray(11 * star, 11 * star + 3)] as Vector;
    const ahead = (time: number, field: number) => {
      const angle = fieldAngles(plainAxes(law, time), v).phi - (field === 0 ? FIELD : -FIELD);
      return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
    };
    for (let time = 0; time + 60 < law.duration - 60; time += 60)
      for (let field = 0; field < 2; field++) {
        if (!(ahead(time, field) > 0 && ahead(time, field) < 0.1 && ahead(time + 60, field) <= 0)) continue;
        let [low, high] = [time, time + 60];
        while (high - low > 1e-7) {
          const middle = (low + high) / 2;
          if (ahead(middle, field) > 0) low = middle;
          else high = middle;
        }
        const { zeta } = fieldAngles(plainAxes(law, low), v);
        if (Math.abs(zeta) < HALF_HEIGHT) expected.push({ star, field, time: low, zeta });
      }
  }
  assert.ok(expected.length > 20);
  assert.equal(found.count, expected.length);
  for (const [j, { star, field, time, zeta }] of expected.entries()) {
    assert.deepEqual([found.place[PLACE * j], found.place[PLACE * j + 2]], [star, field]);
    assert.ok(Math.abs(timeOf(found, j) - time) < 1e-5, `transit ${j}: ${timeOf(found, j)} and ${time}`);
    assert.ok(Math.abs(found.moment[MOMENT * j + 1] - Math.sin(zeta)) < 1e-9);
  }
  sky.free();
});

test("a star has 17.6 transits a year on average", async () => {
  const law = scanningLaw(YEAR);
  const stars = spiral(10_000);
  const sky = uploadSky(device, law, stars);
  const { count } = await findTransits(device, law, sky, stars.count, Math.sin(HALF_HEIGHT));
  assert.ok(Math.abs(count / stars.count - 17.6) < 0.3, `${count / stars.count} transits`);
  sky.free();
});
