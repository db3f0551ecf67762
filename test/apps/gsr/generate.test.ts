import assert from "node:assert/strict";
import { test } from "node:test";
import { parallelRows, unit } from "../../../apps/gsr/generate.js";
import type { Rows } from "../../../apps/gsr/published.js";
import { publishedRows } from "../../../apps/gsr/published.js";
import type { Shape } from "../../../apps/gsr/shape.js";
import { attitudePass, instrumentLayout, publishedShape, scaledShape } from "../../../apps/gsr/shape.js";
import { GlibcRandom } from "../../../apps/gsr/glibc.js";

test("random words become numbers inside (0, 1)", () => {
  assert.ok(unit(0) > 0 && unit(0xffffffff) < 1);
  assert.equal(unit(0x80000000), 0.5 + 2 ** -33);
});

/** Whole arrays of a system's rows. */
function collect(pieces: Iterable<Rows>): Record<"knot" | "column" | "astrometric" | "attitude" | "instrument" | "global", number[]> {
  const all = { knot: [], column: [], astrometric: [], attitude: [], instrument: [], global: [] } as ReturnType<typeof collect>;
  for (const rows of pieces)
    for (const name of Object.keys(all) as (keyof typeof all)[]) {
      const width = (rows[name]?.length ?? 0) / rows.knot.length;
      for (const value of (rows[name] ?? rows.astrometric).subarray(0, rows.count * width)) all[name].push(value);
    }
  return all;
}

const small: Shape = scaledShape(0.002);
const withGlobal: Shape = scaledShape(0.002, 1);

for (const [name, rows] of [
  ["published", () => publishedRows(small, 100)],
  ["parallel", () => [parallelRows(small, 7, 0, 100), parallelRows(small, 7, 100)]],
] as const)
  test(`the ${name} generator leaves no column empty and stays in range`, () => {
    const { knot, column, astrometric, attitude, instrument } = collect(rows());
    const n = small.observations;
    assert.deepEqual(
      [knot, column, astrometric, attitude, instrument].map((a) => a.length),
      [n, 6 * n, 5 * n, 12 * n, 6 * n],
    );
    const pass = attitudePass(small);
    for (let i = 0; i < pass; i++) assert.equal(knot[i], Math.min(4 * i, small.knots - 4));
    assert.ok(knot.every((a) => a >= 0 && a <= small.knots - 4));
    const instruments = instrumentLayout(small).size;
    assert.equal(new Set(column).size, instruments);
    assert.ok(column.every((c) => c >= 0 && c < instruments));
    for (const coefficients of [astrometric, attitude, instrument]) {
      assert.ok(coefficients.every((a) => a >= -1 && a <= 1));
      const mean = coefficients.reduce((a, b) => a + b) / coefficients.length;
      const variance = coefficients.reduce((a, b) => a + b * b, 0) / coefficients.length;
      assert.ok(Math.abs(mean) < 5 / Math.sqrt(3 * coefficients.length));
      assert.ok(Math.abs(variance - 1 / 3) < 5 / Math.sqrt(11 * coefficients.length));
    }
  });

for (const [name, rows] of [
  ["published", () => publishedRows(withGlobal, 100)],
  ["parallel", () => [parallelRows(withGlobal, 7, 0, 100), parallelRows(withGlobal, 7, 100)]],
] as const)
  test(`the ${name} generator draws a global coefficient for each row`, () => {
    const { global } = collect(rows());
    assert.equal(global.length, withGlobal.observations);
    assert.ok(global.every((g) => g >= -1 && g <= 1));
    const [mean, square] = [(g: number) => g, (g: number) => g * g].map((of) => global.reduce((t, g) => t + of(g), 0) / global.length);
    assert.ok(Math.abs(mean) < 5 / Math.sqrt(3 * global.length));
    assert.ok(Math.abs(square - 1 / 3) < 5 / Math.sqrt(11 * global.length));
  });

test("a global section leaves the other numbers of the parallel generator as they are", () => {
  const [without, withIt] = [small, withGlobal].map((shape) => parallelRows({ ...shape, observations: 200 }, 7));
  for (const name of ["astrometric", "attitude", "instrument"] as const) assert.deepEqual(withIt[name], without[name]);
  assert.equal(without.global, undefined);
});

for (const globals of [0, 1] as const)
  test(`the published generator draws in the published order, with ${globals} global unknowns`, () => {
    const shape = publishedShape(1, globals);
    const [first] = publishedRows(shape, 3);
    const random = new GlibcRandom(0);
    const column = () => Math.trunc(random.uniform() * 260_337);
    const coefficient = () => random.uniform() * 2 - 1;
    for (let i = 0; i < 3; i++) {
      assert.equal(first.knot[i], 4 * i);
      assert.deepEqual([...first.column.subarray(6 * i, 6 * i + 6)], [i, column(), column(), column(), column(), column()]);
      for (const [array, width] of [
        [first.astrometric, 5],
        [first.attitude, 12],
        [first.instrument, 6],
        [first.global ?? new Float64Array(), globals],
      ] as const)
        for (let k = 0; k < width; k++) assert.equal(array[width * i + k], coefficient());
    }
  });

test("after the passes every index is drawn", () => {
  const random = new GlibcRandom(0);
  const { knots } = small;
  const instruments = instrumentLayout(small).size;
  const pass = attitudePass(small);
  const { knot, column } = collect(publishedRows(small));
  for (let i = 0; i < small.observations; i++) {
    const drawn = i < pass ? Math.min(4 * i, knots - 4) : Math.min(Math.trunc(random.uniform() * (knots - 3)), knots - 4);
    assert.equal(knot[i], drawn);
    for (let k = 0; k < 6; k++)
      assert.equal(column[6 * i + k], k === 0 && i < instruments ? i : Math.trunc(random.uniform() * (instruments - 1)));
    for (let k = 0; k < 23; k++) random.uniform();
  }
});
