import { deserialize, serialize } from "node:v8";
import { LaunchError } from "../../base/errors.js";
import type { Job } from "../job.js";
import type { Calls } from "./calls.js";
import { announcement, announcedSizes, ANNOUNCEMENT } from "./announcement.js";
import { LARGEST_PIECE, Requests } from "./requests.js";
import { waitNow, waitUntil } from "./waiting.js";

const BARRIER = "a barrier";
/** The last call of each rank. */
const END = "the end of the program";

/** Limits of a communicator, the same on all ranks. */
export interface CommunicatorOptions {
  /** Seconds after which a wait ends the job. */
  readonly patience: number;
  /** The most bytes of one message. */
  readonly piece?: number;
}

/** The order of calls of several steps on one handle of MPI, which several communicators may have. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();
  private count = 0;
  private awaited: string | undefined;

  /** A call that waits for a value of this process, while others wait for their turn: if the program is at its end then, the value waits for one of them. */
  get stuck(): string | undefined {
    return this.count > 1 ? this.awaited : undefined;
  }

  /** Awaits, within a turn, the value that a call is given. */
  async value<T>(value: T | Promise<T>, what: string): Promise<T> {
    this.awaited = what;
    try {
      return await value;
    } finally {
      this.awaited = undefined;
    }
  }

  /** Does work after the work of earlier calls: MPI needs one order on all ranks, whichever call ends first on one. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.count++;
    const result = this.last.then(work).finally(() => this.count--);
    this.last = result.catch(() => undefined);
    return result;
  }
}

/**
 * Ranks that exchange messages. Collective functions are called by all of its ranks, in one order. `barrier`, `share` and `exchange` compare what they are
 * called for, so that a value of one call is never taken for another's.
 */
export class Communicator {
  readonly rank: number;
  readonly count: number;
  /**
   * @param handle MPI's handle, of a communicator that returns errors
   * @param job the processes that a wait without end ends
   */
  constructor(
    private readonly calls: Calls,
    private readonly handle: number,
    private readonly job: Job,
    private readonly options: CommunicatorOptions,
    private readonly turns = new Turns(),
  ) {
    this.rank = calls.int("MPI_Comm_rank", handle);
    this.count = calls.int("MPI_Comm_size", handle);
  }

  /** Makes a list of requests, at first empty. */
  requests(): Requests {
    return new Requests(this.calls, this.handle, this.options.piece);
  }

  /**
   * Waits until requests are complete. Longer than the patience, and all processes are ended, with a message that names the ranks waited for.
   * @param where for that message: `skeleton "cg", iteration 12`
   */
  async complete(requests: Requests, where = ""): Promise<void> {
    const { patience } = this.options;
    if (!(await waitUntil(() => requests.test(), patience))) this.giveUp(requests, where);
  }

  /** The same without a turn of the event loop. */
  completeNow(requests: Requests, where = ""): void {
    // Most short messages are there: a wait costs as much as they do.
    if (!requests.test() && !waitNow(() => requests.test(), this.options.patience)) this.giveUp(requests, where);
  }

  /**
   * Returns once all ranks have called it.
   * @throws IsoformError on all ranks alike where some have called something else
   */
  async barrier(what = BARRIER): Promise<void> {
    await this.turns.inTurn(() => this.announce(what));
  }

  /**
   * Returns once all ranks have called it: a barrier where a process ends, which blocks it.
   * @param apart is told the error that ranks throw which wait for this one in another call
   */
  waitAtExit(apart: (error: Error) => void): void {
    for (;;) {
      const all = this.gatherNow(announcement(END, 0), END);
      try {
        return void announcedSizes(all);
      } catch (error) {
        apart(error as Error);
      }
    }
  }

  /** Copies memory of rank `root` to the memory of all others, which has the same size. */
  async broadcast(memory: ArrayBufferView, root: number): Promise<void> {
    const requests = this.requests();
    const [address, { piece = LARGEST_PIECE }] = [this.calls.address(memory), this.options];
    for (let at = 0; at < memory.byteLength; at += piece) {
      const bytes = Math.min(piece, memory.byteLength - at);
      requests.collective("a broadcast", [memory], (request) =>
        this.calls.call("MPI_Ibcast", address + at, bytes, this.calls.abi.byte, root, this.handle, request),
      );
    }
    await this.complete(requests);
  }

  /** Gathers memory of one size from each rank, rank by rank, on all ranks. */
  async allGather(own: ArrayBufferView, all: ArrayBufferView, what?: string): Promise<void> {
    await this.allGatherVarying(own, all, Array<number>(this.count).fill(own.byteLength), what);
  }

