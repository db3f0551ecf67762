import type { Command } from "commander";
import { IsoformError } from "../base/errors.js";
import { PART_COMMAND } from "../portability/scaling/request.js";
import { agreedByAll } from "../set/job.js";
import { SPANNING } from "../device/spanning.js";
import { isAlone, launched, type Launched } from "../set/launched.js";

/** Commands that one rank does for all: they tell about the machine. */
const TOLD_ONCE: readonly string[] = ["doctor"];

/**
 * Adds `--alone` to all commands, and refuses processes started together that would each do all of the work.
 * @param spanning whether a command, `lbm cavity`, spans processes with `mpi:`
 */
export function addLauncherCheck(program: Command, spanning: (path: string) => boolean): void {
  program
    .option("--alone", "under mpirun or srun: each process does all of the work by itself, and means to (ISOFORM_ALONE=1)")
    .hook("preAction", (_, command) => {
      const told = launched();
      if (!told || told.count === 1 || isAlone() || [...TOLD_ONCE, PART_COMMAND].includes(command.name())) return;
      const [names, path] = [namesOf(command), pathOf(command)];
      const spans = spanning(path);
      if (spans && names.some((name) => name.startsWith(SPANNING))) return;
      // Every process refuses alike.
      throw agreedByAll(refusal(told, names, path, spans));
    });
}

function refusal({ launcher, count }: Launched, devices: readonly string[], command: string, spans: boolean): IsoformError {
  const started = `${launcher} started ${count} processes`;
  if (devices.some((name) => name.startsWith(SPANNING)))
    return new IsoformError(
      `${started}, and ${command} cannot span them yet: its data lies in one process (docs/nodes.md). ` +
        `Start one process with --devices ${devices.map((name) => name.replace(SPANNING, "")).join()}`,
    );
  const together = spans ? `say --devices ${SPANNING}${devices.join() || "wasm"}, or ` : "start one process, or say ";
  return new IsoformError(`${started}, and each would do all of it: ${together}--alone if that is meant`);
}

/** `lbm cavity`. */
const pathOf = (command: Command): string => (command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name());

/** Devices that a command was given, or takes by default. */
const namesOf = (command: Command): string[] => [command.opts<{ devices?: string | string[] }>().devices ?? []].flat();
