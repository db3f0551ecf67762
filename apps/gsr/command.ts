import type { Command } from "commander";
import { Argument, Option } from "commander";
import { LaunchError } from "isoform";
import { previousOf } from "isoform/io";
import type { Interruption, Shell } from "isoform/portability";
import type { DeviceSet } from "isoform/set";
import { devices } from "isoform/set";
import { tableText } from "isoform/portability";
import { count, devicesOption, examples, f64Option, nonNegative, positive, precisionOption, seed } from "../options.js";
import type { SavedRun } from "./checkpoint.js";
import { readCheckpoint } from "./checkpoint.js";
import { compareSolutions, comparisonPlot, comparisonText } from "./compare.js";
import type { SectionVerdict } from "./judgement.js";
import { judge } from "./judgement.js";
import type { Norms, Solution } from "./lsqr.js";
import { PUBLISHED_TOLERANCES, STOP_REASONS } from "./lsqr.js";
import { sections } from "./shape.js";
import { NORMS } from "./fused.js";
import type { GsrOptions } from "./gsr-options.js";
import { planText } from "./memory.js";
import { requireProbes } from "./probes.js";
import { restarted, savedOptions } from "./restart.js";
import type { Turn } from "./robust.js";
import { scanningSize } from "./scanning/index.js";
import { addScanningOptions, describe, refuseScanningOptions, scanningOptions } from "./scanning-options.js";
import { readSolution, solutionText } from "./solution-file.js";
import type { Done } from "./session.js";
import { runSession } from "./session.js";
import type { ScanningSystemOptions, SimulatedOptions } from "./solver.js";
import { FORMS, GENERATORS, LAYOUTS } from "./solver.js";
import type { Deviation } from "./validate.js";

/** Size of the generators of random coefficients by default. */
const SIMULATED_GIB = 0.25;
/** Most iterations by default. */
const LIMITS = { simulated: 1000, scanning: 10_000 };
/** Relative error of the coefficients at which a scanning system's solution is within 1e-3 standard errors of the exact one. */
const SCANNING_ATOL = 1e-8;
/** Name of LSQR's sums of squares, which grow towards a value of their own: neither errors nor bounds of errors. */
const LSQR_LABEL = "LSQR's estimate of its error, not converged,";

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
    .option("--out <file>", "write all unknowns and their standard errors, for gsr compare, as JSON")
    .option("--report <file>", "gsr compare: write scatter plots of both solutions as SVG")
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
        "gsr compare a.json b.json --report pairs.svg",
      ),
    )
    .action((compare: string | undefined, files: string[], options: GsrOptions) =>
      compare === undefined
        ? run(options, shell, (name) => gsr.getOptionValueSource(name) === "cli")
        : runComparison(files, options, shell),
    );
}

/** Compares the solutions of two files; they disagree with exit status 1. */
async function runComparison(files: readonly string[], { report }: GsrOptions, shell: Shell): Promise<void> {
  if (files.length !== 2) throw new LaunchError(`gsr compare needs the files of two solutions, and got ${files.length}`);
  const [first, second] = files;
  await shell.checkOutputs({ report }, { first, second });
  const [a, b] = [await readSolution(first), await readSolution(second)];
  const comparison = compareSolutions(a, b);
  shell.print(comparisonText(comparison));
  if (report !== undefined) await shell.writeFile(report, comparisonPlot(a, b, [first, second]));
  if (!comparison.ok) shell.endWith(1);
}

type SystemChoice = SimulatedOptions | ScanningSystemOptions;

/** The system that the options ask for. */
function systemOf(options: GsrOptions): SystemChoice {
  const { generator, gib } = options;
  if (generator === "scanning") return { generator, ...(gib === undefined ? {} : scanningSize(gib)), ...scanningOptions(options) };
  refuseScanningOptions(options, generator);
  return { generator, gib: gib ?? SIMULATED_GIB };
}

