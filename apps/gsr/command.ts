import type { Command } from "commander";
import { Argument, Option } from "commander";
import type { Device, OpenOptions, Precision } from "isoform";
import { LaunchError, open } from "isoform";
import type { Shell } from "isoform/portability";
import { tableText } from "isoform/portability";
import { count, deviceOption, examples, f64Option, nonNegative, positive, precisionOption, seed } from "../options.js";
import { compareSolutions, comparisonPlot, comparisonText } from "./compare.js";
import type { SectionVerdict } from "./judgement.js";
import { judge } from "./judgement.js";
import type { Norms, Solution, SolveOptions } from "./lsqr.js";
import { PUBLISHED_TOLERANCES, STOP_REASONS } from "./lsqr.js";
import { sections } from "./shape.js";
import type { Probes } from "./probes.js";
import { requireProbes } from "./probes.js";
import type { RobustSolution, Turn } from "./robust.js";
import { solveRobustly } from "./robust.js";
import { scanningRows, scanningSize } from "./scanning/index.js";
import { STEP } from "./scanning/law.js";
import type { ScanningWords } from "./scanning-options.js";
import { addScanningOptions, describe, refuseScanningOptions, scanningOptions } from "./scanning-options.js";
import { epochRows, EPOCH_YEAR } from "./files/epochs.js";
import type { Inputs } from "./files/inputs.js";
import { askedCovariances, readInputs, requireInputs } from "./files/inputs.js";
import { readSolution, requireSolutionFormat, writeSolution } from "./files/solutions.js";
import { exportSystem, requireExportFormat } from "./files/system-export.js";
import type { FormName, GeneratorName, Layout, ScanningSystemOptions, SimulatedOptions, SolverOptions } from "./solver.js";
import { FORMS, GENERATORS, LAYOUTS, Solver } from "./solver.js";
import type { Deviation } from "./validate.js";

/** Size of the generators of random coefficients by default. */
const SIMULATED_GIB = 0.25;
/** Most iterations by default. */
const LIMITS = { simulated: 1000, scanning: 10_000 };
/** Relative error of the coefficients at which a scanning system's solution is within 1e-3 standard errors of the exact one. */
const SCANNING_ATOL = 1e-8;
/** Name of LSQR's sums of squares, which grow towards a value of their own: neither errors nor bounds of errors. */
const LSQR_LABEL = "LSQR's estimate of its error, not converged,";

interface GsrOptions extends ScanningWords {
  gib?: number;
  devices: string;
  f64?: OpenOptions["f64"];
  iterations?: number;
  generator: GeneratorName;
  seed: number;
  form?: FormName;
  layout?: Layout;
  precision: Precision;
  atol?: number;
  btol: number;
  conlim: number;
  compatibleErrors?: boolean;
  kernels: boolean;
  json?: string;
  out?: string;
  export?: string;
  report?: string;
}

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
    .addOption(deviceOption())
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
    .addOption(precisionOption())
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
        "gsr compare a.json b.json --report pairs.svg",
      ),
    )
    .action((compare: string | undefined, files: string[], options: GsrOptions) =>
      compare === undefined ? run(options, shell) : runComparison(files, options, shell),
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
  if (!comparison.ok) process.exitCode = 1;
}

type SystemChoice = SimulatedOptions | ScanningSystemOptions;

/** The system that the options ask for. */
function systemOf(options: GsrOptions, { stars, law }: Inputs): SystemChoice {
  const { generator, gib } = options;
  if (generator === "scanning")
    return {
      generator,
      ...(gib === undefined ? {} : scanningSize(gib)),
      ...scanningOptions(options),
      ...(stars ? { list: stars.list } : {}),
      ...(law ? { law } : {}),
    };
  return { generator, gib: gib ?? SIMULATED_GIB };
}

