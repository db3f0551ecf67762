import { SORT_BITS, SORT_ENTRIES, type SortSlot } from "../../emit/c/gpu/sort.js";
import type { Entry as EntryCode } from "../../schedule/program.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { DigitSort } from "../device.js";
import { teams } from "../launch/policy.js";
import type { View } from "../memory/view.js";
import type { GpuMachine } from "./machine.js";
import { OwnWork } from "./own-work.js";
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

/** One pass of a stable sort of keys, by a digit of theirs. Throws DeviceError where the device's memory does not suffice for its counts. */
export function gpuDigitSort(gpu: GpuMachine, sort: DigitSort, kernel: Kernel): OwnWork {
  const { keys, order, sortedKeys, sortedOrder, shift } = sort;
  const { tile } = gpu.language.sortShape;
  const tiles = blocks(keys.length, tile);
  const digits = 2 ** SORT_BITS;
  const addressIf = (view: View | undefined): number => (view ? addressOf(view) : 0);
  return new OwnWork(gpu, {
    what: "a pass of a sort",
    kernel,
    policy: teams(tiles),
    cost: { flops: 0, bytes: 4 * keys.length * [keys, keys, order, sortedKeys, sortedOrder].filter(Boolean).length },
    remarks: [`a sort by ${SORT_BITS} bits of ${tiles} tiles of ${tile} keys`],
    read: [keys, order],
    written: [sortedKeys, sortedOrder],
    source: gpu.language.sort,
    bytes: 4 * digits * (tiles + 1),
    steps: (address) =>
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
          }),
  });
}
