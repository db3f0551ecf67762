import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { IsoformError } from "../base/errors.js";
import { DIGEST_ENDING, readVerified, writeVerified } from "./files.js";
import { cacheFolder, KEPT_NAME, requirePrivate } from "./folder.js";
import { noteWritten } from "./limit.js";

/*
 * Compiled kernels and measurements on disk. All of it can be made again: what is absent or damaged is, and a cache that cannot be written
 * costs time, not the result. What another user could have put there is refused: these functions throw IsoformError then.
 */

/**
 * Result of `load` for the code that `make` returned for these `parts` before (on this machine, in any process), or returns now. New code
 * is kept only once `load` has taken it: compilers have ended without an error and written garbage. Kept code that `load` throws for is
 * made anew.
 */
export function cachedBinary<T>(
  kind: string,
  parts: readonly string[],
  make: () => Uint8Array,
  load: (code: Uint8Array) => T,
  folder = cacheFolder(),
): T {
  const found = recall(kind, parts, folder);
  if (found) {
    try {
      return load(found);
    } catch {
      // Errors of the device, as opposed to errors of the code, are thrown again below.
    }
  }
  const made = make();
  const loaded = load(made);
  remember(kind, parts, made, folder);
  return loaded;
}

/** Value remembered for these `parts`, on this machine, in any process. */
export function recall(kind: string, parts: readonly string[], folder = cacheFolder()): Uint8Array | undefined {
  if (!requirePrivate(folder)) return undefined;
  const found = readVerified(folder, cacheName(kind, parts));
  // A copy: small files come as parts of a buffer that they share.
  return found && new Uint8Array(found);
}

/** The path of the file that has what was remembered, for what is loaded by its path. */
export function recallPath(kind: string, parts: readonly string[], folder = cacheFolder()): string | undefined {
  if (!requirePrivate(folder)) return undefined;
  const name = cacheName(kind, parts);
  return readVerified(folder, name) && join(folder, name);
}

/** Keeps it for `recall`, unless the disk is full or may not be written to. Returns the path of the file. */
export function remember(kind: string, parts: readonly string[], data: Uint8Array, folder = cacheFolder()): string | undefined {
  if (!requirePrivate(folder)) return undefined;
  const name = cacheName(kind, parts);
  try {
    writeVerified(folder, name, data);
    noteWritten(folder, data.length);
    return join(folder, name);
  } catch (error) {
    if (error instanceof IsoformError) throw error;
    return undefined;
  }
}

/** Deletes a file of the cache that turned out not to load; one that lies elsewhere, or cannot be deleted, stays. */
export function discard(path: string, folder = cacheFolder()): void {
  if (dirname(path) !== folder || !KEPT_NAME.test(basename(path))) return;
  try {
    for (const file of [path, path + DIGEST_ENDING]) rmSync(file, { force: true });
  } catch {
    // Whoever asks for it next is told again.
  }
}

/** The name of its file: the same parts give the same name. */
export function cacheName(kind: string, parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return `${hash.digest("hex").slice(0, 40)}.${kind}`;
}
