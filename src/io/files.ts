import { readFile, type FileHandle } from "node:fs/promises";
import { IsoformError } from "../base/errors.js";
import type { DeviceSet } from "../set/index.js";
import { agreedByAll } from "../set/job.js";
import { writeWhole } from "./whole-file.js";

/** Content of a file in parts. */
export type FileContent = Parameters<typeof writeWhole>[1];

/** Writes pieces one after the other into a new file, which appears once it is whole. */
export const writePieces = (path: string, pieces: FileContent): Promise<void> =>
  writeWhole(path, pieces).catch((error: Error) => fail(path, "written", error));

/** The same for values of a set, whose processes all call it; see `writeByOne`. */
export const writeTogether = (set: Pick<DeviceSet, "ranks">, path: string, pieces: FileContent): Promise<void> =>
  writeByOne(set, pieces, (all) => writePieces(path, all));

/**
 * Rank 0 of a set writes pieces, and the others give it what they have; all processes call it. Returns once the file is there.
 * @throws what `write` throws; in several processes an error with the same message on all ranks
 */
export async function writeByOne(
  set: Pick<DeviceSet, "ranks">,
  pieces: FileContent,
  write: (pieces: FileContent) => Promise<void>,
): Promise<void> {
  const { ranks } = set;
  if (!ranks) return write(pieces);
  const shared = leftOpen(pieces);
  const [ended] = await Promise.allSettled([isWriter(set) ? write(shared) : exhaust(shared)]);
  const failed = ended.status === "rejected" ? (ended.reason as Error) : undefined;
  // Other ranks give all pieces, so that rank 0 asks for them where it could not write the first.
  if (failed) await exhaust(shared);
  const problem = await ranks.agree(failed?.message, "the end of a file");
  if (failed || problem !== undefined) throw agreedByAll(failed ?? new IsoformError(problem!));
}

/**
 * Rank 0 of a set writes, and asks for values that all processes have together when it needs them, one after the other; all processes call it. Returns once
 * `write` has.
 * @param gather brings the values of a name together, on all ranks at once
 * @param write is called by rank 0
 * @throws what `write` throws; in several processes an error with the same message on all ranks
 */
export async function writeAsking<T>(
  { ranks }: Pick<DeviceSet, "ranks">,
  gather: (name: string) => Promise<T>,
  write: (ask: (name: string) => Promise<T>) => Promise<void>,
): Promise<void> {
  if (!ranks) return write(gather);
  const tell = (request: { readonly name?: string; readonly problem?: string }) => ranks.agree(request, "what rank 0 writes");
  if (!isWriter({ ranks })) {
    for (;;) {
      const { name, problem } = await tell({});
      if (problem !== undefined) throw agreedByAll(new IsoformError(problem));
      if (name === undefined) return;
      await gather(name);
    }
  }
  const ask = async (name: string): Promise<T> => {
    await tell({ name });
    return gather(name);
  };
  const [ended] = await Promise.allSettled([write(ask)]);
  const failed = ended.status === "rejected" ? (ended.reason as Error) : undefined;
  await tell({ problem: failed?.message });
  if (failed) throw agreedByAll(failed);
}

/** Pieces that stay after an early end of a loop over them, for the next one. */
function leftOpen(pieces: FileContent): FileContent {
  const all = (async function* () {
    yield* pieces;
  })();
  return { [Symbol.asyncIterator]: () => ({ next: () => all.next() }) };
}

/** Whether this process writes the files of a set: one of several does. */
const isWriter = ({ ranks }: Pick<DeviceSet, "ranks">): boolean => (ranks?.rank ?? 0) === 0;

/** Asks for everything, and drops it: asking is what sends it to the process that writes. */
async function exhaust(pieces: FileContent): Promise<void> {
  for await (const piece of pieces) void piece;
}

export const readBytes = (path: string): Promise<Uint8Array> => readFile(path).catch((error: Error) => fail(path, "read", error));

/** Fills `bytes` from a place of a file on. Throws IsoformError where the file ends before. */
export async function readAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await file.read(bytes, { offset: at, length: bytes.length - at, position: position + at });
    if (bytesRead === 0) throw new IsoformError(`it ends at ${position + at} bytes`);
    at += bytesRead;
  }
}

/** Throws IsoformError: the file cannot be `what`. */
export function fail(path: string, what: string, { message }: Error): never {
  throw new IsoformError(`${path} cannot be ${what}: ${message}`);
}
