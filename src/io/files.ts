import { readFile } from "node:fs/promises";
import { IsoformError } from "../ir/errors.js";
import { writeWhole } from "./whole-file.js";

/** Writes pieces one after the other into a new file, which is there once it is whole. */
export const writePieces = (path: string, pieces: readonly Uint8Array[]): Promise<void> =>
  writeWhole(path, pieces).catch((error: Error) => fail(path, "written", error));

export const readBytes = (path: string): Promise<Uint8Array> => readFile(path).catch((error: Error) => fail(path, "read", error));

/** Throws IsoformError: the file cannot be `what`. */
export function fail(path: string, what: string, { message }: Error): never {
  throw new IsoformError(`${path} cannot be ${what}: ${message}`);
}
