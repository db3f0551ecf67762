import { tableText } from "isoform/portability";
import type { DeviceSet } from "isoform/set";
import { EPOCH_YEAR } from "./files/epochs.js";
import type { Inputs } from "./files/inputs.js";
import type { GsrOptions } from "./gsr-options.js";
import type { SectionVerdict } from "./judgement.js";
import { judge } from "./judgement.js";
import type { Solution } from "./lsqr.js";
import { STOP_REASONS } from "./lsqr.js";
import type { Turn } from "./robust.js";
import { STEP } from "./scanning/law.js";
import { describe } from "./scanning-options.js";
import type { Done } from "./session.js";
import { sections } from "./shape.js";
import type { Deviation } from "./validate.js";

/*
 * Results of a run of `isoform gsr`, for people and for programs.
 */

/** Name of LSQR's sums of squares, which grow towards a value of their own: neither errors nor bounds of errors. */
const LSQR_LABEL = "LSQR's estimate of its error, not converged,";

/** Parts of the request that a report needs. */
interface Asked {
  readonly options: GsrOptions;
  readonly inputs: Inputs;
}

/** Findings of a run. */
export interface Results {
  readonly x: Float64Array;
  readonly errors: Float64Array;
  /** Kind of numbers that the errors are. */
  readonly label: string;
  /** Absent where positions were measured, whose solution is not known. */
  readonly deviation?: Deviation;
  readonly verdicts?: readonly SectionVerdict[];
  readonly first: readonly { readonly x: number; readonly standardError: number }[];
  readonly kernels: readonly KernelTime[];
  readonly doubts: readonly string[];
}

/** Gathers the results; all processes of the set call it. */
export async function resultsOf({ solver, solution, robust, probes }: Done, { options, inputs }: Asked): Promise<Results> {
  const { shape, exact } = solver;
  const deviation = inputs.epochs || inputs.system ? undefined : await solver.deviation();
  const x = await solver.solution();
  const errors = probes?.errors ?? (await solver.standardErrors());
  const verdicts = probes && exact && options.known === "truth" ? judge(shape, x, exact, probes) : undefined;
  return {
    x,
    errors,
    label: probes ? `standard error, ${probes.draws.length} probes,` : LSQR_LABEL,
    deviation,
    verdicts,
    first: Array.from({ length: 5 }, (_, j) => ({ x: x[j], standardError: errors[j] })),
    kernels: kernelTimes(solver.steps, solution),
    doubts: [
      ...(solution.corrections !== undefined && solution.istop === 6
        ? ["coefficients in f32 do not determine the solution: take --coefficients f64"]
        : []),
      ...(verdicts?.some(({ ok }) => !ok) ? ["the solution does not lie about the truth as its standard errors say"] : []),
      ...(robust && !robust.settled
        ? ["the weights have not settled: --robust needs a better conditioned system, or more iterations"]
        : []),
    ],
  };
}

const labelsOf = (set: DeviceSet): string => [...new Set(set.locals.map(({ device }) => device.label))].join(", ");

/** The report, for people. */
export function reportText(
  set: DeviceSet,
  { label, deviation, verdicts, first, doubts }: Results,
  { solver, solution, robust, probes }: Done,
  { options, chosen, inputs }: Asked & { readonly chosen: object },
): string {
  const { shape, scanning } = solver;
  return (
    `${set.name}: ${labelsOf(set)}\n` +
    `system ${"gib" in chosen ? `${String(chosen.gib)} GiB, ` : ""}${inputs.system ? `of ${inputs.system.path}` : `${options.generator} generator`}, ${solver.form} form, ${options.precision}: ` +
    `${shape.stars} stars, ${shape.observations} observations, ${solver.system.constraintCount} constraints, ${sections(shape).unknowns} unknowns\n` +
    `${scanning ? describe(scanning).text : ""}${inputsText(inputs)}\n` +
    (robust ? turnsText(robust.turns) : "") +
    resultText(solution, deviation) +
    first.map(({ x, standardError }, j) => `x[${j}] = ${x.toFixed(10)}  ${label} ${standardError.toExponential(3)}\n`).join("") +
    (probes ? `standard errors are good to ${(100 * probes.accuracy).toPrecision(2)} %\n` : "") +
    (verdicts ? `${verdictText(verdicts)}\n` : "") +
    doubts.map((doubt) => `${doubt}\n`).join("")
  );
}

/** The results, for programs. `used` are the options as they were used. */
export function resultOf(
  set: DeviceSet,
  { label, deviation, verdicts, first, kernels }: Results,
  { solver, solution, robust, probes }: Done,
  used: object,
): object {
  return {
    device: set.name,
    label: labelsOf(set),
    options: { ...used, form: solver.form },
    shape: solver.shape,
    scanning: solver.scanning && describe(solver.scanning).facts,
    turns: robust?.turns,
    solution: { ...solution, steps: undefined },
    deviation,
    first,
    errors: { label, accuracy: probes?.accuracy },
    verdicts,
    kernels,
  };
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
      ({ deviation, change, rejected, lost = 0 }, n) =>
        `weights, turn ${n + 1}: residuals deviate by ${deviation.toFixed(3)}, weights change by ${change.toExponential(2)} on average, ` +
        `${(100 * rejected).toFixed(2)} % are below a half\n` +
        (n === turns.length - 1 && lost > 0
          ? `${lost} unknowns have lost more than half of what their rows know: these have many outliers, or outliers hold the unknown\n`
          : ""),
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

function deviationText({ mean, rms, max, published }: Deviation): string {
  const e = (value: number) => value.toExponential(6);
  return (
    `solution error   mean ${e(mean)}, rms ${e(rms)}, max ${e(max)}; ` +
    `as the published program counts: mean ${e(published.mean)}, rms ${e(published.rms)}`
  );
}

function resultText(solution: Solution, deviation: Deviation | undefined): string {
  const e = (value: number) => value.toExponential(6);
  const { corrections } = solution;
  return [
    `stopped after ${solution.iterations} iterations: ${STOP_REASONS[solution.istop]} (istop ${solution.istop})`,
    ...(deviation ? [deviationText(deviation)] : []),
    `residual         |r| ${e(solution.rnorm)}, |r|/|b| ${e(solution.rnorm / solution.bnorm)}, |A^T r| ${e(solution.arnorm)}`,
    `estimates        |A| ${e(solution.anorm)}, cond(A) ${e(solution.acond)}, |x| ${e(solution.xnorm)}`,
    ...(corrections === undefined ? [] : [correctionsText(solution, corrections)]),
    `time             ${(1000 * solution.secondsPerIteration).toFixed(4)} ms an iteration`,
    "",
  ].join("\n");
}

function correctionsText({ arnorm, anorm, rnorm }: Solution, corrections: number): string {
  const relative = (arnorm / (anorm * rnorm)).toExponential(2);
  return `coefficients     f32, ${corrections} correction${corrections === 1 ? "" : "s"} with f64; |A^T r|/(|A||r|) with f64 ${relative}`;
}

/** Work and time of the launches of one name in an iteration. */
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

/** Times of kernels, for people. */
export function kernelTable(kernels: readonly KernelTime[]): string {
  return tableText({
    title: "",
    columns: ["kernel", "ms", "GB/s"],
    labels: 1,
    rows: kernels.map(({ name, seconds, bytes }) => [name, (1000 * seconds).toFixed(4), (bytes / seconds / 1e9).toPrecision(3)]),
  }).trimStart();
}
