#!/usr/bin/env node
import { hostname } from "node:os";
import { CommanderError } from "commander";
import { isAgreed, runningJob } from "../set/job.js";
import { launched, speaks, workAlone } from "../set/launched.js";
import { IsoformError } from "../base/errors.js";
import { leaveTogether, letFirstTell } from "../set/leaving.js";
import { failureOf } from "./failure.js";
import { parsedWords } from "./misplaced.js";
import { makeProgram } from "./make-program.js";
import { clearProgress } from "./progress.js";

const words = process.argv.slice(2);
// Known before anything is printed.
if (words.includes("--alone")) workAlone();

/** Says what happened and ends the process, with the workers of devices that are open. */
function end(error: unknown): void {
  const { text, code } = failureOf(error, words.includes("--debug") || Boolean(process.env.ISOFORM_DEBUG));
  clearProgress();
  // All processes read the same words.
  if (code !== 0 && (isAgreed(error) || error instanceof CommanderError)) leaveTogether(text, code);
  const message = text?.replace(/^isoform: /, "");
  if (code !== 0 && runningJob() && error instanceof IsoformError) letFirstTell();
  if (code !== 0) runningJob()?.abort(message ?? "it failed", code);
  if (text !== undefined) process.stderr.write(speaks() ? `${text}\n` : `isoform: rank ${launched()?.rank} on ${hostname()}: ${message}\n`);
  process.exitCode = code;
  if (code !== 0) process.exit();
}

// A reader of the output, such as `head`, may stop early: the rest is not wanted.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  end(error);
});
// Nobody reads messages: there is nobody to tell.
process.stderr.on("error", () => undefined);
process.on("uncaughtException", end);

try {
  const program = await makeProgram(words);
  if (words.length === 0) program.help();
  await program.parseAsync(parsedWords(program, words), { from: "user" });
} catch (error) {
  end(error);
}
