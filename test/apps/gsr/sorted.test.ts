import assert from "node:assert/strict";
import { test } from "node:test";
import { f64, open, range } from "isoform";
import { a2Att, a2Instr } from "../../../apps/gsr/kernels.js";
import { scaledShape } from "../../../apps/gsr/shape.js";
import { simulatedRows } from "../../../apps/gsr/simulated.js";
import { sortedAttitude, sortedInstrument, sumsOfBoth } from "../../../apps/gsr/sorted.js";
import { createSystem, unknowns } from "../../../apps/gsr/system.js";

const device = await open("js");
const shape = scaledShape(0.002);
const system = await createSystem(device, simulatedRows(shape, "parallel", 3), { layout: "left" });
const u = device.from(
  f64,
  Float64Array.from({ length: shape.observations }, (_, i) => Math.sin(i)),
);

for (const rows of [shape.observations, Math.ceil(shape.observations / 7), 1000])
  test(`shares of A^T u from sorted copies, in tiles of ${rows} rows`, async () => {
    const length = system.scaling.all.length;
    const [expected, actual] = [0, 1].map(() => unknowns(shape, device.from(f64, new Float64Array(length).fill(0.5))));
    await device.run(a2Att, { a: system.attitude, knot: system.knot, u, v: expected.attitude }, range(shape.observations));
    await device.run(a2Instr, { a: system.instrument, column: system.column, u, v: expected.instrument }, range(shape.observations));
    const attitude = await sortedAttitude(system, {});
    const instrument = await sortedInstrument(system, {}, rows);
    const finishes = [attitude.finish(actual.attitude), instrument.finish(actual.instrument)];
    for (const { launch } of [attitude.sums(u), instrument.sums(u), ...finishes]) device.queue.submit(launch);
    const [sums, right] = [await device.queue.read(actual.all), await device.queue.read(expected.all)];
    for (let n = 0; n < length; n++) assert.ok(Math.abs(sums[n] - right[n]) < 1e-12, `unknown ${n}: ${sums[n]} and ${right[n]}`);
    // Both in one kernel leave the same bits.
    device.queue.write(actual.all, new Float64Array(length).fill(0.5));
    for (const { lists } of [attitude, instrument]) device.queue.clear(lists.sums);
    for (const { launch } of [sumsOfBoth(system, attitude, instrument, u, {}), ...finishes]) device.queue.submit(launch);
    assert.deepEqual(await device.queue.read(actual.all), sums);
    attitude.free();
    instrument.free();
  });