  /**
   * Gathers memory of any sizes, rank by rank, on all ranks.
   * @param bytes of each rank
   * @param what is gathered, for the message of a wait without end
   * @throws LaunchError where the sizes do not fit the memory
   */
  async allGatherVarying(own: ArrayBufferView, all: ArrayBufferView, bytes: readonly number[], what = "an allgather"): Promise<void> {
    const begins = bytes.map(
      (
        (sum) => (each: number) =>
          (sum += each) - each
      )(0),
    );
    const total = begins[this.count - 1] + bytes[this.count - 1];
    if (bytes.length !== this.count || own.byteLength !== bytes[this.rank] || all.byteLength !== total)
      throw new LaunchError(
        `${own.byteLength} bytes of rank ${this.rank} and room for ${all.byteLength}: ${this.count} ranks with ${bytes.join(", ")} bytes were named`,
      );
    const { piece = LARGEST_PIECE } = this.options;
    if (total > piece) return this.allGatherLong(own, all, bytes, begins);
    const [counts, places] = [Int32Array.from(bytes), Int32Array.from(begins)];
    await this.collective(what, [own, all, counts, places], (request) => this.beginGather(own, all, counts, places, request));
  }

  /**
   * Rank `root`'s value, on all ranks, copied as by `structuredClone`.
   * @param what the value is, the same on all ranks
   * @throws IsoformError on all ranks alike where some ask for something else
   */
  share<T>(value: T, root: number, what: string): Promise<T> {
    return this.turns.inTurn(() => this.shareNext(value, root, what));
  }

  /** The values of all ranks, on all ranks, in the same way. */
  exchange<T>(value: T | Promise<T>, what: string): Promise<T[]> {
    return this.turns.inTurn(async () => this.exchangeNext(await this.turns.value(value, what), what));
  }

  private async shareNext<T>(value: T, root: number, what: string): Promise<T> {
    const own = this.rank === root ? serialize(value) : undefined;
    const sizes = await this.announce(what, own?.length);
    const bytes = own ?? new Uint8Array(sizes[root]);
    await this.broadcast(bytes, root);
    return deserialize(bytes) as T;
  }

  private async exchangeNext<T>(value: T, what: string): Promise<T[]> {
    const own = serialize(value);
    const sizes = await this.announce(what, own.length);
    const all = new Uint8Array(sizes.reduce((a, b) => a + b, 0));
    await this.allGatherVarying(own, all, sizes, what);
    let at = 0;
    return sizes.map((size) => deserialize(all.subarray(at, (at += size))) as T);
  }

  /** Tells all ranks what is called, and a size; returns the sizes by rank. Throws IsoformError on all ranks alike where they call different things. */
  private async announce(what: string, size = 0): Promise<number[]> {
    const all = new Uint8Array(ANNOUNCEMENT * this.count);
    await this.allGather(announcement(what, size), all, what);
    return announcedSizes(all);
  }

  /**
   * The bytes of all ranks, as many of each, rank by rank, without a turn of the event loop.
   * @param name of what is gathered, for the message of a wait without end
   */
  gatherNow(own: Uint8Array, name: string): Uint8Array {
    const all = new Uint8Array(own.length * this.count);
    const counts = new Int32Array(this.count).fill(own.length);
    const places = Int32Array.from({ length: this.count }, (_, rank) => rank * own.length);
    const requests = this.requests();
    requests.collective(name, [own, all, counts, places], (request) => this.beginGather(own, all, counts, places, request));
    this.completeNow(requests);
    return all;
  }

  /** Gathers more than one message can have: offsets of MPI are ints, too. Each rank broadcasts. */
  private async allGatherLong(
    own: ArrayBufferView,
    all: ArrayBufferView,
    bytes: readonly number[],
    begins: readonly number[],
  ): Promise<void> {
    const part = (rank: number): Uint8Array => new Uint8Array(all.buffer as ArrayBuffer, all.byteOffset + begins[rank], bytes[rank]);
    part(this.rank).set(new Uint8Array(own.buffer as ArrayBuffer, own.byteOffset, own.byteLength));
    for (let rank = 0; rank < this.count; rank++) await this.broadcast(part(rank), rank);
  }

  private beginGather(own: ArrayBufferView, all: ArrayBufferView, counts: Int32Array, places: Int32Array, request: number): void {
    const { byte } = this.calls.abi;
    const [from, to, sizes, offsets] = [own, all, counts, places].map((memory) => this.calls.address(memory));
    this.calls.call("MPI_Iallgatherv", from, own.byteLength, byte, to, sizes, offsets, byte, this.handle, request);
  }

  private giveUp(requests: Requests, where: string): never {
    this.job.abort(`waited ${this.options.patience} s for ${requests.missing()}${where && ` in ${where}`}`, 1);
  }

  private async collective(name: string, memory: readonly ArrayBufferView[], begin: (request: number) => void): Promise<void> {
    const requests = this.requests();
    requests.collective(name, memory, begin);
    await this.complete(requests);
  }
}
