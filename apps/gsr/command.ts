import type { Command } from "commander";
import { Option } from "commander";
import type { OpenOptions, Precision } from "isoform";
import { open } from "isoform";
import type { Shell } from "isoform/portability";
import { tableText } from "isoform/portability";
import { count, deviceOption, examples, f64Option, nonNegative, positive, precisionOption, seed } from "../options.js";
import type { Solution } from "./lsqr.js";
import { PUBLISHED_TOLERANCES, STOP_REASONS } from "./lsqr.js";
import { sections } from "./shape.js";
import type { FormName, Layout } from "./solver.js";
import { fastestForm, FORMS, LAYOUTS, Solver } from "./solver.js";
import type { GeneratorName } from "./system.js";
import { GENERATORS } from "./system.js";
import type { Deviation } from "./validate.js";

interface GsrOptions {
  gib: number;
  devices: string;
  f64?: OpenOptions["f64"];
  iterations: number;
  generator: GeneratorName;
  seed: number;
  form?: FormName;
  layout?: Layout;
  precision: Precision;
  atol: number;
  btol: number;
  conlim: number;
  compatibleErrors?: boolean;
  kernels: boolean;
  json?: string;
}

/** Adds `isoform gsr`. */
export function command(program: Command, shell: Shell): void {
  const { atol, btol, conlim } = PUBLISHED_TOLERANCES;
  program
    .command("gsr")
    .description("least squares by LSQR: a simulated astrometric system of the Gaia mission (AVU-GSR), whose exact solution is x = 1")
    .option("--gib <size>", "size of the system in GiB, as the published program counts it", positive, 0.25)
    .addOption(deviceOption())
    .addOption(f64Option())
    .option("--iterations <n>", "maximum number of iterations", count, 1000)
    .addOption(
      new Option(
        "--generator <name>",
        "parallel: the system is made on the device; published: with the random numbers of the published program, on the host, from 0.556 GiB on",
      )
        .choices(GENERATORS)
        .default("parallel"),
    )
    .option("--seed <n>", "seed of the parallel generator", seed, 0)
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
    .option("--atol <x>", "stop at this relative error of the coefficients; 0: at machine precision", nonNegative, atol)
    .option("--btol <x>", "stop at this relative error of the known terms; 0: at machine precision", nonNegative, btol)
    .addOption(
      new Option("--conlim <x>", "stop when the estimated condition number is greater than this; 0: never")
        .argParser(nonNegative)
        .default(conlim, conlim.toExponential().replace("+", "")),
    )
    .option("--compatible-errors", "compute standard errors with the published program's count of unknowns")
    .option("--no-kernels", "do not time each kernel, which itself takes a little time")
    .option("--json <file>", "write the result as JSON")
    .addHelpText(
      "after",
      examples("gsr --gib 0.25 --devices wasm --iterations 200", "gsr --gib 10 --devices cuda:0 --iterations 100 --generator published"),
    )
    .action((options: GsrOptions) => run(options, shell));
}

async function run(options: GsrOptions, shell: Shell): Promise<void> {
  if (options.json !== undefined) await shell.checkWritable(options.json);
  const device = await open(options.devices, { f64: options.f64 });
  try {
    const task = shell.progress("gsr");
    const form = options.form ?? fastestForm(device, options);
    const solver = await Solver.create(device, { ...options, form }, task.update);
    const { shape, constraintCount } = solver.system;
    const solution = await solver.solve({
      ...options,
      timed: options.kernels,
      onIteration: (done, { rnorm, bnorm }) => task.update(done, options.iterations, `|r|/|b| ${(rnorm / bnorm).toExponential(2)}`),
    });
    task.done();
    const deviation = await solver.deviation();
    const x = await solver.solution();
    const errors = await solver.standardErrors();
    const first = Array.from({ length: 5 }, (_, j) => ({ x: x[j], standardError: errors[j] }));
    const kernels = [
      ...new Map(solver.steps.map(({ name, launch }) => [name, { name, ...launch.cost, seconds: solution.steps[name] }])).values(),
    ];

    shell.print(
      `${device.name}: ${device.label}\n` +
        `system ${options.gib} GiB, ${options.generator} generator, ${form} form, ${options.precision}: ` +
        `${shape.stars} stars, ${shape.observations} observations, ${constraintCount} constraints, ${sections(shape).unknowns} unknowns\n\n` +
        resultText(solution, deviation) +
        first.map(({ x, standardError }, j) => `x[${j}] = ${x.toFixed(10)}  standard error ${standardError.toExponential(3)}\n`).join(""),
    );
    if (options.kernels) shell.print(kernelTable(kernels));
    if (options.json !== undefined) {
      const result = {
        device: device.name,
        label: device.label,
        options: { ...options, form },
        shape,
        solution: { ...solution, steps: undefined },
        deviation,
        first,
        kernels,
      };
      await shell.writeFile(options.json, `${JSON.stringify(result, null, 1)}\n`);
    }
  } finally {
    await device.close();
  }
}

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

function kernelTable(kernels: readonly KernelTime[]): string {
  return tableText({
    title: "",
    columns: ["kernel", "ms", "GB/s"],
    labels: 1,
    rows: kernels.map(({ name, seconds, bytes }) => [name, (1000 * seconds).toFixed(4), (bytes / seconds / 1e9).toPrecision(3)]),
  }).trimStart();
}
