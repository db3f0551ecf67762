import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { IsoformError } from "../base/errors.js";
import { DIGEST_BYTES, withFile, type StateSource } from "./state-file.js";

/*
 * Digests of a file's blocks, so that some of its bytes can be read and checked without the others.
 */

/** Bytes of a block in files that are written. Tests lower it; whoever reads is told by the file that names the digests. */
export const DIGEST_BLOCK = { bytes: 2 ** 22 };

/** Counts and digests the bytes of a file as they are written. */
export class BlockDigests {
  bytes = 0;
  private readonly done: Uint8Array[] = [];
  private hash: Hash = createHash("sha256");

  constructor(private readonly block: number) {}

  /** Passes bytes on. */
  async *through(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.add(piece);
      yield piece;
    }
  }

  /** The digests one after the other, once all bytes have passed. */
  get digests(): Uint8Array {
    const open = this.bytes % this.block > 0 ? [this.hash.copy().digest()] : [];
    return Buffer.concat([...this.done, ...open]);
  }

  private add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length;) {
      const room = this.block - (this.bytes % this.block);
      const part = piece.subarray(at, at + room);
      this.hash.update(part);
      at += part.length;
      this.bytes += part.length;
      if (this.bytes % this.block > 0) continue;
      this.done.push(this.hash.digest());
      this.hash = createHash("sha256");
    }
  }
}

/** Bytes of the digests of a file. */
export const digestBytes = (bytes: number, block: number): number => DIGEST_BYTES * Math.ceil(bytes / block);

/** A file whose blocks are compared with their digests as they are read. */
export class CheckedFile implements StateSource {
  /** The block that was read last: searches read it again and again. */
  private last: { readonly number: number; readonly bytes: Buffer } | undefined;

  constructor(
    readonly path: string,
    readonly size: number,
    private readonly block: number,
    private readonly digests: Uint8Array,
  ) {}

  async read(into: Uint8Array, position: number): Promise<void> {
    if (into.length === 0) return;
    await withFile(this.path, async (file) => {
      for (let at = position; at < position + into.length;) {
        const number = Math.floor(at / this.block);
        const bytes = await this.checked(file, number);
        const part = bytes.subarray(at - number * this.block, position + into.length - number * this.block);
        if (part.length === 0) throw new IsoformError(`${this.path} ends before byte ${at}`);
        into.set(part, at - position);
        at += part.length;
      }
    });
  }

  /** A block. Throws IsoformError where it is not the one that was written. */
  private async checked(file: FileHandle, number: number): Promise<Buffer> {
    if (this.last?.number === number) return this.last.bytes;
    const begin = number * this.block;
    const bytes = Buffer.alloc(Math.max(0, Math.min(this.block, this.size - begin)));
    const { bytesRead } = await file.read(bytes, { position: begin });
    const expected = this.digests.subarray(number * DIGEST_BYTES, (number + 1) * DIGEST_BYTES);
    if (bytesRead === 0 || bytesRead < bytes.length || !createHash("sha256").update(bytes).digest().equals(expected))
      throw new IsoformError(
        `${this.path} is damaged, or belongs to another checkpoint: bytes ${begin} to ${begin + bytes.length} have another checksum`,
      );
    this.last = { number, bytes };
    return bytes;
  }
}
