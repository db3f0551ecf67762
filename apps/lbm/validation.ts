import { devices } from "isoform/set";
import { cavity, compareWithGhia } from "./cavity.js";
import { PUBLISHED_CYLINDERS } from "./cylinder-references.js";
import {
  CYLINDER_BOX,
  coefficients,
  cylinder,
  cylinderSchedule,
  schillerNaumann,
  sphere,
  sphereSchedule,
  streetOf,
  STREAM_SPEED,
  type Box,
  type ObstacleOptions,
} from "./obstacle.js";
import { runToSteadyState, watchForce } from "./run.js";
import { Simulation, type Settings } from "./simulation.js";
import { vortex, watchDecay } from "./vortex.js";

/*
 * Makes the tables of README.md: node dist/apps/lbm/validation.js [devices]
 */

const set = await devices(process.argv[2] ?? "native");
console.log("| Re | type | collision | pattern | steps | u, largest deviation | v, largest deviation |\n|---|---|---|---|---|---|---|");
for (const reynolds of [100, 400, 1000] as const)
  for (const settings of [{}, { collision: "bgk" }, { type: "f32" }, { pattern: "aa" }] satisfies Partial<Settings>[]) {
    const simulation = await Simulation.create(set, cavity({ reynolds, size: 129 }), settings);
    await runToSteadyState(simulation, { interval: 1290, tolerance: 1e-6, steps: 200_000 });
    const { errors } = await compareWithGhia(simulation, reynolds);
    const { type, collision, pattern } = simulation.settings;
    const [u, v] = errors.map((error) => `${(100 * error).toFixed(2)} %`);
    console.log(`| ${reynolds} | ${type} | ${collision} | ${pattern} | ${simulation.steps} | ${u} | ${v} |`);
    simulation.free();
  }

const WIDE: Box = { before: 20, behind: 30, across: 48 };
/** Flows past a cylinder; `travel` in diameters, where it is shorter than for a vortex street. */
type Street = Pick<ObstacleOptions, "reynolds" | "size" | "box"> & { readonly settings: Partial<Settings>; readonly travel?: number };
const STREETS: readonly Street[] = [
  { reynolds: 20, size: 16, box: WIDE, settings: {}, travel: 87.5 },
  { reynolds: 40, size: 16, box: WIDE, settings: {}, travel: 112.5 },
  { reynolds: 100, size: 16, box: CYLINDER_BOX, settings: { wall: "halfway" } },
  { reynolds: 100, size: 16, box: CYLINDER_BOX, settings: {} },
  { reynolds: 100, size: 16, box: WIDE, settings: { wall: "halfway" } },
  { reynolds: 100, size: 16, box: WIDE, settings: { type: "f64" } },
  { reynolds: 100, size: 20, box: WIDE, settings: {} },
  { reynolds: 200, size: 20, box: WIDE, settings: { collision: "bgk" } },
];
console.log(
  "\n| Re | wall | box | cells of the diameter | collision | type | drag | lift | Strouhal number |\n|---|---|---|---|---|---|---|---|---|",
);
for (const { settings, travel, ...flow } of STREETS) {
  const { reynolds, size, box = CYLINDER_BOX } = flow;
  const options = { ...flow, speed: STREAM_SPEED };
  const simulation = await Simulation.create(set, cylinder(options), { wall: "interpolated", type: "f32", ...settings });
  const { interval, steps } = cylinderSchedule(options);
  const schedule = { interval, steps: travel === undefined ? steps : Math.round((travel * size) / STREAM_SPEED) };
  const samples = (await watchForce(simulation, schedule)).map((force) => coefficients(force, options, 2));
  const { strouhal, drag, lift } = streetOf(samples, interval, options);
  const { wall, collision, type } = simulation.settings;
  const numbers = [drag.toFixed(3), lift.toFixed(3), strouhal?.toFixed(4) ?? ""];
  console.log(`| ${[reynolds, wall, Object.values(box).join(", "), size, collision, type, ...numbers].join(" | ")} |`);
  simulation.free();
}
for (const { reynolds, drag = "", lift = "", strouhal = "", source } of PUBLISHED_CYLINDERS)
  console.log(`| ${[reynolds, source, "", "", "", "", drag, lift, strouhal].join(" | ")} |`);

console.log("\n| Re | cells of the diameter | drag | Schiller and Naumann | deviation |\n|---|---|---|---|---|");
for (const [reynolds, size] of [
  [50, 8],
  [50, 12],
  [100, 12],
]) {
  const options = { reynolds, size, speed: STREAM_SPEED };
  const simulation = await Simulation.create(set, sphere(options), { grid: "sparse", wall: "interpolated", type: "f32" });
  const { drag } = coefficients((await watchForce(simulation, sphereSchedule(options))).at(-1)!, options, 3);
  const published = schillerNaumann(reynolds);
  console.log(`| ${reynolds} | ${size} | ${drag.toFixed(3)} | ${published.toFixed(3)} | ${(100 * (drag / published - 1)).toFixed(1)} % |`);
  simulation.free();
}

console.log(
  "\n| cells of a side | type | collision | decay rate | 2 nu k^2 | deviation | of the velocity |\n|---|---|---|---|---|---|---|",
);
for (const settings of [{}, { collision: "bgk" }, { type: "f32" }] satisfies Partial<Settings>[])
  for (const size of [16, 32, 64]) {
    const simulation = await Simulation.create(set, vortex({ reynolds: 20, size, speed: 0.64 / size }), settings);
    const { rate, expected, deviation } = await watchDecay(simulation);
    const { type, collision } = simulation.settings;
    const [rates, velocity] = [rate / expected - 1, deviation].map((error) => `${(100 * error).toFixed(3)} %`);
    console.log(`| ${size} | ${type} | ${collision} | ${rate.toPrecision(6)} | ${expected.toPrecision(6)} | ${rates} | ${velocity} |`);
    simulation.free();
  }
await set.close();
