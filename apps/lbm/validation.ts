import { devices } from "isoform/set";
import { cavity, compareWithGhia } from "./cavity.js";
import {
  coefficients,
  cylinder,
  cylinderSchedule,
  schillerNaumann,
  sphere,
  sphereSchedule,
  streetOf,
  williamson,
  STREAM_SPEED,
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

console.log("\n| Re | cells of the diameter | Strouhal number | Williamson | drag | lift |\n|---|---|---|---|---|---|");
for (const size of [16, 20]) {
  const options = { reynolds: 100, size, speed: STREAM_SPEED };
  const simulation = await Simulation.create(set, cylinder(options));
  const schedule = cylinderSchedule(options);
  const samples = (await watchForce(simulation, schedule)).map((force) => coefficients(force, options, 2));
  const { strouhal, drag, lift } = streetOf(samples, schedule.interval, options);
  console.log(`| 100 | ${size} | ${strouhal?.toFixed(4)} | ${williamson(100)!.toFixed(4)} | ${drag.toFixed(3)} | ${lift.toFixed(3)} |`);
  simulation.free();
}

console.log("\n| Re | cells of the diameter | drag | Schiller and Naumann | deviation |\n|---|---|---|---|---|");
for (const [reynolds, size] of [
  [50, 8],
  [50, 12],
  [100, 12],
  [100, 16],
]) {
  const options = { reynolds, size, speed: STREAM_SPEED };
  const simulation = await Simulation.create(set, sphere(options), { grid: "sparse" });
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
