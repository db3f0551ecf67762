import { BYTES } from "./scalars.js";
import type { NumericType } from "./types.js";

/*
 * The scatter strategy `tiled`: a worker of a CPU, or a block of a GPU, keeps the lines of the target that it adds to at the moment in a tile,
 * a small copy of its own. A line, TILE_LINE elements side by side in the target's memory, has one place in the tile, which depends on its
 * number alone. Elements that come one after the other and add near to each other (particles that are sorted by cell, rows of a mesh) so meet
 * in the tile, and the target itself takes one atomic update for many. On a CPU a line takes the place of another, whose sums then go to the
 * target; on a GPU, where many threads look at a place at once, the first line keeps it, and contributions to others go to the target.
 *
 * To sort contributions by tile first, and to have a team for each tile, would bring together what comes in any order, too. But a contribution
 * of 12 bytes is then written, counted, moved and read again. By hand in C, on two cores, that has taken 0.9 times the time of atomic
 * updates in random order over millions of places, 1.7 times over 200000, and 0.8 to 2 times in the order of the places, where tiles
 * as here take a quarter to the same; on GPUs it is more traffic than atomic updates are in the second level of caches.
 */

/** Elements of a line: 64 bytes of f64. */
export const TILE_LINE = 8;

/** Lines of a worker's tile: 128 KiB of f64, which the second level of caches holds. */
export const WORKER_TILE_LINES = 1 << 11;

/** Bytes at the head of a worker's tile, in front of its values: the numbers of its lines, as i32. */
export const TILE_HEAD = 4 * WORKER_TILE_LINES;

/** Bytes from one worker's tile to the next: an odd number of cache lines, so that equal places of them do not share the sets of a cache. */
export const tileBytes = (type: NumericType): number => TILE_HEAD + TILE_LINE * BYTES[type] * WORKER_TILE_LINES + 64;

/** Lines of a block's tile at most: 17 KiB with f64, so that multiprocessors of 128 KiB and more hold as many blocks as without. */
export const BLOCK_TILE_LINES = 1 << 8;

/**
 * Times the number of a line, modulo 2^32, its upper bits are the place: 2^32 divided by the golden ratio. Neighbouring lines, and those that are a power of
 * two apart as rows and planes are, get places that are spread evenly (Knuth, The Art of Computer Programming, volume 3, section 6.4).
 */
export const TILE_HASH = 0x9e3779b1;

/** Bits by which the product is shifted for a tile of `lines` lines, a power of two. */
export const tileShift = (lines: number): number => 32 - Math.log2(lines);

/** Elements of a target that may be tiled, gaps included: numbers of lines are i32. */
export const MOST_TILED = TILE_LINE * 2 ** 31;
