import { LaunchError } from "../../base/errors.js";
import type { Message, Transport } from "../transport.js";
import type { Communicator } from "./communicator.js";
import type { End, Requests } from "./requests.js";

/** Tags that every MPI has: 0 to 32767. */
const TAGS = 32768;
/** Distance of a message's tags in consecutive submissions; odd, so that all tags are used. */
const STRIDE = 1021;

/** The ends in this process of messages that are posted together. */
interface Ends {
  readonly receives: readonly OwnEnd[];
  readonly sends: readonly OwnEnd[];
}

interface OwnEnd {
  readonly message: Message;
  readonly end: End;
}

/** Messages between host memories by MPI. */
export class MpiTransport implements Transport {
  private readonly requests: Requests;
  /** Added to the numbers of this submission's messages: with one tag the next message would take the place of one that was lost. */
  private shift = -STRIDE;
  /** Ends of messages in this process, by the list that was posted. */
  private readonly checked = new WeakMap<readonly Message[], Ends>();

  /** @param rankOf the rank of each member */
  constructor(
    private readonly ranks: Communicator,
    private readonly rankOf: readonly number[],
  ) {
    this.requests = ranks.requests();
  }

  post(messages: readonly Message[]): void {
    const shift = (this.shift = (this.shift + STRIDE) % TAGS);
    let ends = this.checked.get(messages);
    if (!ends) this.checked.set(messages, (ends = this.endsOf(messages)));
    for (const { message, end } of ends.receives) this.requests.begin(end, (message.number + shift) % TAGS);
    for (const { message, end } of ends.sends)
      this.requests.begin(end, (message.number + shift) % TAGS, message.leading && sentOf(message));
  }

  /** Checks messages that are posted for the first time. */
  private endsOf(messages: readonly Message[]): Ends {
    for (const message of messages) this.check(message);
    const of = (side: "source" | "target"): OwnEnd[] =>
      messages.flatMap((message) => {
        const memory = message[side];
        if (!memory) return [];
        const { name, leading } = message;
        const end =
          side === "source"
            ? this.requests.end("to", memory, this.rankOf[message.to], name)
            : this.requests.end("from", memory, this.rankOf[message.from], name, leading !== undefined);
        return [{ message, end }];
      });
    return { receives: of("target"), sends: of("source") };
  }

  test(): boolean {
    return this.requests.test();
  }

  arrived(where: string): Promise<void> {
    return this.ranks.complete(this.requests, where);
  }

  waitNow(where: string): void {
    this.ranks.completeNow(this.requests, where);
  }

  /** Refuses a message that would leave its other end waiting, or whose memory has another size. */
  private check(message: Message): void {
    const wrong = this.wrongWith(message);
    if (wrong === undefined) return;
    const { from, to, name } = message;
    throw new LaunchError(`message "${name}" from member ${from} to member ${to}, posted by rank ${this.ranks.rank}, ${wrong}`);
  }

  private wrongWith({ from, to, bytes, source, target }: Message): string | undefined {
    const { rank } = this.ranks;
    const [giver, taker] = [this.rankOf[from], this.rankOf[to]];
    if (giver === undefined || taker === undefined) return `names a member that is not in the set: it has ${this.rankOf.length}`;
    const sends = giver === rank;
    if (sends === (taker === rank)) return `has ${sends ? "both ends" : "no end"} in that process`;
    const memory = sends ? source : target;
    if (!memory || (sends ? target : source)) return "needs memory for its one end in that process";
    return memory.byteLength === bytes ? undefined : `has ${bytes} bytes, and its memory ${memory.byteLength}`;
  }
}

/** Bytes of a message that are sent. Throws LaunchError for more than it may have. */
function sentOf({ name, bytes, leading }: Message): number {
  const sent = leading?.() ?? bytes;
  if (!(sent >= 0 && sent <= bytes)) throw new LaunchError(`message "${name}" is to have ${sent} bytes of ${bytes} at most`);
  return sent;
}
