import { type Command, Option } from "commander";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import { DEFAULT_SETTINGS, SPLIT_OPTION, type SkeletonModule, type SkeletonSettings } from "../skeleton/settings.js";
import type { Skeleton } from "../skeleton/skeleton.js";
import { APPLICATIONS, type Registered } from "./commands.js";
import { count, countOrNone, positive } from "./numbers.js";
import { addRankOptions, boxDimension, RANK_FORMATS, requireRankOptions, type AsRanks, type RankFormat } from "./rank-options.js";
import { addSettings, globalOption } from "./settings.js";

/** Applications that can be explained, by name: by their sequence of containers, else by their launches. Each is loaded only when it is wanted. */
type Explained = Readonly<Record<string, Pick<Registered, "skeleton" | "application">>>;

const FORMATS = {
  text: async (skeleton: Skeleton) => `${await skeleton.explain()}\n\n${await skeleton.timeline()}`,
  dot: (skeleton: Skeleton) => skeleton.explain("dot"),
  svg: (skeleton: Skeleton) => skeleton.explain("svg"),
  timeline: (skeleton: Skeleton) => skeleton.timeline("svg"),
  trace: (skeleton: Skeleton) => skeleton.timeline("trace"),
};

interface ExplainOptions extends SkeletonSettings, Partial<AsRanks> {
  devices?: string;
  form?: string;
  global?: 0 | 1;
  gib?: number;
  f64?: "emulate";
  iterations: number;
  format: keyof typeof FORMATS | RankFormat;
  output?: string;
}

/** Devices by default, of containers and of launches. */
const [SET, DEVICE] = ["wasm*2", "wasm"];

/** Options that launches do not have. */
const FOR_CONTAINERS = ["grid", "layout", "occ", "split", "unroll", "size", "planes", "dimension", "as-ranks"]
  .map((option) => ({ long: `--${option}`, attribute: option === "as-ranks" ? "asRanks" : option }))
  .concat({ long: "--no-fuse", attribute: "fuse" });

const EXAMPLES = `
Examples:
  isoform explain poisson --occ two-way --devices "wasm*3"
  isoform explain gsr --devices native --form gathered
  isoform explain poisson --devices "native*4" --unroll 2 --format timeline --output timeline.svg
  isoform explain lbm --dimension 3 --as-ranks 4096 --ranks-per-node 4 --links slingshot-11 --bandwidth 3000

docs/skeleton.md says how to read it; docs/nodes.md has the plans for many ranks.`;

/** Adds `isoform explain`. */
export function addExplain(program: Command, shell: Shell, known: Explained = explainable()): void {
  const command = program
    .command("explain")
    .description(
      "show how the planner runs an application's sequence of containers (dependencies, fusion, halos, overlap, streams, timeline), or the launches of an iteration: what they read and write, and how the device runs them",
    )
    .argument("<application>", `one of ${Object.keys(known).join(", ")}`)
    .option(
      "--devices <set>",
      `one device or several: wasm; native; cuda:0,cuda:1; wasm*3, which is one divided into three; launches are explained on one (default: ${SET}, for launches ${DEVICE})`,
    );
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
    .option(
      "--form <name>",
      "launches of one form of an application with several, such as gathered for gsr, or the fastest; default: the first",
    )
    .addOption(globalOption())
    .option("--gib <size>", "for launches: memory of the problem in GiB; default: a small one of the application's", positive)
    .addOption(new Option("--f64 <how>", "for launches: on devices without f64, emulate it as the sum of two f32").choices(["emulate"]))
    .option("--output <file>", "write to a file instead of printing");
  addRankOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((name: string, options: ExplainOptions) =>
      explain(name, options, shell, known, (option) => command.getOptionValueSource(option) === "cli"),
    );
}

/** Applications that come with the package and have containers, or may be asked for their launches. */
const explainable = (): Explained =>
  Object.fromEntries(Object.entries(APPLICATIONS).filter(([, { skeleton, application }]) => skeleton ?? application));

async function explain(
  name: string,
  options: ExplainOptions,
  shell: Shell,
  known: Explained,
  isGiven: (option: string) => boolean,
): Promise<void> {
  if (!Object.hasOwn(known, name))
    throw new IsoformError(`"${name}" has nothing to explain; these applications have: ${Object.keys(known).join(", ") || "none"}`);
  const { skeleton, application } = known[name];
  const show = async (text: string): Promise<void> => {
    if (options.output === undefined) shell.print(text);
    else await shell.writeFile(options.output, text);
  };
  if (skeleton) {
    for (const option of ["form", "global", "gib", "f64"] as const)
      if (options[option] !== undefined) throw new IsoformError(`--${option} is for applications of launches: leave it out for ${name}`);
    return show(await explainContainers(await skeleton(), options, shell));
  }
  for (const { long, attribute } of FOR_CONTAINERS)
    if (isGiven(attribute)) throw new IsoformError(`${long} is for a sequence of containers: ${name} has launches, leave it out`);
  if (options.format !== "text") throw new IsoformError(`--format ${options.format} shows containers: ${name} has launches, take text`);
  await shell.checkOutputs({ output: options.output });
  const { explainLaunches } = await import("./explain-launches.js");
  return show(
    await explainLaunches((await application!()).application, { ...options, globals: options.global, devices: options.devices ?? DEVICE }),
  );
}

async function explainContainers(module: SkeletonModule, options: ExplainOptions, shell: Shell): Promise<string> {
  const { grid, layout, occ, precision, split, fuse, unroll, size, planes, format, devices: spec = SET } = options;
  const settings = { grid, layout, occ, precision, split, fuse, unroll, size, planes, dimension: options.dimension };
  requireRankOptions(format, options);
  await shell.checkOutputs({ output: options.output });
  const { asRanks } = options;
  if (asRanks !== undefined) {
    const { explainRanks } = await import("./explain-ranks.js");
    return explainRanks(module, spec, settings, { ...options, asRanks }, format as RankFormat);
  }
  const { devices } = await import("../set/index.js");
  const set = await devices(spec);
  try {
    const skeleton = await module.makeSkeleton(set, settings);
    // Whole plans, so that the last one is of the usual length.
    await skeleton.run(Math.ceil(options.iterations / options.unroll) * options.unroll, { trace: true });
    return await FORMATS[format as keyof typeof FORMATS](skeleton);
  } finally {
    await set.close();
  }
}
