import { hostArray } from "../device/cpu/host-view.js";
import { BYTES, type View } from "../device/memory/view.js";
import { LaunchError } from "../base/errors.js";
import { copyBetween } from "./copy.js";
import type { CarriedEnd, Carrier } from "./carrier.js";
import type { DeviceSet } from "./device-set.js";
import { isLocal, type LocalMember } from "./member.js";
import { deliver, postMessages, MessageStage, type StagedMessage } from "./staging.js";

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
export function numberIn(view: View<"i32">): number {
  if (view.buffer.host === undefined)
    throw new LaunchError("a number is needed from memory that is not the host's: use wasm, native or js, or one process");
  return hostArray(view)[0];
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
 * @param stages ways through the host's memory that are there already, by copy; new ones are added
 */
export function messagesOf(
  { members }: Pick<DeviceSet, "members">,
  copies: readonly MemberCopy[],
  name: string,
  first = 0,
  stages = new Map<MemberCopy, MessageStage>(),
): StagedMessage[] {
  return copies.flatMap((copy, n): StagedMessage[] => {
    const { from, to, source, target, leading } = copy;
    if (!isMessage({ members }, copy)) return [];
    const [giver, taker] = [members[from], members[to]];
    const own = source ?? target;
    // The host cannot look into a device's memory for how much there is.
    const isShort = leading && own?.buffer.host !== undefined;
    const shared = { from, to, number: first + n, name, ...(isShort && { leading: () => leading() * BYTES[own.type] }) };
    const stageOf = (view: View, member: LocalMember): MessageStage => {
      const stage = stages.get(copy) ?? new MessageStage(view, member);
      stages.set(copy, stage);
      return stage;
    };
    if (isLocal(giver)) return [{ ...shared, ...sent("source", source!, name, (view) => stageOf(view, giver)) }];
    return isLocal(taker) ? [{ ...shared, ...sent("target", target!, name, (view) => stageOf(view, taker)) }] : [];
  });
}

/** The end of a message, in the host's memory at last. Throws LaunchError for a view that is not one piece of it. */
function sent(
  end: "source" | "target",
  view: View,
  name: string,
  stageOf: (view: View) => MessageStage,
): Pick<StagedMessage, "bytes" | "source" | "target" | "stage"> {
  const { buffer, offset, type, size } = view;
  requireContiguous(view, name);
  const bytes = size * BYTES[type];
  if (buffer.host === undefined) {
    const stage = stageOf(view);
    return { bytes, [end]: stage.bytes, stage };
  }
  return { bytes, [end]: new Uint8Array(buffer.host, Number(buffer.address) + offset * BYTES[type], bytes) };
}

/** The other rank's end of a copy that is a message from or to this process; undefined for other copies. */
export function carriedEnd({ members }: Pick<DeviceSet, "members">, copy: MemberCopy, name: string): CarriedEnd | undefined {
  const [giver, taker] = [members[copy.from], members[copy.to]];
  const sends = isLocal(giver);
  if (sends === isLocal(taker)) return undefined;
  const view = sends ? copy.source! : copy.target!;
  requireContiguous(view, name);
  return sends ? { way: "send", rank: taker.rank, view } : { way: "receive", rank: giver.rank, view };
}

/** The ranks to or from which copies of this process's members go. */
export function partnersOf({ members }: Pick<DeviceSet, "members">, copies: readonly MemberCopy[]): number[] {
  const partners = copies.flatMap(({ from, to }) => {
    const [giver, taker] = [members[from], members[to]];
    if (isLocal(giver) === isLocal(taker)) return [];
    return isLocal(giver) ? [taker.rank] : [giver.rank];
  });
  return [...new Set(partners)];
}

/**
 * Copies between members that are done again and again, in stream 0 of each member of this process, with messages where they are of different processes.
 * All processes make it with the same copies.
 */
export class Exchange {
  /** Ways of messages through the host's memory, by copy; made once, as drivers take long for such memory. */
  private readonly stages = new Map<MemberCopy, MessageStage>();
  private readonly hasMessages: boolean;
  /** Ends of messages that go without the host, and their other ranks; found once. */
  private carried: { readonly ends: readonly CarriedEnd[]; readonly partners: readonly number[] } | undefined;

  /** @param where for the message of a wait without end: `container "wave"` */
  constructor(
    private readonly set: DeviceSet,
    private readonly copies: readonly MemberCopy[],
    private readonly name: string,
    private readonly where: string,
  ) {
    this.hasMessages = copies.some((copy) => isMessage(set, copy));
  }

  /** Does the copies, after what stream 0 of each member was given, and waits for messages. All processes call it. */
  run(): void {
    const { set, copies, name, where, stages } = this;
    copyLocally(set, copies, 0);
    if (!this.hasMessages) return;
    if (set.carrier) return this.carry(set.carrier);
    const messages = messagesOf(set, copies, name, 0, stages);
    postMessages(set.transport!, messages);
    set.transport!.waitNow(where);
    deliver(messages);
  }

  /** Enqueues the messages; the host does not wait. */
  private carry(carrier: Carrier): void {
    const { set, copies, name, where } = this;
    this.carried ??= { ends: copies.flatMap((copy) => carriedEnd(set, copy, name) ?? []), partners: partnersOf(set, copies) };
    const { ends, partners } = this.carried;
    carrier.connect(partners);
    if (ends.length === 0) return;
    const queue = set.locals[0].queue(0);
    carrier.submitting();
    carrier.enqueue(ends, queue);
    carrier.submitted(queue, `in ${where}`, ends.length);
  }

  /** Waits until the devices have what has come for them, and gives back memory. */
  free(): void {
    for (const stage of this.stages.values()) stage.free();
    this.stages.clear();
  }
}

/** Does copies once: see `Exchange`. */
export function exchangeNow(set: DeviceSet, copies: readonly MemberCopy[], name: string, where: string): void {
  const exchange = new Exchange(set, copies, name, where);
  exchange.run();
  exchange.free();
}

function requireContiguous(view: View, name: string): void {
  if (!view.contiguous) throw new LaunchError(`a message of "${name}" needs a contiguous view: use one process`);
}
