import assert from "node:assert/strict";
import { test } from "node:test";
import { devices } from "isoform/set";
import { boxFlow } from "../../../apps/navier-stokes/cases/box-flow.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { application } from "../../../apps/navier-stokes/application.js";
import { makeSkeleton } from "../../../apps/navier-stokes/explained.js";

const SETTINGS = { grid: "dense", layout: "soa", occ: "extended", precision: "fast", fuse: true, unroll: 1, size: 16 } as const;

test("assess counts the bytes and operations of a step, on one device and on two", async () => {
  const counted = [];
  for (const name of ["js", "js*2"]) {
    const set = await devices(name);
    const prepared = await application.prepare(set, { gib: 0.0007, iterations: 1 });
    const samples = await prepared.run();
    assert.ok((await prepared.validate()).ok);
    assert.equal(prepared.report!().grid, "dense");
    counted.push(samples[0]);
    prepared.free();
    await set.close();
  }
  const [one, two] = counted;
  // Two members compute the same cells, and the scalars twice; what they read of each other's is counted twice.
  assert.ok(Math.abs(one.flops! - two.flops!) < 10, `${one.flops} and ${two.flops}`);
  assert.ok(one.bytes! <= two.bytes! && two.bytes! < 2 * one.bytes!, `${one.bytes} and ${two.bytes}`);
  // Conserved values, rates and divergence of three stages are 66 words a point at least; order 6 takes some thousand operations.
  const points = 16 ** 3;
  assert.ok(one.bytes! > 8 * 66 * points && one.flops! > 2000 * points, `${one.bytes! / points} and ${one.flops! / points}`);
});

test("the vortices of Taylor and Green stay regular on cells that are smaller than those by default", async () => {
  const set = await devices("wasm");
  const box = (n: number) => configOf("box", { flow: "taylor-green", nx: n, ny: n, nz: n });
  assert.equal(box(64).dt! / box(32).dt!, 0.5);
  assert.equal(box(16).dt, box(32).dt);
  const simulation = await Simulation.create(set, boxFlow(box(64)), { precision: "fast" });
  // With twice the time step they are lost after 50.
  await simulation.run(80);
  assert.ok((await simulation.fields.w.download()).every(Number.isFinite));
  simulation.free();
  await set.close();
});

test("explain names every container of a channel's step", async () => {
  const set = await devices("js*2");
  const skeleton = await makeSkeleton(set, SETTINGS);
  const text = await skeleton.explain();
  for (const name of [
    "limit",
    "flux along x",
    "first flux along y",
    "divergence and sensor",
    "stage 3",
    "bulk",
    "force",
    "wall at ymin",
    "time",
  ])
    assert.match(text, new RegExp(`^  ${name} `, "m"));
  assert.match(text, /OCC extended/);
  skeleton.free();
  await set.close();
});

test("other kinds of grids are refused", async () => {
  const set = await devices("js");
  await assert.rejects(makeSkeleton(set, { ...SETTINGS, grid: "sparse" }), /--grid sparse: navier-stokes runs on dense grids only/);
  await set.close();
});
