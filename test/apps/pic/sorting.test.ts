import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Device } from "isoform";
import { doctor, open } from "isoform";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { meshOf } from "../../../apps/pic/mesh/mesh.js";
import { DEFAULTS, type Problem, type Settings } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";
import { Sorting, stepsBetweenSorts } from "../../../apps/pic/simulation/sorting.js";
import { loadSpecies, Particles } from "../../../apps/pic/particles/species.js";
import { Workspace } from "../../../apps/pic/fields/workspace.js";

const reports = await doctor();
const skipped = (name: string) => {
  const missing = reports.find((report) => report.backend === name)?.missing;
  return { skip: missing && `${name}: ${missing.reason}` };
};

/** Some twelve particles of each species in a cell, of which every tenth leaves it in a step. */
const COUNT = 6000;
const BOX: Problem = {
  mesh: meshOf([9, 8, 7], [2, 3, 2.5], 3, 3),
  species: [
    { name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [0.2, 0.3, 0.4] }], perturbation: { amplitude: 0.4, mode: 1 } },
    { name: "ions", charge: 1, mass: 5, beams: [{ fraction: 1, drift: [0, 0.1, 0], sigma: [0.1, 0.1, 0.1] }] },
  ],
  magnetic: { potential: (x) => [Math.cos(2 * Math.PI * x[1]), Math.sin(2 * Math.PI * x[2]), Math.cos(Math.PI * x[0])] },
};
const LINE: Problem = {
  mesh: meshOf([16], [5], 3, 2),
  species: [{ name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [0.02, 0.02] }] }],
};
const SETTINGS: Settings = { ...DEFAULTS, count: COUNT, dt: 0.05, precision: "strict" };

async function on<T>(name: string, what: (device: Device) => Promise<T>): Promise<T> {
  const device = await open(name);
  try {
    return await what(device);
  } finally {
    await device.close();
  }
}

/** Particles of runs with fields: three of each species in a cell. */
const FEW = 1500;

async function stateAfter(device: Device, steps: number, settings: Partial<Settings>) {
  const simulation = await Simulation.create(device, BOX, { ...SETTINGS, count: FEW, ...settings });
  await simulation.run(steps);
  const { arrays } = await simulation.state();
  simulation.free();
  return arrays;
}

/** A particle a row. */
function rowsOf(storage: ArrayLike<number>, count: number): number[][] {
  const width = storage.length / count;
  return Array.from({ length: count }, (_, i) => Array.from({ length: width }, (_, k) => storage[width * i + k]));
}

const cellOf = (row: readonly number[]): number =>
  [2, 1, 0].reduce((cell, a) => BOX.mesh.axes[a].cells * cell + Math.floor((row[a] / BOX.mesh.axes[a].length) * BOX.mesh.axes[a].cells), 0);

