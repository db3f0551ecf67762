import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { createGunzip, gunzip } from "node:zlib";
import { promisify } from "node:util";
import { IsoformError } from "../../base/errors.js";
import { fail, readAll } from "../files.js";

/*
 * Bytes and lines of files, which may be compressed by gzip: their first two bytes tell.
 */

/** Most bytes that are read at once: what a Buffer of Node 20 surely holds. */
const MOST = 2 ** 31 - 1;
/** Most characters of a line. */
const LONGEST = 1 << 24;

/** Bytes of a whole file, uncompressed. Throws IsoformError for what cannot be read, is damaged, or has more than 2 GiB. */
export async function readUncompressed(path: string): Promise<Buffer> {
  const { size } = await stat(path).catch((error: Error) => fail(path, "read", error));
  if (size > MOST) throw tooLarge(path);
  const file = await open(path, "r").catch((error: Error) => fail(path, "read", error));
  let bytes: Buffer;
  try {
    const info = await file.stat();
    if (!info.isFile()) throw new IsoformError(`${path} cannot be read: it is not a file`);
    bytes = Buffer.alloc(info.size);
    await readAll(file, bytes, 0);
  } finally {
    await file.close();
  }
  if (!isCompressed(bytes)) return bytes;
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: MOST });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(path);
    throw new IsoformError(`${path} is damaged: it begins like a file of gzip, but ${(error as Error).message}; fetch or write it again`);
  }
}

const tooLarge = (path: string): IsoformError =>
  new IsoformError(`${path} has more than 2 GiB, and such tables are read whole: split it, or write it as text (ECSV)`);

const isCompressed = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** The first bytes of a file as they are, for a look at its kind. */
export async function firstBytes(path: string, count: number): Promise<Buffer> {
  const file = await open(path, "r").catch((error: Error) => fail(path, "read", error));
  try {
    const bytes = Buffer.alloc(count);
    const { bytesRead } = await file.read(bytes, 0, count, 0).catch((error: Error) => fail(path, "read", error));
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Lines of a text file in UTF-8, with their numbers from 1 on. Throws IsoformError for what cannot be read or is not text. */
export async function* readLines(path: string): AsyncGenerator<readonly [line: string, number: number]> {
  const compressed = isCompressed(await firstBytes(path, 2));
  const raw = createReadStream(path);
  const stream = compressed ? raw.pipe(createGunzip()) : raw;
  raw.on("error", (error) => stream.destroy(error));
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [rest, number] = ["", 0];
  const bad = (what: string): never => {
    throw new IsoformError(`${path}:${number + 1}: ${what}`);
  };
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      return bad("not text in UTF-8: convert the file");
    }
  };
  try {
    for await (const bytes of stream) {
      const lines = (rest + decode(bytes as Uint8Array)).split("\n");
      rest = lines.pop()!;
      for (const line of lines) yield [line.endsWith("\r") ? line.slice(0, -1) : line, ++number];
      if (rest.length > LONGEST) bad(`the line has more than ${LONGEST} characters: this is not a table`);
    }
  } catch (error) {
    if (error instanceof IsoformError) throw error;
    throw new IsoformError(`${path} is damaged after line ${number}: ${(error as Error).message}; fetch or write it again`);
  } finally {
    raw.destroy();
  }
  rest += decode();
  if (rest !== "") yield [rest.endsWith("\r") ? rest.slice(0, -1) : rest, number + 1];
}
