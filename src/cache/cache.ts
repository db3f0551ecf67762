import { createHash } from "node:crypto";
import { join } from "node:path";
import { IsoformError } from "../ir/errors.js";
import { readVerified, writeVerified } from "./files.js";
import { cacheFolder, requirePrivate } from "./folder.js";
import { noteWritten } from "./limit.js";

/*
 * Compiled kernels and measurements on disk. All of it can be made again: what is absent or damaged is, and a cache that cannot be written
 * costs time, not the result. What another user could have put there is refused: these functions throw IsoformError then.
 */

/** What `make` gave for these `parts` before (on this machine, in any process), or gives now. */
export function cachedBinary(kind: string, parts: readonly string[], make: () => Uint8Array, folder = cacheFolder()): Uint8Array {
  const found = recall(kind, parts, folder);
  if (found) return found;
  const made = make();
  remember(kind, parts, made, folder);
  return made;
}

/** What was remembered for these `parts`, on this machine, in any process. */
export function recall(kind: string, parts: readonly string[], folder = cacheFolder()): Uint8Array | undefined {
  if (!requirePrivate(folder)) return undefined;
  const found = readVerified(folder, nameOf(kind, parts));
  // A copy: small files come as parts of a buffer that they share.
  return found && new Uint8Array(found);
}

/** The path of the file that has what was remembered, for what is loaded by its path. */
export function recallPath(kind: string, parts: readonly string[], folder = cacheFolder()): string | undefined {
  if (!requirePrivate(folder)) return undefined;
  const name = nameOf(kind, parts);
  return readVerified(folder, name) && join(folder, name);
}

/** Keeps it for `recall`, unless the disk is full or may not be written to. Returns the path of the file. */
export function remember(kind: string, parts: readonly string[], data: Uint8Array, folder = cacheFolder()): string | undefined {
  if (!requirePrivate(folder)) return undefined;
  const name = nameOf(kind, parts);
  try {
    writeVerified(folder, name, data);
    noteWritten(folder, data.length);
    return join(folder, name);
  } catch (error) {
    if (error instanceof IsoformError) throw error;
    return undefined;
  }
}

/** The name of its file: the same parts give the same name. */
export function nameOf(kind: string, parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return `${hash.digest("hex").slice(0, 40)}.${kind}`;
}
