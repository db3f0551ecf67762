#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { IsoformError } from "../ir/errors.js";
import { addAssess } from "./assess.js";
import { addBackends } from "./backends.js";
import { APPLICATIONS } from "./commands.js";
import { addDoctor } from "./doctor.js";
import { addEmit } from "./emit.js";
import { addExplain } from "./explain.js";
import { addProfile } from "./profile.js";
import { shell } from "./shell.js";
import { addTuning } from "./tuning.js";

/** Bad input: the one exit code for everything that the user can put right. */
const BAD_INPUT = 2;

async function main(words: string[]): Promise<void> {
  const program = new Command("isoform")
    .description("Write a kernel once as a TypeScript function; run it on every device, and measure how portable its speed is.")
    .version(version(), "-v, --version", "print the version")
    .addOption(new Option("--debug", "print the stack of an error").env("ISOFORM_DEBUG"))
    .showHelpAfterError("(isoform --help lists the commands, isoform <command> --help its options)")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  addBackends(program);
  addTuning(program);
  addProfile(program, shell);
  addDoctor(program, shell);
  addAssess(program, shell);
  addExplain(program, shell);
  addEmit(program, shell);
  // An application's code is loaded only for its own command and for the list of all.
  const commands = new Set(["help", ...Object.keys(APPLICATIONS), ...program.commands.map((command) => command.name())]);
  const first = words.find((word) => commands.has(word));
  const listing = first === "help" || words.length === 0 || (!first && words.some((word) => word === "-h" || word === "--help"));
  const wanted = listing
    ? Object.values(APPLICATIONS)
    : Object.entries(APPLICATIONS)
        .filter(([name]) => name === first)
        .map(([, app]) => app);
  for (const { command } of wanted) (await command()).command(program, shell);
  if (words.length === 0) program.help();
  await program.parseAsync(words, { from: "user" });
}

function version(): string {
  return JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")).version;
}

// Whoever reads the output may stop early, as `head` does: the rest is not wanted.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : BAD_INPUT;
  } else if (error instanceof IsoformError && !process.argv.includes("--debug") && !process.env.ISOFORM_DEBUG) {
    process.stderr.write(`isoform: ${error.message}\n`);
    // Workers of a device that was open when it happened end with the process.
    process.exit(BAD_INPUT);
  } else {
    throw error;
  }
}
