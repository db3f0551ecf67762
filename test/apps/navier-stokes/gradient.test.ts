import assert from "node:assert/strict";
import test from "node:test";
import { boxFlow } from "../../../apps/navier-stokes/cases/box-flow.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";
import { gradient } from "../../../src/gradient/skeleton-gradient.js";
import { devices } from "../../../src/set/index.js";

const [size, steps] = [8, 3];
const weight = (x: number, y: number, z: number, k: number): number => Math.cos(0.9 * (x + size * (y + size * z)) + 7 * k);

/** A viscous Taylor-Green vortex: central differences along one direction, and one set of bits on one and two members. */
test("the gradient of a flow in a box", async () => {
  const gradients: Float64Array[] = [];
  for (const names of ["js", "wasm*2"]) {
    const set = await devices(names);
    const config = configOf("box", { flow: "taylor-green", nx: size, ny: size, nz: size, viscous: "conservative", dt: 0.02, re: 100 });
    const { skeleton: flow, fields } = await Simulation.create(set, boxFlow(config), { precision: "strict" });
    const { w } = fields;
    const start = Float64Array.from(await w.download());
    const grad = gradient(flow, { of: [[w, weight]], wrt: [w], snapshots: 2 });
    await grad.run(steps);
    const g = Float64Array.from(await grad.of(w).download());
    gradients.push(g);
    assert.deepEqual(Float64Array.from(await w.download()), start);
    if (gradients.length === 1) {
      const along = start.map((_, q) => 0.01 * Math.sin(1.7 * q + 0.3));
      const at = async (e: number): Promise<number> => {
        w.upload(start.map((value, q) => value + e * along[q]));
        flow.iteration = 0;
        await flow.run(steps);
        const end = await w.download();
        let [total, place] = [0, 0];
        for (let z = 0; z < size; z++)
          for (let y = 0; y < size; y++)
            for (let x = 0; x < size; x++) for (let k = 0; k < w.cardinality; k++, place++) total += end[place] * weight(x, y, z, k);
        return total;
      };
      const [derivative, magnitude] = g.reduce(([d, m], value, q) => [d + value * along[q], m + Math.abs(value * along[q])], [0, 0]);
      const difference = ((await at(1e-4)) - (await at(-1e-4))) / 2e-4;
      assert.ok(Math.abs(difference - derivative) < 1e-10 * magnitude, `${derivative} for ${difference}`);
    }
    await set.close();
  }
  assert.deepEqual(gradients[1], gradients[0]);
});