describe("particles sorted by cell", () => {
  for (const name of ["js", "wasm", "native", "opencl"])
    for (const layout of ["left", "right"] as const)
      test(`are the same ones in the order of their cells on ${name}, layout ${layout}`, skipped(name), () =>
        on(name, async (device) => {
          const work = new Workspace(device, "strict");
          const electrons = new Particles(work, BOX.mesh, BOX.species[0], { ...SETTINGS, layout });
          await loadSpecies([electrons]);
          const before = rowsOf(await device.queue.read(electrons.storage), COUNT);
          const sorting = new Sorting(device, BOX.mesh, electrons, "strict");
          sorting.sort();
          const after = rowsOf(await device.queue.read(electrons.storage), COUNT);
          const start = await device.queue.read(sorting.start);
          assert.deepEqual(
            after,
            [...before.entries()].sort(([i, a], [k, b]) => cellOf(a) - cellOf(b) || i - k).map(([, row]) => row),
          );
          for (const [i, row] of after.entries()) assert.ok(start[cellOf(row)] <= i && i < start[cellOf(row) + 1]);
          sorting.free();
          work.free();
        }),
      );

  for (const name of ["js", "wasm", "native"])
    test(`move as others do on ${name}`, skipped(name), () =>
      on(name, async (device) => {
        const [plain, sorted] = [await stateAfter(device, 3, {}), await stateAfter(device, 3, { sort: 2, precision: "fast" })];
        // E and B; then particles, in another order.
        for (const n of [0, 1])
          Array.from(plain[n]).forEach((value, i) => assert.ok(Math.abs(value - sorted[n][i]) < 1e-12, `${value} ${sorted[n][i]}`));
        for (const n of [2, 3]) {
          const sums = [plain, sorted].map((arrays) =>
            rowsOf(arrays[n], FEW).reduce((sum, row) => row.map((value, k) => (sum[k] ?? 0) + value * (k + 1 + row[6])), [] as number[]),
          );
          sums[0].forEach((sum, k) => assert.ok(Math.abs(sum - sums[1][k]) < 1e-9 * FEW, `${sum} ${sums[1][k]}`));
        }
      }),
    );

  for (const name of ["wasm", "native"])
    test(`have the bits of js on ${name} in strict mode`, skipped(name), async () => {
      const states = await Promise.all([name, "js"].map((each) => on(each, (device) => stateAfter(device, 3, { sort: 2 }))));
      assert.deepEqual(states[0], states[1]);
    });

  test("go on from a state between two sorts with the same bits", () =>
    on("js", async (device) => {
      const [whole, again] = [
        await Simulation.create(device, BOX, { ...SETTINGS, count: FEW, sort: 3 }),
        await Simulation.create(device, BOX, { ...SETTINGS, count: FEW, sort: 3 }),
      ];
      await whole.run(2);
      again.restore(await whole.state());
      for (const simulation of [whole, again]) await simulation.run(3);
      assert.deepEqual(await again.state(), await whole.state());
      for (const simulation of [whole, again]) simulation.free();
    }));

  test("are refused where there are no three axes", () =>
    on("js", async (device) => {
      await assert.rejects(
        Simulation.create(device, LINE, { ...SETTINGS, sort: 1 }),
        /sorted by cell in three dimensions only: leave out --sort/,
      );
    }));

  test("are sorted the more often the faster they are, and never where it does not pay", () =>
    on("wasm", async (device) => {
      const fast = { ...SETTINGS, precision: "fast", count: 100_000 } as const;
      const every = stepsBetweenSorts(device, BOX, fast);
      assert.ok(every > 0 && stepsBetweenSorts(device, BOX, { ...fast, dt: fast.dt / 9 }) > 2 * every, `${every}`);
      assert.equal(stepsBetweenSorts(device, BOX, { ...fast, dt: 1000 }), 1);
      assert.equal(stepsBetweenSorts(device, BOX, { ...fast, count: 1000 }), 0);
      assert.equal(stepsBetweenSorts(device, BOX, { ...fast, precision: "strict" }), 0);
      assert.equal(stepsBetweenSorts(device, LINE, fast), 0);
      assert.equal(await on("js", async (js) => stepsBetweenSorts(js, BOX, fast)), 0);
    }));

  // Measured with 10^7 particles: bench/results/pic-sorts-h100.json
  test("are sorted on a GPU where that was measured to pay", () => {
    const { problem, defaults } = CASES.find(({ name }) => name === "3d3v")!;
    const hot = CASES.find(({ name }) => name === "3d3v-hot")!;
    const settings = { ...DEFAULTS, dt: defaults.dt, count: 10_000_000 };
    const gpu = (backend: string) => ({ backend, memory: { name: "gpu" }, capabilities: { simdBytes: 0 } }) as unknown as Device;
    assert.equal(stepsBetweenSorts(gpu("cuda"), problem(defaults), settings), 2);
    assert.equal(stepsBetweenSorts(gpu("cuda"), hot.problem(hot.defaults), settings), 0);
    assert.equal(stepsBetweenSorts(gpu("cuda"), problem(defaults), { ...settings, count: 100_000 }), 0);
    assert.equal(stepsBetweenSorts(gpu("webgpu"), problem(defaults), settings), 0);
  });
});