async function run(options: GsrOptions, shell: Shell): Promise<void> {
  if (options.generator !== "scanning") refuseScanningOptions(options, options.generator);
  requireInputs(options);
  if (options.report !== undefined) throw new LaunchError("--report is for gsr compare: leave it out");
  if (options.errors !== undefined && options.errors !== "lsqr") requireProbes(options.errors.probes, options.frame);
  if (options.out !== undefined) await requireSolutionFormat(options.out, options.generator === "scanning");
  if (options.export !== undefined) requireExportFormat(options.export);
  const { stars, scanLaw, epochs, covariances } = options;
  const read = {
    stars: typeof stars === "string" ? stars : undefined,
    scanLaw,
    epochs,
    covariances: covariances === "stars" ? undefined : covariances,
  };
  await shell.checkOutputs({ json: options.json, out: options.out, export: options.export }, read);
  const inputs = await readInputs(options);
  const chosen = systemOf(options, inputs);
  const device = await open(options.devices, { f64: options.f64 });
  try {
    await solveAndReport(device, { chosen, inputs }, options, shell);
  } finally {
    await device.close();
  }
}

interface Solved {
  readonly solver: Solver;
  readonly solution: Solution;
  readonly stopping: SolveOptions;
  /** The loop of `--robust`. */
  readonly robust?: RobustSolution;
}

/** A system that is asked for, and the files that it is made of. */
interface Asked {
  readonly chosen: SystemChoice;
  readonly inputs: Inputs;
}

async function solve(device: Device, { chosen, inputs }: Asked, options: GsrOptions, shell: Shell): Promise<Solved> {
  const { seed, layout, precision, form = "fastest", btol, conlim, compatibleErrors } = options;
  const isScanning = chosen.generator === "scanning";
  const iterations = options.iterations ?? LIMITS[isScanning ? "scanning" : "simulated"];
  const atol = options.atol ?? (isScanning ? SCANNING_ATOL : PUBLISHED_TOLERANCES.atol);
  const task = shell.progress("gsr");
  const stopping = {
    iterations,
    atol,
    btol,
    conlim,
    onIteration: (done: number, { rnorm, bnorm }: Norms) => task.update(done, iterations, `|r|/|b| ${(rnorm / bnorm).toExponential(2)}`),
  };
  const solverOptions: SolverOptions = { seed, layout, precision, form };
  const watched = { ...stopping, timed: options.kernels };
  try {
    if (isScanning && options.robust) {
      const robust = await solveRobustly(device, await scanningRows(device, chosen, seed), solverOptions, watched);
      return { solver: robust.solver, solution: robust.solution, stopping, robust };
    }
    const solver = inputs.epochs
      ? await Solver.of(device, epochRows(device, inputs.epochs), solverOptions, task.update)
      : await Solver.create(device, { ...chosen, ...solverOptions }, task.update);
    return { solver, solution: await solver.solve({ ...watched, compatibleErrors }), stopping };
  } finally {
    task.done();
  }
}

