import { setImmediate as turn } from "node:timers/promises";
import { Option, type Command } from "commander";
import { IsoformError, type OpenOptions } from "isoform";
import { readCheckpoint, writeCheckpoint, writeRectilinear } from "isoform/io";
import type { Shell } from "isoform/portability";
import { devices } from "isoform/set";
import { DEFAULT_SETTINGS, OCC_LEVELS, SETTING_OPTIONS } from "isoform/skeleton";
import { heatMap } from "../heat-map.js";
import { count, f64Option } from "../options.js";
import { CASE_OF } from "./cases.js";
import { camelCase, configOf, keysOf } from "./config.js";
import { readConfig } from "./config-file.js";
import { CASES, type CaseName, type Config, type Given } from "./config-keys.js";
import { optionOf } from "./config-options.js";
import { sliceOf } from "./pictures.js";
import { progressLine, type Progress } from "./progress-line.js";
import { follow } from "./run.js";
import { Simulation, TYPES, type Settings } from "./simulation.js";
import { facesOf } from "./faces.js";

interface Options extends Pick<Settings, "type" | "precision" | "layout" | "occ" | "fuse"> {
  devices: string;
  f64?: OpenOptions["f64"];
  config?: string;
  every: number;
  progress?: string;
  vtk?: string;
  svg?: string;
  json?: string;
  checkpoint?: string;
  checkpointEvery: number;
  restart?: string;
}

/** Adds `isoform navier-stokes`. */
export function command(program: Command, shell: Shell): void {
  const all = program.command("navier-stokes").description("compressible flows by central and WENO schemes, the solver of STREAmS-2");
  for (const name of CASES) {
    const own = all.command(name).description(CASE_OF[name].description);
    for (const key of keysOf(name)) own.addOption(optionOf(key, name));
    own
      .option("--config <file>", "keys in TOML, with underscores; options count before them")
      .option("--devices <set>", "one or several: wasm, native, cuda:0, wasm*3 (one divided into three), cuda:0,cuda:1", "wasm")
      .addOption(f64Option())
      .addOption(new Option("--type <name>", "of all values").choices(Object.keys(TYPES)).default("f64"))
      .addOption(new Option("--precision <mode>", "strict: the same bits on every device").choices(["strict", "fast"]).default("fast"))
      .addOption(new Option("--layout <name>", "components of a cell apart (soa) or together (aos)").choices(["soa", "aos"]).default("soa"))
      .addOption(
        new Option(SETTING_OPTIONS.occ.flags, SETTING_OPTIONS.occ.description)
          .choices([...OCC_LEVELS, "auto"])
          .default(DEFAULT_SETTINGS.occ),
      )
      .option("--no-fuse", "run containers as they were written")
      .option("--every <n>", "steps from one sample to the next", count, 10)
      .option("--progress <file>", "write the samples as lines of the original solver, 1i10,20es20.10")
      .option("--vtk <file>", "density, momentum and energy at the end as a VTK rectilinear grid (.vtr)")
      .option("--svg <file>", "picture of the density's gradient in the middle plane")
      .option("--json <file>", "write configuration and samples as JSON")
      .option(
        "--checkpoint <file>",
        "write the state there now and then, at the end, and when SIGINT (Ctrl-C) or SIGTERM ends the run; the one before stays as <file>.previous",
      )
      .option("--checkpoint-every <n>", "samples from one checkpoint to the next", count, 50)
      .option("--restart <file>", "go on from a checkpoint, with its configuration, to the steps and time given")
      .action((options: Options & Given) => run(name, options, shell));
  }
}

/** Options that are keys. */
const givenIn = (name: CaseName, options: Given): Given =>
  Object.fromEntries(
    keysOf(name).flatMap(({ name: key }) => {
      const value = options[camelCase(key) as keyof Given];
      return value === undefined ? [] : [[camelCase(key), value]];
    }),
  ) as Given;

async function run(name: CaseName, options: Options & Given, shell: Shell): Promise<void> {
  for (const file of [options.progress, options.vtk, options.svg, options.json, options.checkpoint])
    if (file !== undefined) await shell.checkWritable(file);
  const saved = options.restart === undefined ? undefined : await readCheckpoint(options.restart, { format: FORMAT });
  const given = { ...(options.config === undefined ? {} : await readConfig(options.config, name)), ...givenIn(name, options) };
  const config = saved ? restarted(name, given, saved.metadata, options.restart!) : configOf(name, given);
  const flow = CASE_OF[name].flow(config);
  const set = await devices(options.devices, { f64: options.f64 });
  try {
    const simulation = await Simulation.create(set, flow, options);
    await saved?.restore(simulation.skeleton);
    const first = simulation.steps;
    const samples: Progress[] = [];
    const { seconds, exitCode } = await simulate(name, simulation, config, options, samples, shell);
    const steps = simulation.steps - first;
    const pace = (1e6 * seconds) / (steps * simulation.grid.cells);
    const label = [...new Set(set.members.map(({ device }) => device.label))].join(", ");
    shell.print(
      `${set.name}: ${label}\n${name} of ${simulation.grid.extents.join(" x ")} cells, order ${config.order}, ${options.type}, ${options.precision}, ${options.layout}, occ ${simulation.skeleton.occ}\n` +
        `${steps} steps in ${seconds.toFixed(2)} s${steps > 0 ? `, ${pace.toPrecision(4)} us a point and step` : ""}\n` +
        (samples.length > 0 ? summary(samples.at(-1)!) : ""),
    );
    if (exitCode !== 0) {
      shell.print(`interrupted${options.checkpoint === undefined ? "" : `: go on with --restart ${options.checkpoint}`}`);
      process.exitCode = exitCode;
    }
    if (options.progress !== undefined) await shell.writeFile(options.progress, samples.map((each) => `${progressLine(each)}\n`).join(""));
    if (options.vtk !== undefined) await writeRectilinear(options.vtk, [simulation.fields.w], { faces: facesOf(flow.axes) });
    if (options.svg !== undefined)
      await shell.writeFile(
        options.svg,
        heatMap({ title: `navier-stokes ${name}`, quantity: "gradient of the density", ...(await sliceOf(simulation)) }),
      );
    if (options.json !== undefined)
      await shell.writeFile(options.json, `${JSON.stringify({ config, devices: set.name, label, steps, seconds, samples }, null, 1)}\n`);
    simulation.free();
  } finally {
    await set.close();
  }
}

