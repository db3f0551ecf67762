import { fileURLToPath } from "node:url";
import { type Command, InvalidArgumentError, Option } from "commander";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import { checkRequest, type ScalingRequest } from "../portability/scaling/request.js";
import { Stopped } from "../portability/stop.js";
import { DEFAULT_SETTINGS, SPLIT_OPTION, type SkeletonSettings } from "../skeleton/settings.js";
import { registeredSkeletons, type SkeletonModules } from "./explain.js";
import { makeOutputFolder } from "./folders.js";
import { count } from "./numbers.js";
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
  repeats: number;
  output?: string;
}

/** The command line, for parts of the study in processes of their own. */
const MAIN = fileURLToPath(new URL("main.js", import.meta.url));

/** Devices where none are named: in one process, and of each rank. */
const DEFAULT_DEVICES = { members: "wasm*{n}", ranks: "mpi:wasm" } as const;
const DEFAULT_EXTRAPOLATED = [8, 64, 512];
const DEFAULT_REPEATS = 5;

const EXAMPLES = `
Examples:
  isoform scaling lbm --dimension 3 --strong 128 --weak 64 --ranks 1,2 --launch "mpirun -n {n}"
  isoform scaling poisson --strong 256 --ranks 1,2 --devices "cuda:{i}"
  isoform scaling heat --weak 512 --ranks 1,2,4 --devices "wasm*{n}" --output heat-study

docs/nodes.md says what is predicted from what, and how to read the band.`;

/** Adds `isoform scaling`. */
export function addScaling(program: Command, shell: Shell, modules: SkeletonModules = registeredSkeletons()): void {
  const command = program
    .command("scaling")
    .description(
      "predict how an application scales over ranks, then measure it: the prediction is written, and its hash printed, before the first run",
    )
    .argument("<application>", `one of ${Object.keys(modules).join(", ")}`)
    .option("--strong <n>", "cells along each axis of one box that all ranks share", count)
    .option("--weak <n>", "cells along each axis of the box of each rank", count)
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
  command.addHelpText("after", EXAMPLES).action((name: string, options: ScalingOptions) => scaling(name, options, shell, modules));
}

async function scaling(name: string, options: ScalingOptions, shell: Shell, modules: SkeletonModules): Promise<void> {
  if (!Object.hasOwn(modules, name))
    throw new IsoformError(`"${name}" has no sequence of containers to predict; these have: ${Object.keys(modules).join(", ") || "none"}`);
  const request = await requestOf(name, options);
  checkRequest(request);
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
      module: await modules[name](),
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

async function requestOf(application: string, options: ScalingOptions): Promise<ScalingRequest> {
  const { strong, weak, ranks, extrapolate, launch, links, ranksPerNode, repeats, grid, layout, occ, precision, split } = options;
  if ((links === undefined) !== (ranksPerNode === undefined))
    throw new IsoformError("--links are those between nodes: give --ranks-per-node as well, and both or neither");
  const { linksOf } = await import("../skeleton/ranks/links.js");
  return {
    application,
    settings: { grid, layout, occ, precision, fuse: true, unroll: 1, dimension: options.dimension, ...(split && { split }) },
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
