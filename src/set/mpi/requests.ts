import { IsoformError } from "../../base/errors.js";
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

/** A piece of memory that is sent or received. */
interface Piece extends Posted {
  readonly kind: "from" | "to";
  /** Bytes of the memory before it. */
  readonly at: number;
  readonly address: number;
}

/** An end of a message in this process: what is looked up once where it is posted often, as one call costs as much as a short message. */
export interface End {
  readonly pieces: readonly Piece[];
}

/** Begins one operation of MPI, which writes its request to an address. */
type Begin = (request: number) => void;

/** Requests of MPI that are under way, with the memory that they use. */
export class Requests {
  /** Requests under way are the first `count`, the others undefined: kept, for a new list costs as much as a call. */
  private readonly posted: (Posted | undefined)[] = [];
  private count = 0;
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
   * An end that is posted with `begin`, as often as wanted.
   * @param kind whether the memory receives from the partner, or is sent to it
   * @param atMost whether fewer bytes may come; else that is an error
   */
  end(kind: "from" | "to", memory: ArrayBufferView, partner: number, name: string, atMost = false): End {
    const begin = this.calls.address(memory);
    const pieces: Piece[] = [];
    let at = 0;
    do {
      const bytes = Math.min(this.piece, memory.byteLength - at);
      pieces.push({ kind, partner, name, bytes, atMost, memory, at, address: begin && begin + at });
      at += this.piece;
    } while (at < memory.byteLength);
    return { pieces };
  }

  /**
   * Begins to receive, or to send memory, which must not change until the requests are complete.
   * @param sent bytes at its begin; default: all
   */
  begin({ pieces }: End, tag: number, sent?: number): void {
    const { functions, abi } = this.calls;
    for (const piece of pieces) {
      const { kind, partner, address, at } = piece;
      const bytes = sent === undefined ? piece.bytes : Math.max(0, Math.min(piece.bytes, sent - at));
      const request = this.next();
      const code =
        kind === "from"
          ? functions.MPI_Irecv(address, bytes, abi.byte, partner, tag, this.communicator, request)
          : functions.MPI_Isend(address, bytes, abi.byte, partner, tag, this.communicator, request);
      if (code !== 0) this.fail(kind === "from" ? "MPI_Irecv" : "MPI_Isend", code);
      this.posted[this.count++] = piece;
    }
  }

  /** Begins to send memory once. */
  send(memory: ArrayBufferView, to: number, tag: number, name: string, sent?: number): void {
    this.begin(this.end("to", memory, to, name), tag, sent);
  }

  /** Begins to receive once. */
  receive(memory: ArrayBufferView, from: number, tag: number, name: string, atMost = false): void {
    this.begin(this.end("from", memory, from, name, atMost), tag);
  }

  /** Begins an operation of all ranks. */
  collective(name: string, memory: readonly ArrayBufferView[], begin: Begin): void {
    begin(this.next());
    this.posted[this.count++] = { kind: "all", partner: -1, name, bytes: 0, atMost: false, memory };
  }

  /**
   * Lets messages proceed; true once all requests are complete, and their memory is let go.
   * @throws IsoformError for a message that failed, or whose size is not the expected one
   */
  test(): boolean {
    const { posted, count } = this;
    if (count === 0) return true;
    const code = this.calls.functions.MPI_Testall(count, this.firstHandle, this.flagAddress, this.firstStatus);
    if (code !== 0) throw this.failure(code);
    if (this.flag[0] === 0) return false;
    this.count = 0;
    for (let n = 0; n < count; n++) {
      const one = posted[n]!;
      posted[n] = undefined;
      if (one.kind === "from") this.requireSize(one, n);
    }
    return true;
  }

  /** The messages that have not arrived, in words: `"u" from 1 and 3`. */
  missing(): string {
    const { abi, functions } = this.calls;
    const open = this.underWay.filter((_, n) => {
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

  private get underWay(): readonly Posted[] {
    return this.posted.slice(0, this.count) as Posted[];
  }

  /** Address of the next request's handle. */
  private next(): number {
    this.reserve(this.count + 1);
    return this.firstHandle + this.count * this.calls.abi.handleBytes;
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
    const posted = this.underWay;
    const codes = posted.map((_, n) => view.getInt32(n * statusBytes + statusError, true));
    const failed = codes.findIndex((one) => one !== 0 && /trunc/i.test(this.calls.errorText(one)));
    if (failed < 0) return new IsoformError(`messages between ranks failed (${posted.length} under way): ${this.calls.errorText(code)}`);
    const { kind, partner, name, bytes } = posted[failed];
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
