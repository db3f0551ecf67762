import { randomBytes } from "node:crypto";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

/*
 * Files that are written whole or not at all: into a temporary file next to the target, which takes the target's name once it is on the disk.
 */

const host = (): string =>
  hostname()
    .replace(/[^\w-]/g, "_")
    .slice(0, 40);
/** Names have 255 bytes at most, and may have several in a character. */
const shortened = (path: string): string => basename(path).slice(0, 40);

/** End of a name that no other writer gives: machine, process and a random number. */
export const writersMark = (): string => `${host()}.${process.pid}.${randomBytes(8).toString("hex")}`;
const MARK = /^([\w-]+)\.(\d+)\.[0-9a-f]{16}$/;

/** Knowledge about the process that gave a mark; undefined for a text that is not one. */
export function writerOf(mark: string): "here" | "running" | "ended" | "elsewhere" | undefined {
  const [, machine, pid] = MARK.exec(mark) ?? [];
  if (machine === undefined) return undefined;
  if (machine !== host()) return "elsewhere";
  if (Number(pid) === process.pid) return "here";
  return isRunning(Number(pid)) ? "running" : "ended";
}

/** A name beside `path` for what takes its place once it is whole. */
export const temporaryOf = (path: string): string => join(dirname(path), `.${shortened(path)}.${writersMark()}.tmp`);

/**
 * Writes pieces, which replace the file at `path` once all are written; a pipe or a device gets them as they come.
 * @param before is called when everything is on the disk, right before the file is replaced
 */
export async function writeWhole(
  path: string,
  pieces: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
  before?: () => Promise<void>,
): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing && !existing.isFile()) return writeSynced(path, "w", pieces);
  const temporary = temporaryOf(path);
  try {
    // Exclusively: an existing file, and above all a link, is not written to.
    await writeSynced(temporary, "wx", pieces, existing?.mode);
    await before?.();
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Writes pieces one after the other; a new file (`wx`) is on the disk once it returns. */
export async function writeSynced(
  path: string,
  flags: "w" | "wx",
  pieces: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
  mode?: number,
): Promise<void> {
  const file = await open(path, flags, mode);
  try {
    for await (const piece of pieces) await file.writeFile(piece);
    if (flags === "wx") await file.sync();
  } finally {
    await file.close();
  }
}

/** Puts the new name on the disk, too, on systems that can. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** Deletes temporary files that crashed writers of this machine left next to `path`. */
export async function removeStale(path: string): Promise<void> {
  const [begin, end] = [`.${shortened(path)}.`, ".tmp"];
  for (const name of await readdir(dirname(path)).catch((): string[] => [])) {
    const isTemporary = name.startsWith(begin) && name.endsWith(end);
    if (isTemporary && writerOf(name.slice(begin.length, -end.length)) === "ended")
      await rm(join(dirname(path), name), { force: true }).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
