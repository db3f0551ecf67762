import { IsoformError } from "../../ir/errors.js";
import type { Calls } from "./calls.js";

/** The most bytes of one message: counts of MPI are ints. */
export const LARGEST_PIECE = 2 ** 31 - 1;

/** Sizes whose statuses are kept. */
const MOST_SIZES = 256;

/** One message, or one of the pieces that a long one is cut into. */
interface Posted {
  readonly kind: "from" | "to" | "all";
  /** The other rank; -1 for all. */
  readonly partner: number;
  readonly name: string;
  readonly bytes: number;
  /** Fewer may come. */
  readonly atMost: boolean;
  /** Memory, held until the request is complete: MPI has its address only. */
  readonly memory: ArrayBufferView | readonly ArrayBufferView[];
}

/** Begins one operation of MPI, which writes its request to an address. */
type Begin = (request: number) => void;

/** Requests of MPI that are under way, with the memory that they use. */
export class Requests {
  private posted: Posted[] = [];
  private handles = new Uint8Array(0);
  private statuses = new Uint8Array(0);
  /** Addresses of the two. */
  private firstHandle = 0;
  private firstStatus = 0;
  /** The statuses as words. */
  private words = new Int32Array(0);
  /** Status of a message whose size MPI has told, by that size: see `hasKnownSize`. */
  private readonly sized = new Map<number, Int32Array>();
  private readonly flag = new Int32Array(1);
  private readonly flagAddress: number;
  private readonly received = new Int32Array(1);
  private readonly receivedAddress: number;

  /**
   * @param communicator its handle
   * @param piece the most bytes of one message; the same on all ranks
   */
  constructor(
    private readonly calls: Calls,
    private readonly communicator: number,
    private readonly piece = LARGEST_PIECE,
  ) {
    this.flagAddress = calls.address(this.flag);
    this.receivedAddress = calls.address(this.received);
  }

  /**
   * Begins to send memory, which must not change until the requests are complete.
   * @param sent bytes at its begin; default: all
   */
  send(memory: ArrayBufferView, to: number, tag: number, name: string, sent = memory.byteLength): void {
    this.transfer("MPI_Isend", memory, sent, { kind: "to", partner: to, name, atMost: false, memory }, tag);
  }

  /**
   * Begins to receive as many bytes as the memory has: fewer are an error.
   * @param atMost whether fewer may come
   */
  receive(memory: ArrayBufferView, from: number, tag: number, name: string, atMost = false): void {
    this.transfer("MPI_Irecv", memory, memory.byteLength, { kind: "from", partner: from, name, atMost, memory }, tag);
  }

  /** Begins an operation of all ranks. */
  collective(name: string, memory: readonly ArrayBufferView[], begin: Begin): void {
    begin(this.next());
    this.posted.push({ kind: "all", partner: -1, name, bytes: 0, atMost: false, memory });
  }

  /**
   * Lets messages proceed; true once all requests are complete, and their memory is let go.
   * @throws IsoformError for a message that failed, or whose size is not the expected one
   */
  test(): boolean {
    const { posted } = this;
    if (posted.length === 0) return true;
    const code = this.calls.functions.MPI_Testall(posted.length, this.firstHandle, this.flagAddress, this.firstStatus);
    if (code !== 0) throw this.failure(code);
    if (this.flag[0] === 0) return false;
    this.posted = [];
    for (let n = 0; n < posted.length; n++) if (posted[n].kind === "from") this.requireSize(posted[n], n);
    return true;
  }

  /** The messages that have not arrived, in words: `"u" from 1 and 3`. */
  missing(): string {
    const { abi, functions } = this.calls;
    const open = this.posted.filter((_, n) => {
      const status = this.firstStatus + n * abi.statusBytes;
      functions.MPI_Test(this.firstHandle + n * abi.handleBytes, this.flagAddress, status);
      return this.flag[0] === 0;
    });
    // Receives first: a send often waits only because its receiver does.
    const lists = (["from", "all", "to"] as const).flatMap((kind) => {
      const names = new Map<string, Set<number>>();
      for (const one of open) if (one.kind === kind) names.set(one.name, (names.get(one.name) ?? new Set()).add(one.partner));
      return [...names].map(([name, partners]) => partnersText(kind, name, [...partners]));
    });
    return lists.join(", ");
  }

