import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { IsoformError } from "../ir/errors.js";
import type { Shell } from "../portability/application.js";
import { removeStale, writeWhole } from "../io/whole-file.js";
import { progress } from "./progress.js";
import { SignalInterruption } from "./signals.js";

/** The command line as applications see it. */
export const shell: Shell = {
  print: (text) => void process.stdout.write(`${text}\n`),
  progress,
  checkWritable,
  writeFile,
  interruption: () => new SignalInterruption(),
};

/** Throws IsoformError. */
async function writeFile(path: string, text: string): Promise<void> {
  await writeWhole(path, [text]).catch((error: Error) => {
    // What follows the comma names the system call and the temporary file.
    throw new IsoformError(`cannot write ${path}: ${error.message.split(",")[0]}`);
  });
}

async function checkWritable(path: string): Promise<void> {
  const existing = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENAMETOOLONG") throw new IsoformError(`cannot write ${path.slice(0, 40)}...: its name is too long`);
  });
  if (existing?.isDirectory()) throw new IsoformError(`cannot write ${path}: it is a directory`);
  if (existing && !existing.isFile()) return;
  const directory = dirname(path);
  const isDirectory = (await stat(directory).catch(() => undefined))?.isDirectory();
  const mayWrite = await access(directory, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isDirectory || !mayWrite) throw new IsoformError(`cannot write ${path}: there is no directory ${directory} that may be written to`);
  await removeStale(path);
}
