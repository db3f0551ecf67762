import type { ElementToken } from "../device/device.js";
import { typedArray, type NumberArrayOf, type View } from "../device/memory/view.js";
import type { NumberType } from "../ir/types.js";
import { LaunchError } from "../base/errors.js";
import type { DeviceSet } from "./device-set.js";
import { byLocal } from "./member.js";
import { readPieces } from "./pieces.js";

/**
 * An array that is cut into one piece for each member: the host sees it whole, each member its own piece (the MemSet of Neon, Meneghin
 * et al. 2022, section IV-B). How it is cut is the caller's choice; nothing moves until `upload` or `download`. In several processes each has the
 * whole array on the host, and the pieces of its own members on devices.
 */
export class Partitioned<T extends NumberType | "u8" = NumberType | "u8"> {
  readonly type: T;
  /** The pieces one after the other, as the host sees them. */
  readonly host: NumberArrayOf<T>;
  /** Start of each member's piece in `host`. */
  readonly offsets: readonly number[];
  /** The piece of each member of this process in its memory, of rank 1, at the member's number; zero at first. */
  readonly views: readonly View<T>[];

  /** @param counts elements of each member's piece, 0 or more */
  constructor(
    readonly set: DeviceSet,
    { type }: ElementToken<T>,
    readonly counts: readonly number[],
  ) {
    if (counts.length !== set.members.length)
      throw new LaunchError(`${counts.length} pieces for the ${set.members.length} members of ${set.name}: give one count for each`);
    this.type = type;
    this.views = byLocal(set, ({ device }, n) => device.array({ type }, counts[n]));
    this.offsets = counts.map((_, n) => counts.slice(0, n).reduce((a, b) => a + b, 0));
    this.host = typedArray(
      type,
      counts.reduce((a, b) => a + b, 0),
    ) as NumberArrayOf<T>;
  }

  /** The host's view of one member's piece, in the same memory as `host`. */
  piece(member: number): NumberArrayOf<T> {
    return this.host.subarray(this.offsets[member], this.offsets[member] + this.counts[member]) as NumberArrayOf<T>;
  }

  /** Enqueues the copies from the host to this process's members, in stream `stream` of each; the host may change as soon as this returns. */
  upload(stream = 0): void {
    for (const member of this.set.locals) member.queue(stream).write(this.views[member.index], this.piece(member.index));
  }

  /** Brings the members' pieces to the host of every process, as they are once everything before in stream `stream` of each is done; all processes call it. */
  async download(stream = 0): Promise<NumberArrayOf<T>> {
    const pieces = await readPieces(this.set, this.views, this.counts, "a partitioned array", stream);
    pieces.forEach((piece, n) => this.host.set(piece, this.offsets[n]));
    return this.host;
  }

  free(): void {
    this.views.forEach((view) => view.free());
  }
}