  /** Begins to send or receive the first bytes of memory, in as many pieces as it has. */
  private transfer(
    call: "MPI_Isend" | "MPI_Irecv",
    memory: ArrayBufferView,
    used: number,
    about: Omit<Posted, "bytes">,
    tag: number,
  ): void {
    const begin = this.calls.functions[call];
    const address = this.calls.address(memory);
    const { byteLength } = memory;
    const { kind, partner, name, atMost } = about;
    let at = 0;
    do {
      const bytes = Math.max(0, Math.min(this.piece, used - at));
      const code = begin(address && address + at, bytes, this.calls.abi.byte, partner, tag, this.communicator, this.next());
      if (code !== 0) this.fail(call, code);
      // Spelt out: a spread takes over a microsecond.
      this.posted.push({ kind, partner, name, bytes, atMost, memory });
      at += this.piece;
    } while (at < byteLength);
  }

  /** Address of the next request's handle. */
  private next(): number {
    this.reserve(this.posted.length + 1);
    return this.firstHandle + this.posted.length * this.calls.abi.handleBytes;
  }

  /** Makes room for handles and statuses, twice as much as before. MPI has no address of theirs between calls. */
  private reserve(count: number): void {
    const { handleBytes, statusBytes } = this.calls.abi;
    if (count * handleBytes <= this.handles.length) return;
    const room = Math.max(16, 2 * count);
    const handles = new Uint8Array(room * handleBytes);
    handles.set(this.handles);
    this.handles = handles;
    this.statuses = new Uint8Array(room * statusBytes);
    this.words = new Int32Array(this.statuses.buffer);
    this.firstHandle = this.calls.address(this.handles);
    this.firstStatus = this.calls.address(this.statuses);
  }

  /** Compares the bytes that came with those expected: a program that went another way on the other rank may have sent fewer. */
  private requireSize({ partner, name, bytes, atMost }: Posted, n: number): void {
    if (this.hasKnownSize(bytes, n)) return;
    const status = this.firstStatus + n * this.calls.abi.statusBytes;
    const code = this.calls.functions.MPI_Get_count(status, this.calls.abi.byte, this.receivedAddress);
    if (code !== 0) this.fail("MPI_Get_count", code);
    if (this.received[0] === bytes) return this.keepSize(bytes, n);
    if (!(atMost && this.received[0] < bytes))
      throw new IsoformError(
        `${this.received[0]} bytes of "${name}" came from rank ${partner}, and ${bytes} were expected: the ranks' programs differ; run the same program with the same settings on all ranks`,
      );
  }

  /**
   * Whether a status equals the one of an earlier message of this size, in everything but source, tag and error, which lie side by side: MPI finds the count in the rest, and a
   * call takes as long as a short message.
   */
  private hasKnownSize(bytes: number, n: number): boolean {
    const known = this.sized.get(bytes);
    if (!known) return false;
    const { statusBytes, statusError } = this.calls.abi;
    const [begin, last] = [(n * statusBytes) >> 2, statusError >> 2];
    for (let k = 0; k < known.length; k++) if ((k < last - 2 || k > last) && this.words[begin + k] !== known[k]) return false;
    return true;
  }

  private keepSize(bytes: number, n: number): void {
    const length = this.calls.abi.statusBytes >> 2;
    if (this.sized.size >= MOST_SIZES) this.sized.clear();
    this.sized.set(bytes, this.words.slice(n * length, (n + 1) * length));
  }

  /** Names the message that failed, where a status tells. */
  private failure(code: number): IsoformError {
    const { statusBytes, statusError } = this.calls.abi;
    const view = new DataView(this.statuses.buffer);
    const codes = this.posted.map((_, n) => view.getInt32(n * statusBytes + statusError, true));
    const failed = codes.findIndex((one) => one !== 0 && /trunc/i.test(this.calls.errorText(one)));
    if (failed < 0)
      return new IsoformError(`messages between ranks failed (${this.posted.length} under way): ${this.calls.errorText(code)}`);
    const { kind, partner, name, bytes } = this.posted[failed];
    return new IsoformError(`"${name}" ${kind} rank ${partner}, ${bytes} bytes: ${this.calls.errorText(codes[failed])}`);
  }

  private fail(name: string, code: number): never {
    throw new IsoformError(`${name} failed: ${this.calls.errorText(code)}`);
  }
}

function partnersText(kind: Posted["kind"], name: string, partners: readonly number[]): string {
  if (kind === "all") return `${name} of all ranks`;
  const ranks = [...partners].sort((a, b) => a - b);
  const listed = ranks.length > 1 ? `${ranks.slice(0, -1).join(", ")} and ${ranks.at(-1)}` : `${ranks[0]}`;
  return kind === "from" ? `"${name}" from ${listed}` : `${listed} to take "${name}"`;
}
