import type { Command } from "commander";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import type { Applications, MeasuringTask } from "../portability/scaling/parts.js";
import { PART_COMMAND } from "../portability/scaling/request.js";
import { APPLICATIONS, type Registered } from "./commands.js";

const KINDS = ["kernels", "iterations", "work", "link"] as const satisfies readonly MeasuringTask["what"][];

/** Adds the command by which `isoform scaling` measures in processes of their own; help does not show it. */
export function addScalingPart(program: Command, shell: Shell): void {
  program
    .command(PART_COMMAND, { hidden: true })
    .description("measure one part of a scaling study, and print it as JSON")
    .argument("<part>", "what to measure, as JSON; isoform scaling writes it")
    .addHelpText("after", `\nExamples:\n  isoform ${PART_COMMAND} '{"what":"link","devices":"wasm*2"}'`)
    .action(async (text: string) => {
      const { measurePart } = await import("../portability/scaling/parts.js");
      shell.print(JSON.stringify(await measurePart(partOf(text), applications)));
    });
}

const applications: Applications = {
  skeleton: (name) => loaded(name, "skeleton"),
  application: async (name) => (await loaded(name, "application")).application,
};

async function loaded<K extends "skeleton" | "application">(
  name: string,
  part: K,
): Promise<Awaited<ReturnType<NonNullable<Registered[K]>>>> {
  const load = Object.hasOwn(APPLICATIONS, name) ? APPLICATIONS[name][part] : undefined;
  if (!load) throw new IsoformError(`"${name}" is not an application that scales`);
  return (await load()) as Awaited<ReturnType<NonNullable<Registered[K]>>>;
}

function partOf(text: string): MeasuringTask {
  try {
    const part = JSON.parse(text) as Partial<MeasuringTask>;
    if (KINDS.some((kind) => kind === part.what) && typeof part.devices === "string") return part as MeasuringTask;
  } catch {
    // Refused below.
  }
  throw new IsoformError(`${PART_COMMAND} takes what isoform scaling gives it: run isoform scaling`);
}
