import { link, rename, rm, stat } from "node:fs/promises";
import { IsoformError } from "../base/errors.js";
import type { FileContent } from "./files.js";
import { isFolderName, removeUnnamed } from "./piece-folder.js";
import { peekHead } from "./state-file.js";
import { removeStale, writeWhole } from "./whole-file.js";

/** Path of the checkpoint that the one at `path` replaced. */
export const previousOf = (path: string): string => `${path}.previous`;

/**
 * Puts a file at `path`, once it is on the disk, and keeps the one there as `previousOf(path)`: from then on it is the checkpoint. Folders of pieces that
 * neither names are removed.
 * @throws IsoformError if it cannot be written; what is at `path` is then what it was
 */
export async function replaceCheckpoint(path: string, pieces: FileContent): Promise<void> {
  await removeStale(path);
  const replaced = await folderOf(previousOf(path)).catch(() => undefined);
  try {
    await writeWhole(path, pieces, () => keepPrevious(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const there = await stat(path).catch(() => undefined);
    const kept = there?.isFile() ? "; the previous checkpoint is still there" : "";
    throw new IsoformError(`cannot write ${path}: ${(error as Error).message.split(",")[0]}${kept}`);
  } finally {
    await removeUnnamed(path, () => foldersOf(path), replaced).catch(() => undefined);
  }
}

/** The folders of pieces of a checkpoint and of the one before. Throws an error where a file does not tell. */
export const foldersOf = (path: string): Promise<(string | undefined)[]> => Promise.all([path, previousOf(path)].map(folderOf));

/** The folder that a checkpoint's file names; undefined for a file with all values, and where there is none. Throws an error for other files. */
async function folderOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const head = (await peekHead(path)) as { pieces?: { folder?: unknown } } | null;
  const folder = head?.pieces?.folder;
  return isFolderName(folder) ? folder : undefined;
}

/** Under both names, where the file system can: there is never a moment without a checkpoint at `path`. */
async function keepPrevious(path: string): Promise<void> {
  const previous = previousOf(path);
  if (!(await stat(path).catch(() => undefined))) return;
  await rm(previous, { force: true });
  await link(path, previous).catch(() => rename(path, previous));
}
