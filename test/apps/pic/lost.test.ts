import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { doctor, open } from "isoform";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { meshOf } from "../../../apps/pic/mesh/mesh.js";
import { follow } from "../../../apps/pic/simulation/run.js";
import { DEFAULTS, type Problem } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";

const reports = await doctor();
const PROBLEM: Problem = {
  mesh: meshOf([9, 8, 7], [2, 3, 2.5], 3, 3),
  species: [
    { name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [1, 1, 1] }] },
    { name: "ions", charge: 1, mass: 5, beams: [{ fraction: 1, sigma: [1, 1, 1] }] },
  ],
};
const SETTINGS = { ...DEFAULTS, count: 500, dt: 0.02 };

/** A column and a value that no sound particle has. */
const LOST = [
  ["x", 0, -0.1],
  ["x", 1, 3],
  ["x", 2, NaN],
  ["v", 0, NaN],
  ["v", 1, Infinity],
  ["v", 2, -1e9],
] as const;

describe("lost particles", () => {
  for (const [name, layout] of [
    ["js", "left"],
    ["wasm", "right"],
    ["native", "left"],
    ["opencl", "right"],
  ] as const) {
    const missing = reports.find(({ backend }) => backend === name)?.missing?.reason;
    test(`are found and named on ${name}`, { skip: missing !== undefined && `${name}: ${missing}` }, async () => {
      const device = await open(name);
      try {
        const simulation = await Simulation.create(device, PROBLEM, { ...SETTINGS, layout });
        const [, ions] = simulation.species;
        await simulation.requireSound();
        for (const [what, axis, value] of LOST) {
          const column = ions[what][axis];
          const values = await device.queue.read(column);
          device.queue.write(
            column,
            Array.from(values, (old, i) => (i === 123 || i === 400 ? value : old)),
          );
          await assert.rejects(simulation.requireSound(), (error: Error) => {
            assert.match(
              error.message,
              /2 of 500 particles of species "ions" were lost at the start; the first of them, particle 123, has x = \[/,
            );
            assert.ok(error.message.includes(String(value)), error.message);
            return error.name === "IsoformError";
          });
          device.queue.write(column, values);
        }
        await simulation.requireSound();
        simulation.free();
      } finally {
        await device.close();
      }
    });
  }

  test("end a run, which tells between which steps", async () => {
    const device = await open("js");
    const landau = CASES.find(({ name }) => name === "landau")!;
    const simulation = await Simulation.create(device, landau.problem(landau.defaults), SETTINGS);
    const { queue } = device;
    const damage = async (): Promise<void> => {
      if (simulation.steps !== 20) return;
      const [velocity] = simulation.species[0].v;
      queue.write(
        velocity,
        Array.from(await queue.read(velocity), (v, i) => (i === 7 ? NaN : v)),
      );
    };
    await assert.rejects(
      follow(simulation, landau.watched, { time: 1, every: 10 }, [], damage),
      /500 of 500 particles of species "electrons" were lost between steps 20 and 30 \(--every 1 finds the step\); the first of them, particle 0, has x = \[0\], v = \[NaN\]: ask/,
    );
    await device.close();
  });
});
