import assert from "node:assert/strict";
import { test } from "node:test";
import { LaunchError } from "isoform";
import {
  attitudePass,
  instrumentLayout,
  publishedGib,
  publishedShape,
  requirePublishedSize,
  scaledShape,
  sections,
  sharedUnknowns,
  starRows,
} from "../../../apps/gsr/shape.js";

const PUBLISHED: [gib: number, stars: number, observations: number][] = [
  [0.25, 10_000, 2_400_000],
  [1, 10_000, 4_450_000],
  [2, 20_000, 9_070_000],
  [5, 40_000, 22_940_000],
  [10, 40_000, 46_080_000],
  [30, 80_000, 138_610_000],
  [60, 160_000, 277_380_000],
];

for (const [gib, stars, observations] of PUBLISHED)
  test(`the published system of ${gib} GiB`, () => {
    const shape = publishedShape(gib);
    assert.deepEqual([shape.stars, shape.observations], [stars, observations]);
  });

test("the published program's count of memory", () => {
  assert.equal(publishedGib(publishedShape(10)).toFixed(6), "9.999268");
});

test("sizes with a global unknown: 24 coefficients a row, and vectors without it, as the published program counts", () => {
  const without = publishedShape(10);
  const shape = publishedShape(10, 1);
  assert.deepEqual([shape.globals, shape.stars], [1, without.stars]);
  const { unknowns } = sections(without);
  const bytes = (observations: number): number => observations * (24 * 8 + 16 + 8 + 24) + 5 * 8 * unknowns;
  assert.ok(bytes(shape.observations) < 10 * 2 ** 30 && bytes(shape.observations + 10_000) >= 10 * 2 ** 30);
  assert.ok(Math.abs((publishedGib(shape) * 2 ** 30) / bytes(shape.observations) - 1) < 1e-6);
  assert.deepEqual(sections(shape), { ...sections(without), unknowns: unknowns + 1 });
  assert.equal(sharedUnknowns(shape), 951_806);
  assert.throws(() => requirePublishedSize(0.56, 1), /ask for --gib 0\.574 or more/);
  requirePublishedSize(0.574, 1);
});

test("sections of the published unknowns", () => {
  const shape = publishedShape(10);
  const { size, ...blocks } = instrumentLayout(shape);
  assert.equal(size, 260_338);
  assert.deepEqual(
    [blocks.magnitude, blocks.colour, blocks.smallAlong, ...blocks.largeAlong, blocks.smallAcross, ...blocks.largeAcross],
    [0, 62, 186, 122078, 124806, 127534, 130262, 252154, 254882, 257610],
  );
  assert.deepEqual(sections(shape), { attitude: 200_000, instrument: 891_467, global: 1_151_805, unknowns: 1_151_805 });
  assert.equal(sharedUnknowns(shape), 951_805);
  assert.equal(attitudePass(shape), 57_623);
});

test("rows are shared out among the stars", () => {
  const rows = starRows({ ...publishedShape(1), stars: 4, observations: 14 });
  assert.deepEqual([...rows], [0, 4, 8, 11, 14]);
});

test("small systems shrink in all sections and keep to their size", () => {
  const full = publishedShape(0.25);
  for (const [gib, globals] of [
    [0.002, 0],
    [0.002, 1],
    [0.02, 0],
    [0.25, 1],
  ] as const) {
    const shape = scaledShape(gib, globals);
    const share = gib / publishedGib({ ...full, globals });
    assert.ok(Math.abs(publishedGib(shape) / gib - 1) < 1e-3);
    assert.ok(Math.abs(shape.stars / full.stars / share - 1) < 0.05);
    assert.ok(Math.abs(shape.knots / full.knots / share - 1) < 0.01);
    assert.ok(sections(shape).unknowns < sections(full).unknowns * share * 1.1 + 1000);
    assert.ok(attitudePass(shape) < shape.observations && instrumentLayout(shape).size < shape.observations);
  }
  for (const globals of [0, 1] as const) assert.deepEqual(scaledShape(10, globals), publishedShape(10, globals));
});

test("sizes that make no system are refused", () => {
  for (const gib of [0, -1, Number.NaN, Infinity]) assert.throws(() => publishedShape(gib), LaunchError);
  assert.throws(() => scaledShape(1e-5), /too few observations/);
});
