import type { Command } from "commander";
import { Argument, InvalidArgumentError, Option } from "commander";
import { LaunchError } from "isoform";
import { previousOf, writeByOne } from "isoform/io";
import type { Interruption, Shell } from "isoform/portability";
import type { DeviceSet } from "isoform/set";
import { devices } from "isoform/set";
import { count, countOrNone, devicesOption, examples, f64Option, nonNegative, positive, precisionOption, seed } from "../options.js";
import type { SavedRun } from "./checkpoint.js";
import { readCheckpoint } from "./checkpoint.js";
import { COEFFICIENTS, requireCoefficients } from "./coefficients.js";
import { compareSolutions, comparisonPlot, comparisonText } from "./compare.js";
import { epochRows } from "./files/epochs.js";
import type { Inputs } from "./files/inputs.js";
import {
  askedCovariances,
  digestsOf,
  hasStars,
  inputPaths,
  readInputs,
  requireInputs,
  requireSameFiles,
  systemDigests,
} from "./files/inputs.js";
import { readSolution, requireSolutionFormat, writeSolution } from "./files/solutions.js";
import { exportSystem, requireExportFormat } from "./files/system-export.js";
import { requireNoOthers, systemRows } from "./files/system-file.js";
import type { Norms } from "./norms.js";
import { PUBLISHED_TOLERANCES } from "./lsqr.js";
import { NORMS } from "./fused.js";
import type { GsrOptions } from "./gsr-options.js";
import { planText } from "./memory.js";
import { requireProbes } from "./probes.js";
import { restarted, savedOptions } from "./restart.js";
import type { Results } from "./report.js";
import { kernelTable, reportText, resultOf, resultsOf } from "./report.js";
import { figurePage, reportPage } from "./report-page.js";
import { scanningSize } from "./scanning/index.js";
import type { StarList } from "./scanning/stars.js";
import { addScanningOptions, refuseScanningOptions, scanningOptions } from "./scanning-options.js";
import { Convergence } from "./section-steps.js";
import type { Globals } from "./shape.js";
import type { Done } from "./session.js";
import { runSession } from "./session.js";
import type { ScanningSystemOptions, SimulatedOptions } from "./solver.js";
import { FORMS, GENERATORS, LAYOUTS } from "./solver.js";

/** Size of the generators of random coefficients by default. */
const SIMULATED_GIB = 0.25;
/** Most iterations by default. */
const LIMITS = { simulated: 1000, scanning: 10_000 };
/** Relative error of the coefficients at which a scanning system's solution is within 1e-3 standard errors of the exact one. */
const SCANNING_ATOL = 1e-8;

