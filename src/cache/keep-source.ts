import { createHash } from "node:crypto";
import { join } from "node:path";
import { IsoformError } from "../base/errors.js";
import { replaceFile } from "./files.js";
import { makeFolder } from "./folder.js";

/**
 * Writes a kernel's generated source to the folder that ISOFORM_KEEP names, for people to read; does nothing without it.
 * @throws IsoformError if the folder cannot be written to
 */
export function keepSource(kernel: string, source: string, precision: string, suffix: string, folder = process.env.ISOFORM_KEEP): void {
  if (!folder) return;
  const id = createHash("sha256").update(source).digest("hex").slice(0, 8);
  try {
    makeFolder(folder);
    replaceFile(join(folder, `${kernel.replace(/[^\w.-]/g, "_").slice(0, 100)}-${precision}-${id}.${suffix}`), source, 0o666);
  } catch (error) {
    throw new IsoformError(`ISOFORM_KEEP is "${folder}", where sources cannot be written: ${(error as Error).message}`);
  }
}