async function solveAndReport(device: Device, asked: Asked, options: GsrOptions, shell: Shell): Promise<void> {
  const { chosen, inputs } = asked;
  const { solver, solution, stopping, robust } = await solve(device, asked, options, shell);
  if (options.export !== undefined) await exportSystem(options.export, solver.system);
  const { precision } = options;
  const { shape, constraintCount, exact } = solver.system;
  // Measured positions have no known solution.
  const deviation = inputs.epochs ? undefined : await solver.deviation();
  const x = await solver.solution();
  const probes = await probed(solver, options, { ...stopping, onIteration: undefined }, shell);
  const errors = probes?.errors ?? (await solver.standardErrors());
  const label = probes ? `standard error, ${probes.draws.length} probes,` : LSQR_LABEL;
  const verdicts = probes && exact && options.known === "truth" ? judge(shape, x, exact, probes) : undefined;
  const first = Array.from({ length: 5 }, (_, j) => ({ x: x[j], standardError: errors[j] }));
  const kernels = [
    ...new Map(solver.steps.map(({ name, launch }) => [name, { name, ...launch.cost, seconds: solution.steps[name] }])).values(),
  ];
  const scanning = solver.scanning && describe(solver.scanning);
  const doubts = [
    ...(verdicts?.some(({ ok }) => !ok) ? ["the solution does not lie about the truth as its standard errors say"] : []),
    ...(robust && !robust.settled ? ["the weights have not settled: --robust needs a better conditioned system, or more iterations"] : []),
  ];

  shell.print(
    `${device.name}: ${device.label}\n` +
      `system ${"gib" in chosen ? `${chosen.gib} GiB, ` : ""}${options.generator} generator, ${solver.form} form, ${precision}: ` +
      `${shape.stars} stars, ${shape.observations} observations, ${constraintCount} constraints, ${sections(shape).unknowns} unknowns\n` +
      `${scanning?.text ?? ""}${inputsText(inputs)}\n` +
      (robust ? turnsText(robust.turns) : "") +
      resultText(solution, deviation) +
      first.map(({ x, standardError }, j) => `x[${j}] = ${x.toFixed(10)}  ${label} ${standardError.toExponential(3)}\n`).join("") +
      (probes ? `standard errors are good to ${(100 * probes.accuracy).toPrecision(2)} %\n` : "") +
      (verdicts ? `${verdictText(verdicts)}\n` : "") +
      doubts.map((doubt) => `${doubt}\n`).join(""),
  );
  if (doubts.length > 0) process.exitCode = 1;
  if (options.kernels) shell.print(kernelTable(kernels));
  if (options.json !== undefined) {
    const result = {
      device: device.name,
      label: device.label,
      options: { ...options, ...chosen, list: undefined, law: undefined, iterations: stopping.iterations, form: solver.form },
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
    const settings = { ...solver.scanning?.settings, ...inputs.digests, ...(robust ? { robust: true } : {}) };
    const system = { generator: options.generator, seed: options.seed, shape, options: settings };
    const vectors = { x: Array.from(x), standardErrors: Array.from(errors) };
    const covariances = await askedCovariances(options.covariances, shape, probes);
    const stars = solver.scanning?.stars ?? (inputs.epochs && inputs.stars?.list);
    const file = { system, precision, probes: probes?.draws.length, ...vectors, ...(covariances ? { covariances } : {}) };
    await writeSolution(options.out, file, stars, (path, text) => shell.writeFile(path, text));
  }
}

/** Lines about what was left out of files. */
function inputsText({ stars, epochs, law }: Inputs): string {
  const lines: string[] = [];
  if (stars && stars.colourless > 0) lines.push(`${stars.colourless} stars have no colour: they count as of the mean one`);
  if (law?.covered) {
    const gaps = law.covered.slice(0, Math.floor(law.duration / STEP)).filter((covered) => covered === 0).length;
    if (gaps > 0) lines.push(`the scanning law has gaps: nothing is observed in ${gaps} steps of ${STEP} s`);
  }
  if (epochs) {
    const { knownTerms, flagged, notFinite, ids } = epochs;
    lines.push(
      `${knownTerms.length} observations of ${ids.length} stars, ${flagged} flagged and ${notFinite} not finite ones left out; epoch J${EPOCH_YEAR}`,
    );
  }
  return lines.map((line) => `${line}\n`).join("");
}

const turnsText = (turns: readonly Turn[]): string =>
  turns
    .map(
      ({ deviation, change, rejected }, n) =>
        `weights, turn ${n + 1}: residuals deviate by ${deviation.toFixed(3)}, weights change by ${change.toExponential(2)} on average, ` +
        `${(100 * rejected).toFixed(2)} % are below a half\n`,
    )
    .join("");

/** Standard errors by probes, if they are asked for. */
async function probed(solver: Solver, { errors }: GsrOptions, stopping: SolveOptions, shell: Shell): Promise<Probes | undefined> {
  if (errors === undefined || errors === "lsqr") return undefined;
  const task = shell.progress("gsr probes");
  const probes = await solver.probes(errors.probes, stopping, (done) => task.update(done, errors.probes, "probes"));
  task.done();
  return probes;
}

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

function deviationText({ mean, rms, max, published }: Deviation): string {
  const e = (value: number) => value.toExponential(6);
  return (
    `solution error   mean ${e(mean)}, rms ${e(rms)}, max ${e(max)}; ` +
    `as the published program counts: mean ${e(published.mean)}, rms ${e(published.rms)}`
  );
}

function resultText(solution: Solution, deviation: Deviation | undefined): string {
  const e = (value: number) => value.toExponential(6);
  return [
    `stopped after ${solution.iterations} iterations: ${STOP_REASONS[solution.istop]} (istop ${solution.istop})`,
    ...(deviation ? [deviationText(deviation)] : []),
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

function kernelTable(kernels: readonly KernelTime[]): string {
  return tableText({
    title: "",
    columns: ["kernel", "ms", "GB/s"],
    labels: 1,
    rows: kernels.map(({ name, seconds, bytes }) => [name, (1000 * seconds).toFixed(4), (bytes / seconds / 1e9).toPrecision(3)]),
  }).trimStart();
}
