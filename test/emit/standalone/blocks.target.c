// Kernel "blocks" (cases.ts), written by isoform as C with OpenMP offloading, strict.
// On the host: gcc -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-tree-slp-vectorize -fopenmp -foffload=disable -c blocks.target.c
// On a GPU:    clang -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-tree-slp-vectorize -fopenmp --offload-arch=sm_80 -c blocks.target.c
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static int32_t fold_n(int32_t *partials, int64_t count) {
  if (count == 0) return 0;
  for (; count > 1; count = (count + 255) / 256) {
    for (int64_t begin = 0; begin < count; begin += 256) {
      const int64_t end = begin + 256 < count ? begin + 256 : count;
      int32_t lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
      for (int64_t n = begin; n < end; n++) lanes[n % 8] = lanes[n % 8] + partials[n];
      for (int step = 4; step > 0; step /= 2)
        for (int k = 0; k < step; k++) lanes[k] = lanes[k] + lanes[k + step];
      partials[begin / 256] = lanes[0];
    }
  }
  return partials[0];
}

/*
 * Runs kernel "blocks" over a league of teams.
 *   a                     element 0 of an array of rank 2, read
 *   a_extent0, a_extent1  indices along each axis
 *   a_stride0             elements from one index of an axis to the next
 *   s                     element 0 of an array of rank 1, written
 *   s_extent0             elements
 *   n                     takes the sum; 0 for an empty range
 *   league                teams
 * Strides of 1 are compiled in: a's along axis 1.
 * Arrays may not share memory.
 * Returns 0, or 1 where there is no memory for partial results.
 */
int blocks_launch(
  const float *restrict a,
  int32_t a_extent0, int32_t a_extent1,
  int64_t a_stride0,
  float *restrict s,
  int32_t s_extent0,
  int32_t *restrict n,
  int32_t league
)
{
  const int64_t a_span = a_extent0 == 0 || a_extent1 == 0 ? 0 : 1 + (a_extent0 - 1) * a_stride0 + (a_extent1 - 1);
  int32_t *n_partials = malloc((league + 1) * sizeof(int32_t));
  if (!n_partials) { free(n_partials); return 1; }
  #pragma omp target teams distribute parallel for \
    map(to: a[0:a_span]) \
    map(tofrom: s[0:s_extent0]) \
    map(from: n_partials[0:league])
  for (int64_t team = 0; team < league; team++) {
    int32_t n_2 = 0;
    float part[8];  // line 66
    const int64_t j_count = 8;
    for (int64_t j = 0; j < j_count; j++) {
      float own = 0.0f;  // line 68
      for (int64_t k = j; k < a_extent1; k += 8) {  // line 69
        own = own + a[team * a_stride0 + k];
      }
      part[j] = own;  // line 70
    }
    {
      s[team] = part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];  // line 73
    }
    n_2 += 1;  // line 75
    n_partials[team] = n_2;
  }
  *n = fold_n(n_partials, league);
  free(n_partials);
  return 0;
}
