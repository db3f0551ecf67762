#!/usr/bin/env node
import { failureOf } from "./failure.js";
import { makeProgram } from "./program.js";

const words = process.argv.slice(2);

/** Says what happened and ends the process, with the workers of devices that are open. */
function end(error: unknown): void {
  const { text, code } = failureOf(error, words.includes("--debug") || Boolean(process.env.ISOFORM_DEBUG));
  if (text !== undefined) process.stderr.write(`${text}\n`);
  process.exitCode = code;
  if (code !== 0) process.exit();
}

// Whoever reads the output may stop early, as `head` does: the rest is not wanted.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  end(error);
});
// Where nobody reads messages, there is nobody to tell.
process.stderr.on("error", () => undefined);
process.on("uncaughtException", end);

try {
  const program = await makeProgram(words);
  if (words.length === 0) program.help();
  await program.parseAsync(words, { from: "user" });
} catch (error) {
  end(error);
}
