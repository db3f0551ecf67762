import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Device } from "isoform";
import { doctor, open } from "isoform";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { COMPOSITIONS, flowShares, sequenceOf, type CompositionName } from "../../../apps/pic/simulation/compositions.js";
import { totalEnergy } from "../../../apps/pic/simulation/diagnostics.js";
import { meshOf } from "../../../apps/pic/mesh/mesh.js";
import { DEFAULTS, type Problem, type Settings } from "../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";

const reports = await doctor();
const device = await open("js");
after(() => device.close());

const SETTINGS: Settings = { ...DEFAULTS, count: 1024, dt: 0.05, precision: "strict" };
const create = (problem: Problem, settings: Partial<Settings> = {}, on: Device = device) =>
  Simulation.create(on, problem, { ...SETTINGS, ...settings });

/** Two species, fast enough to cross cells at each step, in a field of all components. */
const BOX: Problem = {
  mesh: meshOf([9, 8, 7], [2, 3, 2.5], 3, 3),
  species: [
    { name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [2, 3, 4] }], perturbation: { amplitude: 0.4, mode: 1 } },
    { name: "ions", charge: 1, mass: 5, beams: [{ fraction: 1, drift: [0, 1, 0], sigma: [1, 1, 1] }] },
  ],
  magnetic: { potential: (x) => [Math.cos(2 * Math.PI * x[1]), Math.sin(2 * Math.PI * x[2]), Math.cos(Math.PI * x[0])] },
};
const BEAM: Problem = {
  mesh: meshOf([16], [5], 3, 2),
  species: [{ name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [1, 2] }], perturbation: { amplitude: 0.3, mode: 1 } }],
  magnetic: { field: (x) => [0, 0, Math.cos((2 * Math.PI * x[0]) / 5)] },
};
const LANDAU: Problem = {
  mesh: meshOf([32], [4 * Math.PI], 3, 1),
  species: [{ name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [1] }], perturbation: { amplitude: 0.5, mode: 1 } }],
};

test("compositions are consistent, and symmetric but for Lie's", () => {
  for (const name of Object.keys(COMPOSITIONS) as CompositionName[]) {
    const parts = flowShares(name, ["E", "B", "p1", "p2", "p3"]);
    for (const flow of ["E", "B", "p1", "p2", "p3"]) {
      const sum = parts.filter((part) => part.flow === flow).reduce((total, { share }) => total + share, 0);
      assert.ok(Math.abs(sum - 1) < 1e-15, `${name}: ${flow} ${sum}`);
    }
    if (name === "lie" || name === "10-lie") continue;
    parts.forEach(({ flow, share }, n) => {
      const other = parts[parts.length - 1 - n];
      assert.ok(other.flow === flow && Math.abs(other.share - share) < 1e-15);
    });
  }
  assert.deepEqual(
    flowShares("strang", ["E", "p1"]).map(({ flow, share }) => `${flow} ${share}`),
    ["E 0.5", "p1 1", "E 0.5"],
  );
  const { start, between, end } = sequenceOf(flowShares("strang", ["E", "p1"]));
  assert.deepEqual(
    [start, between, end].map((parts) => parts.map(({ flow, share }) => `${flow} ${share}`).join()),
    ["E 0.5,p1 1", "E 1,p1 1", "E 0.5"],
  );
});

for (const composition of Object.keys(COMPOSITIONS) as CompositionName[])
  for (const [name, problem, count] of [
    ["3D3V", BOX, 200],
    ["1D2V", BEAM, 1000],
    ["1D1V", LANDAU, 1000],
  ] as const)
    test(`${name} with ${composition} keeps Gauss' law and the divergence of B`, async () => {
      const simulation = await create(problem, { count, composition, dt: 0.03 });
      const first = await simulation.measure();
      await simulation.run(10);
      const last = await simulation.measure();
      assert.ok(Math.abs(last.electric[0] - first.electric[0]) > 1e-5, "something happens");
      for (const { gauss, divergence } of [first, last]) assert.ok(gauss < 1e-13 && divergence < 1e-13, `${gauss}, ${divergence}`);
      const drift = Math.abs(totalEnergy(last) / totalEnergy(first) - 1);
      assert.ok(drift < (composition === "lie" ? 5e-2 : 5e-3), `energy changes by ${drift}`);
      simulation.free();
    });