async function run(given: GsrOptions, shell: Shell, isGiven: (name: string) => boolean): Promise<void> {
  const { checkpoint } = given;
  if (given.report !== undefined) throw new LaunchError("--report is for gsr compare: leave it out");
  if (given.every !== undefined && checkpoint === undefined)
    throw new LaunchError("--every is for --checkpoint: give that a file, or leave it out");
  const saved = given.restart === undefined ? undefined : await readCheckpoint(given.restart, (text) => shell.print(text));
  const options = saved ? restarted(given, saved.place.options, isGiven) : given;
  const chosen = systemOf(options);
  if (options.errors !== undefined && options.errors !== "lsqr") requireProbes(options.errors.probes, options.frame);
  const files = { checkpoint: checkpoint && [checkpoint, previousOf(checkpoint)], json: options.json, out: options.out };
  // A run may go on in the checkpoint that it was restarted from.
  await shell.checkOutputs(files, { restart: given.restart }, { checkpoint: "restart" });
  const set = await devices(options.devices, { f64: options.f64 });
  const interruption = shell.interruption();
  try {
    await solveAndReport(set, chosen, options, shell, interruption, saved);
  } finally {
    interruption.ignore();
    await set.close();
  }
}

/** Iterations at most, and the relative error at which they stop. */
function limitsOf({ iterations, atol }: GsrOptions, { generator }: SystemChoice): { iterations: number; atol: number } {
  const isScanning = generator === "scanning";
  return {
    iterations: iterations ?? LIMITS[isScanning ? "scanning" : "simulated"],
    atol: atol ?? (isScanning ? SCANNING_ATOL : PUBLISHED_TOLERANCES.atol),
  };
}

