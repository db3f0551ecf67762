import { readFileSync } from "node:fs";
import { Command, Option } from "commander";
import { addAssess } from "./assess.js";
import { addAssessCounters } from "./assess-counters.js";
import { addBackends } from "./backends.js";
import { addCheck } from "./check.js";
import { APPLICATIONS } from "./commands.js";
import { acceptDevice } from "./device-alias.js";
import { addDoctor } from "./doctor.js";
import { addEmit } from "./emit.js";
import { addExplain } from "./explain.js";
import { addLauncherCheck } from "./launcher-check.js";
import { addLsp } from "./lsp.js";
import { addPort } from "./port.js";
import { addScaling } from "./scaling.js";
import { addScalingPart } from "./scaling-part.js";
import { placeOptionsOfCases } from "./misplaced.js";
import { addProfile } from "./profile.js";
import { makeShell } from "./shell.js";
import { addTuning } from "./tuning.js";
import { speaks } from "../set/launched.js";

/** Makes `isoform` with all its options and commands. Applications are loaded only where `words` ask for them. */
export async function makeProgram(words: readonly string[]): Promise<Command> {
  const program = new Command("isoform")
    .description("Write a kernel once as a TypeScript function; run it on every device, and measure how portable its speed is.")
    .version(version(), "-v, --version", "print the version")
    .addOption(new Option("--debug", "print the stack of an error").env("ISOFORM_DEBUG"))
    .showHelpAfterError("(isoform --help lists the commands, isoform <command> --help its options)")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput(speaks() ? {} : { writeOut: () => undefined, writeErr: () => undefined })
    .commandsGroup("Commands:");
  const shell = makeShell();
  const inOneProcess = new Set<string>();
  addLauncherCheck(program, (path) => Object.hasOwn(APPLICATIONS, path.split(" ")[0]) && !inOneProcess.has(path));
  addBackends(program, shell);
  addTuning(program, shell);
  addProfile(program, shell);
  addDoctor(program, shell);
  addAssess(program, shell);
  addAssessCounters(program, shell);
  addCheck(program, shell, version());
  addLsp(program);
  addExplain(program, shell);
  addEmit(program, shell);
  addPort(program, shell);
  addScaling(program, shell);
  addScalingPart(program, shell);
  const commands = new Set(["help", ...Object.keys(APPLICATIONS), ...program.commands.map((command) => command.name())]);
  const first = words.find((word) => commands.has(word));
  // An unknown word is answered with the nearest command, which takes the names of all.
  const named = words.some((word) => word === "-h" || word === "--help" || !word.startsWith("-"));
  const listing = first === "help" || words.length === 0 || (!first && named);
  const wanted = listing
    ? Object.values(APPLICATIONS)
    : Object.entries(APPLICATIONS)
        .filter(([name]) => name === first)
        .map(([, app]) => app);
  program.commandsGroup("Applications:");
  for (const { command } of wanted) {
    const module = await command();
    module.command(program, shell);
    for (const path of module.inOneProcess ?? []) inOneProcess.add(path);
  }
  acceptDevice(program);
  placeOptionsOfCases(program);
  return program;
}

function version(): string {
  return JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")).version;
}
