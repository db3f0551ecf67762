import { fileURLToPath } from "node:url";
import { type Command, InvalidArgumentError, Option } from "commander";
import { IsoformError } from "../base/errors.js";
import type { OpenOptions } from "../device/device.js";
import { hasGrid, type Shell } from "../portability/application.js";
import type { Evidence } from "../portability/assessment.js";
import { DIRECTIONS, type Direction } from "../portability/cells.js";
import type { Assessment } from "../portability/schema.js";
import { YARDSTICKS, type PlatformSet, type Yardstick } from "../portability/metric.js";
import type { Goal } from "../portability/navigation.js";
import { PORTS, type Port } from "../portability/ports/names.js";
import { SETTING_OPTIONS, DEFAULT_SETTINGS, type GridSettings } from "../skeleton/settings.js";
import { APPLICATIONS } from "./commands.js";
import { Stopped } from "../portability/stop.js";
import { count, positive } from "./numbers.js";
import { addSettings, globalOption } from "./settings.js";

/** Applications that can be measured, by name. */
const MEASURED = new Map(Object.entries(APPLICATIONS).flatMap(([name, { application }]) => (application ? [[name, application]] : [])));

/** Exit code where a run failed or its results were wrong; the tables hold the others. */
const WRONG_RESULT = 1;

/** Planned length of an assessment where no size is given, measuring peaks included. */
const DEFAULT_SECONDS = 60;

/** Program that measures in processes of its own. */
const MAIN = fileURLToPath(new URL("main.js", import.meta.url));

interface AssessOptions extends Partial<GridSettings> {
  devices?: string[];
  ports?: Port[];
  gib?: number;
  repeats: number;
  iterations?: number;
  seconds?: number;
  quick?: boolean;
  form?: string;
  global?: 0 | 1;
  counters?: boolean;
  handwritten: boolean;
  json?: string;
  report?: string;
  merge?: string[];
  from?: string;
  bandwidth?: string;
  set?: PlatformSet[];
  yardstick: Yardstick;
  quantity?: string;
  columns?: Record<string, string>;
  problem?: string;
  fom?: Direction;
  coverage?: string;
  goal?: Goal;
  f64?: OpenOptions["f64"];
}

const EXAMPLES = `
Examples:
  isoform assess                                            every device of this machine, in a minute or two
  isoform assess gsr --devices wasm,native --gib 0.25 --repeats 5 --report report.html
  isoform assess poisson lbm --devices "wasm,wasm*3" --grid auto --layout auto --occ auto
  isoform assess --merge laptop.json server.json --set CPUs="Xeon 8480","EPYC 7763" --report both.html
  isoform assess --from timings.csv --bandwidth bandwidth.csv --set NVIDIA=H100,A100,V100,T4
  isoform assess --from performance.csv --columns problem=name,platform=arch,application=language --fom lower --coverage coverage.csv --report report.html

docs/assessment.md explains efficiencies, errors and the counting rule; docs/assessment.schema.json describes the JSON.`;

/** Adds `isoform assess`. */
export function addAssess(program: Command, shell: Shell): void {
  const measuring = ["devices", "ports", "gib", "repeats", "iterations", ...Object.keys(SETTING_OPTIONS), "global", "counters", "quick"];
  const assess = program
    .command("assess")
    .description("run applications on devices, validate them, and measure how portable their performance is (Pennycook's metric)")
    .argument(
      "[applications...]",
      `any of ${[...MEASURED.keys()].join(", ")}; default: all; with --grid, --layout or --occ, all that run on grids; with --form, all that have several; with --global, all that have a global section`,
    )
    .option(
      "--devices <names>",
      "devices to measure, one after the other: wasm,native,cuda:0; several as one: cuda:0+cuda:1, or wasm*3, which is one divided into three; default: all of this machine",
      list,
    )
    .option("--ports <names>", `also measure files that isoform emit writes: ${PORTS.join(",")}`, ports)
    .option("--gib <size>", "memory of the problem in GiB; default: the application's own", positive)
    .addOption(
      new Option("--repeats <n>", "timed runs of each application on each device, after one to warm up")
        .argParser(count)
        .default(10, "up to 10, as time allows"),
    )
    .option("--iterations <n>", "iterations in a run; default: the application's own", count);
  addSettings(assess, { precision: DEFAULT_SETTINGS.precision });
  assess
    .option(
      "--form <name>",
      "how an application with several forms does its work: a name, such as gathered for gsr, fastest, which each device chooses for itself, or all; an unknown name lists them; default: the first and the fastest",
    )
    .addOption(globalOption())
    .addOption(
      new Option("--f64 <how>", "on devices without f64, emulate it as the sum of two f32; by default they are left out").choices([
        "emulate",
      ]),
    )
    .option(
      "--counters",
      "also read hardware counters of NVIDIA's GPUs by ncu (Nsight Compute): bytes that each kernel moves, beside the counted ones, L1 hits and atomics",
    )
    .option("--quick", "smallest sizes and three runs, for a first look")
    .option(
      "--no-handwritten",
      "leave out the hand-written programs (C with OpenMP, CUDA), which are measured too if their compiler is found",
    );
  addGathered(assess, measuring)
    .option("--json <file>", "write everything as JSON")
    .option("--report <file>", "write a self-contained HTML report with an efficiency cascade and a roofline")
    .addHelpText("after", EXAMPLES)
    .action((applications: string[], options: AssessOptions, command: Command) => {
      const asked = ["gib", "iterations", "repeats"].some((name) => command.getOptionValueSource(name) === "cli");
      return assessCommand(applications, { ...options, ...(!asked && { seconds: DEFAULT_SECONDS }) }, shell);
    });
}

