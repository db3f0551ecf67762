import { BYTES } from "./scalars.js";
import type { NumericType } from "./types.js";

/*
 * The scatter strategy `cached`: a worker of a CPU, or a block of a GPU, keeps the lines of the target that it adds to at the moment in a
 * scatter cache, a small copy of its own. A line, LINE_ELEMENTS elements side by side in the target's memory, has one place in the cache,
 * which depends on its number alone. Elements that come one after the other and add near to each other (particles that are sorted by cell,
 * rows of a mesh) so meet in the cache, and the target itself takes one atomic update for many. On a CPU a line takes the place of another,
 * whose sums then go to the target; on a GPU, where many threads look at a place at once, the first line keeps it, and contributions to
 * others go to the target.
 *
 * To sort contributions by part of the target first, and to have a team for each part, would bring together what comes in any order, too. But a contribution
 * of 12 bytes is then written, counted, moved and read again. By hand in C, on two cores, that has taken 0.9 times the time of atomic
 * updates in random order over millions of places, 1.7 times over 200000, and 0.8 to 2 times in the order of the places, where scatter caches
 * as here take a quarter to the same; on GPUs it is more traffic than atomic updates are in the second level of caches.
 */

/** Elements of a line: 64 bytes of f64. A line of a scatter cache, not one of the processor's. */
export const LINE_ELEMENTS = 8;

/** Lines of a worker's scatter cache: 128 KiB of f64, which the processor's second level of caches holds. */
export const WORKER_LINES = 1 << 11;

/** Bytes at the head of a worker's scatter cache, before its values: the numbers of its lines, as i32. */
export const HEAD_BYTES = 4 * WORKER_LINES;

/**
 * Bytes from one worker's scatter cache to the next: an odd number of the processor's lines, so that equal places of them do not share the
 * sets of its caches.
 */
export const scatterCacheBytes = (type: NumericType): number => HEAD_BYTES + LINE_ELEMENTS * BYTES[type] * WORKER_LINES + 64;

/** Lines of a block's scatter cache at most: 17 KiB with f64, so that multiprocessors of 128 KiB and more hold as many blocks as without. */
export const BLOCK_LINES = 1 << 8;

/**
 * Times the number of a line, modulo 2^32, its upper bits are the place: 2^32 divided by the golden ratio. Neighbouring lines, and those that are a power of
 * two apart as rows and planes are, get places that are spread evenly (Knuth, The Art of Computer Programming, volume 3, section 6.4).
 */
export const LINE_HASH = 0x9e3779b1;

/** Bits by which the product is shifted for a scatter cache of `lines` lines, a power of two. */
export const hashShift = (lines: number): number => 32 - Math.log2(lines);

/** Elements of a target that may have scatter caches, gaps included: numbers of lines are i32. */
export const MOST_CACHED = LINE_ELEMENTS * 2 ** 31;
