import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { open } from "isoform";
import { CASES, type Case } from "./simulation/cases.js";
import { COMPOSITIONS, type CompositionName } from "./simulation/compositions.js";
import { missOf } from "./judgement/judgement.js";
import { meshOf } from "./mesh/mesh.js";
import { ratePlot } from "./judgement/rate-plot.js";
import { energyError, follow, seriesOfMode, worst, type Row } from "./simulation/run.js";
import { DEFAULTS, type Problem } from "./simulation/problem.js";
import { Simulation } from "./simulation/simulation.js";

/*
 * Makes the tables and plots of README.md, each between its markers: node dist/apps/pic/validation.js [device] [part ...]
 */

const README = fileURLToPath(new URL("../../../apps/pic/README.md", import.meta.url));
const [name = "native", ...wanted] = process.argv.slice(2);
const device = await open(name);

interface RunOptions {
  particles: number;
  dt: number;
  time: number;
  every: number;
  composition?: CompositionName;
}

async function rowsOf(problem: Problem, watched: Case["watched"], options: RunOptions): Promise<Row[]> {
  const settings = { ...DEFAULTS, count: options.particles, dt: options.dt, composition: options.composition ?? DEFAULTS.composition };
  const simulation = await Simulation.create(device, problem, settings);
  const rows: Row[] = [];
  await follow(simulation, watched, options, rows);
  simulation.free();
  return rows;
}

const find = (caseName: string): Case => CASES.find((each) => each.name === caseName)!;

/** A table of Markdown, its columns in line. */
function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, n) => Math.max(3, ...cells.map((row) => row[n].length)));
  const line = (row: readonly string[]): string => `| ${row.map((cell, n) => cell.padEnd(widths[n])).join(" | ")} |`;
  const [first, ...rest] = cells.map(line);
  return [first, line(widths.map((width) => "-".repeat(width))), ...rest].join("\n");
}

/** Checks that fail the run, once everything is written. */
function check(holds: boolean, problem: string): void {
  if (holds) return;
  console.error(problem);
  process.exitCode = 1;
}

const gaussOf = (rows: readonly Row[]): string => worst(rows, "gauss").toExponential(1);
/** Text of div B; nothing in one dimension. */
const divergenceOf = (rows: readonly Row[]): string => (worst(rows, "divergence") === 0 ? "" : worst(rows, "divergence").toExponential(1));

/** All cases with their own settings: rates beside theory, as a table and as plots, and what is conserved. */
async function rates(): Promise<string> {
  const compared: (string | number)[][] = [];
  const conserved: string[][] = [];
  const plots: string[] = [];
  for (const { name: title, defaults, watched, problem, judge } of CASES) {
    const rows = await rowsOf(problem(defaults), watched, defaults);
    const series = seriesOfMode(rows);
    const { comparisons, curves } = judge(series, defaults);
    for (const each of comparisons) {
      const { quantity, fitted, expected, source, tolerance } = each;
      const miss = missOf(each);
      if (expected === undefined || source === undefined || tolerance === undefined || miss === undefined) continue;
      const { particles, cells, dt } = defaults;
      const numbers = [
        fitted.toPrecision(4),
        each.error?.toPrecision(2) ?? "",
        expected.toPrecision(4),
        `${(100 * miss).toFixed(1)} %`,
        `${100 * tolerance} %`,
      ];
      compared.push([title, particles, cells, dt, quantity, ...numbers, source]);
      check(Math.abs(miss) <= tolerance, `${title}: the ${quantity} is ${fitted}, not ${expected}`);
    }
    if (curves.length > 0)
      plots.push(ratePlot(`${title}: first mode of ${watched.form.toUpperCase()}_${watched.component + 1}`, series, curves));
    const last = rows[rows.length - 1];
    conserved.push([title, last.time.toPrecision(3), energyError(rows).toExponential(1), gaussOf(rows), divergenceOf(rows)]);
  }
  return [
    table(
      ["case", "particles", "cells", "dt", "quantity", "fitted", "error bar", "expected", "difference", "tolerance", "source"],
      compared,
    ),
    "The watched mode in blue, what is fitted in orange, and the expected rate through the fit's middle in green:",
    ...plots,
    table(["case", "until", "energy, largest relative change", "Gauss' law, largest residual", "largest div B"], conserved),
  ].join("\n\n");
}

const LONG = 10_000;

/** Many steps with fewer particles: what is conserved stays so. */
async function long(): Promise<string> {
  const rows: (string | number)[][] = [];
  const particles = 20_000;
  for (const title of ["weibel", "3d3v", "3d3v-hot"]) {
    const { defaults, watched, problem } = find(title);
    const samples = await rowsOf(problem(defaults), watched, { ...defaults, particles, time: LONG * defaults.dt, every: LONG / 50 });
    const laws = worst(samples, "gauss") < 1e-12 && worst(samples, "divergence") < 1e-13;
    check(laws, `${title}: Gauss' law or div B = 0 does not hold after ${LONG} steps`);
    rows.push([title, particles, LONG, energyError(samples).toExponential(1), gaussOf(samples), divergenceOf(samples)]);
  }
  return table(["case", "particles", "steps", "energy, largest relative change", "Gauss' law, largest residual", "largest div B"], rows);
}

/** Strong Landau damping along axis 1 of the whole space. */
const inSpace: Problem = {
  mesh: meshOf([16, 8, 8], [4 * Math.PI, 4 * Math.PI, 4 * Math.PI], 3, 3),
  species: [
    { name: "electrons", charge: -1, mass: 1, beams: [{ fraction: 1, sigma: [1, 1, 1] }], perturbation: { amplitude: 0.5, mode: 1 } },
  ],
};
/** Orders that the smoothness of the splines lets be seen. */
const ORDERS: Partial<Record<CompositionName, number>> = { lie: 1, strang: 2, "4-lie": 2 };
const STEPS = [0.2, 0.1, 0.05, 0.025];

/** Errors of the energy and the orders of all compositions. */
async function orders(): Promise<string> {
  const onLine = find("strong-landau");
  const rows: string[][] = [];
  for (const [composition, space, problem] of [
    ...Object.keys(COMPOSITIONS).map((each) => [each as CompositionName, "1D1V", onLine.problem(onLine.defaults)] as const),
    ["strang", "3D3V", inSpace] as const,
  ]) {
    const errors: number[] = [];
    for (const dt of STEPS)
      errors.push(energyError(await rowsOf(problem, onLine.watched, { particles: 20_000, dt, time: 10, every: 1, composition })));
    const found = errors.slice(1).map((error, n) => Math.log2(errors[n] / error));
    const order = ORDERS[composition];
    check(order === undefined || found.every((each) => Math.abs(each - order) < 0.1), `${composition}, ${space}: orders ${found.join()}`);
    rows.push([composition, space, ...errors.map((error) => error.toExponential(1)), found.map((each) => each.toFixed(2)).join(", ")]);
  }
  return table(["composition", "phase space", ...STEPS.map((dt) => `dt ${dt}`), "orders"], rows);
}

for (const [part, make] of Object.entries({ rates, long, orders })) {
  if (wanted.length > 0 && !wanted.includes(part)) continue;
  const text = await make();
  const [start, end] = [`<!-- ${part} -->`, `<!-- end of ${part} -->`];
  const readme = await readFile(README, "utf8");
  const [before, rest = ""] = readme.split(start);
  await writeFile(README, `${before}${start}\n\n${text}\n\n${end}${rest.split(end)[1]}`);
}
await device.close();
