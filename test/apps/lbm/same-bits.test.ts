import assert from "node:assert/strict";
import { it } from "node:test";
import { OCC_LEVELS } from "isoform/skeleton";
import { GRID_KINDS } from "isoform/grid";
import type { Lattice } from "../../../apps/lbm/lattice.js";
import { Simulation, type Settings } from "../../../apps/lbm/simulation.js";
import { jsSet, jsSets, onEachBackend } from "../../domain/sets.js";
import { LATTICES, stream } from "./small-flows.js";

/** All that a flow leaves after some strict steps. */
async function resultOf(set: (typeof jsSets)[number], lattice: Lattice, settings: Partial<Settings>): Promise<number[]> {
  const simulation = await Simulation.create(set, stream(lattice), { precision: "strict", ...settings });
  await simulation.run(7);
  const { mass, change } = await simulation.measure();
  const result = [
    mass,
    change,
    ...(await simulation.force()),
    ...(await simulation.velocity.download()),
    ...(await simulation.density.download()),
  ];
  simulation.free();
  return result;
}

const reference = new Map<string, Promise<number[]>>();

onEachBackend("strict lattice Boltzmann", ({ all, of }) => {
  for (const lattice of LATTICES)
    for (const type of ["f64", "f32"] as const)
      for (const grid of GRID_KINDS)
        it(`${lattice.name}, ${type}: a ${grid} grid of any number of members gives the bits of one, at every level of OCC`, async () => {
          const key = `${lattice.name} ${type}`;
          if (!reference.has(key)) reference.set(key, resultOf(jsSet(1), lattice, { type }));
          const expected = await reference.get(key)!;
          // Bricks of four planes are too thick for 15 planes on more members.
          const sets = grid === "dense" && type === "f64" ? all : [of(1), of(lattice.dimension === 3 ? 3 : 2)];
          for (const [n, set] of sets.entries())
            for (const occ of set.members.length > 2 && grid === "dense" ? OCC_LEVELS : [OCC_LEVELS[n % OCC_LEVELS.length]]) {
              const found = await resultOf(set, lattice, { type, grid, occ, layout: n % 2 ? "aos" : "soa" });
              const wrong = found.findIndex((value, at) => !Object.is(value, expected[at]));
              assert.equal(wrong, -1, `${set.name}, occ ${occ}: value ${wrong} is ${found[wrong]}, not ${expected[wrong]}`);
            }
        });

  for (const lattice of LATTICES)
    it(`${lattice.name}: walls that are interpolated have the bits of one member on any grid, and others than those half-way`, async () => {
      const wall = "interpolated";
      const expected = await resultOf(jsSet(1), lattice, { wall });
      assert.notDeepEqual(expected, await resultOf(jsSet(1), lattice, {}));
      for (const [grid, members] of [
        ["dense", 1],
        ["dense", 2],
        ["dense", 3],
        ["sparse", 2],
        ["bricks", 2],
      ] as const)
        assert.deepEqual(await resultOf(of(members), lattice, { wall, grid }), expected, `${grid}, ${members} members`);
    });
});
