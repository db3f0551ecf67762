import assert from "node:assert/strict";
import { it } from "node:test";
import { FLUID, OUTLET } from "../../../apps/lbm/kinds.js";
import { stepCells } from "../../../apps/lbm/reference.js";
import { ratesOf, Simulation, subgridOf, type Collision, type Settings } from "../../../apps/lbm/simulation.js";
import { onEachBackend } from "../../domain/sets.js";
import { box, LATTICES, stream } from "./small-flows.js";

onEachBackend("lattice Boltzmann steps", ({ all }) => {
  const [set] = all;
  for (const lattice of LATTICES)
    // The code is the same but for two numbers.
    for (const settings of [
      { collision: "trt" },
      { collision: "trt", wall: "interpolated" },
      { collision: "bgk" },
      { collision: "trt", smagorinsky: 0.17 },
      { collision: "bgk", smagorinsky: 0.1 },
    ] satisfies Partial<Settings>[])
      it(`${lattice.name} with ${Object.values(settings).join(" and walls ")} does what the textbook says`, async (t) => {
        if (lattice.dimension === 3 && settings.collision === "bgk") return t.skip("as in two dimensions");
        const { collision, smagorinsky = 0 } = settings as Partial<Settings> & { collision: Collision };
        const flow = stream(lattice);
        const simulation = await Simulation.create(set, flow, settings);
        await simulation.run(3);
        const [nx, ny, nz = 1] = flow.extents;
        const cells: number[][] = [];
        for (let z = 0; z < nz; z++)
          for (let y = 0; y < ny; y++)
            for (let x = 0; x < nx; x++)
              if (flow.active!(x, y, z) && flow.kind(x, y, z) === FLUID) cells.push([x, y, z].slice(0, lattice.dimension));
        // Near and far from all kinds of cells; the reference reads values one by one.
        const some = cells.filter((_, n) => lattice.dimension === 2 || n % 7 === 0);
        const expected = await stepCells(simulation, some, ratesOf(flow.viscosity, collision), subgridOf(smagorinsky, collision));
        await simulation.run(1);
        const found = await simulation.populations.f.download();
        for (const [n, [x, y, z = 0]] of some.entries())
          for (const [q, value] of expected[n].entries()) {
            const stored = found[((z * ny + y) * nx + x) * lattice.weights.length + q];
            assert.ok(Math.abs(stored - value) < 2e-15, `direction ${q} in ${some[n]}: ${stored}, not ${value}`);
          }
        simulation.free();
      });

  for (const lattice of LATTICES)
    it(`${lattice.name}: a closed box keeps its mass to round-off`, async () => {
      const bounds = [
        ["f64", 1e-15],
        ["f32", 1e-7],
      ] as const;
      for (const [type, bound] of lattice.dimension === 2 ? bounds : bounds.slice(0, 1)) {
        const simulation = await Simulation.create(set, box(lattice), { type });
        const { mass } = await simulation.measure();
        await simulation.run(60);
        const later = await simulation.measure();
        assert.ok(later.change > 1e-4, "it moved");
        assert.ok(Math.abs(later.mass - mass) / simulation.grid.cells < bound, `${type}: ${mass} became ${later.mass}`);
        simulation.free();
      }
    });

  it("an outlet has density 1 and the flow of its neighbour", async () => {
    for (const lattice of LATTICES) {
      const flow = stream(lattice);
      const simulation = await Simulation.create(set, flow);
      await simulation.run(5);
      const { f } = simulation.populations;
      const sums = async (cell: number[]) => {
        const values = await Promise.all(lattice.weights.map((_, q) => f.get(cell, q)));
        const density = 1 + values.reduce((a, b) => a + b, 0);
        return [density, ...[0, 1].map((axis) => values.reduce((sum, v, q) => sum + v * lattice.directions[q][axis], 0) / density)];
      };
      const outlet = [flow.extents[0] - 1, 6, 7].slice(0, lattice.dimension);
      assert.equal(flow.kind(outlet[0], outlet[1], 0), OUTLET);
      const before = await sums([outlet[0] - 1, ...outlet.slice(1)]);
      await simulation.run(1);
      const [density, ...velocity] = await sums(outlet);
      assert.ok(Math.abs(density - 1) < 1e-14);
      for (const [axis, u] of velocity.entries()) assert.ok(Math.abs(u - before[axis + 1]) < 1e-14);
      simulation.free();
    }
  });
});
