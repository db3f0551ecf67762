import { constants } from "node:fs";
import { access, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { IsoformError } from "../kernel/errors.js";
import type { Shell } from "../p3/application.js";
import { progress } from "./progress.js";

/** The command line as applications see it. */
export const shell: Shell = {
  print: (text) => void process.stdout.write(`${text}\n`),
  progress,
  writeFile: writeWhole,
};

/** Writes beside the target and renames, so that a reader never finds half a file. Throws IsoformError. */
async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new IsoformError(`cannot write ${path}: ${(error as Error).message}`);
  }
}

/** Finds out before a long run whether its result can be written. Throws IsoformError. */
export async function checkWritable(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK);
  } catch {
    throw new IsoformError(`cannot write ${path}: there is no directory ${dirname(path)} that may be written to`);
  }
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isDirectory()) throw new IsoformError(`cannot write ${path}: it is a directory`);
}
