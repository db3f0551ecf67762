import { setImmediate as turn } from "node:timers/promises";
import type { Command } from "commander";
import { previousOf, readCheckpoint, requireHdf5, writeCheckpoint, xdmfOf } from "isoform/io";
import type { Shell } from "isoform/portability";
import { devices } from "isoform/set";
import { examples } from "../options.js";
import { tubeOf } from "./cases/box-flow.js";
import { CASE_OF } from "./cases/cases.js";
import { camelCase, configOf, keysOf } from "./config/config.js";
import { readConfig } from "./config/config-file.js";
import { CASES, type CaseName, type Config, type Given } from "./config/config-keys.js";
import { optionOf } from "./config/config-options.js";
import { addCheckpointOptions, addRunOptions, type CommandOptions } from "./results/run-options.js";
import { EnergyHistory } from "./results/energy.js";
import { FieldSeries, picturesOf } from "./results/field-series.js";
import { addOutputs, checkOutputs, pathsOf, writeOutputs, type OutputPaths } from "./results/outputs.js";
import { progressLine, type Progress } from "./simulation/progress-line.js";
import { FORMAT, restarted, restore } from "./simulation/restart.js";
import { FlowError, follow } from "./simulation/run.js";
import { Simulation } from "./simulation/simulation.js";
import type { Means } from "./measures/statistics.js";
import { tubeProfiles, tubeText } from "./results/tube-profiles.js";
import { wallText } from "./results/walls.js";

type Options = CommandOptions & OutputPaths;

/** Adds `isoform navier-stokes`. */
export function command(program: Command, shell: Shell): void {
  const all = program.command("navier-stokes").description("compressible flows by central and WENO schemes, after the solver STREAmS-2");
  for (const name of CASES) {
    const own = all.command(name).description(CASE_OF[name].description);
    for (const key of keysOf(name)) own.addOption(optionOf(key, name));
    addRunOptions(own);
    addOutputs(own, name);
    addCheckpointOptions(own);
    own.addHelpText("after", helpText(name)).action((options: Options & Given) => run(name, options, shell));
  }
}

function helpText(name: CaseName): string {
  const { examples: lines, defaults } = CASE_OF[name];
  const remark = defaults === undefined ? "" : `\nThe defaults above belong to ${defaults}.\n`;
  return remark + examples(...lines.map((line) => `navier-stokes ${name} ${line}`));
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
  await requireOutputs(options, shell);
  const saved = options.restart === undefined ? undefined : await readCheckpoint(options.restart, { format: FORMAT });
  const given = { ...(options.config === undefined ? {} : await readConfig(options.config, name)), ...givenIn(name, options) };
  const config = saved ? restarted(name, given, saved.metadata, options.restart!) : configOf(name, given);
  const flow = CASE_OF[name].flow(config);
  checkOutputs(options, flow);
  // In f32 only sums over all cells and the time are f64.
  const set = await devices(options.devices, { f64: options.f64 ?? (options.type === "f32" ? "emulate" : undefined) });
  try {
    const simulation = await Simulation.create(set, flow, {
      ...options,
      statsEvery: config.statsEvery,
      spectraEvery: config.spectraEvery ?? 0,
    });
    if (saved) await restore(simulation, saved);
    const first = simulation.steps;
    const samples: Progress[] = [];
    const energy = options.energy === undefined ? undefined : new EnergyHistory(simulation);
    const { seconds, exitCode } = await simulate(name, simulation, config, options, samples, shell, energy);
    const steps = simulation.steps - first;
    const pace = (1e6 * seconds) / (steps * simulation.grid.cells);
    const label = [...new Set(set.locals.map(({ device }) => device.label))].join(", ");
    let found: Promise<Means> | undefined;
    const means = (): Promise<Means> => (found ??= simulation.means());
    const text =
      `${set.name}: ${label}\n${name} of ${simulation.grid.extents.join(" x ")} cells, order ${config.order}, ${options.type}, ${options.precision}, ${options.layout}, occ ${simulation.skeleton.occ}\n` +
      `${steps} steps in ${seconds.toFixed(2)} s${steps > 0 ? `, ${pace.toPrecision(4)} µs a point and step` : ""}\n` +
      (samples.length > 0 ? summary(samples.at(-1)!) : "") +
      (flow.wall ? wallText(flow, await means()) : "") +
      (name === "tube" ? tubeText(await tubeProfiles(simulation, tubeOf(config))) : "");
    shell.print(text.trimEnd());
    if (exitCode !== 0) {
      shell.print(`interrupted${options.checkpoint === undefined ? "" : `: go on with --restart ${options.checkpoint}`}`);
      process.exitCode = exitCode;
    }
    if (options.progress !== undefined) await shell.writeFile(options.progress, samples.map((each) => `${progressLine(each)}\n`).join(""));
    if (options.json !== undefined)
      await shell.writeFile(options.json, `${JSON.stringify({ config, devices: set.name, label, steps, seconds, samples }, null, 1)}\n`);
    await writeOutputs(options, { name, config, simulation, means, energy }, shell);
    simulation.free();
  } finally {
    await set.close();
  }
}

