import { createHash, randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/*
 * Files of the cache, each with its digest in a file beside it, as `sha256sum --check` reads it. What a power cut, a full disk or a flipped
 * bit has left is not taken for what was written. The folder is the user's alone, so nothing changes between the check and what follows it.
 */

/** Ending of the file that has the digest of another. */
export const DIGEST_ENDING = ".sha256";
/** Ending of what is being written. */
export const PARTIAL = ".partial";

/** Seconds since its last use after which a file is marked as used again. */
const MARK_AFTER = 30;

// Absent on Windows.
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Its text names the file, so that one file with its digest does not pass for another. */
const digestOf = (name: string, data: Uint8Array): string => `${createHash("sha256").update(data).digest("hex")}  ${name}\n`;

/** The content of a file whose digest agrees; undefined of any other, and where there is none. */
export function readVerified(folder: string, name: string): Buffer | undefined {
  const path = join(folder, name);
  try {
    const data = readRegular(path);
    if (data.length === 0 || readRegular(path + DIGEST_ENDING).toString("latin1") !== digestOf(name, data)) return undefined;
    markUsed(path);
    return data;
  } catch {
    return undefined;
  }
}

/** Writes a file and its digest, each at once. Throws where the disk is full or may not be written to. */
export function writeVerified(folder: string, name: string, data: Uint8Array): void {
  const path = join(folder, name);
  for (const place of [path, path + DIGEST_ENDING])
    if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory()) rmSync(place, { recursive: true });
  replaceFile(path + DIGEST_ENDING, digestOf(name, data));
  try {
    replaceFile(path, data);
  } catch (error) {
    rmSync(path + DIGEST_ENDING, { force: true });
    throw error;
  }
}

/** Writes a whole file or none: under a name that nobody can know beforehand, then in place of the existing file. No link is followed. */
export function replaceFile(path: string, data: string | Uint8Array, mode = 0o600): void {
  const partial = join(dirname(path), `.${randomBytes(12).toString("hex")}${PARTIAL}`);
  const file = openSync(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    try {
      writeFileSync(file, data);
    } finally {
      closeSync(file);
    }
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** Throws for anything but a file, such as a link, a folder or a pipe. */
function readRegular(path: string): Buffer {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Marks a file as used: the cache deletes the least recently used files first. */
function markUsed(path: string): void {
  const now = Date.now() / 1e3;
  if (now - lstatSync(path).mtimeMs / 1e3 > MARK_AFTER) utimesSync(path, now, now);
}
