import { lstat, mkdir, readdir, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { peekHead } from "./state-file.js";
import { syncFolder, writerOf, writersMark } from "./whole-file.js";

/*
 * Folders with the pieces of a checkpoint, one for each time that it is written: `run.ckpt.MARK` beside `run.ckpt`, which is then an index of the pieces.
 */

/** Path of the checkpoint that the one at `path` replaced. */
export const previousOf = (path: string): string => `${path}.previous`;

/** Milliseconds after which a folder that a process of another machine has begun counts as abandoned: nobody can ask whether that process runs. */
const ABANDONED = 24 * 3600 * 1000;

const PIECE = /^r\d{5,}$/;
/** Name of a rank's piece in the folder. */
export const pieceName = (rank: number): string => `r${String(rank).padStart(5, "0")}`;

/** Whether a text, which may come from a file, is the name of a folder of pieces, beside the index. */
export function isFolderName(name: unknown): name is string {
  if (typeof name !== "string" || /[/\\\0]/.test(name)) return false;
  const [, mark] = /^.+?\.([\w-]+\.\d+\.[0-9a-f]{16})$/s.exec(name) ?? [];
  return mark !== undefined;
}

/** Makes an empty folder for the pieces of the checkpoint at `path`, and returns its name. Throws the system's error. */
export async function makeFolder(path: string): Promise<string> {
  const name = `${basename(path)}.${writersMark()}`;
  await mkdir(join(dirname(path), name));
  await syncFolder(dirname(path));
  return name;
}

/** The folder that a checkpoint's file names; undefined for a file with all values, and where there is none. Throws an error for other files. */
export async function folderOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const head = (await peekHead(path)) as { pieces?: { folder?: unknown } } | null;
  const folder = head?.pieces?.folder;
  return isFolderName(folder) ? folder : undefined;
}

/**
 * Removes folders of pieces beside `path` that neither its index nor the one before names. A folder that another process may still be writing stays: one
 * of a process that runs, and for a day one of another machine.
 * @param replaced a folder that an index has named until now: it was whole, so that nobody writes it
 */
export async function removeUnnamed(path: string, replaced?: string): Promise<void> {
  const begin = `${basename(path)}.`;
  const entries = await readdir(dirname(path)).catch((): string[] => []);
  const folders = entries.filter((name) => name.startsWith(begin) && writerOf(name.slice(begin.length)) !== undefined);
  if (folders.length === 0) return;
  // An index that cannot be read may name any of them.
  const named = await Promise.all([path, previousOf(path)].map(folderOf)).catch(() => undefined);
  if (!named) return;
  for (const name of folders) {
    if (named.includes(name)) continue;
    const folder = join(dirname(path), name);
    if (name === replaced || (await isAbandoned(folder, name.slice(begin.length)))) await removeFolder(folder).catch(() => undefined);
  }
}

async function isAbandoned(folder: string, mark: string): Promise<boolean> {
  const writer = writerOf(mark);
  if (writer !== "elsewhere") return writer !== "running";
  const paths = [folder, ...(await readdir(folder).catch((): string[] => [])).map((name) => join(folder, name))];
  const times = await Promise.all(paths.map((path) => stat(path).then(({ mtimeMs }) => mtimeMs)));
  return Date.now() - Math.max(...times) > ABANDONED;
}

/** Removes pieces and their folder; one with anything else in it stays. */
async function removeFolder(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  for (const name of await readdir(folder)) if (PIECE.test(name)) await rm(join(folder, name), { force: true });
  await rmdir(folder);
}