for (const [name, axes] of [
  ["2D3V", 2],
  ["1D3V", 1],
] as const)
  test(`${name} keeps the same laws with the same kernels`, async () => {
    const mesh = meshOf([9, 8].slice(0, axes), [2, 3].slice(0, axes), 2, 3);
    const simulation = await create({ ...BOX, mesh }, { count: 500, dt: 0.03 });
    const first = await simulation.measure();
    await simulation.run(10);
    const last = await simulation.measure();
    assert.ok(last.gauss < 1e-13 && last.divergence < 1e-13, `${last.gauss}, ${last.divergence}`);
    assert.ok(Math.abs(totalEnergy(last) / totalEnergy(first) - 1) < 5e-3);
    simulation.free();
  });

test("the energy errs in the first and in the second order of the step", async () => {
  const error = async (composition: CompositionName, dt: number): Promise<number> => {
    const simulation = await create(LANDAU, { composition, dt });
    const start = totalEnergy(await simulation.measure());
    let most = 0;
    for (let n = 0; n < 10; n++) {
      await simulation.run(Math.round(0.2 / dt));
      most = Math.max(most, Math.abs(totalEnergy(await simulation.measure()) / start - 1));
    }
    simulation.free();
    return most;
  };
  const order = async (composition: CompositionName) => Math.log2((await error(composition, 0.1)) / (await error(composition, 0.05)));
  const [lie, strang] = [await order("lie"), await order("strang")];
  assert.ok(lie > 0.9 && lie < 1.1, `${lie}`);
  assert.ok(strang > 1.9 && strang < 2.1, `${strang}`);
});

test("steps in a row are steps one by one", async () => {
  for (const composition of ["lie", "strang", "10-lie"] as const) {
    const [together, apart] = [await create(BEAM, { composition }), await create(BEAM, { composition })];
    await together.run(4);
    for (let n = 0; n < 4; n++) await apart.run(1);
    await apart.run(0);
    const [a, b] = [(await together.state()).arrays, (await apart.state()).arrays];
    a.forEach((array, n) => Array.from(array).forEach((value, i) => assert.ok(Math.abs(value - b[n][i]) < 1e-12)));
    together.free();
    apart.free();
  }
});

test("without charge particles stream freely", async () => {
  const problem: Problem = { ...BEAM, species: [{ ...BEAM.species[0], charge: 0 }] };
  const simulation = await create(problem, { count: 64 });
  const [electrons] = simulation.species;
  const read = () => Promise.all([electrons.x[0], electrons.v[0]].map((column) => device.queue.read(column)));
  const [x, v] = await read();
  await simulation.run(2000);
  const [xEnd, vEnd] = await read();
  assert.deepEqual(vEnd, v);
  for (const [i, place] of xEnd.entries()) {
    const turns = (place - x[i] - 100 * v[i]) / 5;
    assert.ok(Math.abs(turns - Math.round(turns)) < 1e-13);
  }
  simulation.free();
});

test("the mode of a field is that of the wave that it was projected from", async () => {
  for (const m of [1, 3]) {
    const field = (x: readonly number[]) => [0, 0, 0.3 * Math.cos((2 * Math.PI * m * x[0]) / 5 + 1)] as const;
    const simulation = await create({ ...BEAM, species: [], magnetic: { field } }, { count: 0 });
    assert.ok(Math.abs((await simulation.mode("b", 2, m)) - 0.3) < 1e-3);
    assert.ok((await simulation.mode("b", 2, m + 1)) < 1e-15);
    simulation.free();
  }
});

test("symmetric loading has no momentum and keeps none", async () => {
  const simulation = await create(LANDAU, { loading: "symmetric" });
  await simulation.run(20);
  const { momentum } = await simulation.measure();
  assert.ok(Math.abs(momentum[0]) < 1e-12, `${momentum[0]}`);
  simulation.free();
});

test("both layouts of particles give the same bits", async () => {
  const end = async (layout: Settings["layout"]) => {
    const simulation = await create(BOX, { count: 100, layout });
    await simulation.run(3);
    const { arrays } = await simulation.state();
    simulation.free();
    return arrays;
  };
  assert.deepEqual(await end("left"), await end("right"));
});

