import type { GpuProgram, Entry as EntryCode } from "../../emit/c/gpu/program.js";
import { BLOCK } from "../../emit/c/gpu/writer.js";
import type { GpuEntry, GpuMachine, GpuMemory } from "./machine.js";
import { blocks, type Step, type Values } from "./steps.js";

/** Partial results of one reduction, one after the other. */
export interface Piece {
  readonly address: number;
  readonly count: number;
}

/** Partials that a thread folds at least, where there are as many. */
const A_THREAD = 4;
/** Blocks at most, so that the last can fold what all have. */
const MOST_BLOCKS = 128;

/** One run of a program's `finish` over partials from several places, and the memory that it needs. */
export class Gathering {
  readonly step: Step;
  readonly blocks: number;
  private readonly memory: GpuMemory;

  /**
   * @param pieces by reduce parameter, as many for each
   * @param values of the parameters `results` and `output:*`
   */
  constructor(
    gpu: GpuMachine,
    { reduces }: GpuProgram,
    finish: EntryCode,
    entry: GpuEntry,
    pieces: ReadonlyMap<string, readonly Piece[]>,
    values: Values,
  ) {
    const lists = reduces.map(({ name }) => pieces.get(name)!);
    const count = Math.max(...lists.map((list) => list.reduce((sum, piece) => sum + piece.count, 0)));
    this.blocks = Math.min(MOST_BLOCKS, Math.max(1, blocks(count, A_THREAD * BLOCK)));
    const table = 16 * lists[0].length;
    const each = table + 8 * MOST_BLOCKS;
    this.memory = gpu.allocate(each * reduces.length + 8);
    const places = reduces.map((_, n) => this.memory.address + n * each);
    lists.forEach((list, n) => {
      const words = BigUint64Array.from(list.flatMap((piece) => [piece.address, piece.count]).map(BigInt));
      gpu.upload(places[n], new Uint32Array(words.buffer));
    });
    const addresses = reduces.flatMap(({ name }, n) => [
      [`pieces:${name}`, places[n]],
      [`totals:${name}`, places[n] + table],
    ]);
    const own = { ...Object.fromEntries(addresses), pieces: lists[0].length, ticket: this.memory.address + each * reduces.length };
    this.step = gpu.kernelStep(finish, entry, { grid: [this.blocks, 1, 1], block: [BLOCK, 1, 1] }, { ...values, ...own });
  }

  free(): void {
    this.memory.free();
  }
}
