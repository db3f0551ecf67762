import { SORT_BY_BLOCKS } from "../gpu/sort.js";

const { tile: TILE, threads: THREADS, scanThreads: SCAN_THREADS } = SORT_BY_BLOCKS;
const WARPS = THREADS / 32;
/** Keys of a thread: of a warp, which has a piece of the tile, 32 neighbours at a time. */
const EACH = TILE / THREADS;

/**
 * A stable radix sort of 32-bit keys with their positions, by digits of 8 bits from the lowest up, a tile a block (Merrill and Grimshaw, High
 * performance and scalable radix sorting, 2011). A key's rank among keys of its tile with the same digit is known from votes of its warp, and from what
 * the warps before have; the tile is put in order in shared memory, so that keys of a digit leave side by side.
 */
export const CUDA_SORT_SOURCE = `
extern "C" __global__ void __launch_bounds__(${THREADS}) sort_count(
  const unsigned int *__restrict__ keys, unsigned int count, unsigned int shift, unsigned int tiles, unsigned int *__restrict__ counts)
{
  __shared__ unsigned int digits[${WARPS}][256];
  const int warp = threadIdx.x / 32;
  for (int k = threadIdx.x; k < ${WARPS * 256}; k += ${THREADS}) (&digits[0][0])[k] = 0;
  __syncthreads();
  const unsigned int first = blockIdx.x * ${TILE}u;
  if (count - first >= ${TILE}u) {
#pragma unroll
    for (int e = 0; e < ${EACH}; e++) atomicAdd(&digits[warp][keys[first + e * ${THREADS} + threadIdx.x] >> shift & 255u], 1u);
  } else {
    for (unsigned int n = first + threadIdx.x; n < count; n += ${THREADS}) atomicAdd(&digits[warp][keys[n] >> shift & 255u], 1u);
  }
  __syncthreads();
  for (int d = threadIdx.x; d < 256; d += ${THREADS}) {
    unsigned int sum = 0;
    for (int w = 0; w < ${WARPS}; w++) sum += digits[w][d];
    counts[d * tiles + blockIdx.x] = sum;
  }
}

/* The sum of the values of a warp's threads up to this one. */
__device__ inline unsigned int sort_sum_to(unsigned int value)
{
  const unsigned int lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned int step = 1; step < 32; step *= 2) {
    const unsigned int before = __shfl_up_sync(~0u, value, step);
    if (lane >= step) value += before;
  }
  return value;
}

/* Block d: exclusive sums over the tiles' counts of digit d, and the digit's total. */
extern "C" __global__ void __launch_bounds__(${SCAN_THREADS}) sort_scan(unsigned int *counts, unsigned int tiles, unsigned int *totals)
{
  __shared__ unsigned int sums[32];
  unsigned int *const row = counts + (size_t)blockIdx.x * tiles;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned int before = 0;
  for (unsigned int first = 0; first < tiles; first += ${SCAN_THREADS}) {
    const unsigned int n = first + threadIdx.x;
    const unsigned int own = n < tiles ? row[n] : 0;
    const unsigned int sum = sort_sum_to(own);
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) sums[lane] = sort_sum_to(lane < ${SCAN_THREADS / 32} ? sums[lane] : 0);
    __syncthreads();
    if (n < tiles) row[n] = before + (warp > 0 ? sums[warp - 1] : 0) + sum - own;
    before += sums[${SCAN_THREADS / 32 - 1}];
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

/* Without an order each key's position is its own; keys that nobody wants are not stored. */
extern "C" __global__ void __launch_bounds__(${THREADS}) sort_move(
  const unsigned int *__restrict__ keys, const unsigned int *__restrict__ order, unsigned int count, unsigned int shift, unsigned int tiles,
  const unsigned int *__restrict__ counts, const unsigned int *__restrict__ totals,
  unsigned int *__restrict__ sorted_keys, unsigned int *__restrict__ sorted_order)
{
  /* First the counts of each warp's digits, later the tile in its new order. */
  __shared__ unsigned int memory[${TILE}];
  __shared__ unsigned int from[256], tile_sums[8], digit_sums[8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned int *const own_digits = memory + 256 * warp;
  for (int k = threadIdx.x; k < ${WARPS * 256}; k += ${THREADS}) memory[k] = 0;
  __syncthreads();
  const unsigned int first = blockIdx.x * ${TILE}u;
  const unsigned int own = min(${TILE}u, count - first);
  const unsigned int at = first + warp * ${32 * EACH} + lane;
  unsigned int key[${EACH}];
  unsigned short rank[${EACH}];
  /* Keys beyond the last one come after all others. */
#pragma unroll
  for (int e = 0; e < ${EACH}; e++) key[e] = at + 32 * e < count ? keys[at + 32 * e] : ~0u;
#pragma unroll
  for (int e = 0; e < ${EACH}; e++) {
    const unsigned int digit = key[e] >> shift & 255u;
    unsigned int same = ~0u;
#pragma unroll
    for (int bit = 0; bit < 8; bit++) {
      const bool set = digit >> bit & 1u;
      const unsigned int those = __ballot_sync(~0u, set);
      same &= set ? those : ~those;
    }
    const int last = 31 - __clz(same);
    unsigned int before = 0;
    if (lane == last) {
      before = own_digits[digit];
      own_digits[digit] = before + __popc(same);
    }
    before = __shfl_sync(~0u, before, last);
    rank[e] = before + __popc(same & ((1u << lane) - 1));
    __syncwarp();
  }
  __syncthreads();
  /* Thread d: where the keys with digit d begin, of each warp in the tile, and of the tile among all. */
  {
    const int d = threadIdx.x;
    unsigned int sum = 0;
#pragma unroll
    for (int w = 0; w < ${WARPS}; w++) {
      const unsigned int of_warp = memory[256 * w + d];
      memory[256 * w + d] = sum;
      sum += of_warp;
    }
    const unsigned int total = totals[d];
    unsigned int start = sort_sum_to(sum), below = sort_sum_to(total);
    if (lane == 31) {
      tile_sums[warp] = start;
      digit_sums[warp] = below;
    }
    start -= sum;
    below -= total;
    __syncthreads();
    for (int w = 0; w < warp; w++) {
      start += tile_sums[w];
      below += digit_sums[w];
    }
    from[d] = below + counts[d * tiles + blockIdx.x] - start;
#pragma unroll
    for (int w = 0; w < ${WARPS}; w++) memory[256 * w + d] += start;
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < ${EACH}; e++) rank[e] += own_digits[key[e] >> shift & 255u];
  __syncthreads();
#pragma unroll
  for (int e = 0; e < ${EACH}; e++) memory[rank[e]] = key[e];
  /* Loads of the order go on while keys are stored. */
#pragma unroll
  for (int e = 0; e < ${EACH}; e++) key[e] = !order ? at + 32 * e : at + 32 * e < count ? order[at + 32 * e] : 0;
  __syncthreads();
  unsigned int to[${EACH}];
#pragma unroll
  for (int e = 0; e < ${EACH}; e++) {
    const unsigned int j = e * ${THREADS} + threadIdx.x;
    const unsigned int sorted = memory[j];
    to[e] = from[sorted >> shift & 255u] + j;
    if (j < own && sorted_keys) sorted_keys[to[e]] = sorted;
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < ${EACH}; e++) memory[rank[e]] = key[e];
  __syncthreads();
#pragma unroll
  for (int e = 0; e < ${EACH}; e++) {
    const unsigned int j = e * ${THREADS} + threadIdx.x;
    if (j < own) sorted_order[to[e]] = memory[j];
  }
}
`;
