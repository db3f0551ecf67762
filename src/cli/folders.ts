import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { IsoformError } from "../base/errors.js";

/** Makes a folder and those above it. Throws IsoformError. */
export async function makeOutputFolder(path: string): Promise<void> {
  await make(path).catch((error: Error) => {
    throw new IsoformError(`cannot make the folder ${path}: ${error.message.split(",")[0]}`);
  });
}

/** Makes folders one by one: a recursive `mkdir` never ends where none can be made, as in /proc. */
async function make(path: string): Promise<void> {
  const missing: string[] = [];
  for (let at = resolve(path); !(await stat(at).catch(absent)); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) await mkdir(folder);
}

function absent(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
