// Kernel "weights" (cases.ts), written by isoform as C++ with OpenACC, fast.
// On the host: g++ -std=gnu++17 -O3 -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=fast -march=native -fopenacc -foffload=disable -c weights.acc.cpp
// On a GPU:    nvc++ -std=c++17 -O3 -Mfma -acc=gpu -c weights.acc.cpp
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#pragma acc routine seq
static inline int32_t i32_from_f64(double a) { return !(fabs(a) >= 1) ? 0 : a >= 2147483648.0 ? 2147483647 : a > -2147483649.0 ? (int32_t)a : -2147483647 - 1; }

/*
 * Runs kernel "weights" over a range.
 *   x_                element 0 of an array of rank 1, read
 *   x_extent0_        elements
 *   w_                element 0 of an array of rank 1, read
 *   w_extent0_        elements
 *   h_                element 0 of an array of rank 1, added into at any index
 *   h_extent0_        elements
 *   i_begin_, i_end_  first index of the range and the one after its last, along each axis
 * Arrays may not share memory.
 * Returns 0.
 */
extern "C" int weights_launch(
  const double *__restrict__ x_,
  int32_t x_extent0_,
  const double *__restrict__ w_,
  int32_t w_extent0_,
  double *__restrict__ h_,
  int32_t h_extent0_,
  int64_t i_begin_, int64_t i_end_
)
{
  #pragma acc enter data copyin(x_[0:x_extent0_], w_[0:w_extent0_], h_[0:h_extent0_])
  #pragma acc parallel loop gang vector \
    present(x_[0:x_extent0_], w_[0:w_extent0_], h_[0:h_extent0_])
  for (int64_t i = i_begin_; i < i_end_; i++) {
    #pragma acc atomic update
    h_[i32_from_f64(x_[i])] += w_[i];  // line 45
  }
  #pragma acc exit data copyout(h_[0:h_extent0_]) delete(x_[0:x_extent0_], w_[0:w_extent0_])
  return 0;
}
