import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { IsoformError } from "../base/errors.js";
import { onAllRanks, type Ranks } from "../set/index.js";
import { syncFolder, temporaryOf } from "./whole-file.js";

/** Bytes from a place of a file on. */
export interface PlacedBytes {
  readonly position: number;
  readonly bytes: Uint8Array;
}

/**
 * Writes one file by all processes, each its bytes at their place. It takes the place of what is at `path` once all bytes are on the disk; all processes
 * call it.
 * @param length of the file
 * @param content the bytes of this process, made without messages between processes
 * @throws IsoformError on all ranks alike where one cannot write; what is at `path` is then what it was
 */
export async function writeAtPlaces(ranks: Ranks, path: string, length: number, content: AsyncIterable<PlacedBytes>): Promise<void> {
  const leads = ranks.rank === 0;
  const asRankZero = <T>(work: () => Promise<T>): Promise<T | undefined> =>
    onAllRanks({ ranks }, async () => (leads ? await work().catch(cannotWrite(path)) : undefined));
  const temporary = await ranks.agree(leads ? temporaryOf(path) : "", "the name of a file");
  try {
    await asRankZero(() => makeFile(temporary, path, length));
    await onAllRanks({ ranks }, () => fill(temporary, content).catch(cannotWrite(path)));
    await asRankZero(async () => {
      await rename(temporary, path);
      await syncFolder(dirname(path));
    });
  } catch (error) {
    if (leads) await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** A new file of a length, which may be written as the one at `path`. */
async function makeFile(temporary: string, path: string, length: number): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  // Exclusively: an existing file, and above all a link, is not written to.
  const file = await open(temporary, "wx", existing?.mode);
  try {
    await file.truncate(length);
  } finally {
    await file.close();
  }
}

/** Writes bytes at their places, which are on the disk once it returns. */
async function fill(path: string, content: AsyncIterable<PlacedBytes>): Promise<void> {
  const file = await open(path, "r+");
  try {
    for await (const { position, bytes } of content)
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
        done += bytesWritten;
      }
    await file.sync();
  } finally {
    await file.close();
  }
}

const cannotWrite =
  (path: string) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code === undefined) throw error;
    const remedy = error.code === "ENOENT" ? ": name a file in a folder that all ranks see" : "";
    throw new IsoformError(`cannot write ${path}: ${error.message.split(",")[0]}${remedy}`);
  };
