import { AT_ONCE } from "../../schedule/fold-entries.js";
import { RECEIVERS, MOST_SENT } from "../../schedule/mailbox.js";
import type { GpuLanguage, GpuProgram, Entry as EntryCode } from "../../schedule/program.js";
import type { GpuSlot } from "../../schedule/slots.js";
import { BYTES } from "../memory/view.js";
import type { GpuEntry, GpuMachine, GpuMemory } from "./machine.js";
import { blocks, type Fill, type StreamStep } from "./steps.js";

/** Partial results of one reduction, one after the other. */
export interface FinalPiece {
  readonly address: number;
  readonly count: number;
}

/** Pieces at most, where threads of one block fold what all blocks have. */
const MOST_PIECES = 256;

/** Targets of results: 8 bytes each, and the views that take them, by reduce parameter. */
export interface FoldTargets {
  readonly results: number;
  readonly outputs: Readonly<Record<string, number>>;
}

/** GPUs that exchange their totals while they fold: see schedule/all-reduce.ts. */
export interface Members {
  readonly me: number;
  /** Addresses of the members' mailboxes. */
  readonly mailboxes: readonly number[];
  /** Blocks of each. */
  readonly blocks: number;
  /** Seconds after which the others are given up. Default: `PATIENCE`. */
  readonly patience?: number;
}

/** Seconds that blocks of one process wait for each other. */
const PATIENCE = 20;

const NANOSECONDS = 1e9;
/** The longest wait in nanoseconds. */
const LONGEST = 2 ** 62;

/** Bytes of the mailbox of one member, for the given numbers of members and blocks. */
export const mailboxBytes = (members: number, blocks: number, reductions: number): number => 32 * members * blocks * reductions;

/** Whether partials from `pieces` places can be folded by the blocks of one kernel. */
export const inOneKernel = ({ allReduces }: GpuLanguage, pieces: number): boolean => allReduces || pieces <= MOST_PIECES;

/** Cuts partials from these places into pieces, one a block: what threads ask for at once, unless there would be more than can be received at once. */
export function piecesOf(
  { allReduces, finalThreads }: GpuLanguage,
  partials: readonly FinalPiece[],
  bytes: number,
  members: number,
): FinalPiece[] {
  const most = allReduces ? Math.floor(RECEIVERS / members) : MOST_PIECES;
  const folders = allReduces ? finalThreads - MOST_SENT : finalThreads;
  const total = partials.reduce((sum, { count }) => sum + count, 0);
  return cut(partials, bytes, Math.max(AT_ONCE * folders, blocks(total, Math.max(1, most - partials.length))));
}

/** One run of a program's `finish` over partials from several places, and the memory that it needs. */
export class FinalReduction {
  readonly step: StreamStep;
  readonly blocks: number;
  private readonly memory: GpuMemory;

  /**
   * @param partials by reduce parameter, in as many places and as many in each
   * @param members where this GPU is not the only one
   */
  constructor(
    gpu: GpuMachine,
    { reduces }: GpuProgram,
    finish: EntryCode,
    entry: GpuEntry,
    partials: ReadonlyMap<string, readonly FinalPiece[]>,
    to: FoldTargets,
    members?: Members,
  ) {
    const count = members?.mailboxes.length ?? 1;
    const lists = reduces.map(({ name, type }) => piecesOf(gpu.language, partials.get(name)!, BYTES[type], count));
    this.blocks = members?.blocks ?? lists[0].length;
    const layout = new Layout();
    const pieces = reduces.map(() => layout.take(16 * this.blocks));
    const totals = reduces.map(() => layout.take(8 * this.blocks));
    const [ticket, turn, addresses] = [8, 8, 8 * count].map((bytes) => layout.take(bytes));
    const mailbox = layout.take(members ? 0 : mailboxBytes(1, this.blocks, reduces.length));
    this.memory = gpu.allocate(layout.bytes);
    const at = (offset: number) => this.memory.address + offset;
    lists.forEach((list, n) => {
      const padded = [...list, ...Array.from({ length: this.blocks - list.length }, () => ({ ...list[0], count: 0 }))];
      upload(
        gpu,
        at(pieces[n]),
        padded.flatMap(({ address, count }) => [address, count]),
      );
    });
    upload(gpu, at(addresses), members?.mailboxes ?? [at(mailbox)]);
    const numberOf = (name: string) => reduces.findIndex((reduce) => reduce.name === name);
    const fill: Fill<GpuSlot> = (slot) => {
      switch (slot.kind) {
        case "results":
          return to.results;
        case "output":
          return to.outputs[slot.name] ?? 0;
        case "pieces":
          return at(pieces[numberOf(slot.name)]);
        case "totals":
          return at(totals[numberOf(slot.name)]);
        case "ticket":
          return at(ticket);
        case "members":
          return count;
        case "me":
          return members?.me ?? 0;
        case "mailboxes":
          return at(addresses);
        case "turn":
          return at(turn);
        case "patience":
          return Math.min(NANOSECONDS * (members?.patience ?? PATIENCE), LONGEST);
        // Any other slot belongs to the entries that come before (values.ts).
        default:
          return undefined;
      }
    };
    const block = [gpu.language.finalThreads, 1, 1] as const;
    this.step = gpu.kernelStep(finish, entry, { grid: [this.blocks, 1, 1], block }, fill);
  }

  free(): void {
    this.memory.free();
  }
}

const upload = (gpu: GpuMachine, address: number, numbers: readonly number[]): void =>
  gpu.upload(address, new Uint32Array(BigUint64Array.from(numbers.map(BigInt)).buffer));

/** Cuts the partials of each place into pieces of `length` and a rest. */
const cut = (partials: readonly FinalPiece[], bytes: number, length: number): FinalPiece[] =>
  partials.flatMap(({ address, count }) =>
    Array.from({ length: Math.max(1, blocks(count, length)) }, (_, n) => ({
      address: address + n * length * bytes,
      count: Math.min(length, count - n * length),
    })),
  );

/** Pieces of memory in sequence, on multiples of 16 bytes. */
class Layout {
  bytes = 0;

  /** Start of `bytes` more bytes. */
  take(bytes: number): number {
    const offset = this.bytes;
    this.bytes += Math.ceil(bytes / 16) * 16;
    return offset;
  }
}