/** Adds `isoform gsr`. */
export function command(program: Command, shell: Shell): void {
  const { btol, conlim } = PUBLISHED_TOLERANCES;
  const gsr = program
    .command("gsr")
    .description("least squares by LSQR: the astrometric system of the Gaia mission (AVU-GSR), simulated")
    .addOption(
      new Option(
        "--generator <name>",
        "scanning: stars observed by the mission's scanning law; parallel: the published system's structure with random coefficients, made on the device; " +
          "published: the published program's own random numbers, made on the host, from 0.556 GiB on",
      )
        .choices(GENERATORS)
        .default("scanning"),
    )
    .addOption(
      new Option(
        "--gib <size>",
        `size of the system in GiB, as the published program counts it (default: ${SIMULATED_GIB}, with scanning 300 stars)`,
      )
        .argParser(positive)
        .conflicts("stars"),
    )
    .option("--seed <n>", "seed of the random numbers; the published generator has none", seed, 0);
  addScanningOptions(gsr)
    .option(
      "--global <n>",
      "parallel and published: unknowns of the global section, 0 or 1, which is PPN gamma's (default: 0, as in production)",
      globals,
    )
    .addOption(devicesOption())
    .addOption(f64Option())
    .option("--iterations <n>", `maximum number of iterations (default: ${LIMITS.simulated}, with scanning ${LIMITS.scanning})`, count)
    .addOption(
      new Option(
        "--form <name>",
        "how the products become kernels (see apps/gsr/README.md); default: the fastest that fits into the device's memory",
      ).choices(Object.keys(FORMS)),
    )
    .addOption(
      new Option(
        "--layout <name>",
        "how coefficients lie in memory: row after row, or column after column (planes); default: what suits the form and the device",
      ).choices(Object.keys(LAYOUTS)),
    )
    .addOption(
      new Option(
        "--norm <name>",
        "how the norm of A^T u - beta v is found: from the vector (separate), or from sums that come with the product, one message less (merged); default: separate",
      ).choices(NORMS),
    )
    .addOption(
      new Option(
        "--coefficients <type>",
        "type of the coefficients that iterations read: f64, or f32, half the bytes, with corrections by those in f64; f32 is not for strict mode, nor the form paper (default: f64)",
      ).choices(COEFFICIENTS),
    )
    .option("--corrections <n>", "f32: corrections at most, 0 for none (default: as many as the solution needs)", countOrNone)
    .addOption(precisionOption())
    .option(
      "--checkpoint <file>",
      "write the state to this file at intervals, and when SIGINT (Ctrl-C) or SIGTERM ends the run; the previous checkpoint is kept as <file>.previous",
    )
    .option("--every <n>", "iterations from one checkpoint to the next (default: ten minutes)", count)
    .option("--restart <file>", "continue from a checkpoint, with its options")
    .option(
      "--atol <x>",
      `stop at this relative error of the coefficients; 0: at machine precision (default: 0, with scanning ${SCANNING_ATOL})`,
      nonNegative,
    )
    .option("--btol <x>", "stop at this relative error of the known terms; 0: at machine precision", nonNegative, btol)
    .addOption(
      new Option("--conlim <x>", "stop when the estimated condition number is greater than this; 0: never")
        .argParser(nonNegative)
        .default(conlim, conlim.toExponential().replace("+", "")),
    )
    .option("--compatible-errors", "compute standard errors with the published program's count of unknowns")
    .option("--no-kernels", "skip per-kernel timing (it adds a small overhead)")
    .option("--json <file>", "write the result as JSON")
    .option("--out <file>", "write the solution: .json, .fits, .vot or .h5 with all unknowns, for gsr compare; .ecsv with the stars")
    .option("--export <file>", "write the system, its known terms and scaling for SciPy, .npz")
    .option(
      "--report <file>",
      "write errors on the sky, and the convergence of each section, as a page (.html); gsr compare: scatter plots of both solutions as SVG",
    )
    .addArgument(new Argument("[compare]", "compare two solutions that --out wrote").choices(["compare"]))
    .argument("[files...]", "files of the two solutions")
    .addHelpText(
      "after",
      examples(
        "gsr",
        "gsr --stars 2000 --years 5 --known truth --devices cuda:0",
        "gsr --generator parallel --gib 0.25 --devices wasm --iterations 200",
        "gsr --generator published --gib 10 --devices cuda:0 --iterations 100",
        "gsr --stars 2000 --known truth --errors probes 50 --checkpoint run.state",
        "gsr --restart run.state --checkpoint run.state",
        "gsr --stars stars.ecsv --errors probes 50 --covariances stars --out x.fits",
        "gsr --system matrix.h5 --devices cuda:0 --out x.h5",
        "gsr --stars 2000 --known truth --errors probes 50 --report sky.html",
        "gsr compare a.json b.json --report pairs.svg",
      ),
    )
    .action((compare: string | undefined, files: string[], options: GsrOptions) =>
      compare === undefined
        ? run(options, shell, (name) => gsr.getOptionValueSource(name) === "cli")
        : runComparison(files, options, shell),
    );
}

function globals(text: string): Globals {
  if (text !== "0" && text !== "1") throw new InvalidArgumentError("It needs 0 or 1.");
  return text === "1" ? 1 : 0;
}

/** Compares the solutions of two files; they disagree with exit status 1. */
async function runComparison(files: readonly string[], { report }: GsrOptions, shell: Shell): Promise<void> {
  if (files.length !== 2) throw new LaunchError(`gsr compare needs the files of two solutions, and got ${files.length}`);
  const [first, second] = files;
  await shell.checkOutputs({ report }, { first, second });
  const [a, b] = [await readSolution(first), await readSolution(second)];
  const comparison = compareSolutions(a, b);
  const text = comparisonText(comparison);
  shell.print(text);
  if (report !== undefined) {
    const figure = comparisonPlot(a, b, [first, second]);
    await shell.writeFile(report, PAGE.test(report) ? figurePage(text, [figure]) : figure);
  }
  if (!comparison.ok) shell.endWith(1);
}

type SystemChoice = SimulatedOptions | ScanningSystemOptions;

/** The system that the options ask for. */
function systemOf(options: GsrOptions, { stars, law }: Inputs): SystemChoice {
  const { generator, gib } = options;
  if (generator !== "scanning") return { generator, gib: gib ?? SIMULATED_GIB, globals: options.global };
  return {
    generator,
    ...(gib === undefined ? {} : scanningSize(gib)),
    ...scanningOptions(options),
    ...(stars ? { list: stars.list } : {}),
    ...(law ? { law } : {}),
  };
}

