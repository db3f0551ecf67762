import { constants } from "node:fs";
import { access, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { IsoformError } from "../ir/errors.js";
import type { Shell } from "../portability/application.js";
import { progress } from "./progress.js";

/** The command line as applications see it. */
export const shell: Shell = {
  print: (text) => void process.stdout.write(`${text}\n`),
  progress,
  checkWritable,
  writeFile: writeWhole,
};

/** Writes beside the target and renames, so that a reader never finds half a file. Throws IsoformError. */
async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    const existing = await stat(path).catch(() => undefined);
    // A pipe or a device is written to, not replaced.
    if (existing && !existing.isFile()) return await writeFile(path, text);
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    // What follows the comma names the system call and the temporary file.
    throw new IsoformError(`cannot write ${path}: ${(error as Error).message.split(",")[0]}`);
  }
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
}
