import { open } from "isoform";
import { CASES } from "./cases.js";
import { COMPOSITIONS, type CompositionName } from "./compositions.js";
import { meshOf } from "./mesh.js";
import { energyError, follow, seriesOfMode, worst, type Row } from "./run.js";
import { DEFAULTS, Simulation, type Problem } from "./simulation.js";

/*
 * Makes the tables of README.md: node dist/apps/pic/validation.js [device]
 */

const device = await open(process.argv[2] ?? "native");
const head = (...columns: string[]): void => console.log(`\n| ${columns.join(" | ")} |\n|${"---|".repeat(columns.length)}`);
const line = (...cells: (string | number)[]): void => console.log(`| ${cells.join(" | ")} |`);

async function rowsOf(problem: Problem, watched: (typeof CASES)[number]["watched"], options: RunOptions): Promise<Row[]> {
  const settings = { ...DEFAULTS, count: options.particles, dt: options.dt, composition: options.composition ?? DEFAULTS.composition };
  const simulation = await Simulation.create(device, problem, settings);
  const rows: Row[] = [];
  await follow(simulation, watched, options, rows);
  simulation.free();
  return rows;
}
interface RunOptions {
  particles: number;
  dt: number;
  time: number;
  every: number;
  composition?: CompositionName;
}

const conservation: (readonly [name: string, rows: readonly Row[]])[] = [];
head("case", "particles", "cells", "dt", "quantity", "fitted", "expected", "difference", "source");
for (const each of CASES) {
  const { defaults, watched } = each;
  const rows = await rowsOf(each.problem(defaults), watched, defaults);
  conservation.push([each.name, rows]);
  for (const { quantity, fitted, expected, source } of each.judge(seriesOfMode(rows), defaults).comparisons)
    line(
      each.name,
      defaults.particles,
      defaults.cells,
      defaults.dt,
      quantity,
      fitted.toPrecision(4),
      expected.toPrecision(4),
      `${(100 * (fitted / expected - 1)).toFixed(1)} %`,
      source,
    );
}

head("case", "until", "energy, largest relative change", "Gauss' law, largest residual", "largest div B");
for (const [name, rows] of conservation)
  line(
    name,
    rows[rows.length - 1].time.toPrecision(3),
    energyError(rows).toExponential(1),
    worst(rows, "gauss").toExponential(1),
    // Of one dimension div B is nothing.
    worst(rows, "divergence") === 0 ? "" : worst(rows, "divergence").toExponential(1),
  );

/** Strong Landau damping along axis 1 of the whole space. */
const inSpace: Problem = {
  mesh: meshOf([16, 8, 8], [4 * Math.PI, 4 * Math.PI, 4 * Math.PI], 3, 3),
  species: [
    { name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [1, 1, 1] }], perturbation: { amplitude: 0.5, mode: 1 } },
  ],
};
const onLine = CASES.find(({ name }) => name === "strong-landau")!;
const STEPS = [0.2, 0.1, 0.05, 0.025];
head("composition", "phase space", ...STEPS.map((dt) => `dt ${dt}`), "orders");
for (const [composition, space, problem] of [
  ...Object.keys(COMPOSITIONS).map((name) => [name as CompositionName, "1D1V", onLine.problem(onLine.defaults)] as const),
  ["strang", "3D3V", inSpace] as const,
]) {
  const errors: number[] = [];
  for (const dt of STEPS)
    errors.push(energyError(await rowsOf(problem, onLine.watched, { particles: 20_000, dt, time: 10, every: 1, composition })));
  const orders = errors.slice(1).map((error, n) => Math.log2(errors[n] / error).toFixed(2));
  line(composition, space, ...errors.map((error) => error.toExponential(1)), orders.join(", "));
}
await device.close();
