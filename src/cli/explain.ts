import { type Command, Option } from "commander";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import { DEFAULT_SETTINGS, SPLIT_OPTION, type SkeletonModule, type SkeletonSettings } from "../skeleton/settings.js";
import type { Skeleton } from "../skeleton/skeleton.js";
import { APPLICATIONS } from "./commands.js";
import { count, countOrNone } from "./numbers.js";
import { addRankOptions, boxDimension, RANK_FORMATS, requireRankOptions, type AsRanks, type RankFormat } from "./rank-options.js";
import { addSettings } from "./settings.js";

/** Applications that have a sequence of containers, by name; each is loaded only when it is wanted. */
export type SkeletonModules = Readonly<Record<string, () => Promise<SkeletonModule>>>;

const FORMATS = {
  text: async (skeleton: Skeleton) => `${await skeleton.explain()}\n\n${await skeleton.timeline()}`,
  dot: (skeleton: Skeleton) => skeleton.explain("dot"),
  svg: (skeleton: Skeleton) => skeleton.explain("svg"),
  timeline: (skeleton: Skeleton) => skeleton.timeline("svg"),
  trace: (skeleton: Skeleton) => skeleton.timeline("trace"),
};

interface ExplainOptions extends SkeletonSettings, Partial<AsRanks> {
  devices: string;
  iterations: number;
  format: keyof typeof FORMATS | RankFormat;
  output?: string;
}

const EXAMPLES = `
Examples:
  isoform explain poisson --occ two-way --devices "wasm*3"
  isoform explain poisson --devices "native*4" --unroll 2 --format timeline --output timeline.svg
  isoform explain lbm --dimension 3 --as-ranks 4096 --ranks-per-node 4 --links slingshot-11 --bandwidth 3000

docs/skeleton.md says how to read it; docs/nodes.md has the plans for many ranks.`;

/** Adds `isoform explain`. */
export function addExplain(program: Command, shell: Shell, modules: SkeletonModules = registeredSkeletons()): void {
  const command = program
    .command("explain")
    .description(
      "show how the planner runs an application's sequence of containers: dependencies, fusion, halos, overlap, streams, timeline",
    )
    .argument("<application>", `one of ${Object.keys(modules).join(", ")}`)
    .option("--devices <set>", "one device or several: wasm; native; cuda:0,cuda:1; wasm*3, which is one divided into three", "wasm*2");
  addSettings(command, DEFAULT_SETTINGS);
  command.addOption(new Option(SPLIT_OPTION.flags, SPLIT_OPTION.description).choices(SPLIT_OPTION.choices));
  command
    .option("--no-fuse", "do not merge containers")
    .option("--unroll <n>", "iterations to plan together", count, 1)
    .option("--size <n>", "cells along each axis; default: the application's own; with --as-ranks 256", count)
    .option("--planes <n>", "cells along the last axis, if they are other than along the others", count)
    .addOption(new Option("--dimension <n>", "axes of the box: 2 or 3; default: the application's own").argParser(boxDimension))
    .option("--iterations <n>", "iterations to run; the last ones are measured for the timeline; 0: none", countOrNone, 20)
    .addOption(
      new Option(
        "--format <name>",
        "text; the graph for Graphviz (dot) or as a picture (svg); the timeline as a picture (timeline) or for chrome://tracing (trace); with --as-ranks text, json, messages",
      )
        .choices([...new Set([...Object.keys(FORMATS), ...RANK_FORMATS])])
        .default("text"),
    )
    .option("--output <file>", "write to a file instead of printing");
  addRankOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((name: string, options: ExplainOptions) => explain(name, options, shell, modules));
}

/** Modules of the applications that come with the package. */
function registeredSkeletons(): SkeletonModules {
  return Object.fromEntries(Object.entries(APPLICATIONS).flatMap(([name, { skeleton }]) => (skeleton ? [[name, skeleton]] : [])));
}

async function explain(name: string, options: ExplainOptions, shell: Shell, modules: SkeletonModules): Promise<void> {
  if (!Object.hasOwn(modules, name))
    throw new IsoformError(`"${name}" has no sequence of containers to explain; these have: ${Object.keys(modules).join(", ") || "none"}`);
  const { grid, layout, occ, precision, split, fuse, unroll, size, planes, format } = options;
  const settings = { grid, layout, occ, precision, split, fuse, unroll, size, planes, dimension: options.dimension };
  requireRankOptions(format, options);
  await shell.checkOutputs({ output: options.output });
  const show = async (text: string): Promise<void> => {
    if (options.output === undefined) shell.print(text);
    else await shell.writeFile(options.output, text);
  };
  const { asRanks } = options;
  if (asRanks !== undefined) {
    const { explainRanks } = await import("./explain-ranks.js");
    return show(await explainRanks(await modules[name](), options.devices, settings, { ...options, asRanks }, format as RankFormat));
  }
  const { devices } = await import("../set/index.js");
  const set = await devices(options.devices);
  try {
    const { makeSkeleton } = await modules[name]();
    const skeleton = await makeSkeleton(set, settings);
    // Whole plans, so that the last one is of the usual length.
    await skeleton.run(Math.ceil(options.iterations / options.unroll) * options.unroll, { trace: true });
    await show(await FORMATS[format as keyof typeof FORMATS](skeleton));
  } finally {
    await set.close();
  }
}
