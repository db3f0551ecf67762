import { isIteration, type TimedCell } from "./cells.js";

/**
 * FLOP/byte of the six kernels of the published solver, by the counting rule that reproduces Table V of Malenza et al., TPDS 2025: every array once at its
 * true width, and 11, 25, 13, 10, 12 and 6 operations an observation.
 */
const PUBLISHED_INTENSITIES: Readonly<Record<string, number>> = {
  a1Astro: 0.172,
  a1Att: 0.208,
  a1Instr: 0.148,
  a2Astro: 0.208,
  a2Att: 0.107,
  a2Instr: 0.075,
};

/** Kernels of timings without operations, with the operations of the published program; undefined where they are not all its kernels. */
export function withPublishedOperations(cells: readonly TimedCell[]): TimedCell[] | undefined {
  const kernels = cells.filter((cell) => !isIteration(cell) && cell.bytes !== undefined);
  if (kernels.some(({ quantity }) => !Object.hasOwn(PUBLISHED_INTENSITIES, quantity))) return undefined;
  return cells.map((cell) =>
    kernels.includes(cell) ? { ...cell, flops: cell.flops ?? cell.bytes! * PUBLISHED_INTENSITIES[cell.quantity] } : cell,
  );
}

/** Names of the published program's kernels. */
export const publishedKernels = (): string[] => Object.keys(PUBLISHED_INTENSITIES);
