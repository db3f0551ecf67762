import assert from "node:assert/strict";
import { test } from "node:test";
import { f64, open, range, teams } from "isoform";
import type { View } from "isoform";
import { a2Astro, a2Att, a2Instr } from "../../../apps/gsr/kernels.js";
import type { SortedSection } from "../../../apps/gsr/lists.js";
import { scanningRows } from "../../../apps/gsr/scanning/index.js";
import { scaledShape, sections } from "../../../apps/gsr/shape.js";
import { simulatedRows } from "../../../apps/gsr/simulated.js";
import { sortedAttitude } from "../../../apps/gsr/sorted-attitude.js";
import { sortedInstrument } from "../../../apps/gsr/sorted-instrument.js";
import { sortedStars } from "../../../apps/gsr/sorted-stars.js";
import type { System } from "../../../apps/gsr/system.js";
import { createSystem, unknowns } from "../../../apps/gsr/system.js";

const device = await open("js");
const systems = {
  random: await createSystem(device, simulatedRows(scaledShape(0.002), "parallel", 3), { layout: "left" }),
  // Five of six unknowns of the instrument follow from CCD, field and interval of time
  scanning: await createSystem(device, await scanningRows(device, { stars: 400, years: 2 }, 5), { layout: "left" }),
};

/** Runs a section and asserts that it leaves what the paper's kernel does. */
async function assertShare(section: SortedSection, u: View<"f64">, actual: View<"f64">, expected: View<"f64">): Promise<void> {
  const [ofOne, t] = [u, actual].map((vector): View<"f64"> => vector.reshape(...vector.shape, 1));
  for (const { launch } of [...section.sums(ofOne), ...section.finish(t)]) device.queue.submit(launch);
  const [found, right] = [await device.queue.read(actual), await device.queue.read(expected)];
  for (let n = 0; n < right.length; n++) assert.ok(Math.abs(found[n] - right[n]) < 1e-12, `unknown ${n}: ${found[n]} and ${right[n]}`);
  section.free();
}

for (const [name, system] of Object.entries(systems) as [string, System][]) {
  const { shape } = system;
  const rows = shape.observations;
  const u = device.from(
    f64,
    Float64Array.from({ length: rows }, (_, i) => Math.sin(i)),
  );
  const some = () => unknowns(shape, device.from(f64, new Float64Array(sections(shape).unknowns).fill(0.5)));

  test(`${name}: shares of attitude and stars in A^T u from sorted copies`, async () => {
    const [expected, actual] = [some(), some()];
    // The stars' part is put down, other shares are added.
    device.queue.clear(expected.astrometric);
    await device.run(a2Att, { a: system.attitude, knot: system.knot, u, v: expected.attitude }, range(rows));
    await assertShare(await sortedAttitude(system, {}), u, actual.attitude, expected.attitude);
    await device.run(a2Astro, { a: system.astrometric, starRow: system.starRow, u, v: expected.astrometric }, teams(shape.stars));
    for (const tile of [rows, Math.ceil(rows / 3), 1000])
      await assertShare(await sortedStars(system, 0, {}, tile), u, actual.astrometric, expected.astrometric);
  });

  for (const tile of [rows, Math.ceil(rows / 7), 1000])
    test(`${name}: the instrument's share in tiles of ${tile} rows`, async () => {
      const [expected, actual] = [some(), some()];
      await device.run(a2Instr, { a: system.instrument, column: system.column, u, v: expected.instrument }, range(rows));
      const section = await sortedInstrument(system, {}, tile);
      const kernels = section.sums(u.reshape(rows, 1)).map((step) => step.name);
      const hasClasses = name === "scanning" && tile > 1000;
      assert.deepEqual(kernels, hasClasses ? ["classTiles", "instrumentTiles"] : ["instrumentTiles"]);
      await assertShare(section, u, actual.instrument, expected.instrument);
    });
}