/** Adds options for timings that exist, and for what is computed from any. */
function addGathered(assess: Command, measuring: string[]): Command {
  return assess
    .addOption(new Option("--merge <files...>", "put together the JSON files of several machines").conflicts([...measuring, "from"]))
    .addOption(
      new Option(
        "--from <file>",
        "take measurements from a table with the columns application,platform,problem and seconds or fom (and run,quantity,bytes,flops,coverage), or with a row for each platform and a column for each application",
      ).conflicts(measuring),
    )
    .option("--columns <names>", "with --from: the file's names of columns, such as problem=name,platform=arch", columns)
    .option("--problem <name>", "with --from: the problem of a table with a column for each application (default: the file's name)")
    .addOption(
      new Option("--fom <which>", "with --from: figures of merit that are better, needed where they are not seconds").choices(DIRECTIONS),
    )
    .option("--coverage <csv>", "with --from: a file with the columns coverage_key,coverage, for code divergence")
    .option("--bandwidth <csv>", "with --from: a file with the columns platform,bytes_per_second, for architectural efficiency")
    .option(
      "--set <name=platforms>",
      "name a set of platforms to compute the metric over, such as NVIDIA=H100,A100; may be repeated",
      platformSet,
    )
    .addOption(
      new Option(
        "--yardstick <programs>",
        "what application efficiencies are measured against on each platform: the fastest of any program there, or of those that run on all of a set; tables show both, figures and the summary this one",
      )
        .choices(YARDSTICKS)
        .default("any"),
    )
    .option("--quantity <name>", "with --from: the quantity that applications are compared by (default: iteration)")
    .option(
      "--goal <x,y>",
      "with --report: shade the corner of navigation charts above this code convergence and this Phi, such as 0.9,0.8",
      goal,
    );
}

/** Options for a table that is read. */
const OF_TABLES = ["quantity", "columns", "problem", "fom", "coverage"] as const;

/** Throws IsoformError for options without the ones that they are for. */
function checkOptions(applications: readonly string[], options: AssessOptions): void {
  if (options.bandwidth !== undefined && options.from === undefined)
    throw new IsoformError("--bandwidth needs --from: without it the bandwidth of each device is measured; leave it out, or add --from");
  const stray = options.from === undefined ? OF_TABLES.find((name) => options[name] !== undefined) : undefined;
  if (stray) throw new IsoformError(`--${stray} is for timings from --from: add that, or leave it out`);
  if (options.goal !== undefined && options.report === undefined)
    throw new IsoformError("--goal is for the report's navigation charts: add --report, or leave it out");
  if (applications.length && (options.from ?? options.merge) !== undefined)
    throw new IsoformError(`${applications.join(", ")}: no application runs with --from or --merge: leave out the names`);
}

async function assessCommand(applications: string[], options: AssessOptions, shell: Shell): Promise<void> {
  const { json, report, merge, from, bandwidth, coverage } = options;
  await shell.checkOutputs({ json, report }, { merge, from, bandwidth, coverage });
  checkOptions(applications, options);
  const interruption = shell.interruption();
  try {
    const evidence = await gather(applications, { ...options, stop: interruption.stop }, shell);
    const remarks = await tell(evidence, options, shell);
    for (const remark of remarks) process.stderr.write(`isoform: ${remark}\n`);
    if (remarks.length > 0) process.exitCode = WRONG_RESULT;
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  } finally {
    interruption.ignore();
  }
  if (interruption.signal === undefined) return;
  process.stderr.write(`isoform: ended by ${interruption.signal}: unfinished runs are missing\n`);
  // Work under way would go on otherwise.
  process.exit(interruption.exitCode);
}

