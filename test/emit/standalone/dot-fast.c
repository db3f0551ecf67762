// Kernel "dot" (kernels.ts), written by isoform as C with OpenMP, fast.
// gcc -std=gnu11 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=fast -march=native -fopenmp -c dot.c
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Runs kernel "dot" over a range.
 *   s               takes the sum; 0 for an empty range
 *   x               element 0 of an array of rank 1, read
 *   x_extent0       elements
 *   y               element 0 of an array of rank 1, read
 *   y_extent0       elements
 *   i_begin, i_end  first index of the range and the one behind its last, along each axis
 * Arrays may not share memory.
 * Returns 0.
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
  double s_2 = 0.0;
  #pragma omp parallel for simd reduction(+: s_2)
  for (int64_t i = i_begin; i < i_end; i++) {
    s_2 += x[i] * y[i];  // line 14
  }
  *s = s_2;
  return 0;
}
