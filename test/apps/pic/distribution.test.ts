import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { open } from "isoform";
import { devices } from "isoform/set";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { Draws, type Distribution } from "../../../apps/pic/particles/distribution.js";
import { readDistribution } from "../../../apps/pic/results/distribution-file.js";
import { tableDistribution } from "../../../apps/pic/results/distribution-table.js";
import { meshOf } from "../../../apps/pic/mesh/mesh.js";
import { DEFAULTS } from "../../../apps/pic/simulation/problem.js";
import { follow, seriesOfMode, type Row } from "../../../apps/pic/simulation/run.js";
import { Simulation } from "../../../apps/pic/simulation/simulation.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-distribution-"));
after(() => rm(folder, { recursive: true }));
const device = await open("js");
after(() => device.close());

const line = meshOf([16], [5], 3, 1);
const plane = meshOf([16], [5], 3, 2);
const refused = (action: () => unknown, message: RegExp) => assert.throws(action, { name: "IsoformError", message });

test("particles have the mean, the spread and the density of their distribution", () => {
  // Two beams, of which one is denser on the left: no product of what depends on x and on v.
  const density = ([x]: readonly number[], [v1, v2]: readonly number[]): number =>
    (Math.exp(-((v1 - 2) ** 2) / 2) * (1 + Math.cos((2 * Math.PI * x) / 5)) + Math.exp(-((v1 + 2) ** 2) / 2)) * Math.exp((-v2 * v2) / 0.5);
  const draws = new Draws(
    {
      density,
      velocities: [
        [-8, 8],
        [-4, 4],
      ],
    },
    plane,
    "electrons",
  );
  const sums = { w: 0, v1: 0, v1v1: 0, v2: 0, v2v2: 0, wave: 0, flow: 0 };
  const count = 1 << 16;
  for (let n = 0; n < count; n++) {
    const { x, v, weight } = draws.particle(n);
    const wave = Math.cos((2 * Math.PI * x[0]) / 5);
    sums.w += weight;
    sums.v1 += weight * v[0];
    sums.v1v1 += weight * v[0] ** 2;
    sums.v2 += weight * v[1];
    sums.v2v2 += weight * v[1] ** 2;
    sums.wave += weight * wave;
    sums.flow += weight * wave * v[0];
  }
  const found = Object.entries(sums).map(([name, sum]) => [name, sum / sums.w] as const);
  // Half of the particles are in each beam; that to the right has the wave: <cos> = 1/4, <cos v1> = 2/4.
  const expected = { w: 1, v1: 0, v1v1: 5, v2: 0, v2v2: 0.25, wave: 0.25, flow: 0.5 };
  for (const [name, value] of found)
    assert.ok(
      Math.abs(value - expected[name as keyof typeof expected]) < 2e-3,
      `${name}: ${value}, not ${expected[name as keyof typeof expected]}`,
    );
});

test("what is no distribution is refused, with where it fails", () => {
  const made = (distribution: Distribution) => () => new Draws(distribution, line, "electrons");
  refused(
    made({ density: () => -1, velocities: [[-1, 1]] }),
    /the distribution of species "electrons" is -1 at x = \[.*\], v = \[.*\]: it has to be a number from 0 on/,
  );
  refused(made({ density: () => Number.NaN, velocities: [[-1, 1]] }), /is NaN at x/);
  refused(made({ density: () => 0, velocities: [[-1, 1]] }), /is 0 everywhere/);
  for (const velocities of [
    [],
    [[1, -1]],
    [[0, Infinity]],
    [
      [-1, 1],
      [-1, 1],
    ],
  ] as [number, number][][])
    refused(made({ density: () => 1, velocities }), /this problem needs one pair \[from, to\]/);
});

