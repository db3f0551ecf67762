import assert from "node:assert/strict";
import { it } from "node:test";
import { cavity, compareWithGhia } from "../../../apps/lbm/cavity.js";
import { FLUID, WALL } from "../../../apps/lbm/kinds.js";
import { runToSteadyState } from "../../../apps/lbm/run.js";
import { Simulation, type Flow } from "../../../apps/lbm/simulation.js";
import { onEachBackend } from "../../domain/sets.js";
import { LATTICES, stream } from "./small-flows.js";

const STEPS = 4;

onEachBackend("lattice Boltzmann with one population", ({ all }) => {
  const [set, two] = all;

  for (const lattice of LATTICES)
    it(`${lattice.name}: away from walls it is what two populations give`, async () => {
      const extents = [20, 17, 18].slice(0, lattice.dimension);
      const depth = (...at: number[]): number => Math.min(...extents.map((n, axis) => Math.min(at[axis], n - 1 - at[axis])));
      const flow: Flow = {
        lattice,
        extents,
        kind: (x, y, z) => (depth(x, y, z) === 0 ? WALL : FLUID),
        velocity: (x, y, z) =>
          depth(x, y, z) === 0 ? [0, 0, 0] : [0.03 * Math.sin(x * y), 0.02 * Math.cos(y + z), 0.01 * Math.sin(x - z)],
        viscosity: 0.04,
      };
      const found: number[][] = [];
      const runs = [{ pattern: "pull" }, { pattern: "aa" }, { pattern: "aa", layout: "aos" }] as const;
      for (const settings of lattice.dimension === 2 ? runs : runs.slice(0, 2)) {
        const simulation = await Simulation.create(set, flow, { ...settings, precision: "strict" });
        await simulation.run(STEPS);
        await simulation.measure();
        found.push([...(await simulation.velocity.download())]);
        simulation.free();
      }
      const [nx, ny] = extents;
      let compared = 0;
      for (let n = 0; n < found[0].length; n++) {
        const cell = Math.floor(n / lattice.dimension);
        if (depth(cell % nx, Math.floor(cell / nx) % ny, Math.floor(cell / nx / ny)) <= STEPS + 1) continue;
        compared++;
        assert.ok(Math.abs(found[0][n] - found[1][n]) < 1e-15, `value ${n}: ${found[1][n]}, not ${found[0][n]}`);
      }
      assert.ok(compared >= 40);
      if (found[2]) assert.deepEqual(found[2], found[1]);
    });

  it("comes to the same cavity, in an even number of steps", async () => {
    for (const type of ["f64", "f32"] as const) {
      const simulation = await Simulation.create(set, cavity({ reynolds: 100, size: 33 }), { pattern: "aa", type });
      await simulation.run(3);
      assert.equal(simulation.steps, 4);
      await runToSteadyState(simulation, { interval: 400, tolerance: 1e-5, steps: 6000 });
      const { errors } = await compareWithGhia(simulation, 100);
      assert.ok(Math.max(...errors) < 0.01, `u ${errors[0]}, v ${errors[1]}`);
      simulation.free();
    }
  });

  it("is refused for open boundaries and for several members", async () => {
    await assert.rejects(Simulation.create(set, stream(LATTICES[0]), { pattern: "aa" }), /takes fluid enclosed by cells of walls/);
    const closed = cavity({ reynolds: 100, size: 8 });
    for (const [where, grid] of [
      [two, "dense"],
      [set, "sparse"],
    ] as const)
      await assert.rejects(
        Simulation.create(where, closed, { pattern: "aa", grid }),
        /takes a dense grid on one device, and this is a (dense|sparse) grid on/,
      );
  });
});