test("a restart gives the same bits, and another run's state is refused with what differs", async () => {
  const whole = await create(BEAM);
  await whole.run(5);
  const saved = await whole.state();
  await whole.run(5);
  const again = await create(BEAM);
  again.restore(saved);
  await again.run(5);
  assert.deepEqual(await again.state(), await whole.state());
  const species = [{ ...BEAM.species[0], mass: 2 }];
  for (const [differs, problem, settings] of [
    ["velocities 2 there, 1 here", LANDAU, {}],
    ["cells 16 x 1 x 1 there, 17 x 1 x 1 here", { ...BEAM, mesh: meshOf([17], [5], 3, 2) }, {}],
    ["lengths 5 x 1 x 1 there, 6 x 1 x 1 here", { ...BEAM, mesh: meshOf([16], [6], 3, 2) }, {}],
    ["degrees 3, 0, 0 there, 2, 0, 0 here", { ...BEAM, mesh: meshOf([16], [5], 2, 2) }, {}],
    ["species electrons of charge -1 and mass 1 there, of charge -1 and mass 2 here", { ...BEAM, species }, {}],
    ["species electrons of charge -1 and mass 1 there, absent here", { ...BEAM, species: [] }, {}],
    ["particles 1024 there, 1000 here", BEAM, { count: 1000 }],
    ["time step 0.05 there, 0.04 here", BEAM, { dt: 0.04 }],
    ["composition strang there, lie here", BEAM, { composition: "lie" }],
    ["layout left there, right here", BEAM, { layout: "right" }],
    ["precision strict there, fast here", BEAM, { precision: "fast" }],
  ] as const) {
    const other = await create(problem, settings);
    assert.throws(
      () => other.restore(saved),
      (error: Error) => error.message.includes(differs) || assert.fail(error.message),
    );
    other.free();
  }
  for (const simulation of [whole, again]) simulation.free();
});

test("steps beyond the limit of waves are refused", async () => {
  await assert.rejects(create(BEAM, { dt: 0.2 }), /time step of 0\.2 makes waves grow without bounds: it must be less than 0\.19/);
});

const skipped = (name: string) => {
  const missing = reports.find((report) => report.backend === name)?.missing;
  return { skip: missing && `${name}: ${missing.reason}` };
};

/** State and measures after two steps. */
async function twoSteps(problem: Problem, count: number, on: Device) {
  const simulation = await create(problem, { count }, on);
  await simulation.run(2);
  const end = { state: await simulation.state(), measures: await simulation.measure() };
  simulation.free();
  return end;
}

for (const [name, problem, count] of [
  ["js-debug", BOX, 60],
  ["wasm", BOX, 700],
  ["native", BOX, 700],
  ["opencl", BEAM, 500],
] as const)
  test(`a strict run on ${name} has the bits of js, from the loading on`, skipped(name), async () => {
    const other = await open(name);
    try {
      assert.deepEqual(await twoSteps(problem, count, other), await twoSteps(problem, count, device));
    } finally {
      await other.close();
    }
  });

test("a run on webgpu follows js with emulated f64", skipped("webgpu"), async () => {
  const other = await open("webgpu", { f64: "emulate" });
  try {
    const [here, there] = [await twoSteps(LANDAU, 256, device), await twoSteps(LANDAU, 256, other)];
    assert.ok(there.measures.gauss < 1e-11, `${there.measures.gauss}`);
    here.state.arrays.forEach((array, n) =>
      Array.from(array).forEach((value, i) => assert.ok(Math.abs(there.state.arrays[n][i] - value) < 1e-10 * (1 + Math.abs(value)))),
    );
  } finally {
    await other.close();
  }
});

for (const name of ["3d3v", "weibel", "landau"])
  for (const degree of [1, 2, 3, 4, 5])
    test(`${name} by splines of degree ${degree} keeps Gauss' law and div B = 0`, async () => {
      const { problem, defaults } = CASES.find((one) => one.name === name)!;
      const simulation = await create(problem({ ...defaults, degree }), { count: 200 });
      const start = await simulation.measure();
      await simulation.run(4);
      await simulation.requireSound();
      const measures = await simulation.measure();
      assert.ok(measures.gauss < 1e-13, `${measures.gauss}`);
      // The projection of the first field rounds ten times as much with each degree; the steps add nothing to it.
      assert.ok(start.divergence < 2e-13 && measures.divergence - start.divergence < 1e-14, `${start.divergence}, ${measures.divergence}`);
      assert.ok(Math.abs(totalEnergy(measures) / totalEnergy(start) - 1) < 0.01);
      simulation.free();
    });
