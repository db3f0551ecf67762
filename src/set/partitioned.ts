import type { ElementToken } from "../device/device.js";
import { typedArray, type TypedArrayOf, type View } from "../device/memory/view.js";
import type { NumericType } from "../ir/types.js";
import { LaunchError } from "../ir/errors.js";
import type { DeviceSet } from "./device-set.js";
import { localOf } from "./member.js";
import { requireOneProcess } from "./one-process.js";

/**
 * An array that is cut into one piece for each member: the host sees it whole, each member its own piece (the MemSet of Neon, Meneghin
 * et al. 2022, section IV-B). How it is cut is the caller's choice; nothing moves until `upload` or `download`.
 */
export class Partitioned<T extends NumericType | "u8" = NumericType | "u8"> {
  readonly type: T;
  /** The pieces one after the other, as the host sees them. */
  readonly host: TypedArrayOf<T>;
  /** Start of each member's piece in `host`. */
  readonly offsets: readonly number[];
  /** Each member's piece in its memory, of rank 1; zero at first. */
  readonly views: readonly View<T>[];

  /** @param counts elements of each member's piece, 0 or more */
  constructor(
    readonly set: DeviceSet,
    { type }: ElementToken<T>,
    readonly counts: readonly number[],
  ) {
    requireOneProcess("a partitioned array", set);
    if (counts.length !== set.members.length)
      throw new LaunchError(`${counts.length} pieces for the ${set.members.length} members of ${set.name}: give one count for each`);
    this.type = type;
    this.views = counts.map((count, n) => localOf(set, n).device.array({ type }, count));
    this.offsets = counts.map((_, n) => counts.slice(0, n).reduce((a, b) => a + b, 0));
    this.host = typedArray(
      type,
      counts.reduce((a, b) => a + b, 0),
    );
  }

  /** The host's view of one member's piece, in the same memory as `host`. */
  piece(member: number): TypedArrayOf<T> {
    return this.host.subarray(this.offsets[member], this.offsets[member] + this.counts[member]) as TypedArrayOf<T>;
  }

  /** Enqueues the copies from the host to the members, in stream `stream` of each; the host may change as soon as this returns. */
  upload(stream = 0): void {
    this.views.forEach((view, n) => localOf(this.set, n).queue(stream).write(view, this.piece(n)));
  }

  /** Brings the members' pieces to the host, as they are once everything before in stream `stream` of each is done. */
  async download(stream = 0): Promise<TypedArrayOf<T>> {
    const pieces = await Promise.all(this.views.map((view, n) => localOf(this.set, n).queue(stream).read(view)));
    pieces.forEach((piece, n) => this.host.set(piece, this.offsets[n]));
    return this.host;
  }

  free(): void {
    for (const view of this.views) view.free();
  }
}
