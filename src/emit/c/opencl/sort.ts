import { SORT_BY_WARPS } from "../gpu/sort.js";

const { tile: TILE } = SORT_BY_WARPS;

/**
 * A stable radix sort of 32-bit keys with their positions, by digits of 8 bits from the lowest up. A work-group of 32 owns a tile; it
 * counts its digits, and later moves its keys 32 at a time, in order, after the keys with the same digit in earlier tiles.
 */
export const OPENCL_SORT_SOURCE = `
#define BOTH (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void sort_count(
  const __global uint *keys, const long keys_at, const uint count, const uint shift, const uint tiles,
  __global uint *counts, const long counts_at)
{
  __local uint digits[256];
  const uint thread = get_local_id(0), tile = get_group_id(0);
  for (uint d = thread; d < 256; d += 32) digits[d] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint first = tile * ${TILE}u;
  for (uint n = first + thread; n < first + ${TILE}u && n < count; n += 32) atomic_inc(&digits[keys[keys_at + n] >> shift & 255u]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint d = thread; d < 256; d += 32) counts[counts_at + d * tiles + tile] = digits[d];
}

/* Group d: exclusive sums over the tiles' counts of digit d, and the digit's total. */
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void sort_scan(
  __global uint *counts, const long counts_at, const uint tiles, __global uint *totals, const long totals_at)
{
  __local uint sums[256];
  const uint thread = get_local_id(0);
  __global uint *row = counts + counts_at + get_group_id(0) * tiles;
  uint before = 0;
  for (uint first = 0; first < tiles; first += 256) {
    const uint n = first + thread;
    const uint own = n < tiles ? row[n] : 0;
    sums[thread] = own;
    for (uint step = 1; step < 256; step *= 2) {
      barrier(BOTH);
      const uint left = thread >= step ? sums[thread - step] : 0;
      barrier(BOTH);
      sums[thread] += left;
    }
    barrier(BOTH);
    if (n < tiles) row[n] = before + sums[thread] - own;
    before += sums[255];
    barrier(BOTH);
  }
  if (thread == 0) totals[totals_at + get_group_id(0)] = before;
}

/* Without an order each key's position is its own. */
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void sort_move(
  const __global uint *keys, const long keys_at, const __global uint *order, const long order_at,
  const uint count, const uint shift, const uint tiles,
  const __global uint *counts, const long counts_at, const __global uint *totals, const long totals_at,
  __global uint *sorted_keys, const long sorted_keys_at, __global uint *sorted_order, const long sorted_order_at)
{
  __local uint place[256];
  __local uint digits[32];
  const uint thread = get_local_id(0), tile = get_group_id(0);
  uint below = 0;
  for (uint d = 0; d < 256; d++) {
    if (thread == (d & 31u)) place[d] = below + counts[counts_at + d * tiles + tile];
    below += totals[totals_at + d];
  }
  for (uint first = tile * ${TILE}u; first < (tile + 1) * ${TILE}u && first < count; first += 32) {
    const uint n = first + thread;
    const bool valid = n < count;
    const uint key = valid ? keys[keys_at + n] : 0;
    const uint digit = valid ? key >> shift & 255u : 256u;
    digits[thread] = digit;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint earlier = 0, same = 0;
    for (uint other = 0; other < 32; other++) {
      earlier += other < thread && digits[other] == digit;
      same += digits[other] == digit;
    }
    const uint to = valid ? place[digit] + earlier : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (valid && earlier == 0) place[digit] += same;
    if (valid) {
      sorted_keys[sorted_keys_at + to] = key;
      sorted_order[sorted_order_at + to] = order ? order[order_at + n] : n;
    }
  }
}
`;
