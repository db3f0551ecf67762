import { typedArray, type NumberArrayOf, type View } from "../device/memory/view.js";
import type { NumberElement } from "../ir/types.js";
import type { DeviceSet } from "./device-set.js";

/** Values that a process gives to the others at once, at most; MPI counts bytes of a message in 31 bits. */
const AT_ONCE = 2 ** 26;

/**
 * The values of one view for each member of a set, in the order of members, on every process. All processes of a set call it.
 * @param views by number of member, of rank 1; views of other processes may be missing
 * @param lengths elements of each member's view
 * @param what the values are, for errors of ranks that go apart
 * @param stream whose work before is done
 */
export async function readPieces<T extends NumberElement>(
  { locals, members, ranks }: Pick<DeviceSet, "locals" | "members" | "ranks">,
  views: readonly View<T>[],
  lengths: readonly number[],
  what: string,
  stream = 0,
): Promise<NumberArrayOf<T>[]> {
  const found = await Promise.all(locals.map((member) => member.queue(stream).read(views[member.index])));
  const own = found as NumberArrayOf<T>[];
  if (!ranks) return own;
  const mine = new Map(locals.map(({ index }, n) => [index, own[n]]));
  const pieces: NumberArrayOf<T>[] = [];
  for (const { index, rank } of members) {
    const parts: NumberArrayOf<T>[] = [];
    // An empty piece is sent, too: it tells the type of its elements.
    for (let first = 0; first === 0 || first < lengths[index]; first += AT_ONCE) {
      const sent = await ranks.gather(
        mine.get(index)?.slice(first, first + AT_ONCE) as NumberArrayOf<T> | undefined,
        `${what} of member ${index}`,
      );
      parts.push(sent[rank]!);
    }
    pieces.push(mine.get(index) ?? joined(views[locals[0].index].type, parts));
  }
  return pieces;
}

function joined<T extends NumberElement>(type: T, parts: readonly NumberArrayOf<T>[]): NumberArrayOf<T> {
  if (parts.length === 1) return parts[0];
  const whole = typedArray(
    type,
    parts.reduce((sum, { length }) => sum + length, 0),
  ) as NumberArrayOf<T>;
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
