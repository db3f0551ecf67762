import { SORT_BITS, SORT_ENTRIES, type SortSlot } from "../../emit/c/gpu/sort.js";
import type { Entry as EntryCode } from "../../schedule/program.js";
import { LaunchError } from "../../base/errors.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { Cost, DigitSort, Launch } from "../device.js";
import { teams, type Policy } from "../launch/policy.js";
import type { Buffer, View } from "../memory/view.js";
import type { WritingWork } from "../memory/writes.js";
import type { GpuMachine, GpuMemory } from "./machine.js";
import { blocks, fillFrom, type StreamStep } from "./steps.js";
import { addressOf } from "./values.js";

/** Digits are counted by tile, counts are summed, keys are moved. `values` are addresses, 0 for memory that is left out, and numbers. */
export function digitSortSteps(gpu: GpuMachine, values: Readonly<Record<SortSlot["kind"], number>>): StreamStep[] {
  const { sort, sortShape } = gpu.language;
  const { threads, scanThreads } = sortShape;
  const names = Object.values(SORT_ENTRIES).map((entry) => entry.name);
  const compiled = gpu.load(sort, false, "sort", names);
  const fill = fillFrom<SortSlot["kind"]>(values);
  const run = (entry: EntryCode<SortSlot>, grid: number, block: number) =>
    gpu.kernelStep(entry, compiled.get(entry.name)!, { grid: [grid, 1, 1], block: [block, 1, 1] }, fill);
  return [
    run(SORT_ENTRIES.count, values.tiles, threads),
    run(SORT_ENTRIES.scan, 2 ** SORT_BITS, scanThreads),
    run(SORT_ENTRIES.move, values.tiles, threads),
  ];
}

/** One pass of a stable sort of keys, by a digit of theirs. */
export class GpuDigitSort implements Launch, WritingWork {
  readonly policy: Policy;
  readonly precision = "fast";
  readonly cost: Cost;
  readonly remarks: readonly string[];
  readonly ran = false;
  readonly recorded = [];
  readonly written: readonly Buffer[];
  private readonly memory: GpuMemory;
  private readonly steps: readonly StreamStep[];
  private freed = false;

  /** @param kernel stands for it in profiles and errors. Throws DeviceError where the device's memory does not suffice for its counts. */
  constructor(
    readonly gpu: GpuMachine,
    private readonly sort: DigitSort,
    readonly kernel: Kernel,
  ) {
    const { keys, order, sortedKeys, sortedOrder, shift } = sort;
    const { tile } = gpu.language.sortShape;
    const tiles = blocks(keys.length, tile);
    const digits = 2 ** SORT_BITS;
    this.policy = teams(tiles);
    this.written = [sortedKeys, sortedOrder].flatMap((view) => view?.buffer ?? []);
    this.cost = { flops: 0, bytes: 4 * keys.length * [keys, keys, order, sortedKeys, sortedOrder].filter(Boolean).length };
    this.remarks = [`a sort by ${SORT_BITS} bits of ${tiles} tiles of ${tile} keys`];
    this.memory = gpu.allocate(4 * digits * (tiles + 1));
    const { address } = this.memory;
    const addressIf = (view: View | undefined): number => (view ? addressOf(view) : 0);
    this.steps =
      tiles === 0
        ? []
        : digitSortSteps(gpu, {
            keys: addressOf(keys),
            order: addressIf(order),
            sortedKeys: addressIf(sortedKeys),
            sortedOrder: addressOf(sortedOrder),
            counts: address,
            totals: address + 4 * digits * tiles,
            count: keys.length,
            tiles,
            shift,
          });
  }

  /** Throws LaunchError if it, or the memory of its views, was freed. */
  requireReady(): void {
    if (this.freed) throw new LaunchError("a pass of a sort was freed and cannot run again; prepare the sort anew");
    const { keys, order, sortedKeys, sortedOrder } = this.sort;
    if ([keys, order, sortedKeys, sortedOrder].some((view) => view?.buffer.live === false))
      throw new LaunchError("a sort has a view whose memory was freed; free arrays only when no pattern uses them");
  }

  enqueue(stream: number): void {
    this.gpu.starts(this.kernel.name);
    for (const step of this.steps) step.enqueue(stream);
  }

  source(): string {
    return this.gpu.language.sort;
  }

  submit(): void {
    throw new LaunchError("a pass of a sort has no numbers and no range of its own; submit it to a queue");
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    for (const step of this.steps) step.free?.();
    this.memory.free();
  }
}
