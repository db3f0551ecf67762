import { SORT_BY_WARPS } from "../gpu/sort.js";

const { tile: TILE } = SORT_BY_WARPS;

/** HIP has no function that compares numbers over a wavefront; one vote for each bit does. */
const SAME_NUMBER = `
__device__ inline unsigned int same_number(unsigned int number)
{
  unsigned long long same = ~0ull;
  for (int bit = 0; bit < 9; bit++) {
    const bool set = number >> bit & 1u;
    const unsigned long long those = __ballot(set);
    same &= set ? those : ~those;
  }
  return (unsigned int)same;
}
`;

/**
 * A stable radix sort of 32-bit keys with their positions, by digits of 8 bits from the lowest up. A warp owns a tile; it counts its
 * digits, and later moves its keys 32 at a time, in order, after the keys with the same digit in earlier tiles. A block of 32 threads is part of one
 * wavefront, for which a barrier is a fence alone.
 */
export const HIP_SORT_SOURCE = `${SAME_NUMBER}
extern "C" __global__ void __launch_bounds__(32) sort_count(
  const unsigned int *keys, unsigned int count, unsigned int shift, unsigned int tiles, unsigned int *counts)
{
  __shared__ unsigned int digits[256];
  for (int d = threadIdx.x; d < 256; d += 32) digits[d] = 0;
  __syncthreads();
  const unsigned int first = blockIdx.x * ${TILE}u;
  for (unsigned int n = first + threadIdx.x; n < first + ${TILE}u && n < count; n += 32) atomicAdd(&digits[keys[n] >> shift & 255u], 1u);
  __syncthreads();
  for (int d = threadIdx.x; d < 256; d += 32) counts[d * tiles + blockIdx.x] = digits[d];
}

/* Block d: exclusive sums over the tiles' counts of digit d, and the digit's total. */
extern "C" __global__ void __launch_bounds__(256) sort_scan(unsigned int *counts, unsigned int tiles, unsigned int *totals)
{
  __shared__ unsigned int sums[256];
  unsigned int *const row = counts + blockIdx.x * tiles;
  unsigned int before = 0;
  for (unsigned int first = 0; first < tiles; first += 256) {
    const unsigned int n = first + threadIdx.x;
    const unsigned int own = n < tiles ? row[n] : 0;
    sums[threadIdx.x] = own;
    for (int step = 1; step < 256; step *= 2) {
      __syncthreads();
      const unsigned int left = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
      __syncthreads();
      sums[threadIdx.x] += left;
    }
    __syncthreads();
    if (n < tiles) row[n] = before + sums[threadIdx.x] - own;
    before += sums[255];
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

/* Without an order each key's position is its own. */
extern "C" __global__ void __launch_bounds__(32) sort_move(
  const unsigned int *keys, const unsigned int *order, unsigned int count, unsigned int shift, unsigned int tiles,
  const unsigned int *counts, const unsigned int *totals, unsigned int *sorted_keys, unsigned int *sorted_order)
{
  __shared__ unsigned int place[256];
  unsigned int below = 0;
  for (int d = 0; d < 256; d++) {
    if (threadIdx.x == (d & 31)) place[d] = below + counts[d * tiles + blockIdx.x];
    below += totals[d];
  }
  __syncthreads();
  const unsigned int earlier = (1u << threadIdx.x) - 1;
  for (unsigned int first = blockIdx.x * ${TILE}u; first < (blockIdx.x + 1) * ${TILE}u && first < count; first += 32) {
    const unsigned int n = first + threadIdx.x;
    const bool valid = n < count;
    const unsigned int key = valid ? keys[n] : 0;
    const unsigned int digit = valid ? key >> shift & 255u : 256u;
    const unsigned int same = same_number(digit);
    const unsigned int to = valid ? place[digit] + __popc(same & earlier) : 0;
    __syncthreads();
    if (valid && (same & earlier) == 0) place[digit] += __popc(same);
    __syncthreads();
    if (valid) {
      sorted_keys[to] = key;
      sorted_order[to] = order ? order[n] : n;
    }
  }
}
`;
