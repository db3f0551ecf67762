import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { open } from "isoform";
import { readImage } from "isoform/io";
import { atCentres, writeFields } from "../../../apps/pic/results/fields.js";
import { cellSize, dofs, meshOf } from "../../../apps/pic/mesh/mesh.js";
import { DEFAULTS } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";
import { electricField, indexOf } from "./reference.js";

test("values in the middle of cells are those of the splines", () => {
  const mesh = meshOf([9, 8, 7], [2, 3, 5], 3, 3);
  const blocks = [0, 1, 2].map((k) => Float64Array.from({ length: dofs(mesh) }, (_, n) => (((n + 1) * (k + 0.618)) % 1) - 0.5));
  const values = blocks.map((block, k) => atCentres(mesh, block, "e", k));
  for (const cell of [
    [0, 0, 0],
    [8, 7, 6],
    [4, 1, 5],
  ]) {
    const centre = cell.map((n, a) => (n + 0.5) * cellSize(mesh.axes[a]));
    const expected = electricField(mesh, centre, blocks);
    for (const k of [0, 1, 2]) assert.ok(Math.abs(values[k][indexOf(mesh, cell)] - expected[k]) < 1e-15);
  }
});

test("an image of a start holds the fields that were asked for", async () => {
  const device = await open("js");
  const folder = await mkdtemp(join(tmpdir(), "isoform-pic-"));
  try {
    const mesh = meshOf([24], [2], 3, 2);
    const wave = (x: number): number => 0.3 * Math.cos(Math.PI * x);
    const settings = { ...DEFAULTS, count: 0, dt: 0.01 };
    const simulation = await Simulation.create(device, { mesh, species: [], magnetic: { field: ([x]) => [0, 0, wave(x)] } }, settings);
    await writeFields(join(folder, "start.vti"), simulation);
    const { extents, spacing, cellData } = await readImage(join(folder, "start.vti"));
    assert.deepEqual(extents, [24, 1, 1]);
    assert.ok(Math.abs(spacing[0] - 1 / 12) < 1e-15);
    const b = cellData.get("B")!;
    for (let cell = 0; cell < 24; cell++) assert.ok(Math.abs(b.data[3 * cell + 2] - wave((cell + 0.5) / 12)) < 1e-4);
    assert.ok(cellData.get("E")!.data.every((value) => value === 0));
  } finally {
    await rm(folder, { recursive: true });
    await device.close();
  }
});
