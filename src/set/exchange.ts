import { BYTES, type View } from "../device/memory/view.js";
import { LaunchError } from "../ir/errors.js";
import { copyBetween } from "./copy.js";
import type { DeviceSet } from "./device-set.js";
import { isLocal } from "./member.js";
import type { Message } from "./transport.js";

/** A copy between two members: a message where they are of different processes. A view is undefined where its member is of another process. */
export interface MemberCopy {
  readonly from: number;
  readonly to: number;
  readonly source?: View;
  readonly target?: View;
  /**
   * How many elements at the begin of the source count when the copy begins, where not all do; called where `from` is in this process, and absent or there on
   * all. A message has only these; a copy in one process has all.
   */
  readonly leading?: () => number;
}

/** The number in a view of one i32 in the host's memory. */
export function numberIn({ buffer, offset, type }: View<"i32">): number {
  const host = buffer.host;
  if (host === undefined)
    throw new LaunchError("a number is needed from memory that is not the host's: use wasm, native or js, or one process");
  return new Int32Array(host, Number(buffer.address) + offset * BYTES[type], 1)[0];
}

/** Whether a copy's members are of different processes. */
export const isMessage = ({ members }: Pick<DeviceSet, "members">, { from, to }: MemberCopy): boolean =>
  members[from].rank !== members[to].rank;

/** Copies between members of this process, in stream `stream` of each. */
export function copyLocally({ members }: Pick<DeviceSet, "members">, copies: readonly MemberCopy[], stream: number): void {
  for (const { from, to, source, target } of copies) {
    const [giver, taker] = [members[from], members[to]];
    if (isLocal(giver) && isLocal(taker)) copyBetween(source!, target!, giver.queue(stream), taker.queue(stream));
  }
}

/**
 * The messages that some copies mean to this process. All processes list the same copies.
 * @param name for errors: of what is sent
 * @param first number of the first copy in its program
 */
export function messagesOf({ members }: Pick<DeviceSet, "members">, copies: readonly MemberCopy[], name: string, first = 0): Message[] {
  return copies.flatMap((copy, n): Message[] => {
    const { from, to, source, target, leading } = copy;
    if (!isMessage({ members }, copy)) return [];
    const element = BYTES[(source ?? target)?.type ?? "u8"];
    const shared = { from, to, number: first + n, name, ...(leading && { leading: () => leading() * element }) };
    if (isLocal(members[from])) return [{ ...shared, ...sent("source", source!, name) }];
    return isLocal(members[to]) ? [{ ...shared, ...sent("target", target!, name) }] : [];
  });
}

/** The end of a message in the host's memory. Throws LaunchError for a view that is not one piece of it. */
function sent(end: "source" | "target", view: View, name: string): Pick<Message, "bytes" | "source" | "target"> {
  const { buffer, offset, type, size } = view;
  if (buffer.host === undefined || !view.contiguous)
    throw new LaunchError(`a message of "${name}" needs a contiguous view of the host's memory: use wasm, native or js, or one process`);
  const bytes = size * BYTES[type];
  return { bytes, [end]: new Uint8Array(buffer.host, Number(buffer.address) + offset * BYTES[type], bytes) };
}

/**
 * Does copies, in stream 0 of each member of this process, and waits for messages. All processes call it with the same copies, when their devices
 * are at rest.
 * @param where for the message of a wait without end: `container "wave"`
 */
export function exchangeNow(set: DeviceSet, copies: readonly MemberCopy[], name: string, where: string): void {
  copyLocally(set, copies, 0);
  if (!copies.some((copy) => isMessage(set, copy))) return;
  set.transport!.post(messagesOf(set, copies, name));
  set.transport!.waitNow(where);
}
