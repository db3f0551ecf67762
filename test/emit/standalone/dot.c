// Kernel "dot" (kernels.ts), written by isoform as C with OpenMP, strict.
// gcc -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-tree-slp-vectorize -march=native -fopenmp -c dot.c
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static double s__fold(double *partials, int64_t count) {
  if (count == 0) return 0.0;
  for (; count > 1; count = (count + 255) / 256) {
    for (int64_t begin = 0; begin < count; begin += 256) {
      const int64_t end = begin + 256 < count ? begin + 256 : count;
      double lanes[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      for (int64_t n = begin; n < end; n++) {
        lanes[n % 8] = lanes[n % 8] + partials[n];
      }
      for (int step = 4; step > 0; step /= 2) {
        for (int k = 0; k < step; k++) {
          lanes[k] = lanes[k] + lanes[k + step];
        }
      }
      partials[begin / 256] = lanes[0];
    }
  }
  return partials[0];
}

/*
 * Runs kernel "dot" over a range.
 *   s_                takes the sum; 0 for an empty range
 *   x_                element 0 of an array of rank 1, read
 *   x_extent0_        elements
 *   y_                element 0 of an array of rank 1, read
 *   y_extent0_        elements
 *   i_begin_, i_end_  first index of the range and the one after its last, along each axis
 * Arrays may not share memory.
 * Returns 0, or 1 if there is no memory for partial results.
 */
int dot_launch(
  double *restrict s_,
  const double *restrict x_,
  int32_t x_extent0_,
  const double *restrict y_,
  int32_t y_extent0_,
  int64_t i_begin_, int64_t i_end_
)
{
  const int64_t chunks = (i_end_ - i_begin_ + 255) / 256;
  const int64_t partials = chunks;
  double *s_partials_ = (double *)malloc((partials + 1) * sizeof(double));
  if (!s_partials_) { free(s_partials_); return 1; }
  #pragma omp parallel for
  for (int64_t partial = 0; partial < partials; partial++) {
    const int64_t begin = i_begin_ + partial % chunks * 256;
    const int64_t end = begin + 256 < i_end_ ? begin + 256 : i_end_;
    double s_lanes_[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const int64_t rest_ = end - (end - begin) % 8;
    for (int64_t group_ = begin; group_ < rest_; group_ += 8) {
      #pragma omp simd
      for (int64_t lane_ = 0; lane_ < 8; lane_++) {
        const int64_t i = group_ + lane_;
        double s_lane_ = s_lanes_[lane_];
        s_lane_ += x_[i] * y_[i];  // line 14
        s_lanes_[lane_] = s_lane_;
      }
    }
    for (int64_t lane_ = 0; lane_ < end - rest_; lane_++) {
      const int64_t i = rest_ + lane_;
      double s_lane_ = s_lanes_[lane_];
      s_lane_ += x_[i] * y_[i];
      s_lanes_[lane_] = s_lane_;
    }
    for (int step = 4; step > 0; step /= 2) {
      for (int k = 0; k < step; k++) {
        s_lanes_[k] = s_lanes_[k] + s_lanes_[k + step];
      }
    }
    s_partials_[partial] = s_lanes_[0];
  }
  *s_ = s__fold(s_partials_, partials);
  free(s_partials_);
  return 0;
}
