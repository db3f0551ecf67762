import assert from "node:assert/strict";
import { after, test } from "node:test";
import { cavity, compareWithGhia } from "../../../apps/lbm/cavity.js";
import { isMisprint, U_ALONG_Y, V_ALONG_X } from "../../../apps/lbm/ghia.js";
import { runToSteadyState } from "../../../apps/lbm/run.js";
import { ratesOf, Simulation, type Settings } from "../../../apps/lbm/simulation.js";
import { devices } from "isoform/set";

const set = await devices("wasm*2");
after(() => set.close());

async function errorsOf(size: number, settings: Partial<Settings>): Promise<readonly number[]> {
  const simulation = await Simulation.create(set, cavity({ reynolds: 100, size }), settings);
  await runToSteadyState(simulation, { interval: 400, tolerance: 1e-5, steps: 8000 });
  const { errors } = await compareWithGhia(simulation, 100);
  simulation.free();
  return errors;
}

for (const settings of [{}, { type: "f32" }, { collision: "bgk" }, { grid: "sparse" }] as const)
  test(`a cavity of 33 x 33 cells at Re 100 is within 1 % of the lid speed of the published centre lines: ${JSON.stringify(settings)}`, async () => {
    const errors = await errorsOf(33, settings);
    assert.ok(Math.max(...errors) < 0.01, `u ${errors[0]}, v ${errors[1]}`);
  });

test("the tables begin at the lid and at the right wall, and end at walls at rest", () => {
  for (const line of [U_ALONG_Y, V_ALONG_X])
    for (const reynolds of [100, 400, 1000] as const) {
      const values = line.values[reynolds];
      assert.equal(values.length, line.at.length);
      assert.deepEqual([values[0], values.at(-1)], [line === U_ALONG_Y ? 1 : 0, 0]);
      assert.deepEqual(
        line.at,
        [...line.at].sort((a, b) => b - a),
      );
      assert.equal(values.filter((_, n) => isMisprint(line, reynolds, n)).length, line === V_ALONG_X && reynolds === 400 ? 1 : 0);
    }
});

test("relaxation rates give the viscosity, and TRT's product 3/16", () => {
  for (const viscosity of [0.001, 0.1, 2]) {
    const [even, odd] = ratesOf(viscosity, "trt");
    assert.ok(Math.abs((1 / even - 0.5) / 3 - viscosity) < 1e-15);
    assert.ok(Math.abs((1 / even - 0.5) * (1 / odd - 0.5) - 3 / 16) < 1e-15);
    assert.deepEqual(ratesOf(viscosity, "bgk"), [even, even]);
  }
  assert.throws(() => ratesOf(0, "bgk"), /viscosity of 0: the Reynolds number and the size must be above 0/);
});
