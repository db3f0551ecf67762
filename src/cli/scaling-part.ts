import type { Command } from "commander";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import type { MeasuringTask } from "../portability/scaling/parts.js";
import { PART_COMMAND } from "../portability/scaling/request.js";
import { registeredSkeletons, type SkeletonModules } from "./explain.js";

/** Adds the command by which `isoform scaling` measures in processes of their own; help does not show it. */
export function addScalingPart(program: Command, shell: Shell, modules: SkeletonModules = registeredSkeletons()): void {
  program
    .command(PART_COMMAND, { hidden: true })
    .description("measure one part of a scaling study, and print it as JSON")
    .argument("<part>", "what to measure, as JSON; isoform scaling writes it")
    .addHelpText("after", `\nExamples:\n  isoform ${PART_COMMAND} '{"what":"link","devices":"wasm*2"}'`)
    .action(async (text: string) => {
      const { measurePart } = await import("../portability/scaling/parts.js");
      const measured = await measurePart(partOf(text), async (name) => {
        if (!Object.hasOwn(modules, name)) throw new IsoformError(`"${name}" has no sequence of containers`);
        return modules[name]();
      });
      shell.print(JSON.stringify(measured));
    });
}

function partOf(text: string): MeasuringTask {
  try {
    const part = JSON.parse(text) as Partial<MeasuringTask>;
    if (["kernels", "iterations", "link"].includes(part.what ?? "") && typeof part.devices === "string") return part as MeasuringTask;
  } catch {
    // Refused below.
  }
  throw new IsoformError(`${PART_COMMAND} takes what isoform scaling gives it: run isoform scaling`);
}