/** Refuses options that do not go together, before any file is read or written. Throws LaunchError. */
async function requireOptions(options: GsrOptions): Promise<void> {
  if (options.generator !== "scanning") refuseScanningOptions(options, options.generator);
  else if (options.global !== undefined)
    throw new LaunchError(
      "--global is for systems of random coefficients, and scanning has PPN gamma always: leave it out, or add --generator parallel",
    );
  requireInputs(options);
  const { errors, coefficients = "f64", corrections, precision, form } = options;
  requireCoefficients(coefficients, precision, form ?? "fastest", options.frame);
  if (corrections !== undefined && coefficients === "f64")
    throw new LaunchError("--corrections is for --coefficients f32: give that, or leave it out");
  if (errors !== undefined && errors !== "lsqr") requireProbes(errors.probes, options.frame);
  else if (options.sides !== undefined) throw new LaunchError("--sides is for --errors probes: give these, or leave it out");
  if (options.out !== undefined) await requireSolutionFormat(options.out, options.generator === "scanning" && hasStars(options));
  if (options.export !== undefined) requireExportFormat(options.export);
}

/** A run as it is asked for. */
interface Run {
  readonly options: GsrOptions;
  readonly chosen: SystemChoice;
  readonly inputs: Inputs;
  /** The checkpoint that it goes on from. */
  readonly saved?: SavedRun;
  /** Filled for a report. */
  readonly convergence?: Convergence;
}

const PAGE = /\.html?$/i;

/** Throws LaunchError for a report whose name is not a page's. */
function requireReport({ report }: GsrOptions): void {
  if (report !== undefined && !/\.html?$/i.test(report))
    throw new LaunchError(`--report ${report}: it is a page, so end its name in .html`);
}

async function run(given: GsrOptions, shell: Shell, isGiven: (name: string) => boolean): Promise<void> {
  const { checkpoint } = given;
  requireReport(given);
  if (given.every !== undefined && checkpoint === undefined)
    throw new LaunchError("--every is for --checkpoint: give that a file, or leave it out");
  const saved = given.restart === undefined ? undefined : await readCheckpoint(given.restart, (text) => shell.print(text));
  const options = saved ? restarted(given, saved.place.options, isGiven) : given;
  if (options.system !== undefined) requireNoOthers(isGiven);
  await requireOptions(options);
  const paths = inputPaths(options);
  const { json, out, export: exported, report } = options;
  const files = { checkpoint: checkpoint && [checkpoint, previousOf(checkpoint)], json, out, export: exported, report };
  // A run may go on in the checkpoint that it was restarted from.
  await shell.checkOutputs(files, { restart: given.restart, ...paths }, { checkpoint: "restart" });
  const digests = await digestsOf(paths);
  if (saved) requireSameFiles(paths, saved.place, digests, isGiven);
  const inputs = await readInputs(options, digests);
  const set = await devices(options.devices, { f64: options.f64 });
  const interruption = shell.interruption();
  try {
    set.ranks?.requireAlike("the files that gsr reads", JSON.stringify(inputs.digests));
    const convergence = report === undefined ? undefined : new Convergence();
    await solveAndReport(set, { options, chosen: systemOf(options, inputs), inputs, saved, convergence }, shell, interruption);
  } finally {
    interruption.ignore();
    await set.close();
  }
}

/** Iterations at most, and the relative error at which they stop. */
function limitsOf({ iterations, atol, system }: GsrOptions, { generator }: SystemChoice): { iterations: number; atol: number } {
  const isScanning = generator === "scanning";
  return {
    iterations: iterations ?? LIMITS[isScanning ? "scanning" : "simulated"],
    atol: atol ?? (isScanning && system === undefined ? SCANNING_ATOL : PUBLISHED_TOLERANCES.atol),
  };
}

