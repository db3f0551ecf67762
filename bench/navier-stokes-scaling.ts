import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { median } from "isoform/portability";
import { devices } from "isoform/set";
import { OCC_LEVELS, type OccLevel } from "isoform/skeleton";
import { channelFlow } from "../apps/navier-stokes/cases/channel.js";
import { configOf } from "../apps/navier-stokes/config/config.js";
import { Simulation } from "../apps/navier-stokes/simulation/simulation.js";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * Strong scaling of a channel at M 2 and Re_tau 490 over the devices of one machine, the time step found every ten steps: by turns with one device.
 *   node dist/bench/navier-stokes-scaling.js --devices cuda:0,cuda:1 [--counts 2] [--cells 420x250x320,840x500x640] [--schemes central,weno5] [--occ none,...] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "cuda:0,cuda:1" },
    counts: { type: "string" },
    cells: { type: "string", default: "420x250x320" },
    schemes: { type: "string", default: "central,weno5" },
    occ: { type: "string", default: OCC_LEVELS.join() },
    rounds: { type: "string", default: "5" },
    steps: { type: "string", default: "20" },
    json: { type: "string" },
  },
});

/** Thresholds of the sensor. */
const SCHEMES: Readonly<Record<string, number>> = { central: 1.01, weno5: -1, hybrid: 0.2 };
/** Milliseconds before each run: a GPU that draws more than its limit for half a second lowers its clock for another half. */
const REST = 200;

interface Row {
  readonly cells: string;
  readonly scheme: string;
  readonly devices: number;
  readonly occ: OccLevel;
  /** Microseconds a point and step: the median over the rounds. */
  readonly time: number;
  /** Of the speed of one device, measured by turns with it, times their number: the median over the rounds. */
  readonly efficiency: number;
}

const all = options.devices.split(",");
const counts = options.counts ? options.counts.split(",").map(Number) : [all.length];
const occLevels = options.occ.split(",") as OccLevel[];
const [rounds, steps] = [Number(options.rounds), Number(options.steps)];
const rows: Row[] = [];
let label = "";

/** A channel on the first `count` devices, compiled and warm. */
async function prepare(cells: string, scheme: string, count: number, occ: OccLevel) {
  const set = await devices(all.slice(0, count));
  label = `${all.length} of ${set.locals[0].device.label}`;
  const [nx, ny, nz] = cells.split("x").map(Number);
  const sensorThreshold = Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined;
  if (sensorThreshold === undefined) throw new Error(`there is no scheme "${scheme}"; take some of ${Object.keys(SCHEMES).join(", ")}`);
  const channel = { nx, ny, nz, lx: 6, lz: 3, dyPlus: 0.8, reTau: 490, mach: 2, thetaWall: 0.35, cfl: 0.7, dtEvery: 10, sensorThreshold };
  const simulation = await Simulation.create(set, channelFlow(configOf("channel", channel)), { occ });
  await simulation.run(10);
  return {
    /** Microseconds a point and step of one run. */
    run: async () => {
      await rest(REST);
      return ((await simulation.run(steps)) / steps / (nx * ny * nz)) * 1e6;
    },
    close: async () => {
      simulation.free();
      await set.close();
    },
  };
}

for (const cells of options.cells.split(","))
  for (const scheme of options.schemes.split(",")) {
    const alone = await prepare(cells, scheme, 1, "none");
    for (const count of counts)
      for (const occ of occLevels) {
        const several = await prepare(cells, scheme, count, occ);
        const samples: { time: number; efficiency: number }[] = [];
        for (let round = 0; round < rounds; round++) {
          const one = await alone.run();
          const time = await several.run();
          samples.push({ time, efficiency: one / time / count });
        }
        await several.close();
        const [time, efficiency] = [median(samples.map(({ time }) => time)), median(samples.map(({ efficiency }) => efficiency))];
        rows.push({ cells, scheme, devices: count, occ, time, efficiency });
        console.log(
          `${cells} ${scheme.padEnd(8)} ${count} x ${occ.padEnd(10)} ${time.toExponential(3)} us  efficiency ${efficiency.toFixed(3)}`,
        );
        if (options.json) {
          mkdirSync(dirname(options.json), { recursive: true });
          const report = {
            command: commandLine("dist/bench/navier-stokes-scaling.js"),
            devices: label,
            node: process.version,
            rounds,
            steps,
            rows,
          };
          writeFileSync(options.json, `${JSON.stringify(report, undefined, 1)}\n`);
        }
      }
    await alone.close();
  }
