import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { doctor } from "isoform";
import { devices } from "isoform/set";
import { totalEnergy } from "../../../apps/pic/simulation/diagnostics.js";
import { meshOf } from "../../../apps/pic/mesh/mesh.js";
import { DEFAULTS, type Problem, type Settings } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";
import { sharesOf } from "../../../apps/pic/particles/species.js";

const reports = await doctor();
const PLASMA: Problem = {
  mesh: meshOf([16], [5], 3, 2),
  species: [
    { name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [1, 2] }], perturbation: { amplitude: 0.3, mode: 1 } },
    { name: "ions", charge: 1, mass: 4, beams: [{ fraction: 1, drift: [0, 1], sigma: [0.5, 1] }] },
  ],
  magnetic: { field: (x) => [0, 0, Math.cos((2 * Math.PI * x[0]) / 5)] },
};
const SETTINGS: Settings = { ...DEFAULTS, count: 1000, dt: 0.05, precision: "strict" };

async function on<T>(
  spec: string,
  use: (simulation: Simulation) => Promise<T>,
  settings: Partial<Settings> = {},
  problem = PLASMA,
): Promise<T> {
  const set = await devices(spec);
  try {
    const simulation = await Simulation.create(set, problem, { ...SETTINGS, ...settings });
    const result = await use(simulation);
    simulation.free();
    return result;
  } finally {
    await set.close();
  }
}

/** State and measures after some steps, and the fields of each device. */
const after = (steps: number) => async (simulation: Simulation) => {
  await simulation.run(steps);
  const fields = await Promise.all(simulation.parts.map(({ queue, maxwell: { e, b } }) => Promise.all([queue.read(e), queue.read(b)])));
  return { state: await simulation.state(), measures: await simulation.measure(), fields };
};

const largestGap = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((most, value, n) => Math.max(most, Math.abs(value - b[n])), 0);

describe("a plasma on several devices", () => {
  for (const spec of ["js*3", "wasm*2", "native*2", "opencl*2", "wasm,native"]) {
    const missing = reports.find((report) => report.missing && spec.split(/[*,]/).includes(report.backend))?.missing;
    test(`${spec} gives what one device gives but for rounding`, { skip: missing?.reason }, async () => {
      const [one, several] = [await on("js", after(20)), await on(spec, after(20))];
      for (const fields of several.fields) assert.deepEqual(fields, several.fields[0], "all devices have the same fields");
      for (const [n, array] of one.state.arrays.entries()) {
        assert.equal(several.state.arrays[n].length, array.length);
        assert.ok(largestGap(several.state.arrays[n], array) < 1e-11, `array ${n}`);
      }
      assert.ok(several.measures.gauss < 1e-13, `${several.measures.gauss}`);
      assert.ok(Math.abs(totalEnergy(several.measures) / totalEnergy(one.measures) - 1) < 1e-12);
      assert.ok(largestGap(several.measures.momentum, one.measures.momentum) < 1e-11);
    });
  }

  test("each device sorts its own particles", async () => {
    const problem: Problem = {
      mesh: meshOf([9, 8, 7], [2, 3, 2.5], 3, 3),
      species: [{ name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [0.4, 0.3, 0.2] }] }],
    };
    const run = (spec: string, sort: number) => on(spec, after(5), { sort, count: 900 }, problem);
    const [one, several] = [await run("js", 0), await run("wasm*2", 2)];
    assert.ok(several.measures.gauss < 1e-13);
    assert.ok(
      largestGap(several.state.arrays[0], one.state.arrays[0]) < 1e-12 && largestGap(several.fields[1][0], one.fields[0][0]) < 1e-12,
    );
    assert.ok(Math.abs(totalEnergy(several.measures) / totalEnergy(one.measures) - 1) < 1e-12);
    await on(
      "js*3",
      async (other) => assert.throws(() => other.restore(several.state), /devices 2 there, 3 here/),
      { sort: 2, count: 900 },
      problem,
    );
  });

  test("particles are those of one device, group by group", async () => {
    const loaded = (spec: string) => on(spec, (simulation) => simulation.state(), { loading: "symmetric" });
    const [one, several] = [await loaded("js"), await loaded("js*3")];
    assert.deepEqual(several.arrays.slice(2), one.arrays.slice(2));
    const shares = sharesOf({ count: 1000, loading: "symmetric", layout: "left" }, PLASMA.mesh, 3);
    assert.deepEqual(
      shares.map(({ first, count }) => [first, count]),
      [
        [0, 328],
        [328, 336],
        [664, 336],
      ],
    );
  });

  test("a state of one device goes on with several, and with the same bits on as many", async () => {
    const saved = (await on("js", after(5))).state;
    const goOn = (spec: string) =>
      on(spec, async (simulation) => {
        simulation.restore(saved);
        return (await after(5)(simulation)).state;
      });
    const [one, several, again] = [await goOn("js"), await goOn("js*2"), await goOn("wasm*2")];
    assert.equal(several.steps, 10);
    one.arrays.forEach((array, n) => assert.ok(largestGap(several.arrays[n], array) < 1e-11));
    assert.deepEqual(again, several);
  });

  test("a lost particle has its number among all", async () => {
    await on("js*2", async (simulation) => {
      const { queue, species } = simulation.parts[1];
      const [velocity] = species[1].v;
      queue.write(
        velocity,
        Array.from(await queue.read(velocity), (v, i) => (i === 7 ? NaN : v)),
      );
      await assert.rejects(simulation.requireSound(), /1 of 500 particles of species "ions".*the first of them, particle 507/);
    });
  });
});
