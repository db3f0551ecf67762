import type { GpuProgram, Entry as EntryCode } from "../../emit/c/gpu/program.js";
import { BLOCK } from "../../emit/c/gpu/writer.js";
import { BYTES } from "../view.js";
import type { GpuEntry, GpuMachine, GpuMemory } from "./machine.js";
import { blocks, type Step, type Values } from "./steps.js";

/** Partial results of one reduction, one after the other. */
export interface Piece {
  readonly address: number;
  readonly count: number;
}

/** Partials that a thread folds at least, where there are as many. */
const A_THREAD = 4;
/** Pieces at most, one a block, so that the last block can fold what all have. */
export const MOST_PIECES = BLOCK;

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
  ) {
    const lists = reduces.map(({ name, type }) => cut(partials.get(name)!, BYTES[type]));
    this.blocks = lists[0].length;
    const table = 16 * this.blocks;
    const each = table + 8 * this.blocks;
    this.memory = gpu.allocate(each * reduces.length + 8);
    const places = reduces.map((_, n) => this.memory.address + n * each);
    lists.forEach((list, n) => {
      const words = BigUint64Array.from(list.flatMap(({ address, count }) => [BigInt(address), BigInt(count)]));
      gpu.upload(places[n], new Uint32Array(words.buffer));
    });
    const addresses = reduces.flatMap(({ name }, n) => [
      [`pieces:${name}`, places[n]],
      [`totals:${name}`, places[n] + table],
    ]);
    const own = { ...Object.fromEntries(addresses), ticket: this.memory.address + each * reduces.length };
    this.step = gpu.kernelStep(finish, entry, { grid: [this.blocks, 1, 1], block: [BLOCK, 1, 1] }, { ...values, ...own });
  }

  free(): void {
    this.memory.free();
  }
}

/** Cuts the partials into pieces of about one size, a place at a time. */
function cut(partials: readonly Piece[], bytes: number): Piece[] {
  const total = partials.reduce((sum, { count }) => sum + count, 0);
  const length = Math.max(A_THREAD * BLOCK, blocks(total, Math.max(1, MOST_PIECES - partials.length)));
  return partials.flatMap(({ address, count }) =>
    Array.from({ length: Math.max(1, blocks(count, length)) }, (_, n) => ({
      address: address + n * length * bytes,
      count: Math.min(length, count - n * length),
    })),
  );
}
