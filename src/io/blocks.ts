import { typedArray, type TypedArray } from "../device/memory/view.js";
import { IsoformError } from "../base/errors.js";
import type { NumberElement } from "../ir/scalars.js";
import type { StoredArray } from "./state-file.js";

/*
 * Parts of an array that several processes have, as files name them: runs of values, and boxes of a host array, which are runs at equal distances.
 */

/** Runs of `length` values, the first at place `first` of the array, each other one `stride` values after the one before. */
export type FileBlock = readonly [first: number, length: number, times: number, stride: number];

/** One run of values. */
export const runOf = (first: number, length: number): FileBlock => [first, length, 1, 0];

/** The values that blocks have. */
export const valuesIn = (blocks: readonly FileBlock[]): number => blocks.reduce((sum, [, length, times]) => sum + length * times, 0);

/** The same values in the same order, with blocks that follow each other without a gap as one run, and without empty ones. */
export function joined(blocks: readonly FileBlock[]): FileBlock[] {
  const all: FileBlock[] = [];
  for (const block of blocks) {
    const [first, length, times, stride] = block;
    if (length * times === 0) continue;
    const whole = times === 1 || stride === length;
    const last = all.at(-1);
    if (whole && last?.[2] === 1 && last[0] + last[1] === first) all.splice(-1, 1, runOf(last[0], last[1] + length * times));
    else all.push(whole ? runOf(first, length * times) : block);
  }
  return all;
}

/** Whether each rank has one run, right after the run of the rank before. */
export function areInOrder(ranks: readonly (readonly FileBlock[])[]): boolean {
  let end = 0;
  return ranks.every((blocks) => {
    const fits = blocks.length === 0 || (blocks.length === 1 && blocks[0][2] === 1 && blocks[0][0] === end);
    end += valuesIn(blocks);
    return fits;
  });
}

/**
 * Refuses blocks that leave out values of an array, or have some twice.
 * @param ranks the blocks of each rank
 * @throws IsoformError that names the first place, and the rank
 */
export function requireCover(ranks: readonly (readonly FileBlock[])[], length: number): void {
  const runs = ranks.flatMap((blocks, rank) =>
    blocks.flatMap(([first, count, times, stride]) =>
      Array.from({ length: times }, (_, n) => ({ rank, first: first + n * stride, count })),
    ),
  );
  let end = 0;
  for (const { rank, first, count } of runs.toSorted((a, b) => a.first - b.first)) {
    if (first !== end) throw new IsoformError(`rank ${rank} gives values of an array from ${first} on, and the ranks before end at ${end}`);
    end += count;
  }
  if (end !== length) throw new IsoformError(`${ranks.length} ranks give ${end} of the ${length} values of an array`);
}

/** Values of blocks, in the order of the blocks, with their places in the array. */
export async function* atPlaces(
  pieces: AsyncIterable<TypedArray>,
  blocks: readonly FileBlock[],
): AsyncGenerator<{ readonly first: number; readonly values: TypedArray }> {
  const runs = blocks.flatMap(([first, length, times, stride]) =>
    Array.from({ length: times }, (_, n) => ({ first: first + n * stride, length })),
  );
  let [run, taken] = [0, 0];
  for await (const piece of pieces)
    for (let at = 0; at < piece.length;) {
      const { first, length } = runs[run];
      const values = piece.subarray(at, at + length - taken);
      yield { first: first + taken, values };
      at += values.length;
      taken += values.length;
      if (taken === length) [run, taken] = [run + 1, 0];
    }
}

/** Blocks of an array, and the values of all of them one after the other. */
interface Given {
  readonly blocks: readonly FileBlock[];
  /** Opens the values, when some are asked for. */
  open(): Promise<StoredArray>;
}

/** An array whose values are given in blocks, which cover it. */
export function inBlocks(type: NumberElement, length: number, given: readonly Given[]): StoredArray {
  return {
    type,
    length,
    values: async (first = 0, end = length) => {
      const all = typedArray(type, end - first) as TypedArray;
      for (const { blocks, open } of given) {
        let at = 0;
        for (const block of blocks) {
          const part = within(block, first, end);
          if (part) {
            const values = await (await open()).values(at + part.from, at + part.to);
            if (values.length === all.length) return values;
            scatter(values, block, part, (place) => place - first, all);
          }
          at += block[1] * block[2];
        }
      }
      return all;
    },
  };
}

/** An array that reads the values of a block only: all others are 0. */
export function onlyIn(block: FileBlock, { type, length, values }: StoredArray): StoredArray {
  const [begin, run, , stride] = block;
  return {
    type,
    length,
    values: async (first = 0, end = length) => {
      const all = typedArray(type, end - first) as TypedArray;
      const { from, to } = within(block, first, end) ?? { from: 0, to: 0 };
      for (let at = from; at < to;) {
        const number = Math.floor(at / run);
        const next = Math.min(to, (number + 1) * run);
        const place = begin + number * stride + (at - number * run);
        all.set(await values(place, place + next - at), place - first);
        at = next;
      }
      return all;
    },
  };
}

/** Values [from, to) of a block, counted from its first. */
interface Section {
  readonly from: number;
  readonly to: number;
}

/** The values of a block that lie at places [first, end) of the array; they follow each other. Undefined for none. */
function within([begin, length, times, stride]: FileBlock, first: number, end: number): Section | undefined {
  const low = times === 1 ? 0 : Math.max(0, Math.floor((first - begin - length) / stride) + 1);
  const high = times === 1 ? 0 : Math.min(times - 1, Math.ceil((end - begin) / stride) - 1);
  if (low > high) return undefined;
  const from = low * length + Math.max(0, first - begin - low * stride);
  const to = high * length + Math.min(length, end - begin - high * stride);
  return from < to ? { from, to } : undefined;
}

/** Puts values of a block at their places of an array. */
function scatter(
  values: TypedArray,
  [begin, length, , stride]: FileBlock,
  { from, to }: Section,
  placeIn: (place: number) => number,
  all: TypedArray,
): void {
  for (let at = from; at < to;) {
    const run = Math.floor(at / length);
    const next = Math.min(to, (run + 1) * length);
    all.set(values.subarray(at - from, next - from), placeIn(begin + run * stride + (at - run * length)));
    at = next;
  }
}
