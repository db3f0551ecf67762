import { createHash } from "node:crypto";
import { IsoformError } from "../../base/errors.js";
import { agreedByAll } from "../job.js";

/** Bytes by which a rank announces a call of all ranks: a size, a digest of the call's name, and the name's first bytes. */
export const ANNOUNCEMENT = 96;
const DIGEST = 8;
const NAME = 16;

/** A call of this rank, as bytes. The size differs from rank to rank, the name does not. */
export function announcement(name: string, size: number): Uint8Array {
  const bytes = Buffer.alloc(ANNOUNCEMENT);
  bytes.writeDoubleLE(size, 0);
  createHash("sha256")
    .update(name)
    .digest()
    .copy(bytes, DIGEST, 0, NAME - DIGEST);
  bytes.write(name, NAME);
  return bytes;
}

/**
 * The sizes that ranks have announced, by rank.
 * @param all announcements, rank by rank
 * @throws IsoformError, on all ranks alike, for a rank that calls something else than rank 0
 */
export function announcedSizes(all: Uint8Array): number[] {
  const each = Array.from({ length: all.length / ANNOUNCEMENT }, (_, rank) =>
    Buffer.from(all.buffer, all.byteOffset + rank * ANNOUNCEMENT, ANNOUNCEMENT),
  );
  const digest = (bytes: Buffer): Buffer => bytes.subarray(DIGEST, NAME);
  const other = each.findIndex((bytes) => !digest(bytes).equals(digest(each[0])));
  if (other > 0)
    throw agreedByAll(
      new IsoformError(
        `rank 0 has come to ${nameOf(each[0])}, and rank ${other} to ${nameOf(each[other])}: ` +
          "call what needs all ranks on all of them, in one order, one call after the other",
      ),
    );
  return each.map((bytes) => bytes.readDoubleLE(0));
}

/** The name in an announcement, perhaps cut short. */
function nameOf(bytes: Buffer): string {
  const name = bytes.subarray(NAME);
  const end = name.indexOf(0);
  return end < 0 ? `${name.toString("utf8")}...` : name.toString("utf8", 0, end);
}