async function solve(
  set: DeviceSet,
  chosen: SystemChoice,
  options: GsrOptions,
  shell: Shell,
  { stop }: Interruption,
  resume?: SavedRun,
): Promise<Done> {
  const { seed, layout, precision, norm, form = "fastest", btol, conlim, compatibleErrors, errors } = options;
  const { iterations, atol } = limitsOf(options, chosen);
  const [task, probing] = ["gsr", "gsr probes"].map((name) => shell.progress(name));
  const probes = errors === undefined || errors === "lsqr" ? undefined : errors.probes;
  let planned = false;
  try {
    return await runSession(
      set,
      {
        system: chosen,
        solver: {
          seed,
          layout,
          precision,
          norm,
          form,
          onPlan(plan) {
            if (!planned) shell.print(planText(plan));
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
          onIteration: (done: number, { rnorm, bnorm }: Norms) =>
            task.update(done, iterations, `|r|/|b| ${(rnorm / bnorm).toExponential(2)}`),
        },
        robust: options.robust ?? false,
        probes,
        resume,
        onProbe: (done) => probing.update(done, probes!, "probes"),
      },
      { file: options.checkpoint, every: options.every, stop, options: savedOptions(options) },
    );
  } finally {
    task.done();
    probing.done();
  }
}

async function solveAndReport(
  set: DeviceSet,
  chosen: SystemChoice,
  options: GsrOptions,
  shell: Shell,
  interruption: Interruption,
  saved: SavedRun | undefined,
): Promise<void> {
  const done = await solve(set, chosen, options, shell, interruption, saved);
  const { solver, solution, robust, probes, interrupted } = done;
  if (interrupted !== undefined) {
    const { checkpoint } = options;
    shell.print(`interrupted after ${interrupted} iterations${checkpoint === undefined ? "" : `: go on with --restart ${checkpoint}`}\n`);
    shell.endWith(interruption.exitCode);
    return;
  }
  const { precision } = options;
  const { shape, exact } = solver;
  const { constraintCount } = solver.system;
  const deviation = await solver.deviation();
  const x = await solver.solution();
  const errors = probes?.errors ?? (await solver.standardErrors());
  const label = probes ? `standard error, ${probes.draws.length} probes,` : LSQR_LABEL;
  const verdicts = probes && exact && options.known === "truth" ? judge(shape, x, exact, probes) : undefined;
  const first = Array.from({ length: 5 }, (_, j) => ({ x: x[j], standardError: errors[j] }));
  const kernels = kernelTimes(solver.steps, solution);
  const scanning = solver.scanning && describe(solver.scanning);
  const doubts = [
    ...(verdicts?.some(({ ok }) => !ok) ? ["the solution does not lie about the truth as its standard errors say"] : []),
    ...(robust && !robust.settled ? ["the weights have not settled: --robust needs a better conditioned system, or more iterations"] : []),
  ];

  shell.print(
    `${set.name}: ${[...new Set(set.locals.map(({ device }) => device.label))].join(", ")}\n` +
      `system ${"gib" in chosen ? `${chosen.gib} GiB, ` : ""}${options.generator} generator, ${solver.form} form, ${precision}: ` +
      `${shape.stars} stars, ${shape.observations} observations, ${constraintCount} constraints, ${sections(shape).unknowns} unknowns\n` +
      `${scanning?.text ?? ""}\n` +
      (robust ? turnsText(robust.turns) : "") +
      resultText(solution, deviation) +
      first.map(({ x, standardError }, j) => `x[${j}] = ${x.toFixed(10)}  ${label} ${standardError.toExponential(3)}\n`).join("") +
      (probes ? `standard errors are good to ${(100 * probes.accuracy).toPrecision(2)} %\n` : "") +
      (verdicts ? `${verdictText(verdicts)}\n` : "") +
      doubts.map((doubt) => `${doubt}\n`).join(""),
  );
  if (doubts.length > 0) shell.endWith(1);
  if (options.kernels) shell.print(kernelTable(kernels));
  if (options.json !== undefined) {
    const result = {
      device: set.name,
      label: [...new Set(set.locals.map(({ device }) => device.label))].join(", "),
      options: { ...options, ...chosen, iterations: limitsOf(options, chosen).iterations, form: solver.form },
      shape,
      scanning: scanning?.facts,
      turns: robust?.turns,
      solution: { ...solution, steps: undefined },
      deviation,
      first,
      errors: { label, accuracy: probes?.accuracy },
      verdicts,
      kernels,
    };
    await shell.writeFile(options.json, `${JSON.stringify(result, null, 1)}\n`);
  }
  if (options.out !== undefined) {
    const settings = { ...solver.scanning?.settings, ...(robust ? { robust: true } : {}) };
    const system = { generator: options.generator, seed: options.seed, shape, options: settings };
    const vectors = { x: Array.from(x), standardErrors: Array.from(errors) };
    await shell.writeFile(options.out, solutionText({ system, precision, probes: probes?.draws.length, ...vectors }));
  }
}

const turnsText = (turns: readonly Turn[]): string =>
  turns
    .map(
      ({ deviation, change, rejected }, n) =>
        `weights, turn ${n + 1}: residuals deviate by ${deviation.toFixed(3)}, weights change by ${change.toExponential(2)} on average, ` +
        `${(100 * rejected).toFixed(2)} % are below a half\n`,
    )
    .join("");

/** How the solution lies about the truth, section by section, and whether that is what its errors say. */
const verdictText = (verdicts: readonly SectionVerdict[]): string =>
  tableText({
    title: "(x - truth) / standard error",
    columns: ["section", "unknowns", "mean", "rms", "verdict"],
    labels: 1,
    rows: verdicts.map(({ section, unknowns, mean, rms, ok }) => [
      section,
      String(unknowns),
      mean.value.toFixed(3),
      rms.value.toFixed(3),
      ok ? "as the errors say" : "not what the errors say",
    ]),
  });

function resultText(solution: Solution, { mean, rms, max, published }: Deviation): string {
  const e = (value: number) => value.toExponential(6);
  return [
    `stopped after ${solution.iterations} iterations: ${STOP_REASONS[solution.istop]} (istop ${solution.istop})`,
    `solution error   mean ${e(mean)}, rms ${e(rms)}, max ${e(max)}; as the published program counts: mean ${e(published.mean)}, rms ${e(published.rms)}`,
    `residual         |r| ${e(solution.rnorm)}, |r|/|b| ${e(solution.rnorm / solution.bnorm)}, |A^T r| ${e(solution.arnorm)}`,
    `estimates        |A| ${e(solution.anorm)}, cond(A) ${e(solution.acond)}, |x| ${e(solution.xnorm)}`,
    `time             ${(1000 * solution.secondsPerIteration).toFixed(4)} ms an iteration`,
    "",
  ].join("\n");
}

interface KernelTime {
  name: string;
  seconds: number;
  bytes: number;
  flops: number;
}

/** Work and time of the launches of an iteration, added up by name. */
function kernelTimes(steps: Done["solver"]["steps"], { steps: seconds }: Solution): KernelTime[] {
  const kernels = new Map<string, KernelTime>();
  for (const { name, launch } of steps) {
    const { bytes, flops } = kernels.get(name) ?? { bytes: 0, flops: 0 };
    kernels.set(name, { name, bytes: bytes + launch.cost.bytes, flops: flops + launch.cost.flops, seconds: seconds[name] });
  }
  return [...kernels.values()];
}

function kernelTable(kernels: readonly KernelTime[]): string {
  return tableText({
    title: "",
    columns: ["kernel", "ms", "GB/s"],
    labels: 1,
    rows: kernels.map(({ name, seconds, bytes }) => [name, (1000 * seconds).toFixed(4), (bytes / seconds / 1e9).toPrecision(3)]),
  }).trimStart();
}
