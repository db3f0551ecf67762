import { link, rename, rm, stat } from "node:fs/promises";
import { IsoformError } from "../ir/errors.js";
import { folderOf, previousOf, removeUnnamed } from "./checkpoint-folder.js";
import type { Pieces } from "./files.js";
import { removeStale, writeWhole } from "./whole-file.js";

/**
 * Puts a file at `path`, once it is on the disk, and keeps the one there as `previousOf(path)`: from then on it is the checkpoint. Folders of pieces that
 * neither names are removed.
 * @throws IsoformError if it cannot be written; what is at `path` is then what it was
 */
export async function replaceCheckpoint(path: string, pieces: Pieces): Promise<void> {
  await removeStale(path);
  const replaced = await folderOf(previousOf(path)).catch(() => undefined);
  try {
    await writeWhole(path, pieces, () => keepPrevious(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new IsoformError(await cannotWrite(path, error as Error));
  } finally {
    await removeUnnamed(path, replaced).catch(() => undefined);
  }
}

/** A message for a checkpoint that the system does not let be written. */
export async function cannotWrite(path: string, { message }: Error): Promise<string> {
  const there = await stat(path).catch(() => undefined);
  return `cannot write ${path}: ${message.split(",")[0]}${there?.isFile() ? "; the previous checkpoint is still there" : ""}`;
}

/** Under both names, where the file system can: there is never a moment without a checkpoint at `path`. */
async function keepPrevious(path: string): Promise<void> {
  const previous = previousOf(path);
  if (!(await stat(path).catch(() => undefined))) return;
  await rm(previous, { force: true });
  await link(path, previous).catch(() => rename(path, previous));
}
