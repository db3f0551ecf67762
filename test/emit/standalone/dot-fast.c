// Kernel "dot" (kernels.ts), written by isoform as C with OpenMP, fast.
// gcc -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=fast -march=native -fopenmp -c dot.c
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Runs kernel "dot" over a range.
 *   s_                takes the sum; 0 for an empty range
 *   x_                element 0 of an array of rank 1, read
 *   x_extent0_        elements
 *   y_                element 0 of an array of rank 1, read
 *   y_extent0_        elements
 *   i_begin_, i_end_  first index of the range and the one after its last, along each axis
 * Arrays may not share memory.
 * Returns 0.
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
  double s_2_ = 0.0;
  #pragma omp parallel for simd reduction(+: s_2_)
  for (int64_t i = i_begin_; i < i_end_; i++) {
    s_2_ += x_[i] * y_[i];  // line 14
  }
  *s_ = s_2_;
  return 0;
}