/** Throws IsoformError if a file cannot be written, or is one that another option writes or reads. */
async function requireOutputs(options: Options, shell: Shell): Promise<void> {
  const { progress, json, checkpoint, vtk, hdf5, config, restart } = options;
  const files = {
    checkpoint: checkpoint && [checkpoint, previousOf(checkpoint)],
    progress,
    json,
    vtk,
    hdf5: hdf5 && [hdf5, xdmfOf(hdf5)],
    svg: picturesOf(options),
    ...(await pathsOf(options)),
  };
  // A run may go on in the checkpoint that it was restarted from.
  await shell.checkOutputs(files, { config, restart }, { checkpoint: "restart" });
  if (hdf5 !== undefined) await requireHdf5(hdf5);
}

/** Runs to the end or to an interrupt, with progress and checkpoints; returns the seconds that the steps took. */
async function simulate(
  name: CaseName,
  simulation: Simulation,
  config: Config,
  options: Options,
  samples: Progress[],
  shell: Shell,
  energy: EnergyHistory | undefined,
): Promise<{ seconds: number; exitCode: number }> {
  let good = options.restart === undefined ? undefined : { file: options.restart, step: simulation.steps };
  const checkpoint = async (): Promise<void> => {
    if (options.checkpoint === undefined) return;
    await writeCheckpoint(options.checkpoint, simulation.checkpointed(), { config }, { format: FORMAT });
    good = { file: options.checkpoint, step: simulation.steps };
  };
  if (!good) await checkpoint();
  const series = new FieldSeries(name, simulation, options, shell);
  const task = shell.progress(`navier-stokes ${name}`);
  const interruption = shell.interruption();
  const [{ cells }, first] = [simulation.grid, simulation.steps];
  let seconds = 0;
  try {
    await energy?.sample();
    await follow(simulation, { ...config, every: options.every, stop: interruption.stop }, async (progress, took) => {
      seconds += took;
      samples.push(progress);
      await energy?.sample();
      const each = seconds / (progress.step - first);
      const text = `${((1e6 * each) / cells).toPrecision(3)} µs a point and step, ${left(each * (config.steps - progress.step))} left, dt ${progress.dt.toExponential(2)}, residual ${progress.residual.toExponential(2)}`;
      const byTime = config.time !== undefined && progress.time / config.time > progress.step / config.steps;
      if (byTime) task.update(progress.time, config.time!, text.replace(/, [^,]* left/, ""));
      else task.update(progress.step, config.steps, text);
      if (samples.length % options.checkpointEvery === 0) await checkpoint();
      if (options.fieldsEvery !== undefined && samples.length % options.fieldsEvery === 0) await series.write();
      // Lets the bar be drawn and an interrupt be seen.
      await turn();
    });
  } catch (error) {
    if (!(error instanceof FlowError) || !good) throw error;
    throw new FlowError(
      `${error.message}; ${good.file} holds step ${good.step}: go on with --restart ${good.file} and a smaller ${config.dt === undefined ? "cfl" : "dt"}`,
    );
  } finally {
    interruption.ignore();
    task.done();
  }
  await checkpoint();
  if (options.fieldsEvery === undefined) await series.write();
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
