// Kernel "laplace" (kernels.ts), written by isoform as C with OpenMP, strict.
// gcc -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-tree-slp-vectorize -march=native -fopenmp -c laplace.c
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Runs kernel "laplace" over a range.
 *   p                                               element 0 of an array of rank 3, read
 *   p_extent0, p_extent1, p_extent2                 indices along each axis
 *   p_stride0, p_stride1                            elements from one index of an axis to the next
 *   s                                               element 0 of an array of rank 3, written
 *   s_extent0, s_extent1, s_extent2                 indices along each axis
 *   s_stride0, s_stride1                            elements from one index of an axis to the next
 *   i_begin, i_end, j_begin, j_end, k_begin, k_end  first index of the range and the one behind its last, along each axis
 * Strides of 1 are compiled in: p's along axis 2, s's along axis 2.
 * Arrays may not share memory.
 * Returns 0.
 */
int laplace_launch(
  const double *restrict p,
  int32_t p_extent0, int32_t p_extent1, int32_t p_extent2,
  int64_t p_stride0, int64_t p_stride1,
  double *restrict s,
  int32_t s_extent0, int32_t s_extent1, int32_t s_extent2,
  int64_t s_stride0, int64_t s_stride1,
  int64_t i_begin, int64_t i_end, int64_t j_begin, int64_t j_end, int64_t k_begin, int64_t k_end
)
{
  #pragma omp parallel for collapse(2)
  for (int64_t i = i_begin; i < i_end; i++) {
    for (int64_t j = j_begin; j < j_end; j++) {
      #pragma omp simd
      for (int64_t k = k_begin; k < k_end; k++) {
        s[i * s_stride0 + j * s_stride1 + k] = 6.0 * p[i * p_stride0 + j * p_stride1 + k] - p[(i - 1) * p_stride0 + j * p_stride1 + k] - p[(i + 1) * p_stride0 + j * p_stride1 + k] - p[i * p_stride0 + (j - 1) * p_stride1 + k] - p[i * p_stride0 + (j + 1) * p_stride1 + k] - p[i * p_stride0 + j * p_stride1 + k - 1] - p[i * p_stride0 + j * p_stride1 + k + 1];  // line 10
      }
    }
  }
  return 0;
}
