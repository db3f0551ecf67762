import { devices } from "isoform/set";
import { placesOf } from "../apps/navier-stokes/cases/box-flow.js";
import { CASE_OF } from "../apps/navier-stokes/cases/cases.js";
import { configOf } from "../apps/navier-stokes/config/config.js";
import type { CaseName, Given } from "../apps/navier-stokes/config/config-keys.js";
import type { Progress } from "../apps/navier-stokes/simulation/progress-line.js";
import { Simulation, type Settings } from "../apps/navier-stokes/simulation/simulation.js";
import { sod } from "../apps/navier-stokes/starts/tube.js";
import { isentropicVortex } from "../apps/navier-stokes/starts/vortices.js";
import { parseArgs } from "./command-line.js";

/*
 * What f32 costs in accuracy: results of flows in f64 and in f32 beside each other, and the difference of their conserved values, as a table.
 *   node dist/bench/navier-stokes-precision.js [--devices wasm] [--cells 32]
 */

const { values: options } = parseArgs({
  options: { devices: { type: "string", default: "wasm" }, cells: { type: "string", default: "32" } },
});
const n = Number(options.cells);

interface End {
  readonly w: ArrayLike<number>;
  /** Of the cells along x. */
  readonly x: Float64Array;
  readonly progress: Progress;
  readonly speed: number;
}

interface Example {
  readonly title: string;
  readonly name: CaseName;
  readonly given: Given;
  readonly steps: number;
  readonly results: Readonly<Record<string, (end: End) => number>>;
}

const rms = (values: readonly number[]): number => Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);

const vortexError = ({ w, x, progress: { time } }: End): number =>
  rms(Array.from({ length: n * n }, (_, c) => w[5 * c] - isentropicVortex(x[c % n], x[Math.floor(c / n)], time).rho));

const sodError = ({ w, x, progress: { time } }: End): number =>
  x.reduce((sum, place, i) => sum + Math.abs(w[5 * i] - sod.exact!(place, time).rho), 0) / x.length;

function kineticEnergy({ w, speed }: End): number {
  let sum = 0;
  for (let c = 0; c < w.length; c += 5) sum += (0.5 * (w[c + 1] ** 2 + w[c + 2] ** 2 + w[c + 3] ** 2)) / w[c];
  return sum / (w.length / 5) / speed ** 2;
}

const EXAMPLES: readonly Example[] = [
  {
    title: `vortex, ${n}², order 6, t 2`,
    name: "box",
    given: { flow: "vortex", nx: n, ny: n },
    steps: 200,
    results: { "rms error of the density": vortexError },
  },
  {
    title: "Sod's tube, 200 cells, WENO 5, t 0.2",
    name: "tube",
    given: {},
    steps: 200,
    results: { "mean error of the density": sodError },
  },
  {
    title: `Taylor–Green, ${n}³, Re 100, t u0 = 5`,
    name: "box",
    given: { flow: "taylor-green", nx: n, ny: n, nz: n },
    steps: 310,
    results: { "kinetic energy": kineticEnergy },
  },
  {
    title: "channel, M 2, Re_tau 490, 32 x 48 x 32, 50 steps",
    name: "channel",
    given: { ny: 48, lx: 6, lz: 3, dyPlus: 0.8, reTau: 490, mach: 2, thetaWall: 0.35, cfl: 0.7, sensorThreshold: 0.2 },
    steps: 50,
    results: {
      "-dp/dx": ({ progress }) => progress.channel!.pressureGradient,
      residual: ({ progress }) => progress.residual,
      "bulk temperature": ({ progress }) => progress.channel!.temperature,
    },
  },
];

const set = await devices(options.devices);

async function run({ name, given, steps }: Example, type: Settings["type"]): Promise<End> {
  const flow = CASE_OF[name].flow(configOf(name, given));
  const simulation = await Simulation.create(set, flow, { type, precision: "strict" });
  await simulation.run(steps);
  const end = {
    w: await simulation.fields.w.download(),
    x: placesOf(flow),
    progress: await simulation.progress(),
    speed: flow.reference.speed,
  };
  simulation.free();
  return end;
}

/** The greatest difference of a conserved value, by the greatest of the same kind. */
function apart(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const [most, off] = [new Float64Array(5), new Float64Array(5)];
  for (let c = 0; c < a.length; c++) {
    most[c % 5] = Math.max(most[c % 5], Math.abs(a[c]));
    off[c % 5] = Math.max(off[c % 5], Math.abs(a[c] - b[c]));
  }
  const great = Math.max(...most.subarray(1, 4));
  return Math.max(off[0] / most[0], off[4] / most[4], Math.max(...off.subarray(1, 4)) / great);
}

console.log("| flow | result | f64 | f32 | greatest difference of a conserved value |\n| --- | --- | --- | --- | --- |");
for (const example of EXAMPLES) {
  const [exact, single] = [await run(example, "f64"), await run(example, "f32")];
  const difference = apart(exact.w, single.w).toExponential(1);
  for (const [what, of] of Object.entries(example.results))
    console.log(`| ${example.title} | ${what} | ${of(exact).toPrecision(7)} | ${of(single).toPrecision(7)} | ${difference} |`);
}
await set.close();
