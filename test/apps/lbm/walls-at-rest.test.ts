import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { devices } from "isoform/set";
import { cavity } from "../../../apps/lbm/cavity.js";
import { FLUID, MOVING_WALL, STREAM, WALL } from "../../../apps/lbm/kinds.js";
import { D2Q9 } from "../../../apps/lbm/lattice.js";
import { PATTERNS, profile, Simulation, type Flow } from "../../../apps/lbm/simulation.js";

const set = await devices("wasm");
after(() => set.close());

const N = 16;
const isBorder = (x: number, y: number): boolean => x === 0 || y === 0 || x === N - 1 || y === N - 1;

/** Fluid between walls at rest; the velocity is given everywhere, as in a uniform stream. */
const box: Flow = {
  lattice: D2Q9,
  extents: [N, N],
  kind: (x, y) => (isBorder(x, y) ? WALL : FLUID),
  velocity: () => [0.05, 0, 0],
  viscosity: 0.3,
};
const inBody = (x: number, y: number): boolean => x >= 6 && x < 9 && y >= 5 && y < 9;
const withBody: Flow = { ...box, kind: (x, y) => (isBorder(x, y) || inBody(x, y) ? WALL : FLUID) };

describe("walls at rest", () => {
  for (const pattern of PATTERNS)
    it(`bring a box to rest, whatever velocity is given in their cells: ${pattern}`, async () => {
      const simulation = await Simulation.create(set, box, { pattern });
      await simulation.run(700);
      await simulation.measure();
      const u = await profile(simulation.velocity, [0, N / 2], 0, N, 0);
      assert.ok(Math.max(...u.map(Math.abs)) < 1e-6, `u ${u}`);
      simulation.free();
    });

  for (const pattern of PATTERNS)
    it(`with a body in the box keep the mass to round-off: ${pattern}`, async () => {
      const simulation = await Simulation.create(set, withBody, { pattern, precision: "strict" });
      const { mass } = await simulation.measure();
      for (let n = 0; n < 5; n++) {
        await simulation.run(20);
        const later = await simulation.measure();
        assert.ok(Math.abs(later.mass - mass) < 1e-12, `step ${simulation.steps}: ${mass} became ${later.mass}`);
      }
      simulation.free();
    });

  it("are asked for neither velocity nor density, nor are inactive cells; and have velocity 0 and density 1", async () => {
    const refuse = (what: string, x: number, y: number): number => assert.fail(`${what} was asked for in ${x}, ${y}`);
    const moves = (y: number): boolean => y === N - 1;
    const flow: Flow = {
      ...box,
      active: (x, y) => !inBody(x, y),
      kind: (x, y) => (moves(y) ? MOVING_WALL : y === 0 ? STREAM : isBorder(x, y) ? WALL : FLUID),
      velocity: (x, y) => (inBody(x, y) || (isBorder(x, y) && y !== 0 && !moves(y)) ? [refuse("a velocity", x, y)] : [0.01, 0]),
      density: (x, y) => (inBody(x, y) || (isBorder(x, y) && y !== 0) ? refuse("a density", x, y) : 1.01),
    };
    for (const grid of ["dense", "sparse"] as const) {
      const simulation = await Simulation.create(set, flow, { grid });
      const found = async (x: number, y: number) => [await simulation.density.get([x, y]), await simulation.velocity.get([x, y])];
      assert.deepEqual(await found(0, 3), [1, 0]);
      assert.deepEqual(await found(4, N - 1), [1, 0.01]);
      assert.deepEqual(await found(4, 0), [1.01, 0.01]);
      assert.deepEqual(await found(4, 4), [1.01, 0.01]);
      simulation.free();
    }
  });

  it("feel the same force with one population as with two, in a steady flow", async () => {
    const forces: (readonly number[])[] = [];
    for (const pattern of PATTERNS) {
      const simulation = await Simulation.create(set, cavity({ reynolds: 10, size: 8 }), { pattern });
      await simulation.run(1500);
      forces.push(await simulation.force());
      simulation.free();
    }
    const [pull, aa] = forces;
    assert.ok(Math.abs(pull[0]) > 1e-3, `${pull}`);
    // Along y the lid's part is missing, so that the mean pressure counts, which differs by what waits in walls.
    assert.ok(Math.abs(aa[0] - pull[0]) < 1e-5 * Math.abs(pull[0]), `${aa}, not ${pull}`);
  });
});

describe("a flow", () => {
  it("whose function gives what is not a kind of cell, or not a number, is refused with the cell", async () => {
    await assert.rejects(
      Simulation.create(set, { ...box, kind: (x) => (x === 3 ? 7 : FLUID) }),
      /cell 3, 0 has the kind 7: "kind" has to return one of FLUID \(0\), OUTLET \(1\), STREAM \(2\), WALL \(3\), MOVING_WALL \(4\)/,
    );
    await assert.rejects(
      Simulation.create(set, { ...box, velocity: (x, y) => (x === 2 && y === 5 ? [0] : [0, 0]) }),
      /the velocity of cell 2, 5 is undefined: "velocity" has to return numbers there/,
    );
    await assert.rejects(Simulation.create(set, { ...box, density: () => NaN }), /the density of cell 1, 1 is NaN/);
  });
});
