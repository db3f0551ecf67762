import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "isoform";
import { devices } from "isoform/set";
import { cylinder, Simulation as Lattice, vortex } from "isoform/apps/lbm";
import { CASES, DEFAULTS, meshOf, Simulation as Plasma } from "isoform/apps/pic";
import { APPLICATIONS } from "../../src/cli/commands.js";

test("every application can be imported from the package", async () => {
  for (const name of Object.keys(APPLICATIONS)) {
    const module = (await import(`isoform/apps/${name}`)) as object;
    assert.ok(Object.keys(module).length > 0, name);
  }
});

test("a program of one's own runs an application's flow and plasma", async () => {
  const set = await devices([await open("js")]);
  assert.equal(cylinder({ reynolds: 40, size: 4 }).extents.length, 2);
  const flow = await Lattice.create(set, vortex({ reynolds: 20, size: 8 }));
  await flow.run(2);
  assert.equal(flow.steps, 2);
  const landau = CASES.find(({ name }) => name === "landau")!;
  assert.equal(meshOf([8], [1], 1, 1).axes.length, 3);
  const plasma = await Plasma.create(set, landau.problem({ ...landau.defaults, cells: 8 }), { ...DEFAULTS, dt: 0.05, count: 64 });
  assert.equal(plasma.steps, 0);
  await set.close();
});