async function solve(
  set: DeviceSet,
  { options, chosen, inputs, saved, convergence }: Run,
  shell: Shell,
  { stop }: Interruption,
): Promise<Done> {
  const {
    seed,
    layout,
    precision,
    coefficients,
    corrections,
    norm,
    form = "fastest",
    btol,
    conlim,
    compatibleErrors,
    errors,
    sides,
  } = options;
  const { iterations, atol } = limitsOf(options, chosen);
  const [task, probing] = ["gsr", "gsr probes"].map((name) => shell.progress(name));
  const probes = errors === undefined || errors === "lsqr" ? undefined : errors.probes;
  const { epochs, system } = inputs;
  let planned = false;
  try {
    return await runSession(
      set,
      {
        system: chosen,
        rows: system ? (on) => systemRows(on, system) : epochs && ((on) => epochRows(on, epochs)),
        solver: {
          seed,
          layout,
          precision,
          coefficients,
          corrections,
          norm,
          form,
          sides: sides ?? (probes === undefined ? 1 : "most"),
          convergence: convergence !== undefined,
          onPlan(plan) {
            inputs.pairs?.requireIn(plan.shape);
            if (!planned) shell.print(planText(plan, probes !== undefined));
            planned = true;
          },
        },
        stopping: {
          iterations,
          atol,
          btol,
          conlim,
          compatibleErrors,
          timed: options.kernels,
          convergence,
          onIteration: (done: number, { rnorm, bnorm }: Norms) =>
            task.update(done, iterations, `|r|/|b| ${(rnorm / bnorm).toExponential(2)}`),
        },
        robust: options.robust ?? false,
        probes,
        resume: saved,
        onProbe: (done) => probing.update(done, probes!, "probes"),
      },
      { file: options.checkpoint, every: options.every, stop, options: savedOptions(options), files: inputs.digests },
    );
  } finally {
    task.done();
    probing.done();
  }
}

async function solveAndReport(set: DeviceSet, asked: Run, shell: Shell, interruption: Interruption): Promise<void> {
  const { options, chosen } = asked;
  const done = await solve(set, asked, shell, interruption);
  const { interrupted } = done;
  if (interrupted !== undefined) {
    const { checkpoint } = options;
    shell.print(`interrupted after ${interrupted} iterations${checkpoint === undefined ? "" : `: go on with --restart ${checkpoint}`}\n`);
    shell.endWith(interruption.exitCode);
    return;
  }
  const results = await resultsOf(done, asked);
  const text = reportText(set, results, done, asked);
  shell.print(text);
  if (results.doubts.length > 0) shell.endWith(1);
  if (options.kernels) shell.print(kernelTable(results.kernels));
  if (options.json !== undefined) {
    const used = { ...options, ...chosen, list: undefined, law: undefined, iterations: limitsOf(options, chosen).iterations };
    await shell.writeFile(options.json, `${JSON.stringify(resultOf(set, results, done, used), null, 1)}\n`);
  }
  if (options.report !== undefined) await writeReport(options.report, text, results, done, asked, shell);
  if (options.export !== undefined) await exportSystem(options.export, done.solver);
  if (options.out !== undefined) await writeResult(set, options.out, results, done, asked, shell);
}

/** Stars of the system, if their places are known. */
const starsOf = ({ solver }: Done, { inputs }: Run): StarList | undefined =>
  solver.scanning?.stars ?? (inputs.epochs && inputs.stars?.list);

/** Writes the report's page. All processes of the set call it, and rank 0 writes. */
async function writeReport(path: string, text: string, results: Results, done: Done, asked: Run, shell: Shell): Promise<void> {
  const { solver } = done;
  const { shape } = solver;
  const scaling = await solver.scaling();
  const truth = asked.options.known === "truth" ? solver.exact : undefined;
  const content = { shape, results, scaling, convergence: asked.convergence!, stars: starsOf(done, asked), truth, text };
  await shell.writeFile(path, reportPage(content));
}

/** Writes the solution with its errors, and covariances if they are asked for. All processes of the set call it, and rank 0 writes. */
async function writeResult(set: DeviceSet, path: string, results: Results, done: Done, asked: Run, shell: Shell): Promise<void> {
  const { solver, probes, robust } = done;
  const { options, inputs } = asked;
  const { shape, scanning } = solver;
  const settings = { ...scanning?.settings, ...systemDigests(inputs), ...(robust ? { robust: true } : {}) };
  const system = { generator: options.generator, seed: options.seed, shape, options: settings };
  const vectors = { x: Array.from(results.x), standardErrors: Array.from(results.errors) };
  const covariances = askedCovariances(options.covariances, inputs, shape, probes);
  const stars = starsOf(done, asked);
  const { precision, coefficients } = options;
  const rounded = coefficients === "f32" ? { coefficients } : {};
  const file = { system, precision, ...rounded, probes: probes?.draws.length, ...vectors, ...(covariances ? { covariances } : {}) };
  await writeByOne(set, [], () => writeSolution(path, file, stars, (name, text) => shell.writeFile(name, text)));
}
