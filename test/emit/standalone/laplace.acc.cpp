// Kernel "laplace" (kernels.ts), written by isoform as C++ with OpenACC, strict.
// On the host: g++ -std=gnu++17 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off -fno-tree-slp-vectorize -march=native -fopenacc -foffload=disable -c laplace.acc.cpp
// On a GPU:    nvc++ -std=c++17 -O3 -Mnofma -Kieee -acc=gpu -c laplace.acc.cpp
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
extern "C" int laplace_launch(
  const double *__restrict__ p_,
  int32_t p_extent0_, int32_t p_extent1_, int32_t p_extent2_,
  int64_t p_stride0_, int64_t p_stride1_,
  double *__restrict__ s_,
  int32_t s_extent0_, int32_t s_extent1_, int32_t s_extent2_,
  int64_t s_stride0_, int64_t s_stride1_,
  int64_t i_begin_, int64_t i_end_, int64_t j_begin_, int64_t j_end_, int64_t k_begin_, int64_t k_end_
)
{
  const int64_t p_span_ = p_extent0_ == 0 || p_extent1_ == 0 || p_extent2_ == 0 ? 0 : 1 + (p_extent0_ - 1) * p_stride0_ + (p_extent1_ - 1) * p_stride1_ + (p_extent2_ - 1);
  const int64_t s_span_ = s_extent0_ == 0 || s_extent1_ == 0 || s_extent2_ == 0 ? 0 : 1 + (s_extent0_ - 1) * s_stride0_ + (s_extent1_ - 1) * s_stride1_ + (s_extent2_ - 1);
  #pragma acc enter data copyin(p_[0:p_span_], s_[0:s_span_])
  #pragma acc parallel loop gang vector collapse(3) \
    present(p_[0:p_span_], s_[0:s_span_])
  for (int64_t i = i_begin_; i < i_end_; i++) {
    for (int64_t j = j_begin_; j < j_end_; j++) {
      for (int64_t k = k_begin_; k < k_end_; k++) {
        s_[i * s_stride0_ + j * s_stride1_ + k] = 6.0 * p_[i * p_stride0_ + j * p_stride1_ + k] - p_[(i - 1) * p_stride0_ + j * p_stride1_ + k] - p_[(i + 1) * p_stride0_ + j * p_stride1_ + k] - p_[i * p_stride0_ + (j - 1) * p_stride1_ + k] - p_[i * p_stride0_ + (j + 1) * p_stride1_ + k] - p_[i * p_stride0_ + j * p_stride1_ + k - 1] - p_[i * p_stride0_ + j * p_stride1_ + k + 1];  // line 10
      }
    }
  }
  #pragma acc exit data copyout(s_[0:s_span_]) delete(p_[0:p_span_])
  return 0;
}
