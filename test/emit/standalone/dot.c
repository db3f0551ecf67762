// Kernel "dot" (kernels.ts), written by isoform as C with OpenMP, strict.
// gcc -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-tree-slp-vectorize -march=native -fopenmp -c dot.c
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static double fold_s(double *partials, int64_t count) {
  if (count == 0) return 0.0;
  for (; count > 1; count = (count + 255) / 256) {
    for (int64_t begin = 0; begin < count; begin += 256) {
      const int64_t end = begin + 256 < count ? begin + 256 : count;
      double lanes[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      for (int64_t n = begin; n < end; n++) lanes[n % 8] = lanes[n % 8] + partials[n];
      for (int step = 4; step > 0; step /= 2)
        for (int k = 0; k < step; k++) lanes[k] = lanes[k] + lanes[k + step];
      partials[begin / 256] = lanes[0];
    }
  }
  return partials[0];
}

/*
 * Runs kernel "dot" over a range.
 *   s               takes the sum; 0 for an empty range
 *   x               element 0 of an array of rank 1, read
 *   x_extent0       elements
 *   y               element 0 of an array of rank 1, read
 *   y_extent0       elements
 *   i_begin, i_end  first index of the range and the one behind its last, along each axis
 * Arrays may not share memory.
 * Returns 0, or 1 where there is no memory for partial results.
 */
int dot_launch(
  double *restrict s,
  const double *restrict x,
  int32_t x_extent0,
  const double *restrict y,
  int32_t y_extent0,
  int64_t i_begin, int64_t i_end
)
{
  const int64_t chunks = (i_end - i_begin + 255) / 256;
  const int64_t partials = chunks;
  double *s_partials = malloc((partials + 1) * sizeof(double));
  if (!s_partials) { free(s_partials); return 1; }
  #pragma omp parallel for
  for (int64_t partial = 0; partial < partials; partial++) {
    const int64_t begin = i_begin + partial % chunks * 256;
    const int64_t end = begin + 256 < i_end ? begin + 256 : i_end;
    double s_lanes[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const int64_t rest = end - (end - begin) % 8;
    for (int64_t group = begin; group < rest; group += 8) {
      #pragma omp simd
      for (int64_t lane = 0; lane < 8; lane++) {
        const int64_t i = group + lane;
        double s_lane = s_lanes[lane];
        s_lane += x[i] * y[i];  // line 14
        s_lanes[lane] = s_lane;
      }
    }
    for (int64_t lane = 0; lane < end - rest; lane++) {
      const int64_t i = rest + lane;
      double s_lane = s_lanes[lane];
      s_lane += x[i] * y[i];
      s_lanes[lane] = s_lane;
    }
    for (int step = 4; step > 0; step /= 2) {
      for (int k = 0; k < step; k++) {
        s_lanes[k] = s_lanes[k] + s_lanes[k + step];
      }
    }
    s_partials[partial] = s_lanes[0];
  }
  *s = fold_s(s_partials, partials);
  free(s_partials);
  return 0;
}
