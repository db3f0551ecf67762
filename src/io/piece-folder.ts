import { lstat, mkdir, readdir, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder, writerOf, writersMark } from "./whole-file.js";

/*
 * Folders with the pieces of a file that several processes write, one for each time that it is written: `run.ckpt.MARK` beside `run.ckpt`, which is an
 * index of the pieces.
 */

/** Milliseconds after which a folder that a process of another machine has begun counts as abandoned: nobody can ask whether that process runs. */
const ABANDONED = 24 * 3600 * 1000;

/** Name of a rank's piece in the folder: `r00003.vti`. */
export const pieceName = (rank: number, ending = ""): string => `r${String(rank).padStart(5, "0")}${ending}`;
const PIECE = /^r\d{5,}(\.vt[iru])?$/;

/** Whether a text, which may come from a file, is the name of a piece. */
export const isPieceName = (name: string): boolean => PIECE.test(name);

/** Whether a text, which may come from a file, is the name of a folder of pieces, beside the index. */
export function isFolderName(name: unknown): name is string {
  if (typeof name !== "string" || /[/\\\0]/.test(name)) return false;
  const [, mark] = /^.+?\.([\w-]+\.\d+\.[0-9a-f]{16})$/s.exec(name) ?? [];
  return mark !== undefined;
}

/** Makes an empty folder for the pieces of the file at `path`, and returns its name. Throws the system's error. */
export async function makePieceFolder(path: string): Promise<string> {
  const name = `${basename(path)}.${writersMark()}`;
  await mkdir(join(dirname(path), name));
  await syncFolder(dirname(path));
  return name;
}

/**
 * Removes folders of pieces beside `path` that no index names. A folder that another process may still be writing stays: one of a process that runs, and
 * for a day one of another machine.
 * @param named finds the folders that indexes name; where it throws none is removed, as an index that cannot be read may name any
 * @param replaced a folder that an index has named until now: it was whole, so that nobody writes it
 */
export async function removeUnnamed(path: string, named: () => Promise<readonly (string | undefined)[]>, replaced?: string): Promise<void> {
  const begin = `${basename(path)}.`;
  const entries = await readdir(dirname(path)).catch((): string[] => []);
  const folders = entries.filter((name) => name.startsWith(begin) && writerOf(name.slice(begin.length)) !== undefined);
  if (folders.length === 0) return;
  const kept = await named().catch(() => folders);
  for (const name of folders.filter((each) => !kept.includes(each))) {
    const folder = join(dirname(path), name);
    const isAbandoned = name === replaced || (await isLeft(folder, name.slice(begin.length)).catch(() => false));
    if (isAbandoned) await removeFolder(folder).catch(() => undefined);
  }
}

/** Whether nobody writes a folder any longer. */
async function isLeft(folder: string, mark: string): Promise<boolean> {
  const writer = writerOf(mark);
  if (writer !== "elsewhere") return writer !== "running";
  const paths = [folder, ...(await readdir(folder)).map((name) => join(folder, name))];
  const times = await Promise.all(paths.map((path) => stat(path).then(({ mtimeMs }) => mtimeMs)));
  return Date.now() - Math.max(...times) > ABANDONED;
}

/** Removes pieces and their folder; one with anything else in it stays. */
async function removeFolder(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  for (const name of await readdir(folder)) if (isPieceName(name)) await rm(join(folder, name), { force: true });
  await rmdir(folder);
}
