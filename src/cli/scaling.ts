import { fileURLToPath } from "node:url";
import { type Command, InvalidArgumentError, Option } from "commander";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import type { Predictor } from "../portability/scaling/predictor.js";
import { checkRequest, oneDevice, type ScalingRequest } from "../portability/scaling/request.js";
import { Stopped } from "../portability/stop.js";
import { DEFAULT_SETTINGS, SPLIT_OPTION, type SkeletonSettings } from "../skeleton/settings.js";
import { APPLICATIONS } from "./commands.js";
import { makeOutputFolder } from "./folders.js";
import { count, positive } from "./numbers.js";
import { boxDimension } from "./rank-options.js";
import { addSettings } from "./settings.js";

interface ScalingOptions extends Omit<SkeletonSettings, "size" | "planes" | "fuse" | "unroll"> {
  strong?: number;
  weak?: number;
  ranks: number[];
  extrapolate: number[];
  devices?: string;
  launch?: string;
  links?: string;
  ranksPerNode?: number;
  form?: string;
  repeats: number;
  output?: string;
}

/** The command line, for parts of the study in processes of their own. */
const MAIN = fileURLToPath(new URL("main.js", import.meta.url));

/** Applications that can be measured on several members. */
const SCALABLE = Object.entries(APPLICATIONS)
  .filter(([, { skeleton, application }]) => skeleton ?? application)
  .map(([name]) => name);
/** Options that say how a grid is stored and divided. */
const GRID_OPTIONS = ["grid", "layout", "occ", "split", "dimension"];

/** Devices where none are named: in one process, and of each rank. */
const DEFAULT_DEVICES = { members: "wasm*{n}", ranks: "mpi:wasm" } as const;
const DEFAULT_EXTRAPOLATED = [8, 64, 512];
const DEFAULT_REPEATS = 5;

const EXAMPLES = `
Examples:
  isoform scaling lbm --dimension 3 --strong 128 --weak 64 --ranks 1,2 --launch "mpirun -n {n}"
  isoform scaling poisson --strong 256 --ranks 1,2 --devices "cuda:{i}"
  isoform scaling gsr --weak 10 --ranks 1,2,4 --devices "cuda:{i}"
  isoform scaling heat --weak 512 --ranks 1,2,4 --devices "wasm*{n}" --output heat-study

docs/nodes.md says what is predicted from what, and how to read the band.`;

/** Adds `isoform scaling`. */
export function addScaling(program: Command, shell: Shell): void {
  const command = program
    .command("scaling")
    .description(
      "predict how an application scales over ranks, then measure it: the prediction is written, and its hash printed, before the first run",
    )
    .argument("<application>", `one of ${SCALABLE.join(", ")}`)
    .option("--strong <n>", "cells along each axis of one box that all ranks share; GiB for an application without a grid", positive)
    .option("--weak <n>", "cells along each axis of the box of each rank, or its GiB", positive)
    .option("--ranks <list>", "numbers of ranks to measure, in ascending order", counts, [1, 2])
    .option("--launch <command>", 'command that starts {n} processes: "mpirun -n {n}"; by default members are of one process')
    .option(
      "--devices <template>",
      `devices of {n} members, such as ${DEFAULT_DEVICES.members} or cuda:{i}; with --launch the device of each rank; default: ${DEFAULT_DEVICES.members}, ${DEFAULT_DEVICES.ranks}`,
    )
    .option("--extrapolate <list>", "numbers of ranks that are predicted only", counts, DEFAULT_EXTRAPOLATED)
    .option(
      "--links <name>",
      "links between nodes for them: of a machine, or in a JSON file; by default all ranks have the link that is measured",
    )
    .option("--ranks-per-node <n>", "with --links: ranks on each node", count)
    .option("--repeats <n>", "runs of each point, each in a process of its own", count, DEFAULT_REPEATS)
    .option("--dimension <n>", "axes of the box: 2 or 3; default: the application's own", boxDimension)
    .option("--output <folder>", "folder for prediction.json, results.json and scaling.svg; default: scaling- and the application's name");
  command.addOption(new Option(SPLIT_OPTION.flags, SPLIT_OPTION.description).choices(SPLIT_OPTION.choices));
  addSettings(command, DEFAULT_SETTINGS);
  command
    .option("--form <name>", "form of an application with several, such as gathered for gsr; default: the fastest of each device")
    .addHelpText("after", EXAMPLES)
    .action((name: string, options: ScalingOptions) => {
      const given = (option: string): boolean => command.getOptionValueSource(option) === "cli";
      return scaling(name, options, GRID_OPTIONS.filter(given), shell);
    });
}

