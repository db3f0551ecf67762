import { LaunchError } from "../../ir/errors.js";
import type { Message, Transport } from "../transport.js";
import type { Communicator } from "./communicator.js";
import type { Requests } from "./requests.js";

/** Tags that every MPI has: 0 to 32767. */
const TAGS = 32768;
/** Distance of a message's tags in consecutive submissions; odd, so that all tags are used. */
const STRIDE = 1021;

/** Messages between host memories by MPI. */
export class MpiTransport implements Transport {
  private readonly requests: Requests;
  private submissions = 0;

  /** @param rankOf the rank of each member */
  constructor(
    private readonly ranks: Communicator,
    private readonly rankOf: readonly number[],
  ) {
    this.requests = ranks.requests();
  }

  post(messages: readonly Message[]): void {
    const submission = this.submissions++;
    // A tag of its own for each submission: with one tag the next message would take the place of one that was lost.
    const tagOf = ({ number }: Message): number => (number + STRIDE * submission) % TAGS;
    for (const message of messages) this.check(message);
    for (const message of messages)
      if (message.target)
        this.requests.receive(message.target, this.rankOf[message.from], tagOf(message), message.name, message.leading !== undefined);
    for (const message of messages)
      if (message.source) this.requests.send(message.source, this.rankOf[message.to], tagOf(message), message.name, sentOf(message));
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
  const sent = leading ? leading() : bytes;
  if (!(sent >= 0 && sent <= bytes)) throw new LaunchError(`message "${name}" is to have ${sent} bytes of ${bytes} at most`);
  return sent;
}
