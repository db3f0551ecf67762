import { open, readFile } from "node:fs/promises";
import { IsoformError } from "../ir/errors.js";

/** Writes pieces one after the other into a new file. */
export async function writePieces(path: string, pieces: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, "w").catch((error: Error) => fail(path, "written", error));
  try {
    for (const piece of pieces) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}

export const readBytes = (path: string): Promise<Uint8Array> => readFile(path).catch((error: Error) => fail(path, "read", error));

/** Throws IsoformError: the file cannot be `what`. */
export function fail(path: string, what: string, { message }: Error): never {
  throw new IsoformError(`${path} cannot be ${what}: ${message}`);
}