async function scaling(name: string, options: ScalingOptions, ofGrid: readonly string[], shell: Shell): Promise<void> {
  if (!SCALABLE.includes(name)) throw new IsoformError(`"${name}" is not an application that scales; these are: ${SCALABLE.join(", ")}`);
  const request = await requestOf(name, options);
  checkRequest(request);
  const predictor = await predictorOf(request, ofGrid);
  const { requireAnyPoint } = await import("../portability/scaling/forecast.js");
  requireAnyPoint(request, predictor);
  const folder = options.output ?? `scaling-${name}`;
  await makeOutputFolder(folder);
  const [{ study, FILES }, { join }] = await Promise.all([import("../portability/scaling/study.js"), import("node:path")]);
  const paths = Object.values(FILES).map((file) => join(folder, file));
  await shell.checkOutputs({ output: paths });
  const interruption = shell.interruption();
  const task = shell.progress(`scaling ${name}`);
  try {
    const found = await study(request, {
      folder,
      predictor,
      children: { program: [process.execPath, MAIN], launch: request.launch, stop: interruption.stop },
      write: (path, text) => shell.writeFile(path, text),
      print: (text) => shell.print(text),
      progress: task.update,
    });
    task.done();
    const [{ scalingTables, leftOutText }, { tableText }, { scalingChart }] = await Promise.all([
      import("../portability/scaling/tell.js"),
      import("../portability/tables.js"),
      import("../portability/scaling/chart.js"),
    ]);
    shell.print([...scalingTables(found).map(tableText), leftOutText(found)].filter((text) => text !== "").join("\n\n"));
    await shell.writeFile(join(folder, FILES.chart), scalingChart(found));
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  } finally {
    task.done();
    interruption.ignore();
  }
  if (interruption.signal === undefined) return;
  process.stderr.write(`isoform: ended by ${interruption.signal}: the same command goes on with what is in ${folder}\n`);
  process.exit(interruption.exitCode);
}

/** How the application is predicted: by its sequence of containers, or by the shares into which it divides its work. */
async function predictorOf(request: ScalingRequest, ofGrid: readonly string[]): Promise<Predictor> {
  const { application: name, form, sizes } = request;
  const { skeleton, application } = APPLICATIONS[name];
  if (!skeleton) {
    const [option] = ofGrid;
    if (option !== undefined) throw new IsoformError(`--${option}: ${name} has no grid; leave the option out`);
    const [{ workPredictor }, loaded] = await Promise.all([import("../portability/scaling/work-predictor.js"), application!()]);
    return workPredictor(request, loaded.application);
  }
  if (form !== undefined) throw new IsoformError(`--form: ${name} has one form; leave the option out`);
  for (const [option, size] of Object.entries(sizes))
    if (size !== undefined && !Number.isSafeInteger(size))
      throw new IsoformError(`--${option} ${size}: a box has a whole number of cells along each axis`);
  const [{ gridPredictor }, { sampledPlan }] = await Promise.all([
    import("../portability/scaling/grid-predictor.js"),
    import("../skeleton/sampled-plan.js"),
  ]);
  return gridPredictor(request, await sampledPlan(await skeleton(), oneDevice(request.devices), request.settings));
}

async function requestOf(application: string, options: ScalingOptions): Promise<ScalingRequest> {
  const { strong, weak, ranks, extrapolate, launch, links, ranksPerNode, form, repeats, grid, layout, occ, precision, split } = options;
  if ((links === undefined) !== (ranksPerNode === undefined))
    throw new IsoformError("--links are those between nodes: give --ranks-per-node as well, and both or neither");
  const { linksOf } = await import("../skeleton/ranks/links.js");
  return {
    application,
    settings: { grid, layout, occ, precision, fuse: true, unroll: 1, dimension: options.dimension, ...(split && { split }) },
    ...(form !== undefined && { form }),
    sizes: { strong, weak },
    ranks,
    extrapolated: extrapolate.filter((count) => !ranks.includes(count)),
    devices: options.devices ?? (launch === undefined ? DEFAULT_DEVICES.members : DEFAULT_DEVICES.ranks),
    launch,
    perNode: ranksPerNode,
    links: links === undefined ? undefined : await linksOf(links),
    repeats,
  };
}

function counts(text: string): number[] {
  try {
    return text.split(",").map(count);
  } catch {
    throw new InvalidArgumentError("It needs whole numbers from 1, separated by commas.");
  }
}
