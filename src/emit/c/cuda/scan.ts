import { unreachable } from "../../../base/unreachable.js";
import type { ScatterOp } from "../../../ir/types.js";

/** Threads of a block, and neighbours of a thread. On an H200 16 and 20 neighbours took 1.19 and 1.06 of the time of 24, with which 10^8 `i32` take 0.273 ms. */
const THREADS = 256;
const EACH = 24;
const SCAN_TILE = THREADS * EACH;
export const SCAN_SHAPE = { tile: SCAN_TILE, threads: THREADS };
const WARPS = THREADS / 32;
/** Words of 16 bytes of a thread. */
const WORDS = EACH / 4;

function combined(op: ScatterOp): string {
  switch (op) {
    case "sum":
      return "a + b";
    case "min":
      return "a < b ? a : b";
    case "max":
      return "a > b ? a : b";
    default:
      return unreachable(op);
  }
}

/** Code after the type of the values and their fold. */
const SCAN_BODY = `
/* The fold of the values of a warp's threads up to this one. */
__device__ inline value_t scan_fold_to(value_t value)
{
  const unsigned int lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned int step = 1; step < 32; step *= 2) {
    const value_t before = __shfl_up_sync(~0u, value, step);
    if (lane >= step) value = combine(before, value);
  }
  return value;
}

/* The fold of all tiles before this one, by one warp: 32 tiles at a time, from the nearest on. */
__device__ inline value_t scan_look_back(volatile const state_t *states, unsigned int tile)
{
  const unsigned int lane = threadIdx.x % 32;
  value_t before = none();
  for (unsigned int next = tile;; next -= 32) {
    state_t state = 2;
    value_t part = none();
    if (lane < next) {
      do state = states[next - 1 - lane]; while (state == 0);
      part = (value_t)(state >> 32);
    }
    const unsigned int known = __ballot_sync(~0u, (state & 3) == 2);
    if (known && lane >= __ffs(known)) part = none();
#pragma unroll
    for (unsigned int step = 16; step > 0; step /= 2) part = combine(part, __shfl_xor_sync(~0u, part, step));
    before = combine(part, before);
    if (known) return before;
  }
}

extern "C" __global__ void __launch_bounds__(${THREADS}) scan_tiles(
  const value_t *__restrict__ input, value_t *__restrict__ output, unsigned int count, unsigned int exclusive, state_t *state_words,
  value_t *total)
{
  __shared__ words_t stage[${SCAN_TILE / 4}];
  __shared__ value_t folds[${WARPS}], before_tile;
  __shared__ unsigned int taken;
  volatile state_t *const states = state_words + 1;
  const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) taken = atomicAdd((unsigned int *)state_words, 1u);
  __syncthreads();
  const unsigned int tile = taken;
  /* Nothing is left for blocks of a second run at the same time. */
  if (tile >= (count - 1) / ${SCAN_TILE}u + 1) return;
  const unsigned int own = min(${SCAN_TILE}u, count - tile * ${SCAN_TILE}u);
  const value_t *const from = input + (size_t)tile * ${SCAN_TILE};
  value_t *const to = output + (size_t)tile * ${SCAN_TILE};
  const bool whole = own == ${SCAN_TILE}u && (((size_t)from | (size_t)to) & 15) == 0;
  /* A warp reads its piece of the tile, neighbours reading neighbours, and each thread takes its own from there. */
  words_t *const piece = stage + warp * ${32 * WORDS};
  if (whole) {
#pragma unroll
    for (int e = 0; e < ${WORDS}; e++) piece[e * 32 + lane] = ((const words_t *)from)[warp * ${32 * WORDS} + e * 32 + lane];
  } else {
#pragma unroll 1
    for (unsigned int e = lane; e < ${32 * EACH}; e += 32) {
      const unsigned int n = warp * ${32 * EACH} + e;
      ((value_t *)piece)[e] = n < own ? from[n] : none();
    }
  }
  __syncwarp();
  value_t value[${EACH}];
#pragma unroll
  for (int e = 0; e < ${WORDS}; e++) {
    const words_t words = piece[lane * ${WORDS} + e];
#pragma unroll
    for (int w = 0; w < 4; w++) value[4 * e + w] = words.of[w];
  }
  value_t sum = value[0];
#pragma unroll
  for (int e = 1; e < ${EACH}; e++) value[e] = sum = combine(sum, value[e]);
  const value_t up_to = scan_fold_to(sum);
  value_t before = __shfl_up_sync(~0u, up_to, 1);
  if (lane == 0) before = none();
  if (lane == 31) folds[warp] = up_to;
  __syncthreads();
  if (warp == 0) {
    const value_t up_to_warp = scan_fold_to(lane < ${WARPS} ? folds[lane] : none());
    const value_t of_tile = __shfl_sync(~0u, up_to_warp, 31);
    if (lane < ${WARPS}) folds[lane] = up_to_warp;
    /* A state comes with its value in one word, so nothing else need be waited for. */
    if (lane == 0 && tile > 0) states[tile] = (state_t)(unsigned int)of_tile << 32 | 1;
    const value_t earlier = tile > 0 ? scan_look_back(states, tile) : none();
    if (lane == 0) {
      const value_t all = combine(earlier, of_tile);
      states[tile] = (state_t)(unsigned int)all << 32 | 2;
      before_tile = earlier;
      if (total && tile * ${SCAN_TILE}u + own == count) *total = all;
    }
  }
  __syncthreads();
  before = combine(combine(before_tile, warp > 0 ? folds[warp - 1] : none()), before);
  value_t last = before;
#pragma unroll
  for (int e = 0; e < ${WORDS}; e++) {
    words_t words;
#pragma unroll
    for (int w = 0; w < 4; w++) {
      const value_t here = combine(before, value[4 * e + w]);
      words.of[w] = exclusive ? last : here;
      last = here;
    }
    piece[lane * ${WORDS} + e] = words;
  }
  __syncwarp();
  if (whole) {
#pragma unroll
    for (int e = 0; e < ${WORDS}; e++) ((words_t *)to)[warp * ${32 * WORDS} + e * 32 + lane] = piece[e * 32 + lane];
  } else {
#pragma unroll 1
    for (unsigned int e = lane; e < ${32 * EACH}; e += 32) {
      const unsigned int n = warp * ${32 * EACH} + e;
      if (n < own) to[n] = ((const value_t *)piece)[e];
    }
  }
}
`;

/**
 * A prefix sum, or least or greatest value so far, of whole numbers, which is the same in any order. Each block has a tile, and gets what lies
 * before from the blocks before it: from the nearest that knows all that is before it, and from the tiles of those between (Merrill and Garland,
 * Single-pass parallel prefix scan with decoupled look-back, 2016). Blocks take tiles by a counter, so that one never waits for another that has
 * not begun. Input is read once and output written once. `states` begins with the counter, and has a word for each tile: 1 with the tile's fold,
 * 2 with the fold of all up to its end, 0 before.
 */
export function cudaScanSource(type: "i32" | "u32", op: ScatterOp, identity: number): string {
  // Sums that wrap around are signed for nobody.
  const T = type === "i32" && op !== "sum" ? "int" : "unsigned int";
  return `
typedef ${T} value_t;
typedef unsigned long long state_t;
struct alignas(16) words_t { value_t of[4]; };

__device__ inline value_t none() { return (value_t)${identity >>> 0}u; }
__device__ inline value_t combine(value_t a, value_t b) { return ${combined(op)}; }
${SCAN_BODY}`;
}
