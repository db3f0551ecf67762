import type { GpuProgram, Entry as EntryCode } from "../../emit/c/gpu/program.js";
import { BYTES } from "../view.js";
import type { GpuEntry, GpuMachine, GpuMemory } from "./machine.js";
import { blocks, type Step, type Values } from "./steps.js";

/** Partial results of one reduction, one after the other. */
export interface Piece {
  readonly address: number;
  readonly count: number;
}

/** Partials that a thread folds at least, where there are as many: they are on their way at once, and one block needs no ticket. */
const A_THREAD = 8;
/** Pieces at most, one a block: the threads of the last block fold what all have. */
export const MOST_PIECES = 256;

/** GPUs that exchange their results while they fold: see emit/c/gpu/meeting.ts. */
export interface Meeting {
  readonly me: number;
  /** Addresses of the members' mailboxes. */
  readonly mailboxes: readonly number[];
}

/** Bytes of the mailbox of one of so many members. */
export const mailboxBytes = (members: number, reductions: number): number => 32 * members * reductions;

/** One run of a program's `finish` over partials from several places, and the memory that it needs. */
export class Gathering {
  readonly step: Step;
  readonly blocks: number;
  private readonly memory: GpuMemory;

  /**
   * @param partials by reduce parameter, in as many places and as many in each
   * @param values of the parameters `results` and `output:*`
   */
  constructor(
    gpu: GpuMachine,
    { reduces }: GpuProgram,
    finish: EntryCode,
    entry: GpuEntry,
    partials: ReadonlyMap<string, readonly Piece[]>,
    values: Values,
    { me, mailboxes }: Meeting = { me: 0, mailboxes: [] },
  ) {
    const threads = gpu.language.finishThreads;
    const lists = reduces.map(({ name, type }) => cut(partials.get(name)!, BYTES[type], A_THREAD * threads));
    this.blocks = lists[0].length;
    const table = 16 * this.blocks;
    const each = table + 8 * this.blocks;
    const end = each * reduces.length;
    this.memory = gpu.allocate(end + 16 + 8 * mailboxes.length);
    const places = reduces.map((_, n) => this.memory.address + n * each);
    lists.forEach((list, n) => {
      upload(
        gpu,
        places[n],
        list.flatMap(({ address, count }) => [address, count]),
      );
    });
    const [ticket, turn, addressesAt] = [0, 8, 16].map((offset) => this.memory.address + end + offset);
    if (mailboxes.length > 0) upload(gpu, addressesAt, mailboxes);
    const addresses = reduces.flatMap(({ name }, n) => [
      [`pieces:${name}`, places[n]],
      [`totals:${name}`, places[n] + table],
    ]);
    const meeting = { members: Math.max(1, mailboxes.length), me, mailboxes: addressesAt, turn };
    const own = { ...Object.fromEntries(addresses), ticket, ...meeting };
    this.step = gpu.kernelStep(finish, entry, { grid: [this.blocks, 1, 1], block: [threads, 1, 1] }, { ...values, ...own });
  }

  free(): void {
    this.memory.free();
  }
}

const upload = (gpu: GpuMachine, address: number, numbers: readonly number[]): void =>
  gpu.upload(address, new Uint32Array(BigUint64Array.from(numbers.map(BigInt)).buffer));

/** Cuts the partials into pieces of about one size, `least` where there are as many, a place at a time. */
function cut(partials: readonly Piece[], bytes: number, least: number): Piece[] {
  const total = partials.reduce((sum, { count }) => sum + count, 0);
  const length = Math.max(least, blocks(total, Math.max(1, MOST_PIECES - partials.length)));
  return partials.flatMap(({ address, count }) =>
    Array.from({ length: Math.max(1, blocks(count, length)) }, (_, n) => ({
      address: address + n * length * bytes,
      count: Math.min(length, count - n * length),
    })),
  );
}
