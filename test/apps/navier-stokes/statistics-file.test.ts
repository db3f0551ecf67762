import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readOpenPmd } from "isoform/io";
import { innerPoints } from "../../../apps/navier-stokes/equations/axes.js";
import { channelFlow } from "../../../apps/navier-stokes/cases/channel.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import { layerFlow } from "../../../apps/navier-stokes/cases/layer-flow.js";
import { columnsOf, writeMeans } from "../../../apps/navier-stokes/results/statistics-file.js";
import type { Means } from "../../../apps/navier-stokes/measures/statistics.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-"));
after(() => rm(folder, { recursive: true }));

const rho = (count: number): Means["columns"] => new Map([["rho", Float64Array.from({ length: count }, (_, n) => n)]]);

test("means stand beside their places, x fastest, and in HDF5 in the same order", async () => {
  const flow = layerFlow(configOf("layer", { nx: 8, ny: 64, nz: 8, inflow: "laminar" }));
  const means: Means = { axes: ["x", "y"], extents: [8, 64], samples: 3, columns: rho(8 * 64) };
  const columns = columnsOf(means, flow);
  assert.deepEqual([...columns.keys()], ["x", "y", "rho"]);
  const [x, y] = flow.axes.map(innerPoints);
  assert.deepEqual([columns.get("x")![11], columns.get("y")![11], columns.get("rho")![11]], [x[3], y[1], 11]);
  await writeMeans(join(folder, "a.h5"), means, flow, { step: 7, time: 0.5 });
  const [{ meshes, step, time }] = await readOpenPmd(join(folder, "a.h5"));
  assert.deepEqual([step, time], [7, 0.5]);
  assert.deepEqual([...meshes.rho.extents], [8, 64]);
  assert.deepEqual([...(meshes.rho.values as Float64Array)], [...means.columns.get("rho")!]);
  assert.match(await readFile(join(folder, "a.xmf"), "utf8"), /a\.h5:/);
});

test("those of a channel are along y alone", async () => {
  const flow = channelFlow(configOf("channel", { nx: 8, ny: 12, nz: 8 }));
  const means: Means = { axes: ["y"], extents: [12], samples: 3, columns: rho(12) };
  const columns = columnsOf(means, flow);
  assert.deepEqual([...columns.keys()], ["y", "rho"]);
  assert.deepEqual([...(columns.get("y") as Float64Array)], [...innerPoints(flow.axes[1])]);
  await writeMeans(join(folder, "b.h5"), means, flow, { step: 7, time: 0.5 });
  assert.deepEqual([...(await readOpenPmd(join(folder, "b.h5")))[0].meshes.rho.extents], [1, 12]);
});
