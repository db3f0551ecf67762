import { existsSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { InvalidArgumentError, Option, type Command } from "commander";
import type { OpenOptions, Precision } from "isoform";
import { IsoformError } from "isoform";
import { previousOf, requireHdf5, xdmfOf } from "isoform/io";
import { devices, onAnyRank } from "isoform/set";
import type { Shell } from "isoform/portability";
import { tableText } from "isoform/portability";
import { addConfig } from "../config.js";
import { count, countOrNone, devicesOption, examples, f64Option, number, positive, precisionOption } from "../options.js";
import { tellIndex } from "../vtk-told.js";
import { CASES, type Case, type CaseOptions } from "./simulation/cases.js";
import { chart } from "./judgement/chart.js";
import { openCheckpoint, writeCheckpoint, type SavedOptions } from "./results/checkpoint.js";
import { COMPOSITIONS, type CompositionName } from "./simulation/compositions.js";
import { isModule, readDistribution, usedDistribution, type UsedDistribution } from "./results/distribution-file.js";
import { writeFields } from "./results/fields.js";
import { missOf, type Judgement, type Window } from "./judgement/judgement.js";
import { addPush } from "./push/push-command.js";
import { LAYOUTS, type Layout } from "./push/push.js";
import { writeSnapshot } from "./results/snapshot.js";
import { csvText, energyError, follow, seriesOfMode, worst, type Row } from "./simulation/run.js";
import { DEFAULTS } from "./simulation/problem.js";
import { Simulation } from "./simulation/simulation.js";
import { stepsBetweenSorts } from "./simulation/sorting.js";
import { LOADINGS, type Loading } from "./particles/species.js";

/** Options that decide the bits of a run; a checkpoint has them with it. */
interface RunOptions extends Omit<CaseOptions, "distribution" | "window"> {
  /** Distribution of the electrons, unless it is made of beams. */
  distribution?: UsedDistribution;
  particles: number;
  dt: number;
  every: number;
  composition: CompositionName;
  loading: Loading;
  layout: Layout;
  precision: Precision;
  sort: number;
}

/** Options as given, before the interval of sorts is chosen and the distribution's file is read. */
interface Given extends Omit<Options, "sort" | "distribution"> {
  sort?: number;
  distribution?: string;
}

interface Options extends RunOptions {
  devices: string;
  f64?: OpenOptions["f64"];
  time: number;
  window?: Window;
  config?: string;
  csv?: string;
  svg?: string;
  vtk?: string;
  hdf5?: string;
  hdf5Every?: number;
  json?: string;
  checkpoint?: string;
  checkpointEvery: number;
  restart?: string;
}

const NAMES = [
  "cells",
  "degree",
  "amplitude",
  "k",
  "mode",
  "fractions",
  "drifts",
  "temperatures",
  "distribution",
  "ionMass",
  "particles",
  "dt",
  "every",
  "composition",
  "loading",
  "layout",
  "precision",
  "sort",
] as const;
const runOptions = (options: RunOptions): RunOptions =>
  Object.fromEntries(NAMES.map((name) => [name, options[name]])) as unknown as RunOptions;

/** Commands whose data lies in one process. */
export const inOneProcess = ["pic push"];

/** Adds `isoform pic`. */
export function command(program: Command, shell: Shell): void {
  const pic = program.command("pic").description("plasmas by the geometric electromagnetic particle-in-cell method (GEMPIC)");
  addPush(pic, shell);
  for (const each of CASES) {
    const { defaults } = each;
    const own = addConfig(pic.command(each.name).description(each.description), { namesCode: { distribution: isModule } })
      .addOption(devicesOption())
      .addOption(f64Option())
      .option("--particles <n>", "particles of each species", count, defaults.particles)
      .option("--cells <n>", "cells along axis 1", count, defaults.cells)
      .option("--degree <p>", "degree of the splines, 1 to 5", count, defaults.degree)
      .option("--amplitude <a>", "amplitude of the perturbation at the start", number, defaults.amplitude)
      .option("--k <number>", "wave number of the perturbation; the box is as long as --mode of its waves", positive, defaults.k)
      .option("--mode <m>", "waves of the perturbation in the box; this mode is watched", count, defaults.mode)
      .addOption(listOption("--fractions <shares>", "share of the electrons in each beam", defaults.fractions))
      .addOption(listOption("--drifts <speeds>", driftText(each), defaults.drifts))
      .addOption(listOption("--temperatures <values>", temperatureText(each), defaults.temperatures))
      .option(
        "--distribution <file>",
        "distribution of the electrons, in place of beams: a table (.csv) whose first line is v1,f or the like, or a module that exports a function, which is run",
      )
      .option(
        "--ion-mass <m>",
        "add mobile ions of this mass (in electron masses), as warm as the electrons; default: a background at rest",
        positive,
      )
      .option("--dt <t>", "time step, in inverse plasma frequencies", positive, defaults.dt)
      .option("--time <t>", "end of the run, in inverse plasma frequencies", positive, defaults.time)
      .option("--every <n>", "steps from one sample to the next", count, defaults.every)
      .addOption(
        new Option(
          "--composition <name>",
          "how a step is made of exact flows: lie is of first order, strang and 4-lie of second, 3-strang and 10-lie of fourth",
        )
          .choices(Object.keys(COMPOSITIONS))
          .default(DEFAULTS.composition),
      )
      .addOption(
        new Option("--loading <name>", "how particles are placed: by Sobol's sequence (sobol), or in mirrored groups (symmetric)")
          .choices(LOADINGS)
          .default(DEFAULTS.loading),
      )
      .addOption(
        new Option("--layout <name>", "how particles are stored: components apart (soa) or together (aos)")
          .choices(Object.keys(LAYOUTS))
          .default("soa"),
      )
      .addOption(precisionOption())
      .option("--sort <n>", "steps after which particles are sorted by cell again, in 3D; 0: never; default: what is fastest", countOrNone);
    own
      .option("--window <from,to>", "fit rates between these times; default: times that suit the case", windowOf)
      .option("--csv <file>", "write all samples as CSV")
      .option("--svg <file>", "write a figure of the watched mode over time, with the fit and theory")
      .option("--vtk <file>", "write E and B at the end as a VTK image (.vti)")
      .option(
        "--hdf5 <file>",
        "write E, B and all particles at the end as HDF5 by the openPMD standard (.h5), with an XDMF file beside it (.xmf); needs the package h5wasm",
      )
      .option("--hdf5-every <n>", "samples from one snapshot of --hdf5 to the next, all in one file; default: one, at the end", count)
      .option("--json <file>", "write the result as JSON")
      .option(
        "--checkpoint <file>",
        "write the state to this file at intervals, at the end, and when SIGINT (Ctrl-C) or SIGTERM ends the run; the previous checkpoint is kept as <file>.previous",
      )
      .option("--checkpoint-every <n>", "samples from one checkpoint to the next", count, 50)
      .option("--restart <file>", "continue from a checkpoint, with its options")
      .addHelpText(
        "after",
        examples(
          `pic ${each.name} --devices native --svg run.svg --csv run.csv`,
          `pic ${each.name} --particles 20000 --time 2 --json run.json`,
        ),
      )
      .action((options: Given) => run(each, options, shell, (name) => ["cli", "config"].includes(own.getOptionValueSource(name) ?? "")));
  }
}

/** Numbers with commas between. */
function numbersOf(text: string): number[] {
  return text.split(",").map(number);
}

function windowOf(text: string): Window {
  const [from, to, ...others] = numbersOf(text);
  if (others.length > 0 || !(from >= 0 && from < to)) throw new InvalidArgumentError("It needs two times, the earlier first, as in 5,16.");
  return [from, to];
}

const listOption = (flags: string, description: string, values: readonly number[]): Option =>
  new Option(flags, `${description}, separated by commas`)
    .argParser(numbersOf)
    .default(values, values.map((value) => Number(value.toPrecision(4))).join());

const driftText = ({ watched: { form }, temperaturesOf }: Case): string =>
  `mean velocity of each beam along axis ${temperaturesOf === "axes" && form === "b" ? 2 : 1}`;

const temperatureText = ({ temperaturesOf }: Case): string =>
  `square of the velocity's standard deviation ${temperaturesOf === "beams" ? "in each beam" : "along each axis"}`;

async function run(each: Case, given: Given, shell: Shell, isGiven: (name: string) => boolean): Promise<void> {
  await requireOutputs(given, shell);
  if (given.hdf5 !== undefined) await requireHdf5(given.hdf5);
  if (given.hdf5 !== undefined && given.restart !== undefined && existsSync(given.hdf5))
    throw new IsoformError(`pic: ${given.hdf5} exists, and may hold snapshots of the earlier run: give --hdf5 another file`);
  const saved = given.restart === undefined ? undefined : await openCheckpoint(given.restart);
  const named = given.distribution === undefined ? undefined : await usedDistribution(given.distribution);
  if (saved) requireSame(each, { ...given, distribution: named }, saved.options, isGiven);
  const asked = { ...given, distribution: named, ...(saved && runOptions(saved.options)) };
  const set = await devices(asked.devices, { f64: asked.f64 });
  try {
    const { locals: members } = set;
    const own = { ...asked, distribution: undefined };
    // A restarted run has its particles in the state, and files of data name no code.
    const distribution = saved || !named ? undefined : await readDistribution(named.file, each.problem(own).mesh);
    const problem = each.problem({ ...own, distribution });
    const settings = { ...asked, count: asked.particles, layout: LAYOUTS[asked.layout] };
    const options = {
      ...asked,
      sort: asked.sort ?? stepsBetweenSorts(members[0].device, problem, { ...settings, count: settings.count / set.members.length }),
    };
    const simulation = await Simulation.create(set, problem, { ...settings, sort: options.sort });
    if (saved) {
      simulation.restore(await saved.state(simulation));
      await simulation.requireSound(`in ${given.restart}`);
    }
    const firstStep = simulation.steps;
    const rows: Row[] = saved ? [...saved.rows] : [];
    const { seconds, exitCode, interrupted } = await simulate(each, simulation, options, rows, shell);
    const done = { steps: simulation.steps - firstStep, seconds };
    const judgement = each.judge(seriesOfMode(rows), asked);
    const label = [...new Set(members.map(({ device }) => device.label))].join(", ");
    shell.print(`${set.name}: ${label}\n${summary(each, simulation, options, rows, done)}`);
    if (judgement.comparisons.length > 0) shell.print(comparisonTable(judgement));
    if (judgement.remark !== undefined) shell.print(`${judgement.remark}\n`);
    if (interrupted) shell.print(`interrupted${options.checkpoint === undefined ? "" : `: go on with --restart ${options.checkpoint}`}`);
    if (exitCode !== 0) process.exitCode = exitCode;

    if (options.csv !== undefined) await shell.writeFile(options.csv, csvText(rows, speciesOf(simulation)));
    if (options.svg !== undefined)
      await shell.writeFile(
        options.svg,
        chart(`pic ${each.name}`, `amplitude of the ${watchedText(each, options.mode)}`, seriesOfMode(rows), judgement.curves),
      );
    if (options.vtk !== undefined) tellIndex(shell, options.vtk, await writeFields(options.vtk, simulation));
    if (options.json !== undefined) {
      const result = {
        case: each.name,
        device: set.name,
        label,
        options: { ...runOptions(options), distribution: options.distribution?.file },
        ...done,
      };
      const conserved = { energy: energyError(rows), gauss: worst(rows, "gauss"), divergence: worst(rows, "divergence") };
      const text = JSON.stringify({ ...result, conserved, comparisons: judgement.comparisons, remark: judgement.remark, rows }, null, 1);
      await shell.writeFile(options.json, `${text}\n`);
    }
  } finally {
    await set.close();
  }
}

/** Throws IsoformError if a file cannot be written, or is one that another option writes or reads. */
async function requireOutputs(given: Given, shell: Shell): Promise<void> {
  const { csv, svg, vtk, hdf5, json, checkpoint, config, restart, distribution } = given;
  const files = {
    checkpoint: checkpoint && [checkpoint, previousOf(checkpoint)],
    csv,
    svg,
    vtk,
    hdf5: hdf5 && [hdf5, xdmfOf(hdf5)],
    json,
  };
  // A run may go on in the checkpoint that it was restarted from.
  await shell.checkOutputs(files, { config, distribution, restart }, { checkpoint: "restart" });
}

/** Runs to the end or to an interrupt, with progress and checkpoints; returns the seconds that the steps took. */
async function simulate(
  each: Case,
  simulation: Simulation,
  options: Options,
  rows: Row[],
  shell: Shell,
): Promise<{ seconds: number; exitCode: number; interrupted: boolean }> {
  const checkpoint = async (): Promise<void> => {
    if (options.checkpoint === undefined) return;
    const saved = { options: { case: each.name, ...runOptions(options) }, rows, state: await simulation.state() };
    await writeCheckpoint(options.checkpoint, saved, simulation.set);
  };
  let snapshotAt: number | undefined;
  const snapshot = async (): Promise<void> => {
    if (options.hdf5 === undefined || snapshotAt === simulation.steps) return;
    await writeSnapshot(options.hdf5, simulation, snapshotAt === undefined ? "new" : "add");
    snapshotAt = simulation.steps;
  };
  const task = shell.progress(`pic ${each.name}`);
  let seconds = 0;
  const interruption = shell.interruption();
  await follow(simulation, { ...each.watched, mode: options.mode }, { ...options, stop: interruption.stop }, rows, async (row, took) => {
    seconds += took;
    task.update(row.time, options.time, `mode ${row.mode.toExponential(2)}, Gauss ${row.gauss.toExponential(1)}`);
    if (rows.length % options.checkpointEvery === 0) await checkpoint();
    if (options.hdf5Every !== undefined && (rows.length - 1) % options.hdf5Every === 0) await snapshot();
    // Lets the bar be drawn and an interrupt be seen.
    await turn();
  });
  interruption.ignore();
  task.done();
  await checkpoint();
  await snapshot();
  const { exitCode } = interruption;
  return { seconds, exitCode, interrupted: await onAnyRank(simulation.set, exitCode !== 0, "signals") };
}

const speciesOf = ({ species }: Simulation): string[] => species.map(({ species: { name } }) => name);

function summary(
  each: Case,
  simulation: Simulation,
  options: Options,
  rows: readonly Row[],
  done: { steps: number; seconds: number },
): string {
  const { particles, degree, composition, dt, loading, layout, precision, sort } = options;
  const { steps, seconds } = done;
  const cells = simulation.problem.mesh.axes.map((axis) => axis.cells).join(" x ");
  const count = simulation.species.length;
  const pace = steps > 0 ? `, ${((1e9 * seconds) / (steps * particles * count)).toPrecision(4)} ns a particle and step` : "";
  return (
    `${each.name}: ${particles} particles${count > 1 ? " a species" : ""}, ${cells} cells, degree ${degree}, ` +
    `${composition}, dt ${dt}, ${loading}, ${layout}, ${precision}${sort > 0 ? `, sorted every ${sort === 1 ? "step" : `${sort} steps`}` : ""}\n` +
    `${steps} steps in ${seconds.toFixed(2)} s${pace}\n` +
    `to time ${simulation.time.toPrecision(6)}: energy changes by ${energyError(rows).toExponential(2)} at most; ` +
    `Gauss' law holds to ${worst(rows, "gauss").toExponential(1)}, div B = 0 to ${worst(rows, "divergence").toExponential(1)}\n`
  );
}

const comparisonTable = ({ comparisons }: Judgement): string =>
  tableText({
    title: "",
    columns: ["quantity", "fitted", "error bar", "expected", "difference", "tolerance", "source"],
    labels: 1,
    rows: comparisons.map((each) => {
      const miss = missOf(each);
      return [
        each.quantity,
        each.fitted.toPrecision(5),
        each.error === undefined ? "" : each.error.toPrecision(2),
        each.expected?.toPrecision(5) ?? "",
        miss === undefined ? "" : `${(100 * miss).toFixed(2)} %`,
        each.tolerance === undefined ? "" : `${100 * each.tolerance} %`,
        each.source ?? "",
      ];
    }),
  }).trimStart();

const watchedText = ({ watched: { form, component } }: Case, mode: number): string =>
  `${mode === 1 ? "first mode" : `mode of ${mode} waves`} of ${form.toUpperCase()}${component + 1}`;

/** An option as it is written. */
const wordOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const madeWith = (name: string, value: unknown): string =>
  value === undefined ? `without ${wordOf(name)}` : `with ${wordOf(name)} ${String(value)}`;

/** Throws IsoformError if a restart is asked for what the checkpoint is not. */
function requireSame(each: Case, given: Partial<RunOptions>, saved: SavedOptions, isGiven: (name: string) => boolean): void {
  if (saved.case !== each.name) throw new IsoformError(`pic: the checkpoint is of the case ${saved.case}: run isoform pic ${saved.case}`);
  const own = saved.distribution;
  if (given.distribution && given.distribution.digest !== own?.digest)
    throw new IsoformError(
      `pic: the checkpoint was made ${own ? `with another --distribution, then called ${JSON.stringify(own.file)} (SHA-256 ${own.digest.slice(0, 16)}...)` : "without --distribution"}: ` +
        `leave out --distribution, or start anew`,
    );
  for (const name of NAMES)
    if (name !== "distribution" && isGiven(name) && String(given[name]) !== String(saved[name]))
      throw new IsoformError(`pic: the checkpoint was made ${madeWith(name, saved[name])}: leave out ${wordOf(name)}, or start anew`);
}
