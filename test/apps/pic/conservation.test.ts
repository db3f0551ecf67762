import assert from "node:assert/strict";
import { test } from "node:test";
import { doctor, open } from "isoform";
import { meshOf } from "../../../apps/pic/mesh/mesh.js";
import { DEFAULTS, type Problem } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";

/*
 * What the scheme keeps to round-off stays so over many steps. Few particles do, as none of it depends on how many there are: each crosses a
 * cell every twenty steps or so. A test takes some seconds on one core.
 */

const STEPS = 10_000;
/** Small, for so are the fields of few particles then, and errors of div B are relative to B. */
const CHARGE = 0.05;
const wave = (k: number) => (x: readonly number[]) => [0, 0, CHARGE * Math.cos(k * x[0])] as const;
const electrons = (sigma: readonly number[]) => ({
  name: "electrons",
  charge: -CHARGE,
  mass: CHARGE,
  beams: [{ fraction: 1, sigma }],
  perturbation: { amplitude: 0.3, mode: 1 },
});

const PROBLEMS: readonly (readonly [name: string, problem: Problem, count: number, dt: number])[] = [
  ["1D2V", { mesh: meshOf([16], [5], 3, 2), species: [electrons([1, 2])], magnetic: { field: wave((2 * Math.PI) / 5) } }, 100, 0.08],
  [
    "3D3V",
    {
      mesh: meshOf([8, 7, 7], [4, 3.5, 3.5], 3, 3),
      species: [electrons([0.3, 0.3, 0.3]), { ...electrons([0.15, 0.15, 0.15]), name: "ions", charge: CHARGE, mass: 4 * CHARGE }],
      magnetic: { field: wave(Math.PI / 2) },
    },
    40,
    0.08,
  ],
];

const reports = await doctor();
const missing = reports.find(({ backend }) => backend === "native")?.missing?.reason;

for (const [name, problem, count, dt] of PROBLEMS)
  test(`${name}: after ${STEPS} steps Gauss' law holds to 1e-12, div B = 0 to 1e-13`, async () => {
    const device = await open(missing === undefined ? "native" : "js");
    try {
      const simulation = await Simulation.create(device, problem, { ...DEFAULTS, count, dt, composition: "lie" });
      const start = await simulation.measure();
      for (let n = 0; n < 10; n++) {
        await simulation.run(STEPS / 10);
        const { gauss, divergence } = await simulation.measure();
        assert.ok(gauss < 1e-12 && divergence < 1e-13, `${simulation.steps}: ${gauss}, ${divergence}`);
      }
      await simulation.requireSound();
      const end = await simulation.measure();
      assert.ok(Math.abs(end.electric[0] - start.electric[0]) > 1e-6, "something happens");
      simulation.free();
    } finally {
      await device.close();
    }
  });