/** Tells checkpoints of this solver from others. */
const FORMAT = "isoform navier-stokes 1";

/** Goes on to the end or to an interrupt, with progress and checkpoints; returns the seconds that the steps took. */
async function simulate(
  name: CaseName,
  simulation: Simulation,
  config: Config,
  options: Options,
  samples: Progress[],
  shell: Shell,
): Promise<{ seconds: number; exitCode: number }> {
  const checkpoint = async (): Promise<void> => {
    if (options.checkpoint !== undefined) await writeCheckpoint(options.checkpoint, simulation.skeleton, { config }, { format: FORMAT });
  };
  const task = shell.progress(`navier-stokes ${name}`);
  const interruption = shell.interruption();
  const [{ cells }, first] = [simulation.grid, simulation.steps];
  let seconds = 0;
  try {
    await follow(simulation, { ...config, every: options.every, stop: interruption.stop }, async (progress, took) => {
      seconds += took;
      samples.push(progress);
      const each = seconds / (progress.step - first);
      const text = `${((1e6 * each) / cells).toPrecision(3)} us a point and step, ${left(each * (config.steps - progress.step))} left, dt ${progress.dt.toExponential(2)}, residual ${progress.residual.toExponential(2)}`;
      const byTime = config.time !== undefined && progress.time / config.time > progress.step / config.steps;
      if (byTime) task.update(progress.time, config.time!, text.replace(/, [^,]* left/, ""));
      else task.update(progress.step, config.steps, text);
      if (samples.length % options.checkpointEvery === 0) await checkpoint();
      // Lets the bar be drawn and an interrupt be seen.
      await turn();
    });
  } finally {
    interruption.ignore();
    task.done();
  }
  await checkpoint();
  return { seconds, exitCode: interruption.exitCode };
}

/** A length of time. */
const left = (seconds: number): string =>
  seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;

function summary({ step, time, dt, residual, channel, density, temperature, pressure }: Progress): string {
  const [number, range] = [
    (value: number) => value.toPrecision(6),
    (pair: readonly number[]) => pair.map((value) => value.toPrecision(6)).join(" to "),
  ];
  const bulk = channel
    ? `-dp/dx ${number(channel.pressureGradient)}, bulk velocity ${number(channel.velocity)}, bulk temperature ${number(channel.temperature)}\n`
    : "";
  return (
    `step ${step}, time ${number(time)}, dt ${number(dt)}, residual ${number(residual)}\n${bulk}` +
    `density ${range(density)}, temperature ${range(temperature)}, pressure ${range(pressure)}\n`
  );
}

/** What a run may change when it goes on. */
const FREE: readonly string[] = ["steps", "time"];

/** The configuration of a checkpoint, with another end. Throws IsoformError where other keys are asked for. */
function restarted(name: CaseName, given: Given, metadata: unknown, file: string): Config {
  const config = (metadata as { config?: Config } | null)?.config;
  if (typeof config !== "object" || config === null) throw new IsoformError(`${file} does not tell its configuration: start anew`);
  if (config.case !== name)
    throw new IsoformError(`${file} is of the case ${String(config.case)}: run isoform navier-stokes ${String(config.case)}`);
  const { case: _, ...values } = config;
  const there: Readonly<Record<string, unknown>> = values;
  const differing = Object.entries(given).find(([key, value]) => !FREE.includes(key) && there[key] !== value);
  if (differing) {
    const [key, value] = differing;
    throw new IsoformError(
      `${file} was made with ${key} ${String(there[key])}, and ${String(value)} is asked for: leave it out, or start anew`,
    );
  }
  const { cfl, ...others } = values;
  return configOf(name, {
    ...others,
    ...(config.dt === undefined ? { cfl } : {}),
    ...given,
    ...(config.case === "layer" || config.case === "shock" ? withoutRe(config) : {}),
  });
}

/** The Reynolds number of turbulent layers follows. */
const withoutRe = ({ inflow, re }: Config): Given => (inflow === "laminar" ? { re } : { re: undefined });
