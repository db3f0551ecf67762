import assert from "node:assert/strict";
import { test } from "node:test";
import { COS_OBLIQUITY, NODE, SIN_OBLIQUITY, STEP, YEAR, scanningLaw } from "../../../../apps/gsr/scanning/law.js";
import { cosineOf, sineOf } from "../../../../apps/gsr/scanning/sight.js";
import { cross, dot } from "./plain-sky.js";

const law = scanningLaw(5 * YEAR);
const { nodes } = law;
const count = nodes.length / NODE;
const node = (k: number) => nodes.subarray(NODE * k, NODE * (k + 1));
const zOf = (k: number) => node(k).subarray(0, 3);
const xOf = (k: number) => node(k).subarray(3, 6);
const sunOf = (k: number) => [node(k)[8], COS_OBLIQUITY * node(k)[9], SIN_OBLIQUITY * node(k)[9]];

test("the spin axis keeps 45 degrees from the Sun and goes round it in 62.97 days", () => {
  let revolutions = 0;
  let last: number | undefined;
  for (let k = 0; k < count; k++) {
    const [c, s] = [node(k)[8], node(k)[9]];
    assert.ok(Math.abs(dot(zOf(k), sunOf(k)) - Math.SQRT1_2) < 1e-12);
    const ahead = [-s, COS_OBLIQUITY * c, SIN_OBLIQUITY * c];
    const pole = [0, -SIN_OBLIQUITY, COS_OBLIQUITY];
    const angle = Math.atan2(dot(zOf(k), pole), dot(zOf(k), ahead)) / (2 * Math.PI);
    if (last !== undefined) revolutions += angle - last - Math.round(angle - last);
    last = angle;
  }
  const days = ((count - 1) * STEP) / 86_400 / revolutions;
  assert.ok(Math.abs(days - 62.97) < 0.1, `${days} days`);
});

test("the spin axis moves by 4.16 degrees a day on average", () => {
  let angle = 0;
  for (let k = 0; k + 1 < count; k++) angle += Math.asin(Math.hypot(...cross(zOf(k), zOf(k + 1))));
  const degrees = ((angle * 180) / Math.PI / (count - 1)) * (86_400 / STEP);
  assert.ok(Math.abs(degrees - 4.16) < 0.02, `${degrees} degrees`);
});

test("x is across z, and does not turn about it", () => {
  for (let k = 0; k + 1 < count; k += 97) {
    assert.ok(Math.abs(dot(xOf(k), zOf(k))) < 1e-14 && Math.abs(dot(xOf(k), xOf(k)) - 1) < 1e-14);
    assert.ok(Math.abs(dot(xOf(k + 1), cross(zOf(k), xOf(k)))) < 1e-6);
  }
});

test("sine and cosine of small angles", () => {
  for (let a = -0.2; a <= 0.2; a += 0.001) {
    assert.ok(Math.abs(sineOf(a) - Math.sin(a)) < 1e-16);
    assert.ok(Math.abs(cosineOf(a) - Math.cos(a)) < 3e-16);
  }
});