test("a table is read in any order of its lines, and interpolated", () => {
  const { density, velocities } = tableDistribution("v1,f\n2,1\n-2,0\n0,4\n", line, "a.csv");
  assert.deepEqual(velocities, [[-2, 2]]);
  assert.deepEqual(
    [-2, -1, 0, 0.5, 2].map((v) => density([0], [v])),
    [0, 2, 4, 3.25, 1],
  );
  // Places are periodic: 4.5 lies half-way between 4 and 0 of the next box of length 5.
  const both = tableDistribution("x1,v1,f\n0,0,1\n0,1,3\n4,0,2\n4,1,2\n", line, "b.csv");
  assert.deepEqual(
    [0, 2, 4, 4.5].map((x) => both.density([x], [0.5])),
    [2, 2, 2, 2],
  );
  assert.deepEqual(
    [0, 2, 4, 4.5].map((x) => both.density([x], [1])),
    [3, 2.5, 2, 2.5],
  );
});

for (const [text, message] of [
  ["v,f\n0,1\n", /a\.csv has the columns v,f: this case takes v1,f or x1,v1,f, named in the first line/],
  ["v1,v2,f\n0,0,1\n", /has the columns v1,v2,f: this case takes v1,f or/],
  ["-1,2\n0,1\n", /has the columns -1,2: this case takes/],
  ["", /has the columns : this case takes/],
  ["v1,f\n0,1\n1,x\n", /a\.csv, line 3: "1,x" is not 2 numbers/],
  ["v1,f\n0,1,2\n", /line 2: "0,1,2" is not 2 numbers/],
  ["v1,f\n0,1\n", /has 1 values of v1: a grid needs 2 or more/],
  ["x1,v1,f\n0,0,1\n0,1,1\n1,0,1\n", /has 3 lines for a grid of 2 x 2 points: it needs each of these 4 once/],
] as const)
  test(`the table ${JSON.stringify(text)} is refused`, () => refused(() => tableDistribution(text, line, "a.csv"), message));

test("modules that are no distribution, and other files, are refused", async () => {
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const fails = async (path: string, message: RegExp) => assert.rejects(readDistribution(path, line), { name: "IsoformError", message });
  await fails(
    await file("none.mjs", "export const density = 1;"),
    /has no distribution as its default export: write export default \{ density: /,
  );
  await fails(await file("broken.mjs", "export default {"), /cannot import the distribution .*broken\.mjs: /);
  await fails(join(folder, "absent.csv"), /cannot read the distribution .*absent\.csv: ENOENT/);
  await fails(await file("some.txt", ""), /is neither a table \(\.csv\) nor a module/);
  const good = await file("good.mjs", "export default { density: (x, v) => 2 - v[0], velocities: [[-1, 1]] };");
  assert.equal((await readDistribution(good, line)).density([0], [0.5]), 1.5);
});

test("a Maxwellian of one's own is damped as beams are, on one device and on two", async () => {
  const { problem, defaults, watched, judge } = CASES.find(({ name }) => name === "landau")!;
  const distribution: Distribution = { density: (_, [v]) => Math.exp((-v * v) / 2), velocities: [[-6, 6]] };
  const options = { ...defaults, cells: 16, amplitude: 0.1, distribution, window: [2, 8] as const };
  const rates: number[] = [];
  for (const name of ["wasm", "wasm*2"]) {
    const set = await devices(name);
    const simulation = await Simulation.create(set, problem(options), { ...DEFAULTS, count: 20_000, dt: 0.1 });
    const rows: Row[] = [];
    await follow(simulation, watched, { time: 8, every: 1 }, rows);
    const [rate] = judge(seriesOfMode(rows), options).comparisons;
    assert.deepEqual([rate.quantity, rate.expected], ["rate of the envelope", undefined]);
    rates.push(rate.fitted);
    assert.ok(rows.every(({ gauss }) => gauss < 1e-12));
    simulation.free();
    await set.close();
  }
  assert.ok(Math.abs(rates[0] + 0.1534) < 0.012, `${rates[0]}`);
  assert.ok(Math.abs(rates[1] - rates[0]) < 1e-9);
});

test("symmetric loading and a distribution do not go together", async () => {
  const { problem, defaults } = CASES.find(({ name }) => name === "landau")!;
  const distribution: Distribution = { density: () => 1, velocities: [[-1, 1]] };
  await assert.rejects(
    Simulation.create(device, problem({ ...defaults, distribution }), { ...DEFAULTS, loading: "symmetric", count: 64, dt: 0.1 }),
    /has a distribution of its own: choose --loading sobol/,
  );
});
