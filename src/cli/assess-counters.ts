import type { Command } from "commander";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import { COUNTERS_COMMAND, type CountersTask } from "../portability/counters/task.js";
import { APPLICATIONS } from "./commands.js";

/** Adds the command that `isoform assess --counters` runs under ncu; help does not show it. */
export function addAssessCounters(program: Command, shell: Shell): void {
  program
    .command(COUNTERS_COMMAND, { hidden: true })
    .description("run an application while a profiler counts, and print its launches as JSON")
    .argument("<task>", "what to run, as JSON; isoform assess writes it")
    .addHelpText("after", `\nExamples:\n  isoform ${COUNTERS_COMMAND} '{"application":"stream","devices":"cuda:0","problem":{"gib":1}}'`)
    .action(async (text: string) => {
      const task = taskOf(text);
      const { application } = await APPLICATIONS[task.application].application!();
      const { countedRun } = await import("../portability/counters/part.js");
      shell.print(JSON.stringify(await countedRun(task, application)));
    });
}

function taskOf(text: string): CountersTask {
  try {
    const { application, devices, problem } = JSON.parse(text) as Partial<CountersTask>;
    const known = application !== undefined && Object.hasOwn(APPLICATIONS, application) && APPLICATIONS[application].application;
    if (known && typeof devices === "string" && typeof problem === "object" && problem !== null) return { application, devices, problem };
  } catch {
    // Refused below.
  }
  throw new IsoformError(`${COUNTERS_COMMAND} takes what isoform assess gives it: run isoform assess --counters`);
}