/** Prints and writes all that was found; returns what is wrong with it, in words. */
async function tell(evidence: Evidence, options: AssessOptions, shell: Shell): Promise<string[]> {
  const { assess } = await import("../portability/assessment.js");
  const remarks: string[] = [];
  const assessed = (): Assessment => {
    try {
      return assess(evidence, options.set, options.yardstick);
    } catch (error) {
      // A wrong name in a set must not lose the measurements.
      if (!(error instanceof IsoformError) || (options.from ?? options.merge) !== undefined) throw error;
      remarks.push(`--set is left out: ${error.message}`);
      return assess(evidence, undefined, options.yardstick);
    }
  };
  const assessment = assessed();
  const [{ MEASURED_TITLES, tablesOf, tableText }, { buildTables }, { portabilityTable, summaryTable }] = await Promise.all([
    import("../portability/tables.js"),
    import("../portability/build-tables.js"),
    import("../portability/summary.js"),
  ]);
  // Published measurements are the file itself.
  const isFile = (title: string) => options.from !== undefined && MEASURED_TITLES.some((words) => title.startsWith(words));
  const tables = tablesOf(assessment).filter(({ title }) => !isFile(title));
  // Last, where a terminal shows it.
  const summary = [portabilityTable(assessment), summaryTable(assessment)].filter(({ rows }) => rows.length > 0);
  const notes = (assessment.notes ?? []).map((note) => `Note: ${note}`).join("\n");
  shell.print([...[...tables, ...buildTables(assessment), ...summary].map(tableText), ...(notes ? [notes] : [])].join("\n\n"));
  if (options.json !== undefined) await shell.writeFile(options.json, `${JSON.stringify(assessment, null, 1)}\n`);
  if (options.report !== undefined) {
    const { report } = await import("../portability/report.js");
    await shell.writeFile(options.report, report(assessment, options.goal));
  }
  const wrong = assessment.validation.filter((v) => !v.ok).map((v) => `${v.application} on ${v.platform} (${v.problem})`);
  if (wrong.length > 0) remarks.push(`wrong results, left out of every mean: ${wrong.join("; ")}`);
  const failed = (assessment.missing ?? []).filter((m) => m.failed).map((m) => `${m.application} (${m.problem})`);
  if (failed.length > 0) remarks.push(`failed, with the reason under Missing: ${failed.join("; ")}`);
  return remarks;
}

async function gather(applications: string[], options: AssessOptions & { stop: AbortSignal }, shell: Shell): Promise<Evidence> {
  if (options.from !== undefined) {
    const { published } = await import("../portability/assessment.js");
    return published(options.from, options.bandwidth, options);
  }
  if (options.merge !== undefined) {
    const [{ readAssessment }, { merge }] = await Promise.all([import("../portability/assessment.js"), import("../portability/merge.js")]);
    return merge(await Promise.all(options.merge.map(readAssessment)));
  }
  const unknown = applications.find((name) => !MEASURED.has(name));
  if (unknown !== undefined) throw new IsoformError(`unknown application "${unknown}": choose from ${[...MEASURED.keys()].join(", ")}`);
  const { measureApplications } = await import("../portability/campaign.js");
  const names = applications.length ? applications : [...MEASURED.keys()];
  const all = (await Promise.all(names.map((name) => MEASURED.get(name)!()))).map((module) => module.application);
  const given = (["grid", "layout", "occ"] as const).some((option) => options[option] !== undefined);
  const chosen = all
    .filter((application) => applications.length > 0 || !given || hasGrid(application, options.grid ?? "auto"))
    .filter(({ forms }) => applications.length > 0 || options.form === undefined || forms !== undefined)
    .filter(({ hasGlobals }) => applications.length > 0 || options.global === undefined || hasGlobals);
  return measureApplications(
    chosen,
    { ...options, globals: options.global, counters: options.counters ? { program: [process.execPath, MAIN] } : undefined },
    shell.progress,
  );
}

function list(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.some((name) => name === "")) throw new InvalidArgumentError("It needs names, separated by commas.");
  return [...new Set(names)];
}

function ports(text: string): Port[] {
  return list(text).map((name) => {
    const port = PORTS.find((known) => known === name);
    if (port === undefined) throw new InvalidArgumentError(`Choose from ${PORTS.join(", ")}.`);
    return port;
  });
}

function platformSet(text: string, before: PlatformSet[] = []): PlatformSet[] {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("It needs NAME=PLATFORM,PLATFORM,...");
  const name = text.slice(0, equals).trim();
  if (before.some((set) => set.name === name)) throw new InvalidArgumentError(`There is already a set named ${name}: choose another name.`);
  return [...before, { name, platforms: list(text.slice(equals + 1)) }];
}

/** `problem=name,platform=arch` */
function columns(text: string): Record<string, string> {
  const pairs = text.split(",").map(
    (pair) =>
      /^([^=]+)=(.+)$/
        .exec(pair)
        ?.slice(1)
        .map((name) => name.trim()) ?? [],
  );
  if (pairs.some((pair) => pair.length < 2 || pair.includes(""))) throw new InvalidArgumentError("It needs COLUMN=NAME,COLUMN=NAME,...");
  const names = Object.fromEntries(pairs);
  if (Object.keys(names).length < pairs.length) throw new InvalidArgumentError("A column is named twice.");
  return names;
}

/** `0.9,0.8` */
function goal(text: string): Goal {
  const [convergence, phi, ...others] = text.split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  if (others.length > 0 || ![convergence, phi].every((share) => share >= 0 && share <= 1))
    throw new InvalidArgumentError("It needs two shares from 0 to 1, such as 0.9,0.8.");
  return { convergence, phi };
}
