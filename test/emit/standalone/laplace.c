// Kernel "laplace" (kernels.ts), written by isoform as C with OpenMP, strict.
// gcc -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-tree-slp-vectorize -march=native -fopenmp -c laplace.c
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Runs kernel "laplace" over a range.
 *   p_                                                    element 0 of an array of rank 3, read
 *   p_extent0_, p_extent1_, p_extent2_                    indices along each axis
 *   p_stride0_, p_stride1_                                elements from one index of an axis to the next
 *   s_                                                    element 0 of an array of rank 3, written
 *   s_extent0_, s_extent1_, s_extent2_                    indices along each axis
 *   s_stride0_, s_stride1_                                elements from one index of an axis to the next
 *   i_begin_, i_end_, j_begin_, j_end_, k_begin_, k_end_  first index of the range and the one after its last, along each axis
 * Strides of 1 are compiled in: p's along axis 2, s's along axis 2.
 * Arrays may not share memory.
 * Returns 0.
 */
int laplace_launch(
  const double *restrict p_,
  int32_t p_extent0_, int32_t p_extent1_, int32_t p_extent2_,
  int64_t p_stride0_, int64_t p_stride1_,
  double *restrict s_,
  int32_t s_extent0_, int32_t s_extent1_, int32_t s_extent2_,
  int64_t s_stride0_, int64_t s_stride1_,
  int64_t i_begin_, int64_t i_end_, int64_t j_begin_, int64_t j_end_, int64_t k_begin_, int64_t k_end_
)
{
  #pragma omp parallel for collapse(2)
  for (int64_t i = i_begin_; i < i_end_; i++) {
    for (int64_t j = j_begin_; j < j_end_; j++) {
      #pragma omp simd
      for (int64_t k = k_begin_; k < k_end_; k++) {
        s_[i * s_stride0_ + j * s_stride1_ + k] = 6.0 * p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i - 1) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[i * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k - 1] - p_[i * p_stride0_ + j * p_stride1_ + k + 1];  // line 10
      }
    }
  }
  return 0;
}
