import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { devices } from "isoform/set";
import { channelFlow } from "../apps/navier-stokes/cases/channel.js";
import { configOf } from "../apps/navier-stokes/config/config.js";
import { Simulation } from "../apps/navier-stokes/simulation/simulation.js";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * A channel at M 2 and Re_tau 490, the time step found every ten steps: microseconds a point and step, by turns over the schemes; what the step must move
 * at least, and the first step with all that is compiled for it.
 *   node dist/bench/navier-stokes.js [--devices native] [--cells 64x64x64] [--schemes central,weno5] [--float f64] [--rounds 5] [--json F]
 *   node dist/bench/navier-stokes.js --devices cuda:0 --cells 420x250x320 --steps 10
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "native" },
    cells: { type: "string", default: "64x64x64" },
    schemes: { type: "string", default: "central,weno5" },
    float: { type: "string", default: "f64" },
    rounds: { type: "string", default: "5" },
    steps: { type: "string", default: "2" },
    json: { type: "string" },
  },
});

/** Thresholds of the sensor. */
const SCHEMES: Readonly<Record<string, number>> = { central: 1.01, weno5: -1, hybrid: 0.2 };

const [nx, ny, nz] = options.cells.split("x").map(Number);
const points = nx * ny * nz;
const [rounds, steps] = [Number(options.rounds), Number(options.steps)];
const type = options.float === "f32" ? "f32" : "f64";
const set = await devices(options.devices);

interface Variant {
  readonly scheme: string;
  readonly simulation: Simulation;
  /** Seconds until the first step was done, and the same since the process began. */
  readonly first: number;
  readonly sinceStart: number;
  readonly seconds: number[];
}

const variants: Variant[] = [];
for (const scheme of options.schemes.split(",")) {
  const sensorThreshold = Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined;
  if (sensorThreshold === undefined) throw new Error(`there is no scheme "${scheme}"; take some of ${Object.keys(SCHEMES).join(", ")}`);
  const begin = performance.now();
  const channel = { nx, ny, nz, lx: 6, lz: 3, dyPlus: 0.8, reTau: 490, mach: 2, thetaWall: 0.35, cfl: 0.7, dtEvery: 10, sensorThreshold };
  const simulation = await Simulation.create(set, channelFlow(configOf("channel", channel)), { type });
  await simulation.run(1);
  const now = performance.now();
  variants.push({ scheme, simulation, first: (now - begin) / 1e3, sinceStart: now / 1e3, seconds: [] });
}
// What measures is no part of the first step of an application.
const { median } = await import("isoform/portability");
const { copyBandwidth, tasksOf } = await import("./floors.js");
for (const { simulation } of variants) await simulation.run(9);
for (let round = 0; round < rounds; round++)
  for (const { simulation, seconds } of variants) seconds.push((await simulation.run(steps)) / steps);

const bandwidth = await copyBandwidth(set);
const rows = [];
for (const { scheme, simulation, first, sinceStart, seconds } of variants) {
  const { bytes, flops } = await simulation.skeleton.work();
  const time = median(seconds);
  await simulation.skeleton.run(1, { trace: true });
  const containers = [...(await tasksOf(simulation.skeleton, set.members.length))].map(([name, time]) => ({
    name,
    time: (time / points) * 1e6,
  }));
  console.table(containers);
  rows.push({
    scheme,
    /** Microseconds a point and step. */
    time: (time / points) * 1e6,
    fastest: (Math.min(...seconds) / points) * 1e6,
    bytes: bytes / points,
    flops: flops / points,
    /** Of the time, what the bytes take at the bandwidth of copies. */
    floorShare: bytes / bandwidth / time,
    firstStep: first,
    sinceStart,
    containers,
  });
  simulation.free();
}
console.table(rows, ["scheme", "time", "fastest", "bytes", "flops", "floorShare", "firstStep", "sinceStart"]);
if (options.json) {
  const report = {
    labels: set.locals.map(({ device }) => device.label),
    cpu: cpus()[0].model,
    threads: cpus().length,
    node: process.version,
    command: commandLine("dist/bench/navier-stokes.js"),
  };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, `${JSON.stringify({ ...report, cells: [nx, ny, nz], type, rounds, steps, bandwidth, rows }, null, 1)}\n`);
}
await set.close();
